// The field for the API key. All pages share the stored key.

const input = document.querySelector('#key');

/**
 * Keeps the API key in the session storage of the tab. Calls `onChange` with the initial key and with each other key,
 * and with an empty text if there is no valid key. Throws in a browser that blocks the session storage.
 */
export function setUpApiKey(onChange) {
  const update = () => {
    const key = input.checkValidity() ? input.value.trim() : '';
    onChange(key);
    if (key) sessionStorage.setItem('apiKey', key);
    else sessionStorage.removeItem('apiKey');
  };
  input.value = sessionStorage.getItem('apiKey') ?? '';
  input.addEventListener('input', update);
  input.form.addEventListener('submit', (event) => event.preventDefault());
  update();
}
