// The script of the API reference. The page can be read without it. The script searches the operations, fills the API
// key into the samples, and sends requests to the service.

import { setUpApiKey } from './api-key.js';

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

for (const element of $$('.key-form, .try')) element.hidden = false;
for (const form of $$('.try form')) setUpRequestForm(form);
setUpSearch();
fill('origin', location.origin);
// Each sample has its own Idempotency-Key, because an operation rejects a key that was used with another body.
for (const element of $$('[data-fill=idempotencyKey]')) element.textContent = Math.random().toString(36).slice(2);
// This call is the last one, because it throws an error in a browser that blocks the session storage.
// The pattern of the field allows no character that could end a string of a sample, such as a quotation mark.
setUpApiKey((key) => fill('key', key));

/** Adds a search: the list then shows only the operations whose texts, fields and values contain all words. */
function setUpSearch() {
  const input = Object.assign(document.createElement('input'), { type: 'search', placeholder: 'Search' });
  input.ariaLabel = 'Search the operations';
  $('.contents p').after(input);
  const entries = $$('.operation').map(({ id, textContent }) => ({
    item: $(`.contents a[href="#${id}"]`).parentElement,
    text: textContent.toLowerCase(),
  }));
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const { item, text } of entries) item.hidden = !words.every((word) => text.includes(word));
  });
}

/** Fills a value into the samples. An empty value restores the initial text. */
function fill(name, value) {
  for (const element of $$(`[data-fill=${name}]`)) {
    element.dataset.default ??= element.textContent;
    element.textContent = value || element.dataset.default;
  }
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
