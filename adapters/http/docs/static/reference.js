// The script of the API reference. The page can be read without it. The script adds the search, the current place in
// the side list, the API key in samples, and requests to the service.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

for (const element of $$('.search, .key-form, .try')) element.hidden = false;
setUpSideList();
setUpSearch();
setUpLanguages();
setUpCopyButtons();
for (const form of $$('.try form')) setUpRequestForm(form);
// This call is the last one, because it throws an error in a browser that blocks the session storage.
setUpApiKey();

/** Marks in the side list the section that is being read, and keeps its link in view. */
function setUpSideList() {
  const sideList = $('.side-list');
  /** Returns the links to a section: one in its group, and perhaps one in the results of a search. */
  const findLinks = ({ id }) => $$(`a[href="#${id}"]`, sideList);
  const sections = $$('main section[id]').filter((section) => findLinks(section).length > 0);
  const narrow = matchMedia('(max-width: 60rem)');
  const fold = () => {
    sideList.open = !narrow.matches;
  };
  narrow.addEventListener('change', fold);
  fold();
  sideList.addEventListener('click', ({ target }) => target.closest('a') && fold());

  let current;
  const update = () => {
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    // A section becomes current when its top enters the upper fifth of the window.
    const passed = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 5);
    const section = isAtEnd && scrollY > 0 ? sections.at(-1) : (passed.at(-1) ?? sections[0]);
    if (section === current) return;
    current = section;
    for (const link of $$('[aria-current]', sideList)) link.removeAttribute('aria-current');
    const links = findLinks(section);
    for (const link of links) link.setAttribute('aria-current', 'location');
    const link = links.find(({ offsetParent }) => offsetParent) ?? links[0];
    $('.current-place').textContent = `: ${link.lastElementChild.textContent}`;
    const nav = $('nav', sideList);
    const [box, place] = [nav.getBoundingClientRect(), link.getBoundingClientRect()];
    if (place.top < box.top + 90 || place.bottom > box.bottom) nav.scrollTop += place.top - box.top - box.height / 3;
  };
  addEventListener('scroll', update);
  update();
}

/** Lists the sections that contain the most words of the search field, the best first. Enter opens the first result. */
function setUpSearch() {
  const input = $('.search input');
  const results = $('.side-list .results');
  const items = $$('.side-list .group li').map((item) => {
    const section = document.getElementById($('a', item).getAttribute('href').slice(1));
    const description = section ? $$(':scope > div:first-child > p:not(.errors)', section) : [];
    return {
      item,
      // In the order of their rank: a word in the first place counts most.
      places: [
        item.textContent,
        item.dataset.keywords,
        description.map((paragraph) => paragraph.textContent).join(' '),
      ].map((text) => text.toLowerCase()),
    };
  });
  /** Returns 3 for a word in the title, 2 for one in the keywords, 1 for one in the description, and otherwise 0. */
  const rankWord = (word, places) => {
    const index = places.findIndex((text) => text.includes(word));
    return index === -1 ? 0 : places.length - index;
  };
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const ranked = items.map(({ item, places }) => {
      const ranks = words.map((word) => rankWord(word, places));
      return { item, wordCount: ranks.filter(Boolean).length, rank: ranks.reduce((sum, rank) => sum + rank, 0) };
    });
    // If no section contains all words, those with the most words are the results.
    const maxWordCount = Math.max(1, ...ranked.map(({ wordCount }) => wordCount));
    const found = ranked.filter(({ wordCount }) => wordCount === maxWordCount).sort((a, b) => b.rank - a.rank);
    const isSearching = words.length > 0;
    results.replaceChildren(...found.map(({ item }) => item.cloneNode(true)));
    results.hidden = !isSearching;
    for (const group of $$('.side-list .group')) group.hidden = isSearching;
    $('.search [role=status]').textContent = isSearching
      ? `${found.length} ${found.length === 1 ? 'result' : 'results'}`
      : '';
  });
  $('.search').addEventListener('submit', (event) => {
    event.preventDefault();
    $('a', results)?.click();
  });
  addEventListener('keydown', (event) => {
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    $('.side-list').open = true;
    input.select();
  });
}

/** Shows all samples in the language that was chosen in one of them. */
function setUpLanguages() {
  const choices = $$('.samples input');
  addEventListener('change', ({ target }) => {
    if (!choices.includes(target)) return;
    const top = target.getBoundingClientRect().top;
    for (const choice of choices) choice.checked = choice.value === target.value;
    // Keeps the chosen sample in place. Samples above it may have become longer or shorter.
    scrollBy({ top: target.getBoundingClientRect().top - top, behavior: 'instant' });
  });
}

/** Fills a value into the samples inside `root`. An empty value restores the initial text. */
function fill(name, value, root = document) {
  for (const element of $$(`[data-fill=${name}]`, root)) {
    element.dataset.default ??= element.textContent;
    element.textContent = value || element.dataset.default;
  }
}

/** Keeps the API key in the session storage of the tab, and fills it into the samples. */
function setUpApiKey() {
  const input = $('#key');
  const hint = $('#key-hint');
  const help = hint.textContent;
  const update = () => {
    const key = input.value.trim();
    // Allows all characters of API keys, and none that could end a string of a sample, such as a quotation mark.
    const isValid = /^[\w.~+/-]*$/.test(key);
    input.setAttribute('aria-invalid', String(!isValid));
    hint.textContent = isValid ? help : 'An API key contains only letters, digits and - . _ ~ + /';
    fill('key', isValid ? key : '');
    if (isValid && key) sessionStorage.setItem('apiKey', key);
    else sessionStorage.removeItem('apiKey');
  };
  input.value = sessionStorage.getItem('apiKey') ?? '';
  input.addEventListener('input', update);
  input.form.addEventListener('submit', (event) => event.preventDefault());
  update();
  fill('origin', location.origin);
  // Each sample has its own Idempotency-Key, because an operation rejects a key that was used with another body.
  for (const element of $$('[data-fill=idempotencyKey]')) element.textContent = createIdempotencyKey();
}

/** Returns a random text. `crypto.randomUUID` works only over HTTPS and on the local machine. */
function createIdempotencyKey() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Adds to each sample a button that copies the sample. Browsers allow this only over HTTPS and on the local machine.
 */
function setUpCopyButtons() {
  if (!navigator.clipboard) return;
  for (const samples of $$('.samples')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const language = $('input:checked', samples).value;
      await navigator.clipboard.writeText($(`[data-language="${language}"]`, samples).textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    $('fieldset', samples).append(button);
  }
}

/** Sends the request of a form when its button is pressed, and shows the response below the form. */
function setUpRequestForm(form) {
  const operation = form.closest('.operation');
  const button = $('button', form);
  const result = $('.result', operation);
  const getInputs = (place) => $$(`[data-in=${place}]`, form).filter(({ value }) => value.trim() !== '');
  const getQuery = () => {
    const query = new URLSearchParams(getInputs('query').map(({ name, value }) => [name, value.trim()]));
    return query.size > 0 ? `?${query}` : '';
  };
  const getId = () => getInputs('path')[0]?.value.trim() ?? '';
  form.addEventListener('input', () => {
    fill('query', getQuery(), operation);
    // Allows all characters of IDs, and none that could end a string of a sample, such as a quotation mark.
    fill('id', /^[\w-]+$/.test(getId()) ? getId() : '', operation);
  });

  const send = async () => {
    const key = sessionStorage.getItem('apiKey');
    if (!key) return showKeyNeeded(result);
    if (!form.reportValidity()) return;
    const headers = { Authorization: `Bearer ${key}` };
    for (const { name, value } of getInputs('header')) headers[name] = value.trim();
    const body = form.elements.body?.value;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    button.disabled = true;
    showResult(result, 'Sending …', '');
    const startedAt = performance.now();
    try {
      const url = form.dataset.path.replace('{id}', encodeURIComponent(getId())) + getQuery();
      const response = await fetch(url, { method: form.dataset.method, headers, body, cache: 'no-store' });
      const text = await response.text();
      showResponse(result, response, text, performance.now() - startedAt);
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

function showKeyNeeded(result) {
  const link = createElement('a', 'Enter your API key');
  // A browser focuses the field that a fragment leads to.
  link.href = '#key';
  showResult(result, '', 'failure');
  result.firstElementChild.append(link, ' first.');
}

/** Shows a status line, which screen readers announce, and elements below it. */
function showResult(result, status, className, ...elements) {
  const line = result.firstElementChild;
  line.textContent = status;
  line.className = className;
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

function createElement(name, text, className = '') {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = className;
  return element;
}
