// The script of the dashboard. It reads the figures of a workspace from the API, and shows all texts as text, never as
// HTML.

import { setUpApiKey } from './api-key.js';
import { drawCharts, selectDay } from './dashboard-charts.js';

const $ = (selector) => document.querySelector(selector);
const FIGURES = ['shares', 'clicks', 'rewards'];
const DAY_MS = 24 * 60 * 60_000;
const PAGE_SIZE = 10;
/** Returns the day of a time in UTC, as the API has it. */
const formatUtcDay = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 10);
/** Formats a figure of a day, a member or a period. */
const formatFigure = (row, figure) => formatNumber(row[figure], figure === 'rewards' ? 2 : 0);
const formatFigures = (row) => FIGURES.map((figure) => formatFigure(row, figure));
/** The functions that load a page of each list, by default the first one. */
const load = { members: loadMembers, campaigns: loadCampaigns };
const toRow = { members: createMemberRow, campaigns: createCampaignRow };
/** The titles of errors by their status. */
const titles = { 401: 'The API key is not valid', 429: 'Too many requests' };
const { elements: fields } = $('#range');
const slider = $('#day');
let apiKey = '';
let controller = new AbortController();
let days = [];
/** The largest figure of a member, to which the bars of the leaderboard are relative. */
let maximum = 0;

selectPeriod();
document.addEventListener('change', ({ target }) => {
  if (target === fields.days) selectPeriod();
  if (target.type === 'date') fields.days.value = '';
  if (target.form === $('#range')) show();
});
slider.addEventListener('focus', () => selectDay(slider.valueAsNumber));
slider.addEventListener('input', () => selectDay(slider.valueAsNumber));
slider.addEventListener('blur', () => selectDay(null));
$('.key-form').addEventListener('submit', show);
// These calls are the last ones, because the first throws an error in a browser that blocks the session storage.
setUpApiKey((key) => {
  apiKey = key;
  if (!key) show();
});
if (apiKey) show();

function selectPeriod() {
  const now = Date.now();
  fields.from.value = formatUtcDay(now - (fields.days.value - 1) * DAY_MS);
  fields.to.value = formatUtcDay(now);
}

/** Shows the workspace of the API key. */
function show() {
  $('#range').hidden = !apiKey;
  run(async () =>
    apiKey ? showWorkspace() : showMessage('No API key', 'Enter a key of your workspace to see its figures.'),
  );
}

/** Cancels the work that still runs, and runs work that loads and shows figures. If it fails, shows a message. */
async function run(work) {
  controller.abort();
  controller = new AbortController();
  const { signal } = controller;
  if ($('#figures').hidden) showMessage('Loading …', '');
  $('#figures').ariaBusy = 'true';
  try {
    await work();
  } catch (error) {
    if (signal.aborted) return;
    showMessage(
      titles[error.status] ?? 'The request failed',
      error.message,
      createElement('button', 'Try again', { onclick: show }),
    );
  }
  if (!signal.aborted) $('#figures').ariaBusy = 'false';
}

/** Shows a message instead of the figures. */
function showMessage(title, text, ...children) {
  $('h1').textContent = 'Dashboard';
  $('#figures').hidden = true;
  $('#message').replaceChildren(createElement('h2', title), createElement('p', text), ...children);
}

/** Sends a GET request. Returns the body, and the URL of the next page if there is one. */
async function get(path) {
  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await fetch(path, { headers, cache: 'no-store', signal: controller.signal });
  const [body, { status }] = [await response.json(), response];
  if (!response.ok) throw Object.assign(new Error(body.error.message), { status });
  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '') ?? [];
  return { body, next: next && new URL(next, response.url) };
}

function getAnalytics(parameters) {
  return get(`/analytics?${new URLSearchParams({ from: fields.from.value, to: fields.to.value, ...parameters })}`);
}

function loadMembers(next) {
  return next ? get(next) : getAnalytics({ groupBy: 'member', sortBy: fields.sortBy.value, pageSize: PAGE_SIZE });
}

/** Loads campaigns with their briefs. */
async function loadCampaigns(path = `/campaigns?status=published&pageSize=${PAGE_SIZE}`) {
  const { body: campaigns, next } = await get(path);
  if (campaigns.length === 0) return { body: [], next };
  const { body: briefs } = await get(`/briefs?campaignIds=${campaigns.map(({ id }) => id)}`);
  const campaignsById = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
  return { body: briefs.map((brief) => ({ ...brief, ...campaignsById.get(brief.campaignId) })), next };
}

async function showWorkspace() {
  const { body: me } = await get('/me');
  const [{ body: rows }, { body: totals }, members, campaigns] = await Promise.all([
    getAnalytics({ groupBy: 'day' }),
    getAnalytics({ groupBy: 'total' }),
    loadMembers(),
    loadCampaigns(),
  ]);
  if (campaigns.body.length === 0 && FIGURES.every((figure) => Number(totals[0][figure]) === 0)) {
    const link = createElement('a', 'Create a campaign', { href: '/docs#createCampaign' });
    return showMessage('Nothing to show', 'No campaign is published, and nothing happened in this period.', link);
  }
  $('#message').replaceChildren();
  $('#figures').hidden = false;
  $('h1').textContent = me.workspace.name;
  for (const figure of FIGURES) $(`.${figure} .total`).textContent = formatFigure(totals[0], figure);
  days = rows;
  slider.value = slider.max = days.length - 1;
  drawCharts(FIGURES, days, ({ key }) => formatDay(key, { year: undefined }), showDay);
  $('#days').replaceChildren(...days.map((day) => createRow(formatDay(day.key), formatFigures(day))).reverse());
  maximum = Number(members.body[0]?.[fields.sortBy.value]);
  $('#members').className = fields.sortBy.value;
  showPage('members', members);
  showPage('campaigns', campaigns);
}

/** Shows the figures of a selected day beside the totals, and to screen readers. */
function showDay(index) {
  const day = days[index];
  const date = day && formatDay(day.key);
  for (const figure of FIGURES)
    $(`.${figure} .reading`).textContent = day ? `${date}: ${formatFigure(day, figure)}` : '';
  const texts = FIGURES.map((figure) => day && `${formatFigure(day, figure)} ${figure}`);
  $('#reading').textContent = day && document.activeElement === slider ? texts.join(', ') : '';
  if (day) Object.assign(slider, { value: index, ariaValueText: date });
}

/** Shows the first page of a list, or adds the next one and moves the focus to it. */
function showPage(name, { body, next }, isNext = false) {
  const rows = body.length > 0 ? body.map(toRow[name]) : [createRow('None', [])];
  if (!isNext) $(`#${name}`).replaceChildren();
  $(`#${name}`).append(...rows);
  $(`#more-${name}`).hidden = !next;
  $(`#more-${name}`).onclick = () => run(async () => showPage(name, await load[name](next), true));
  if (isNext) Object.assign(rows[0], { tabIndex: -1 }).focus();
}

function createMemberRow(row) {
  const name = row.name || createElement('em', 'Deleted member');
  return createRow([name, createBar(row[fields.sortBy.value] / maximum)], formatFigures(row));
}

function createCampaignRow({ name, startDate, endDate, totalBudget, rewardsSpent }) {
  const [spent, total] = [toUnits(rewardsSpent), toUnits(totalBudget)];
  const percent = total > 0n ? (spent * 100n) / total : 100n;
  const state = spent < total ? `${percent} % spent` : total > 0n ? 'Exhausted' : 'No budget';
  const [start, end, today] = [startDate.slice(0, 10), endDate.slice(0, 10), formatUtcDay(Date.now())];
  const period = start > today ? `starts ${formatDay(start)}` : `${end < today ? 'ended' : 'ends'} ${formatDay(end)}`;
  const details = createElement('span', `${state}, ${period}`, { className: 'muted' });
  const header = [name, createBar(Number(percent) / 100), details];
  const row = createRow(
    header,
    [rewardsSpent, totalBudget].map((amount) => formatNumber(amount, 2)),
  );
  return Object.assign(row, { className: spent < total ? 'rewards' : 'exhausted' });
}

function createRow(header, texts) {
  const cells = texts.map((text) => createElement('td', text));
  return createElement('tr', [createElement('th', header, { scope: 'row' }), ...cells]);
}

/** Creates a bar that illustrates a figure of its row. */
function createBar(value) {
  const bar = createElement('span', '', { className: 'meter' });
  bar.style.setProperty('--value', `${Math.min(value || 0, 1) * 100}%`);
  return bar;
}

function createElement(name, content, properties = {}) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...[content].flat());
  return element;
}

/** Formats a number or an amount exactly, with at least this number of decimal places. */
function formatNumber(value, places = 0) {
  const [whole, fraction = ''] = String(value).split('.');
  const decimals = fraction.padEnd(places, '0');
  return whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') + (decimals && `.${decimals}`);
}

/** Returns an amount in units of 0.0001, because a number cannot have all of its digits. */
function toUnits(amount) {
  const [whole, fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(4, '0'));
}

function formatDay(day, options) {
  const format = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric', ...options };
  return new Date(day).toLocaleDateString('en-GB', format);
}
