// The model's Markdown: parsed by marked, cleaned by DOMPurify, drawn block by block while it streams.

import { codeBlock } from "./code.js";
import { make } from "./dom.js";
import { drawFormulas } from "./maths.js";
import { frameTables } from "./tables.js";

const HARMLESS = /^<\/?(br|sub|sup|kbd|details|summary|b|i|u)\s*\/?>$/i;
const RULES = {
  ALLOWED_TAGS: "a p br hr em strong b i u del code pre blockquote ul ol li table thead tbody tr th td h1 h2 h3 h4 h5 h6 sub sup kbd details summary".split(" "),
  ALLOWED_ATTR: ["href", "title", "start", "align"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|[^:]*$)/i,
  RETURN_DOM_FRAGMENT: true,
};
const LONGEST_WAIT_MS = 400;
const escaped = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

const computed = (html) => html.replaceAll("\ufdd0", '<u title="computed">').replaceAll("\ufdd1", "</u>");

// To Markdown the backslashes and stars of a formula would mean something else.
const MATHS = /^(?:\$\$[^]+?\$\$|\\\[[^]+?\\\]|\\\([^]+?\\\)|\$(?![\s$])(?:\\.|[^\\$\n])*?[^\s\\$]\$(?!\d))/;
const maths = (level) => ({
  name: `maths-${level}`,
  level,
  start: (text) => text.search(level === "inline" ? /\$|\\[[(]/ : /\n(?:\$\$|\\\[)/),
  tokenizer(text) {
    const [raw] = MATHS.exec(text) ?? [];
    if (raw && (level === "inline" || /^(\$\$|\\\[)/.test(raw))) return { type: `maths-${level}`, raw };
  },
  renderer: ({ raw }) => `<code title="maths">${escaped(raw)}</code>`,
});

const parser = new marked.Marked({
  gfm: true,
  extensions: [maths("block"), maths("inline")],
  renderer: {
    // HTML of the model is shown as text: complete, and without effect.
    html: ({ text }) => (HARMLESS.test(text.trim()) ? text : escaped(text)),
    // A picture from another server would reveal the reader to it.
    image: ({ href, text }) => `<a href="${escaped(href)}" title="picture">${escaped(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

function linked(nodes) {
  drawFormulas(nodes);
  for (const link of nodes.querySelectorAll("a[href]")) {
    const to = link.getAttribute("href");
    const isPicture = link.title === "picture";
    link.title = to;
    if (/^(https?|mailto):/i.test(to)) {
      Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
    } else {
      // A name without a server is a file of the session.
      link.dataset.file = decodedName(to);
      link.href = "#";
      if (isPicture) link.dataset.picture = "";
    }
  }
  return frameTables(nodes);
}

function decodedName(address) {
  try {
    return decodeURIComponent(address).replace(/^(\.\/)+/, "");
  } catch {
    return address;
  }
}

/** Blocks as nodes. Those between two fences are cleaned together: to begin costs more than to clean. */
function drawn(tokens) {
  const nodes = [];
  let prose = [];
  const clean = () => prose.length && nodes.push(linked(DOMPurify.sanitize(computed(parser.parser(prose)), RULES)));
  for (const token of tokens) {
    if (token.type !== "code") {
      prose.push(token);
      continue;
    }
    clean();
    prose = [];
    nodes.push(codeBlock(token.text, token.lang ?? ""));
  }
  clean();
  return nodes;
}

/** Return the node of a complete text. */
export const markdown = (text) => make("div", { class: "prose" }, ...drawn(parser.lexer(text)));

/** A text that grows. Finished blocks are drawn once; only the last one is drawn again. */
export class Growing {
  constructor() {
    this.node = make("div", { class: "prose" });
    this.open = make("div", { "aria-busy": "true" });
    this.node.append(this.open);
    this.rest = "";
    this.dirty = false;
    this.free = 0;
  }

  add(text) {
    this.rest += text.replaceAll("\r\n", "\n");
    this.dirty = true;
  }

  /** Draw new text; return true if some is left for later, because a long block must not block the page. */
  draw() {
    if (!this.dirty) return false;
    const began = performance.now();
    if (began < this.free) return true;
    this.dirty = false;
    if (!this.drawnAsFence()) this.drawBlocks();
    this.free = performance.now() + Math.min(4 * (performance.now() - began), LONGEST_WAIT_MS);
    return false;
  }

  drawBlocks() {
    const tokens = parser.lexer(this.rest);
    const last = tokens.findLastIndex((token) => token.type !== "space");
    this.commit(tokens.slice(0, Math.max(last, 0)));
    this.open.replaceChildren(...drawn(tokens.slice(last, last + 1)));
    if (last >= 0 && /^( {0,3})(```|~~~)/.test(this.rest)) this.beginFence();
  }

  commit(tokens) {
    this.open.before(...drawn(tokens));
    this.rest = this.rest.slice(tokens.reduce((length, { raw }) => length + raw.length, 0));
  }

  /** Note an open fence, which may be long: only its new text is appended from now on. */
  beginFence() {
    const code = this.open.querySelector("code");
    if (!code || isClosed(this.rest)) return;
    this.fence = { code, length: this.rest.length };
  }

  drawnAsFence() {
    if (!this.fence) return false;
    const { code, length } = this.fence;
    const added = this.rest.slice(length);
    // Only the last lines can close it.
    if (isClosed(this.rest.slice(0, 40).split("\n")[0] + "\n" + this.rest.slice(Math.max(0, length - 200)))) {
      this.fence = undefined;
      return false;
    }
    code.append(added);
    this.fence.length = this.rest.length;
    return true;
  }

  /** Draw the end of the text. */
  finish() {
    this.fence = undefined;
    this.commit(parser.lexer(this.rest));
    this.open.remove();
    this.dirty = false;
  }
}

function isClosed(text) {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)[1];
  return new RegExp(`\\n {0,3}${mark}${mark[0]}*[ \\t]*(\\n|$)`).test(text);
}
