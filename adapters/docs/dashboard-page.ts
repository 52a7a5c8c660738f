import { renderKeyForm } from './key-form.ts';
import { renderPage } from './layout.ts';
import { DASHBOARD_PAGE } from './pages.ts';

const HEAD = `<link rel="stylesheet" href="/docs/files/uplot.css">
<link rel="stylesheet" href="/docs/files/dashboard.css">
<link rel="modulepreload" href="/docs/files/dashboard-charts.js">
<link rel="modulepreload" href="/docs/files/uplot.js">
<script type="module" src="/docs/files/dashboard.js"></script>`;

const figures = ['Shares', 'Clicks', 'Rewards'];

/** Renders the dashboard: the page that shows the figures of a workspace. Its script reads them from the API. */
export function renderDashboardPage(): string {
  const text = `<div class="row">
<h1>Dashboard</h1>
${renderKeyForm('<button>Show</button>')}
</div>
<noscript><p class="warning">You need JavaScript to see the figures of a workspace.</p></noscript>
<form id="range" class="row" hidden>
<label>Period <select name="days"><option value="" hidden>Custom</option><option value="7">Last 7 days</option>
<option value="30" selected>Last 30 days</option><option value="90">Last 90 days</option><option value="365">Last 365 days</option></select></label>
<label>From <input type="date" name="from"></label>
<label>To <input type="date" name="to"></label>
<span class="muted">Days in UTC</span>
</form>
<div id="message" role="status"></div>
<div id="figures" hidden>
<section aria-labelledby="by-day">
<h2 id="by-day" class="visually-hidden">Figures by day</h2>
<div class="columns">
${figures.map(renderCard).join('\n')}
</div>
<input type="range" id="day" class="visually-hidden" min="0" aria-label="Day">
<output id="reading" for="day" class="visually-hidden"></output>
<details><summary>All days as a table</summary>
${renderTable('days', 'Day', figures)}
</details>
</section>
<div class="columns">
<section class="card" aria-labelledby="leaderboard">
<div class="row"><h2 id="leaderboard">Leaderboard</h2>
<label>by <select name="sortBy" form="range">${figures.map((name) => `<option${name === 'Clicks' ? ' selected' : ''} value="${name.toLowerCase()}">${name}</option>`).join('')}</select></label></div>
${renderTable('members', 'Member', figures)}
</section>
<section class="card" aria-labelledby="budgets">
<div class="row"><h2 id="budgets">Campaign budgets</h2><span class="muted">Published campaigns, since their start</span></div>
${renderTable('campaigns', 'Campaign', ['Spent', 'Budget'])}
</section>
</div>
</div>`;
  return renderPage(DASHBOARD_PAGE.title, [], text, HEAD);
}

function renderCard(name: string): string {
  return `<div class="card ${name.toLowerCase()}">
<div class="row"><h3 class="muted">${name}</h3><span class="reading muted"></span></div>
<p class="total"></p>
<div class="chart" aria-hidden="true"></div>
</div>`;
}

/** Renders a table without rows, and a button that shows more of them. */
function renderTable(id: string, first: string, others: readonly string[]): string {
  const headers = [first, ...others].map((name) => `<th scope="col">${name}</th>`).join('');
  return `<table><thead class="muted"><tr>${headers}</tr></thead><tbody id="${id}"></tbody></table>
<button type="button" id="more-${id}" hidden>Show more ${id}</button>`;
}
