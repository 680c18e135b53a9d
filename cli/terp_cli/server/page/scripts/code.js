// Code in colours, built from tokens: no HTML is made of it.

import { copies, make } from "./dom.js";
import { readable } from "./shown.js";
import { tokenizeWith } from "../vendor/tokenize.js";
import bash from "../vendor/language-bash.js";
import diff from "../vendor/language-diff.js";
import js from "../vendor/language-js.js";
import json from "../vendor/language-json.js";
import py from "../vendor/language-py.js";
import sql from "../vendor/language-sql.js";
import yaml from "../vendor/language-yaml.js";

const LANGUAGES = { bash, diff, js, json, py, sql, yaml };
const NAMES = { python: "py", ipython: "py", python3: "py", sh: "bash", shell: "bash", zsh: "bash", javascript: "js", ts: "js", typescript: "js", yml: "yaml" };
// Colouring longer code takes too long.
const LONGEST = 40000;

const BLANKS = /[ \t\u00a0\u2000-\u200a\u3000]{24,}/g;

/** Text of code, with a note on text that a run of blanks would push out of sight. */
function withBlanks(text) {
  const nodes = [];
  let at = 0;
  for (const { 0: run, index } of text.matchAll(BLANKS)) {
    nodes.push(readable(text.slice(at, index)), make("span", { class: "blanks", "data-told": `${run.length} blanks` }, run));
    at = index + run.length;
  }
  return [...nodes, readable(text.slice(at))];
}

/** The code as nodes: every character of it, whatever the tokens are. */
export function coloured(code, language) {
  const grammar = LANGUAGES[NAMES[language] ?? language];
  const plain = withBlanks(code);
  if (!grammar || code.length > LONGEST) return plain;
  const nodes = [];
  let length = 0;
  tokenizeWith(code, grammar, (text, type) => {
    length += text.length;
    nodes.push(...(type ? [make("span", { class: `t-${type}` }, ...withBlanks(text))] : withBlanks(text)));
  }, { languages: LANGUAGES });
  return length === code.length ? nodes : plain;
}

/** A block of code of the model's text, with a button that copies it. */
export function codeBlock(code, language) {
  const copy = copies(() => code);
  copy.classList.add("copy");
  return make("div", { class: "fence" }, copy, make("pre", { tabindex: 0 }, make("code", {}, ...coloured(code, language.toLowerCase()))));
}
