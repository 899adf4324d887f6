// Asking the server: a decision, the page as it stands now, and word of changes elsewhere.
import { all, one, say } from "./page.js";

let version = Number(document.body.dataset.version);
let coming = null;
let deciding = 0, late = 0; // own decisions on their way, and a version that was told meanwhile

export const decide = async (body) => {
  deciding += 1;
  try {
    const response = await fetch("/decide", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ""))),
    });
    const answer = await response.json();
    if (response.ok) return answer;
    say(answer.error ?? "This could not be done.", true);
  } catch {
    say("samecam review does not answer: it may have been ended. Nothing was decided.", true);
  } finally {
    deciding -= 1;
  }
  if (late > version) refresh();
  return null;
};

// What has the focus, so that it has it again when the page has come anew.
const focusNow = () => {
  const active = document.activeElement, item = active?.closest?.(".item");
  const list = all("#main .item");
  return { id: active?.id, key: item?.dataset.key, place: list.indexOf(item), inside: one("#main").contains(active) };
};
const focusAgain = ({ id, key, place, inside }) => {
  if (!inside) return;
  const list = all("#main .item");
  const item = list.find((each) => key !== undefined && each.dataset.key === key)
    ?? (place >= 0 ? list[Math.min(place, list.length - 1)] : null);
  const target = (id && document.getElementById(id)) || (item && (item.hasAttribute("tabindex") ? item : one("a.look, a.open, a", item)));
  target?.focus({ preventScroll: true });
};

// Pictures that are there already stay: they neither flicker nor are asked for again.
const keepPictures = (main) => {
  const path = (image) => image.getAttribute("src").split("?")[0];
  const known = new Map();
  for (const image of all("#main img")) if (image.complete && image.naturalWidth) known.set(path(image), image);
  for (const image of all("img", main)) {
    const old = known.get(path(image));
    if (!old || old.parentElement.className !== image.parentElement.className) continue;
    known.delete(path(image));
    old.alt = image.alt;
    image.replaceWith(old);
  }
};

export const refresh = async () => {
  const address = location.href;
  coming?.abort();
  const mine = coming = new AbortController();
  let text, status;
  try {
    const response = await fetch(address, { signal: mine.signal, headers: { Accept: "text/html" } });
    [text, status] = [await response.text(), response.status];
  } catch {
    return;
  }
  if (status === 403) return say(text, true);
  const fresh = new DOMParser().parseFromString(text, "text/html");
  if (!one("#main", fresh)) return;
  const focus = focusNow();
  const main = document.adoptNode(one("#main", fresh));
  keepPictures(main);
  one("#main").replaceWith(main);
  one(".links").replaceWith(document.adoptNode(one(".links", fresh)));
  document.title = fresh.title;
  version = Math.max(version, Number(fresh.body.dataset.version));
  document.body.dataset.version = version;
  focusAgain(focus);
  load();
  dispatchEvent(new Event("samecam:fresh"));
};

// Parts that take a moment come after the page.
export const load = () => {
  for (const place of all("[data-load]")) {
    const from = place.dataset.load;
    delete place.dataset.load;
    fetch(from).then((response) => response.text()).then((text) => {
      const part = new DOMParser().parseFromString(text, "text/html");
      place.replaceChildren(...[...part.body.childNodes].map((node) => document.adoptNode(node)));
    }).catch(() => { /* the page does without */ });
  }
};

// Pictures that are still being made are asked for again.
const again = (image) => {
  const tries = Number(image.dataset.tries ?? 0);
  if (tries > 60 || !image.isConnected) return;
  image.dataset.tries = tries + 1;
  setTimeout(() => {
    if (image.isConnected) image.src = image.getAttribute("src").split("?")[0] + "?again=" + tries;
  }, 300 + 100 * Math.min(tries, 10));
};
const isPicture = (node) => node instanceof HTMLImageElement && /^\/(small|large)\//.test(node.getAttribute("src"));
document.addEventListener("error", (event) => { if (isPicture(event.target)) again(event.target); }, true);
for (const image of all("img")) if (isPicture(image) && image.complete && !image.naturalWidth) again(image);

// Several tabs agree: a change anywhere shows everywhere. A browser has few connections to one
// server, so that only tabs that are seen listen; others catch up when they are looked at.
let events = null, gone = 0;
const hear = () => {
  if (events || document.hidden) return;
  events = new EventSource("/events");
  events.onmessage = (event) => {
    gone = 0;
    const now = JSON.parse(event.data).version;
    // Whoever decides shows what came of it, maybe elsewhere: this page may be gone by now.
    if (deciding) late = now;
    else if (now > version) { version = now; refresh(); }
  };
  events.onerror = () => {
    gone += 1;
    if (gone === 3) say("samecam review does not answer: it may have been ended.", true);
  };
};
const rest = () => { events?.close(); events = null; };

export const listen = () => {
  load();
  hear();
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : hear()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", hear);
};
