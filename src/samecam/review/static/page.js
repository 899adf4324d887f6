// Small words for what a page does all the time.
export const one = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
export const press = (button, on) => button?.setAttribute("aria-pressed", String(on));

export const remember = (name, value) => {
  try { localStorage.setItem("samecam." + name, value); } catch { /* not kept, then */ }
};
export const recall = (name) => {
  try { return localStorage.getItem("samecam." + name); } catch { return null; }
};

// What was done, or why not; read out by a screen reader, gone after a while.
let timer = 0;
export const say = (text, trouble = false) => {
  const place = one("#said");
  place.textContent = text;
  place.classList.toggle("trouble", trouble);
  clearTimeout(timer);
  timer = setTimeout(() => { place.textContent = ""; }, trouble ? 9000 : 5000);
};
