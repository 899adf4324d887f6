// One dialogue for everything that needs a word: a name, a note, another camera.
import { one } from "./page.js";

const dialog = one("#ask"), form = one("#ask-form");
const value = one("#ask-value"), reason = one("#ask-reason"), names = one("#ask-names");
let suggest = false;

const fill = async () => {
  if (!suggest) return names.replaceChildren();
  try {
    const response = await fetch("/names?" + new URLSearchParams({ q: value.value }));
    const found = (await response.json()).names;
    names.replaceChildren(...found.map((name) => {
      const option = document.createElement("option");
      option.value = name;
      return option;
    }));
  } catch { /* a name can be typed all the same */ }
};
value.addEventListener("input", fill);

// Resolves to { value, reason }, or to null if it was closed.
export const ask = ({ title, label, button, value: given = "", cameras = false, plain = false, bare = false }) => {
  const before = document.activeElement;
  one("#ask-name").textContent = title;
  one("#ask-label").textContent = label;
  one("#ask-do").textContent = button;
  value.value = given;
  reason.value = "";
  reason.closest("label").hidden = plain || bare;
  suggest = cameras;
  fill();
  dialog.returnValue = "";
  dialog.showModal();
  value.focus();
  value.select();
  return new Promise((resolve) => {
    let answer = null;
    const submit = (event) => {
      if (!value.value.trim()) { event.preventDefault(); return; }
      answer = { value: value.value.trim(), reason: reason.value.trim() };
    };
    form.addEventListener("submit", submit);
    dialog.addEventListener("close", () => {
      form.removeEventListener("submit", submit);
      if (before?.isConnected) before.focus({ preventScroll: true });
      resolve(answer);
    }, { once: true });
  });
};
