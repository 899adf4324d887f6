
"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const details = JSON.parse(one("#details").textContent);
  const cards = all(".card");
  const find = one("#find");

  const remember = (name, value) => {
    try { localStorage.setItem("samecam." + name, value); } catch { /* not kept, then */ }
  };
  const recall = (name) => {
    try { return localStorage.getItem("samecam." + name); } catch { return null; }
  };

  // Cards: folded to their strongest and weakest members.
  const fold = (card, folded) => {
    const button = one(".fold", card);
    if (!button) return;
    card.classList.toggle("folded", folded);
    button.setAttribute("aria-expanded", String(!folded));
    button.textContent = folded ? button.dataset.label : "Show fewer";
  };
  for (const card of cards) {
    fold(card, true);
    one(".fold", card)?.addEventListener("click", () => fold(card, !card.classList.contains("folded")));
    for (const more of all(".more", card))
      more.addEventListener("click", () => {
        fold(card, false);
        one(".photo:not(.strongest) .look", more.parentElement)?.focus();
      });
  }
  for (const part of all(".folds")) {
    const button = one(".fold", part);
    button.hidden = false;
    fold(part, true);
    button.addEventListener("click", () => fold(part, !part.classList.contains("folded")));
  }
  const unfold = one("#unfold");
  unfold.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    unfold.setAttribute("aria-pressed", String(open));
    for (const card of cards) fold(card, !open);
  });

  // Filter: by words, all of which must occur; "camera 3" or "3" names a camera, "group 3" a group.
  // Cards show what matches, and so does every table.
  const remarked = one("#remarked");
  const counted = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const MANY = 1000;  // a folded table with more rows than that stays folded
  const texts = new WeakMap();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const filterRows = (words, named) => {
    let rows = 0;
    for (const row of all(".finds tbody tr")) {
      const keep = named.size
        ? (row.dataset.cameras ?? "").split(" ").some((camera) => named.has(camera))
        : words.every((word) => textOf(row).includes(word));
      row.hidden = !keep;
      rows += keep ? 1 : 0;
    }
    for (const part of all(".folds")) {
      const hits = all("tbody tr:not([hidden])", part).length;
      part.classList.toggle("searched", words.length > 0 && hits <= MANY);
    }
    return words.length ? rows : 0;
  };
  const filter = () => {
    const wanted = find.value.trim().toLowerCase();
    const words = wanted.split(/\s+/).filter(Boolean);
    const only = remarked.getAttribute("aria-pressed") === "true";
    const camera = /^(?:camera\s+)?(\d+)$/.exec(wanted)?.[1];
    const group = /^group\s+(\d+)$/.exec(wanted)?.[1];
    const cameras = new Set();
    let photos = 0, shown = 0, alone = 0;
    for (const card of cards) {
      const named = (camera !== undefined && card.dataset.camera === camera)
        || (group !== undefined && card.dataset.groups.split(" ").includes(group));
      if (named) cameras.add(card.dataset.camera);
      let hits = 0;
      for (const photo of all(".photo", card)) {
        const hit = words.length > 0 && !named && words.every((word) => photo.dataset.text.includes(word));
        photo.classList.toggle("hit", hit);
        photo.classList.toggle("miss", words.length > 0 && !named && !hit);
        hits += hit || named ? 1 : 0;
      }
      const keep = (words.length === 0 || hits > 0) && (!only || "remarks" in card.dataset);
      card.hidden = !keep;
      for (const more of all(".more", card)) more.hidden = words.length > 0 && !named;
      const row = one(`.overview tr[data-camera="${card.dataset.camera}"]`);
      if (row) row.hidden = !keep;
      const isCamera = card.dataset.camera !== "none";
      shown += keep && isCamera ? 1 : 0;
      alone += keep && !isCamera ? 1 : 0;
      photos += keep ? hits : 0;
    }
    const rows = filterRows(words, cameras);
    const active = words.length > 0 || only;
    const total = cards.filter((card) => card.dataset.camera !== "none").length;
    const where = `${shown} of ${counted(total, "camera")}${alone ? ", and of none" : ""}`;
    one("#found").textContent = !active ? ""
      : words.length ? `${counted(photos, "photo")} in ${where}; ${counted(rows, "row")} of tables` : where;
    one("#nothing").hidden = !active || shown + alone > 0;
  };
  find.addEventListener("input", filter);
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));
  remarked.addEventListener("click", () => {
    press(remarked, remarked.getAttribute("aria-pressed") !== "true");
    filter();
  });

  // A closer look at one photo, and at the next. Everything is set as text, never as markup.
  const closer = one("#closer");
  let looked = null;
  const walked = () => cards.filter((card) => !card.hidden).flatMap((card) => all(".photo:not(.miss) .look", card));
  const look = (button) => {
    looked = button;
    const [name, rows] = details[Number(button.dataset.number)];
    one("h3", closer).textContent = name;
    const picture = one("img", button);
    one(".picture", closer).replaceChildren(...(picture ? [picture.cloneNode()] : []));
    one("dl", closer).replaceChildren(...rows.flatMap(([label, value]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = label;
      dd.textContent = value;
      return [dt, dd];
    }));
    const order = walked(), at = order.indexOf(button);
    one("#place").textContent = `${at + 1} of ${counted(order.length, "photo")}`;
    one("#before").disabled = at <= 0;
    one("#after").disabled = at < 0 || at === order.length - 1;
    if (!closer.open) closer.showModal();
  };
  const walk = (by) => {
    const order = walked(), next = order[order.indexOf(looked) + by];
    if (next) look(next);
  };
  one("#before").addEventListener("click", () => walk(-1));
  one("#after").addEventListener("click", () => walk(1));
  closer.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) { event.preventDefault(); walk(by); }
  });
  closer.addEventListener("close", () => {
    const card = looked?.closest(".card");
    if (card && looked.offsetParent === null) fold(card, false);
    looked?.focus();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".look");
    if (button) look(button);
    if (event.target.matches?.("dialog")) event.target.close();
  });

  // Blur and theme.
  const blur = one("#blur");
  const setBlur = (on) => {
    root.classList.toggle("blur", on);
    press(blur, on);
    remember("blur", on ? "1" : "0");
  };
  if (blur) {
    if (recall("blur") === "1") setBlur(true);
    blur.addEventListener("click", () => setBlur(!root.classList.contains("blur")));
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const setTheme = (name) => { root.dataset.theme = name; };
  const known = recall("theme");
  if (known === "dark" || known === "light") setTheme(known);
  const theme = one("#theme");
  theme.addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    setTheme(now === "dark" ? "light" : "dark");
    remember("theme", root.dataset.theme);
  });

  // Keys.
  const keys = one("#keys");
  one("#help").addEventListener("click", () => keys.showModal());
  const step = (by) => {
    const visible = cards.filter((card) => !card.hidden);
    if (!visible.length) return;
    const at = visible.findIndex((card) => card.contains(document.activeElement));
    const next = at < 0 ? 0 : Math.min(Math.max(at + by, 0), visible.length - 1);
    visible[next].focus({ preventScroll: true });
    visible[next].scrollIntoView({ block: "start" });
  };
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    o: () => {
      const card = document.activeElement.closest?.(".card");
      if (card) fold(card, !card.classList.contains("folded"));
    },
    b: () => blur?.click(),
    t: () => theme.click(),
    "/": () => { find.focus(); find.select(); },
    "?": () => keys.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
    if (event.target.matches?.("input, textarea, select")) {
      if (event.key === "Escape") { find.value = ""; filter(); find.blur(); }
      return;
    }
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (action) { event.preventDefault(); action(); }
  });

  // A link to a camera that the filter hides shows it again.
  const arrive = () => {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    if (target?.closest("[hidden]")) {
      find.value = "";
      press(remarked, false);
      filter();
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", arrive);

  // Buttons that would do nothing.
  if (!cards.some((card) => "remarks" in card.dataset)) remarked.hidden = true;
  if (!cards.some((card) => one(".fold", card))) unfold.hidden = true;
})();
