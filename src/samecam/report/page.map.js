"use strict";
(() => {
  // The map of correlations: a point is two photos. Values are read back from its picture.
  const map = document.querySelector("#map");
  if (!map) return;
  const details = JSON.parse(document.querySelector("#details").textContent);
  const photos = JSON.parse(map.dataset.photos);
  const full = Number(map.dataset.full);
  const reading = document.querySelector("#reading");
  const cross = document.querySelector("#cross");
  const pair = document.querySelector("#pair");
  let side = 0, pixels = null, at = null;

  const picture = new Image();
  picture.addEventListener("load", () => {
    const canvas = document.createElement("canvas");
    side = canvas.width = picture.naturalWidth;
    canvas.height = picture.naturalHeight;
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    pixels = context.getImageData(0, 0, side, canvas.height).data;
    map.setAttribute("tabindex", "0");
    map.classList.add("live");
  });
  picture.src = map.querySelector("image").getAttribute("href");

  const about = (k) => {
    const first = Math.floor((k * photos.length) / side);
    const last = Math.floor(((k + 1) * photos.length) / side);
    const photo = photos[first];
    const more = last - first - 1;
    if (!Array.isArray(photo)) {
      const [name, rows] = details[photo];
      const said = new Map(rows);
      return { number: photo, name, camera: said.get("Camera"), group: said.get("Group"), more };
    }
    const [name, camera, group] = photo;
    const word = (n) => (n < 0 ? "none" : String(n));
    return { number: null, name, camera: word(camera), group: word(group), more };
  };
  const valueText = (row, column) => {
    const share = pixels[4 * (row * side + column) + 3] / 255;
    if (share === 0) return "0 or less";
    const text = (share * full).toFixed(map.dataset.units ? 1 : 4) + map.dataset.units;
    return share === 1 ? `${text} or more` : `about ${text}`;
  };
  const said = (photo) => `${photo.name}${photo.more ? ` and ${photo.more} more` : ""} (group ${photo.group})`;
  const read = (row, column) => {
    at = [row, column];
    const step = 100 / side;
    const x = (column + .5) * step, y = (row + .5) * step;
    cross.setAttribute("d", `M0 ${y}H100M${x} 0V100`);
    const value = row === column && side === photos.length ? "one photo" : valueText(row, column);
    reading.textContent = `${said(about(row))} × ${said(about(column))}: ${value}`;
  };
  const place = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    const [row, column] = [point.y, point.x].map((v) => Math.floor((v * side) / 100));
    return [row, column].every((k) => k >= 0 && k < side) ? [row, column] : null;
  };
  const leave = () => {
    at = null;
    cross.setAttribute("d", "");
    reading.textContent = "\u00a0";
  };
  const half = (photo) => {
    const box = document.createElement("figure");
    const image = photo.number === null ? null : document.querySelector(`.look[data-number="${photo.number}"] img`);
    const name = document.createElement("figcaption");
    name.textContent = `${photo.name}${photo.more ? ` and ${photo.more} more` : ""}`;
    const link = document.createElement("a");
    const known = photo.camera !== "none" && document.getElementById(`camera-${photo.camera}`);
    link.textContent = photo.camera === "none" ? "of no camera" : `camera ${photo.camera}`;
    if (known) link.href = `#camera-${photo.camera}`;
    link.addEventListener("click", () => pair.close());
    box.append(...(image ? [image.cloneNode()] : []), name, link);
    return box;
  };
  const open = () => {
    const [row, column] = at;
    document.querySelector("#pair-value").textContent = row === column && side === photos.length
      ? "One and the same photo." : `They correlate by ${valueText(row, column)}.`;
    pair.querySelector(".halves").replaceChildren(half(about(row)), half(about(column)));
    pair.showModal();
  };

  map.addEventListener("pointermove", (event) => {
    const found = pixels && place(event);
    if (found) read(...found);
    else leave();
  });
  map.addEventListener("pointerleave", leave);
  map.addEventListener("click", (event) => {
    const found = pixels && place(event);
    if (!found) return;  // a label: a link to its group
    event.preventDefault();
    read(...found);
    open();
  });
  map.addEventListener("keydown", (event) => {
    if (event.target !== map || !pixels) return;
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (by) {
      const [row, column] = at ?? [0, 0];
      read(...[row + by[0], column + by[1]].map((k) => Math.min(Math.max(k, 0), side - 1)));
    } else if (event.key === "Enter" && at) open();
    else return;
    event.preventDefault();
  });
})();
