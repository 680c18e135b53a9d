// Text of programs: colours, and carriage returns, which overwrite a line.

import { make } from "./dom.js";
import { readable } from "./shown.js";

// Characters of one stream that the page keeps from its beginning and from its end; all of it can be downloaded.
const MOST = 100000;
const PIECE = 20000;
const ESCAPE = /\u001b(?:\[([0-9;]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

function classesAfter(classes, codes) {
  let next = classes;
  for (const code of codes.split(";").map(Number)) {
    if (code === 0) next = [];
    else if (code === 1) next = [...next, "a-bold"];
    else if (code === 39) next = next.filter((one) => !one.startsWith("a-c"));
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      next = [...next.filter((one) => !one.startsWith("a-c")), `a-c${code % 10}`];
    } else if (code === 38 || code === 48) break;
  }
  return next;
}

/** Text with escape sequences, as nodes; `classes` are those that hold at its beginning. */
function painted(text, classes) {
  const nodes = [];
  let at = 0;
  const add = (piece) => piece && nodes.push(classes.length ? make("span", { class: classes.join(" ") }, readable(piece)) : readable(piece));
  for (const found of text.matchAll(ESCAPE)) {
    add(text.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === "m") classes = classesAfter(classes, found[1]);
  }
  add(text.slice(at));
  return { nodes, classes };
}

export const paintedNodes = (text) => painted(text, []).nodes;

/** One stream of a run. Finished lines are drawn once; the last one may be overwritten. */
export class Printing {
  constructor(stream) {
    this.stream = stream;
    this.last = make("span");
    this.node = make("pre", { class: `printed ${stream}`, onscroll: () => (this.atEnd = isAtEnd(this.node)) }, this.last);
    this.atEnd = true;
    this.line = "";
    this.classes = [];
    this.room = MOST;
    this.tail = [];
    this.left = 0;
    this.coming = [];
  }

  add(text) {
    this.coming.push(text);
  }

  draw() {
    if (!this.coming.length) return;
    const text = this.line + this.coming.join("");
    this.coming = [];
    const end = text.lastIndexOf("\n") + 1;
    if (end) this.commit(text.slice(0, end));
    this.line = text.slice(end);
    this.last.replaceChildren(...painted(current(this.line), this.classes).nodes);
    // Stay at the end if it is in view.
    if (!this.atEnd) return;
    this.node.scrollTop = this.node.scrollHeight;
    // A part that scrolls must be reached by keys.
    if (this.node.scrollTop) this.node.tabIndex = 0;
  }

  commit(lines) {
    const whole = lines.includes("\r") ? lines.split("\n").map(current).join("\n") : lines;
    for (let at = 0; at < whole.length; ) {
      const end = whole.lastIndexOf("\n", at + PIECE) + 1;
      const to = end > at ? end : at + PIECE;
      this.append(whole.slice(at, to));
      at = to;
    }
  }

  append(piece) {
    const { nodes, classes } = painted(piece, this.classes);
    this.classes = classes;
    const node = make("span", {}, ...nodes);
    this.last.before(node);
    this.room -= piece.length;
    if (this.room >= 0 && !this.gap) return;
    if (!this.gap) node.before((this.gap = make("span", { class: "muted" })));
    this.tail.push({ node, piece });
    while (this.room < -MOST && this.tail.length > 1) {
      const { node: first, piece: gone } = this.tail.shift();
      first.remove();
      this.room += gone.length;
      this.left += gone.split("\n").length - 1;
      this.isCut = true;
      this.gap.textContent = `… ${this.left.toLocaleString()} lines left out …\n`;
    }
  }
}

const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 40;

/** Return a line after its carriage returns have overwritten it. */
function current(line) {
  const parts = line.replace(/\r+$/, "").split("\r");
  return parts.reduce((before, part) => part + before.slice(part.length), "");
}
