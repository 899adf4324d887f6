// What is selected: photos by hash, cameras by name; kept while the page comes anew.
import { all, one } from "./page.js";

export const picked = new Set();
let last = null;

const keyOf = (item) => one("[data-pick]", item)?.dataset.pick;

const show = () => {
  const noun = one("#cameras") ? "camera" : "photo";
  for (const item of all("#main .item")) {
    const box = one("[data-pick]", item);
    if (!box) continue;
    box.checked = picked.has(box.dataset.pick);
    item.classList.toggle("picked", box.checked);
  }
  const place = one("#selected");
  if (place) place.textContent = picked.size ? `${picked.size} ${noun}${picked.size === 1 ? "" : "s"} selected` : "";
  document.body.toggleAttribute("data-picked", picked.size > 0);
};

export const toggle = (item, on) => {
  const key = keyOf(item);
  if (key === undefined) return;
  if (on ?? !picked.has(key)) picked.add(key); else picked.delete(key);
  last = key;
  show();
};

// All from what was selected last up to this one.
export const toggleTo = (item) => {
  const list = all("#main .item").filter((each) => keyOf(each) !== undefined);
  const from = list.findIndex((each) => keyOf(each) === last), to = list.indexOf(item);
  if (from < 0 || to < 0) return toggle(item, true);
  for (const each of list.slice(Math.min(from, to), Math.max(from, to) + 1)) picked.add(keyOf(each));
  show();
};

export const clear = () => { picked.clear(); last = null; show(); };

// On a page that has come anew: what is no longer there is no longer selected.
export const restore = () => {
  const there = new Set(all("#main [data-pick]").map((box) => box.dataset.pick));
  for (const key of [...picked]) if (!there.has(key)) picked.delete(key);
  show();
};
