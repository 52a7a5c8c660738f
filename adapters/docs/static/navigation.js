// The script of all pages: the search. The pages can be read without it.

const input = document.querySelector('#search');
const results = document.querySelector('.results');
let sections;

// On a phone, the list of sections is folded.
if (matchMedia('(max-width: 70rem)').matches) document.querySelector('.contents details')?.removeAttribute('open');
input.addEventListener('input', search);
results.addEventListener('click', ({ target }) => target.matches('a') && results.hidePopover());

/** Reads the headings of all pages, each with the text up to the next heading. */
async function readSections() {
  const links = [...document.querySelectorAll('.site-header nav a[href^="/docs"]')];
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
  // The pages are read when the search is used, so that there is no index to keep up to date.
  sections ??= readSections();
  const all = await sections;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const contain = (text) => words.every((word) => text.toLowerCase().includes(word));
  const found = all.filter(({ title, text }) => contain(`${title} ${text}`));
  found.sort((a, b) => contain(b.title) - contain(a.title));
  results.querySelector('p').textContent = `${found.length} ${found.length === 1 ? 'result' : 'results'}`;
  results.querySelector('ul').replaceChildren(...found.slice(0, 30).map((section) => createResult(section, words)));
  results.togglePopover(words.length > 0);
}

/** Creates a link to a section, with the text around a word. */
function createResult({ href, pageTitle, title, text }, words) {
  const [item, link, page, excerpt] = ['li', 'a', 'small', 'p'].map((name) => document.createElement(name));
  const position = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
  Object.assign(link, { href, textContent: title });
  page.textContent = ` ${pageTitle}`;
  excerpt.textContent = text.slice(Math.max(0, position - 50), position + 150).replaceAll(/^\S+|\S+$/g, '…');
  item.append(link, page, excerpt);
  return item;
}
