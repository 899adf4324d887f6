// The pages come whole from the server; this moves the focus, selects, decides, and takes in
// what has changed elsewhere. Everything that is shown is set as text or comes from the server.
import { all, one, press, recall, remember, say } from "./page.js";
import { ask } from "./ask.js";
import { decide, listen, refresh } from "./server.js";
import { clear, picked, restore, toggle, toggleTo } from "./select.js";

const root = document.documentElement;
const looking = () => "looking" in document.body.dataset;
const page = () => one("#main").dataset.page;
const main = () => one("#main");

// Blur and theme.
const setBlur = (on) => { root.classList.toggle("blur", on); press(one("#blur"), on); };
const known = recall("theme");
if (known === "dark" || known === "light") root.dataset.theme = known;
if (recall("blur") !== null) setBlur(recall("blur") === "1");
const blur = () => {
  setBlur(!root.classList.contains("blur"));
  remember("blur", root.classList.contains("blur") ? "1" : "0");
};
const theme = () => {
  const now = root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  remember("theme", root.dataset.theme);
};

// Where the focus is: items are questions, cameras, photos, lines of the log.
const items = () => all(".item", main());
const focusable = (item) => one("a.look, a.open, a", item) && !item.hasAttribute("tabindex") ? one("a.look, a.open, a", item) : item;
const current = () => document.activeElement?.closest?.(".item") ?? null;
const step = (by) => {
  if (page() === "queue") {
    const to = one("#question")?.dataset[by > 0 ? "next" : "previous"];
    if (to) visit(to);
    return null;
  }
  const list = items();
  if (!list.length) return null;
  const at = list.indexOf(current());
  const next = list[at < 0 ? 0 : Math.min(Math.max(at + by, 0), list.length - 1)];
  focusable(next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  return next;
};

// Another page without loading everything again; the address follows.
const visit = async (address, replace = false) => {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  await refresh();
  scrollTo(0, 0);
  one("#question")?.focus({ preventScroll: true });
};
addEventListener("popstate", () => refresh());

// Deciding. What changed comes with the refreshed page, where the focus stays, or with another.
const act = async (body, then = null) => {
  if (looking()) { say("This is read only.", true); return null; }
  const answer = await decide(body);
  if (!answer) return null;
  say(answer.said);
  await (then ? visit(then(answer), true) : refresh());
  return answer;
};
const answer = async (kind) => {
  const question = one("#question");
  if (!question) return;
  const next = question.dataset.next || "/";
  await act({ kind, question: question.dataset.question }, () => next);
};
const pair = async (kind) => {
  const { first, second } = one("#two").dataset;
  await act({ kind, first, second }, kind === "merge" ? (done) => cameraPage(done.camera) : null);
};
const cameraPage = (name) => "/camera?" + new URLSearchParams({ name });
const beside = (first, second) => visit("/two?" + new URLSearchParams({ first, second }));
const subject = () => one("#camera, #photo, #alone", main())?.dataset ?? {};
const chosen = () => {
  if (page() === "photo") return [one("#photo").dataset.photo];
  if (picked.size) return [...picked];
  const at = current();
  return at?.dataset.photo ? [at.dataset.photo] : [];
};
const chosenCameras = () => {
  if (page() === "camera") return [subject().camera];
  if (picked.size) return [...picked];
  const at = current();
  return at?.dataset.camera ? [at.dataset.camera] : [];
};
const afterwards = (answer) => { if (answer) clear(); return answer; };

const actions = {
  async merge() {
    if (page() === "two") return pair("merge");
    if (page() === "queue") return answer("same");
    if (page() === "camera" && picked.size || page() === "photo" || page() === "alone") return actions.move();
    const [first, ...others] = chosenCameras();
    if (!first) return say("Select two cameras first.", true);
    if (others.length) {
      for (const second of others) {
        const done = await act({ kind: "merge", first: actions.stays ?? first, second });
        if (!done) break;
        actions.stays = done.camera;
      }
      delete actions.stays;
      clear();
      return;
    }
    const given = await ask({ title: `Merge ${first} with another camera`, label: "Which one", button: "Merge", cameras: true });
    if (!given) return;
    const then = page() === "camera" ? (done) => cameraPage(done.camera) : null;
    await act({ kind: "merge", first, second: given.value, reason: given.reason }, then);
  },
  async move() {
    const photos = chosen();
    if (!photos.length) return say("Select photos first.", true);
    const given = await ask({ title: `Move ${photos.length === 1 ? "this photo" : photos.length + " photos"}`, label: "To which camera", button: "Move", cameras: true });
    if (given) afterwards(await act({ kind: "move", photos, camera: given.value, reason: given.reason }));
  },
  async split(part) {
    const camera = subject().camera;
    if (page() !== "camera") return;
    if (part) return act({ kind: "split", camera, part });
    if (!picked.size) return say("Select the photos that are to come off first.", true);
    afterwards(await act({ kind: "split", camera, photos: [...picked] }));
  },
  async reject() {
    const photos = chosen();
    if (!photos.length || !subject().camera) return say("Select photos of a camera first.", true);
    afterwards(await act({ kind: "reject", camera: subject().camera, photos }));
  },
  async name() {
    const [camera] = chosenCameras();
    if (!camera) return say("Go to a camera first.", true);
    const given = await ask({ title: `Name ${camera}`, label: "New name", button: "Name", value: /^camera-\d+$/.test(camera) ? "" : camera });
    if (!given) return;
    const then = page() === "camera" ? (done) => cameraPage(done.camera) : null;
    afterwards(await act({ kind: "name", camera, name: given.value, reason: given.reason }, then));
  },
  async note() {
    const camera = page() === "photo" || page() === "alone" || picked.size && page() === "camera" ? null : chosenCameras()[0];
    const photos = camera ? null : chosen();
    if (!camera && !photos.length) return say("Select something to write about first.", true);
    const given = await ask({ title: camera ? `Note on ${camera}` : "Note on photos", label: "Note", button: "Write", plain: true });
    if (given) act(camera ? { kind: "note", camera, text: given.value } : { kind: "note", photos, text: given.value });
  },
  async confirm(camera) {
    if (page() === "queue" && !camera) return;
    for (const each of camera ? [camera] : chosenCameras()) if (!await act({ kind: "confirm", camera: each })) break;
    clear();
  },
  async beside() {
    if (page() === "queue") { one("#beside")?.click(); return; }
    const [first, second] = chosenCameras();
    if (!first) return say("Select two cameras first.", true);
    if (second) return beside(first, second);
    const given = await ask({ title: `${first} beside another camera`, label: "Which one", button: "Show", cameras: true, bare: true });
    if (given) beside(first, given.value);
  },
  status(button) { return act({ kind: "status", camera: subject().camera, status: button.dataset.status }); },
  clear() { clear(); },
};

// Mouse.
document.addEventListener("click", async (event) => {
  const target = event.target.closest?.("button, a, input[type=checkbox], dialog") ?? event.target;
  if (event.target.matches?.("dialog")) return event.target.close();
  const { dataset } = target;
  if (!dataset) return;
  if (dataset.answer) return answer(dataset.answer);
  if (dataset.pair) return pair(dataset.pair);
  if (dataset.do === "confirm") return actions.confirm(dataset.camera);
  if (dataset.undo) return act({ kind: "undo", number: Number(dataset.undo) });
  if (dataset.splitGroup) return actions.split(dataset.splitGroup);
  if (dataset.pick !== undefined) {
    const item = target.closest(".item");
    return event.shiftKey ? toggleTo(item) : toggle(item, target.checked);
  }
  if (dataset.act === "status") return actions.status(target);
  if (dataset.act) return actions[dataset.act]();
  if (target.id === "undo") return act({ kind: "undo" });
  if (target.id === "redo") return act({ kind: "redo" });
  if (target.id === "blur") return blur();
  if (target.id === "theme") return theme();
  if (target.id === "help") return one("#keys").showModal();
  const inside = target.matches?.("#question a.skip-question, #coming a");
  if (inside && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    visit(target.getAttribute("href"));
  }
});

// Keys.
const pages = ["/", "/cameras", "/alone", "/sources", "/log"];
const keys = {
  j: () => step(1),
  k: () => step(-1),
  J: () => { const item = step(1); if (item) toggle(item, true); },
  K: () => { const item = step(-1); if (item) toggle(item, true); },
  s: () => (page() === "queue" ? answer("same") : page() === "two" ? pair("merge") : actions.split()),
  d: () => (page() === "queue" ? answer("different") : page() === "two" ? pair("different") : null),
  c: () => (page() === "queue" ? answer("cannot tell") : page() === "two" ? pair("cannot tell") : null),
  a: () => {
    const buttons = all("#question [data-do=confirm]");
    return page() === "queue" ? buttons[0]?.click() : actions.confirm();
  },
  A: () => all("#question [data-do=confirm]")[1]?.click(),
  m: () => actions.merge(),
  x: () => (page() === "queue" ? answer("different") : actions.reject()),
  v: () => actions.beside(),
  n: () => actions.name(),
  w: () => actions.note(),
  u: () => act({ kind: "undo" }),
  U: () => act({ kind: "redo" }),
  b: blur,
  t: theme,
  "/": () => { one("#find").focus(); one("#find").select(); },
  "?": () => one("#keys").showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  const typing = event.target.matches?.("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape") {
    if (typing) event.target.blur(); else clear();
    return;
  }
  if (typing) return;
  const item = current();
  if (event.key === " " && item && one("[data-pick]", item)) {
    event.preventDefault();
    return event.shiftKey ? toggleTo(item) : toggle(item);
  }
  if (/^[1-5]$/.test(event.key)) { location.href = pages[Number(event.key) - 1]; return; }
  const action = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
  if (action) { event.preventDefault(); action(); }
});

const fresh = () => {
  restore();
  if (matchMedia("(max-width: 900px)").matches) one(".facets details")?.removeAttribute("open");
};
addEventListener("samecam:fresh", fresh);
fresh();
if (page() === "queue") one("#question")?.focus({ preventScroll: true });
listen();
