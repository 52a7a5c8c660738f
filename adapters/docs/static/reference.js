// The script of the API reference. The page can be read without it. The script chooses the language of the samples,
// copies samples with the API key, and sends requests to the service.

import { setUpApiKey } from './api-key.js';

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
// The pattern of the field allows no character that could end a string of a sample, such as a quotation mark.
let apiKey = '';

for (const form of $$('.try form')) setUpRequestForm(form);
document.addEventListener('click', ({ target }) => target.matches('[role=tab]') && chooseLanguage(target));
document.addEventListener('click', ({ target }) => target.matches('.copy') && copySample(target));
document.addEventListener('keydown', moveBetweenTabs);
for (const element of $$('[data-fill=origin]')) element.textContent = location.origin;
// Each sample has its own Idempotency-Key, because an operation rejects a key that was used with another body.
for (const element of $$('[data-fill=idempotencyKey]')) element.textContent = Math.random().toString(36).slice(2);
// This call is the last one, because it throws an error in a browser that blocks the session storage.
setUpApiKey((key) => (apiKey = key));

/** Shows all samples in the language of a tab. The tab keeps its place in the window. */
function chooseLanguage(chosen) {
  const { top } = chosen.getBoundingClientRect();
  for (const tab of $$('[role=tab]')) {
    const isSelected = tab.textContent === chosen.textContent;
    tab.setAttribute('aria-selected', isSelected);
    tab.tabIndex = isSelected ? 0 : -1;
    document.getElementById(tab.getAttribute('aria-controls')).hidden = !isSelected;
  }
  chosen.focus({ preventScroll: true });
  scrollBy({ top: chosen.getBoundingClientRect().top - top, behavior: 'instant' });
}

/** Chooses another language with the keys of the ARIA pattern for tabs. */
function moveBetweenTabs(event) {
  const tabs = event.target.matches('[role=tab]') ? $$('[role=tab]', event.target.parentElement) : [];
  const position = tabs.indexOf(event.target);
  const next = { ArrowLeft: position - 1, ArrowRight: (position + 1) % tabs.length, Home: 0, End: -1 }[event.key];
  if (tabs.length === 0 || next === undefined) return;
  event.preventDefault();
  chooseLanguage(tabs.at(next));
}

/** Copies the shown sample with the API key in place of `$KEY`, and with the first ID of the list in place of `$ID`. */
async function copySample(button) {
  const samples = button.closest('.samples');
  let text = $('pre:not([hidden])', samples).textContent;
  if (apiKey) text = text.replaceAll('$KEY', apiKey);
  if (apiKey && samples.dataset.list) {
    const response = await fetch(samples.dataset.list, { headers: { Authorization: `Bearer ${apiKey}` } });
    const [record] = response.ok ? await response.json() : [];
    if (record) text = text.replaceAll('$ID', record.id);
  }
  await navigator.clipboard.writeText(text);
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 2000);
}

/** Sends the request of a form when its button is pressed, and shows the response below the form. */
function setUpRequestForm(form) {
  const button = $('button', form);
  const result = $('.result', form.parentElement);
  const getInputs = (place) => $$(`[data-in=${place}]`, form).filter(({ value }) => value.trim() !== '');

  const send = async () => {
    const key = $('#key');
    if (!key.reportValidity() || !form.reportValidity()) return;
    const headers = { Authorization: `Bearer ${key.value.trim()}` };
    for (const { name, value } of getInputs('header')) headers[name] = value.trim();
    const body = form.elements.body?.value;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const query = new URLSearchParams(getInputs('query').map(({ name, value }) => [name, value.trim()]));
    const id = getInputs('path')[0]?.value.trim() ?? '';
    button.disabled = true;
    showResult(result, 'Sending …', '');
    const startedAt = performance.now();
    try {
      const url = form.dataset.path.replace('{id}', encodeURIComponent(id)) + (query.size > 0 ? `?${query}` : '');
      const response = await fetch(url, { method: form.dataset.method, headers, body, cache: 'no-store' });
      showResponse(result, response, await response.text(), performance.now() - startedAt);
    } catch (error) {
      showResult(result, `The request failed: ${error.message}`, 'failure');
    }
    result.firstElementChild.scrollIntoView({ block: 'nearest' });
    button.disabled = false;
    // A disabled button loses the focus.
    if (document.activeElement === document.body) button.focus({ preventScroll: true });
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    // In a form that changes records, the type of the button is not `submit`, so that Enter in a field does nothing.
    if (button.type === 'submit') send();
  });
  button.addEventListener('click', () => button.type === 'button' && send());
}

/** Shows a status line, which screen readers announce, and elements below it. */
function showResult(result, status, className, ...elements) {
  const line = Object.assign(result.firstElementChild, { textContent: status, className });
  result.replaceChildren(line, ...elements);
}

const SHOWN_HEADERS = ['Link', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'];

/** Shows a response. Its content is shown as text, never as HTML. */
function showResponse(result, response, text, milliseconds) {
  const status = `${response.status} ${response.statusText}`.trim();
  const headers = SHOWN_HEADERS.filter((name) => response.headers.has(name));
  showResult(
    result,
    `${status} · ${Math.round(milliseconds)} ms`,
    response.ok ? 'success' : 'failure',
    createElement('pre', headers.map((name) => `${name}: ${response.headers.get(name)}`).join('\n'), 'headers'),
    createElement('pre', formatJson(text), 'body'),
  );
}

function formatJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function createElement(name, textContent, className = '') {
  return Object.assign(document.createElement(name), { textContent, className });
}
