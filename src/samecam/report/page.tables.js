"use strict";
(() => {
  // Tables: a heading sorts by its column, up, down, and back to the order of the page.
  const order = new Intl.Collator("en", { numeric: true });
  const textOf = (row, column) => row.cells[column].textContent.trim();
  const numbersOf = (rows, column) => {
    const numbers = rows.map((row) => {
      const text = textOf(row, column).replaceAll(",", "").replace("\u2212", "-");
      return ["", "\u2013", "none"].includes(text) ? -Infinity : Number(text);
    });
    return numbers.some(Number.isNaN) || !numbers.some(Number.isFinite) ? null : numbers;
  };
  const sorted = (rows, column, down) => {
    const numbers = numbersOf(rows, column);
    const texts = numbers ? null : rows.map((row) => textOf(row, column));
    const places = rows.map((_, k) => k);
    const compare = numbers
      ? (a, b) => (numbers[a] === numbers[b] ? 0 : numbers[a] - numbers[b])
      : (a, b) => order.compare(texts[a], texts[b]);
    places.sort((a, b) => (down ? compare(b, a) : compare(a, b)) || a - b);
    return places.map((k) => rows[k]);
  };
  for (const table of document.querySelectorAll("table.sorts")) {
    const body = table.tBodies[0], first = [...body.rows];
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      if (heading.tagName !== "TH") return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      heading.append(button);
      const steps = heading.classList.contains("n") ? ["descending", "ascending"] : ["ascending", "descending"];
      button.addEventListener("click", () => {
        const next = [...steps, null][steps.indexOf(heading.getAttribute("aria-sort")) + 1];
        for (const other of headings) other.removeAttribute("aria-sort");
        if (next) heading.setAttribute("aria-sort", next);
        body.append(...(next ? sorted(first, column, next === "descending") : first));
      });
    });
  }
})();
