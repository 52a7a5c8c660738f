// The script of all pages. It searches the documentation, and marks the current section in the list of sections. The
// pages can be read without it.

const searchElement = document.querySelector('search');
const [input, results] = searchElement.children;
const contents = document.querySelector('.contents');
const MAX_RESULT_COUNT = 30;
/** The characters of a text that a result shows before and after a match. */
const EXCERPT_LENGTHS = [50, 150];
let sections;

if (contents) setUpContents();
input.addEventListener('input', search);
// The pages are read when the search is used, so that there is no index to keep up to date.
input.addEventListener('focus', () => (sections ??= readSections()));
document.addEventListener('focusin', ({ target }) => searchElement.contains(target) || hideResults());
document.addEventListener('click', ({ target }) => target.closest('search :not(a)') || hideResults());
searchElement.addEventListener('keydown', moveBetweenResults);

/** Reads the headings of all pages, each with the text up to the next heading. */
async function readSections() {
  const links = [...document.querySelectorAll('.site-header nav a')].filter((link) =>
    link.pathname.startsWith('/docs'),
  );
  const pages = links.map(async ({ pathname, textContent: pageTitle }) => {
    const html = await (await fetch(pathname)).text();
    const page = new DOMParser().parseFromString(html, 'text/html');
    // Samples and forms repeat what is described elsewhere.
    for (const element of page.querySelectorAll('.samples, .try')) element.remove();
    const headings = [...page.querySelectorAll('main :is(h1, h2, h3)')];
    return headings.map((heading, i) => {
      const range = page.createRange();
      range.setStartAfter(heading);
      range.setEndBefore(headings[i + 1] ?? page.body.lastChild);
      const href = pathname + (heading.querySelector('a')?.hash ?? '');
      return { href, pageTitle, title: heading.textContent, text: range.toString().replaceAll(/\s+/g, ' ') };
    });
  });
  return (await Promise.all(pages)).flat();
}

/** Shows the sections that contain all words, first those with the words in their titles. */
async function search() {
  const all = await sections;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const contain = (text) => words.every((word) => text.toLowerCase().includes(word));
  const found = all.filter(({ title, text }) => contain(`${title} ${text}`));
  const sorted = [...found.filter(({ title }) => contain(title)), ...found.filter(({ title }) => !contain(title))];
  const [status, list] = results.children;
  status.textContent = `${found.length} ${found.length === 1 ? 'result' : 'results'}`;
  list.replaceChildren(...sorted.slice(0, MAX_RESULT_COUNT).map((section) => createResult(section, words)));
  results.hidden = words.length === 0;
}

function createResult({ href, pageTitle, title, text }, words) {
  const item = document.createElement('li');
  const link = Object.assign(document.createElement('a'), { href, textContent: `${title} ` });
  const position = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
  const start = Math.max(0, position - EXCERPT_LENGTHS[0]);
  const excerpt = document.createElement('p');
  excerpt.textContent = text.slice(start, position + EXCERPT_LENGTHS[1]).replaceAll(/^\S+|\S+$/g, '…');
  link.append(Object.assign(document.createElement('small'), { textContent: pageTitle }));
  item.append(link, excerpt);
  return item;
}

function hideResults() {
  results.hidden = true;
}

/** Moves the focus with the arrow keys. Escape ends the search. */
function moveBetweenResults(event) {
  const stops = [input, ...results.querySelectorAll('a')];
  const next = stops[stops.indexOf(document.activeElement) + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
  if (event.key === 'Escape') {
    input.value = '';
    input.focus();
    hideResults();
  } else if (next) {
    event.preventDefault();
    next.focus();
  }
}

/** Folds the list of sections on a phone, and marks the section that is read. */
function setUpContents() {
  if (matchMedia('(max-width: 60rem)').matches) contents.firstElementChild.open = false;
  const links = new Map([...contents.querySelectorAll('a')].map((link) => [link.getAttribute('href').slice(1), link]));
  const mark = (entries) => {
    const link = links.get(entries.findLast(({ isIntersecting }) => isIntersecting)?.target.id);
    if (!link) return;
    contents.querySelector('[aria-current]')?.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    contents.scrollTop = link.offsetTop - contents.clientHeight / 2;
  };
  const observer = new IntersectionObserver(mark, { rootMargin: '-10% 0px -80%' });
  for (const id of links.keys()) observer.observe(document.getElementById(id));
}
