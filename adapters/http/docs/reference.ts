import { renderPage } from './layout.ts';

/** Renders the reference: the page that documents every operation and can send requests. */
export function renderReferencePage(getPath: (name: string) => string): string {
  return renderPage(getPath, {
    title: 'Reference',
    head: `<link rel="stylesheet" href="${getPath('swagger-ui.css')}">
<link rel="stylesheet" href="${getPath('docs.css')}">
<link rel="stylesheet" href="${getPath('reference.css')}">
<script defer src="${getPath('swagger-ui-bundle.js')}"></script>
<script defer src="${getPath('reference.js')}"></script>`,
    main: `<div class="intro">
<p>Select <em>Authorize</em> and enter your API key. Then open an operation and select <em>Execute</em> to send a request. Requests act on your workspace.</p>
<noscript><p>This page needs JavaScript. The same information is in the <a href="/openapi.json">OpenAPI document</a>.</p></noscript>
</div>
<div id="reference"></div>`,
  });
}

/** The script of the reference. It starts Swagger UI, and adds the accessible names that Swagger UI omits. */
export const REFERENCE_SCRIPT = `'use strict';
const dark = matchMedia('(prefers-color-scheme: dark)');
const applyColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyColorScheme);
applyColorScheme();

const hide = () => () => null;
/**
 * Disables the Execute button until Swagger UI has resolved the operation, which it does when the operation is opened. If the
 * button is pressed earlier, Swagger UI never sends the request and shows it as loading forever.
 */
const disableUntilResolved = (Execute, { React }) => (props) => {
  const isResolved = Boolean(props.specSelectors.specResolvedSubtree(['paths', props.path, props.method]));
  return React.createElement(Execute, { ...props, disabled: props.disabled || !isResolved });
};
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [{
    wrapComponents: {
      ServersContainer: hide, InfoUrl: hide, VersionStamp: hide, OpenAPIVersion: hide, execute: disableUntilResolved,
    },
  }],
});

function getAccessibleName(element) {
  if (element.matches('.close-modal')) return 'Close';
  if (element.matches('.modal-btn')) return element.textContent;
  const parameter = element.closest('[data-param-name]');
  return parameter ? parameter.dataset.paramName : 'Choose';
}
const UNNAMED_SELECTOR = 'select:not([aria-label]), textarea:not([aria-label]), .close-modal:not([aria-label])';
new MutationObserver(() => {
  for (const element of document.querySelectorAll(UNNAMED_SELECTOR)) element.setAttribute('aria-label', getAccessibleName(element));
  for (const element of document.querySelectorAll('.modal-btn[aria-label]')) element.removeAttribute('aria-label');
  for (const element of document.querySelectorAll('pre:not([tabindex])')) element.tabIndex = 0;
}).observe(document.getElementById('reference'), { childList: true, subtree: true });
`;

/** The style of the reference. */
export const REFERENCE_STYLE = `.swagger-ui a, .swagger-ui .info a, .swagger-ui .link, .swagger-ui .markdown a { color: var(--link); }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: var(--success); border-color: var(--success); }
.swagger-ui .btn.authorize svg { fill: var(--success); }
.swagger-ui .btn.cancel { color: var(--danger); border-color: var(--danger); }
.swagger-ui .btn { transition: none; }
.swagger-ui .btn.execute { background: #0b57a4; border-color: #0b57a4; color: #fff; }
.swagger-ui .download-contents { background: #3b4151; color: #fff; }
.swagger-ui .opblock .opblock-summary .opblock-summary-method { background: #0b57a4; color: #fff; text-shadow: none; }
.swagger-ui .opblock.opblock-post .opblock-summary .opblock-summary-method { background: #14703f; }
.swagger-ui .opblock.opblock-patch .opblock-summary .opblock-summary-method { background: #00695c; }
.swagger-ui .opblock.opblock-delete .opblock-summary .opblock-summary-method { background: #b3261e; }
.swagger-ui .parameter__in, .swagger-ui table.headers td.header-col { color: var(--text); }
.swagger-ui .opblock-body { overflow-x: auto; }
@media (max-width: 40rem) {
  .swagger-ui :is(table, tbody, tr, td):not(.headers *, .headers) { display: block; width: auto; max-width: 100%; }
  .swagger-ui .opblock-body thead, .swagger-ui .response-col_links { display: none; }
}
.swagger-ui .microlight span[style*="211, 99, 99"] { color: #ff9c94 !important; }
`;
