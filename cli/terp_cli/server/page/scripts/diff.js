// Diffs of files: side by side where there is room, else below each other.

import { coloured } from "./code.js";
import { make } from "./dom.js";

/** Return the hunks of a unified diff of the file at `path` as a node. */
export function diffNode(path, hunks) {
  const suffix = path.split(".").pop();
  const node = make("div", { class: "diff", role: "group", "aria-label": `Changes of ${path}` }, make("b", {}, path));
  let [left, right, removed, added] = [0, 0, [], []];
  const side = (tag, [number, line] = ["", ""]) => [make("span", { class: "muted" }, String(number)), make(number ? tag : "span", {}, ...coloured(line, suffix))];
  const row = (kind, ...sides) => node.append(make("div", { class: kind }, ...sides.flat()));
  const flush = () => {
    while (removed.length || added.length) row("changed", side("del", removed.shift()), side("ins", added.shift()));
  };
  for (const line of hunks.split("\n")) {
    const hunk = /^@@ -(\d+)\S* \+(\d+)/.exec(line);
    if (hunk) {
      flush();
      [left, right] = [Number(hunk[1]), Number(hunk[2])];
      row("hunk", make("span", {}, "⋯"));
    } else if (line[0] === "-") removed.push([left++, line.slice(1)]);
    else if (line[0] === "+") added.push([right++, line.slice(1)]);
    else if (line[0] === " ") {
      flush();
      row("same", side("span", [left++, line.slice(1)]), side("span", [right++, line.slice(1)]));
    }
  }
  flush();
  return node;
}
