/** Renders the field for the API key, and a button. The script `api-key.js` keeps the key. */
export function renderKeyForm(button = ''): string {
  return `<form class="key-form scripted" autocomplete="off">
<label>API key <input id="key" required autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="adv_…" pattern="\\s*[\\w.~+\\/\\-]*\\s*"
title="An API key contains only letters, digits and - . _ ~ + /. The tab keeps it until you close the tab."></label>
${button}</form>`;
}
