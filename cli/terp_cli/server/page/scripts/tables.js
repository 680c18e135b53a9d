// Tables: a wide one scrolls, and a long one has pages.

import { button, make } from "./dom.js";

const ROWS = 200;

/** Put each table among nodes into a frame. */
export function frameTables(nodes) {
  for (const table of nodes.querySelectorAll("table")) {
    const frame = make("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Table" });
    table.replaceWith(frame);
    frame.append(table);
    // The corner of a data frame names nothing.
    for (const corner of table.querySelectorAll("thead th:empty")) corner.replaceWith(make("td"));
    // A cell that spans rows cannot be cut between two pages.
    if (table.tBodies[0]?.rows.length > ROWS && !table.querySelector("tbody [rowspan]")) turnPages(frame, table.tBodies[0]);
  }
  return nodes;
}

function turnPages(frame, body) {
  const rows = [...body.rows];
  const told = make("small", { class: "muted", role: "status" });
  let first = 0;
  const go = (by) => () => {
    first += by;
    const end = Math.min(first + ROWS, rows.length);
    body.replaceChildren(...rows.slice(first, end));
    told.textContent = `Rows ${(first + 1).toLocaleString()} to ${end.toLocaleString()} of ${rows.length.toLocaleString()}`;
    before.disabled = !first;
    next.disabled = end === rows.length;
  };
  const before = button("‹ Previous", go(-ROWS));
  const next = button("Next ›", go(ROWS));
  frame.after(make("div", { class: "bar" }, before, told, next));
  go(0)();
}
