// Elements without HTML text: text of others only ever becomes a text node.

import { here } from "./shown.js";

export const find = (id) => document.getElementById(id);

/** Return an element. `about` has attributes, and listeners as `onclick`; children may be text. */
export function make(tag, about = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...inside);
  return made;
}

export const button = (text, onclick, about = {}) => make("button", { type: "button", onclick, ...about }, text);

/** Focus the message field; not with an on-screen keyboard, which would cover the text. */
export const toMessage = () => matchMedia("(hover: hover)").matches && find("messageInput").focus();

export function copies(text) {
  const copied = () => trying(() => navigator.clipboard.writeText(text()).then(() => (copy.textContent = "Copied")));
  const copy = button("Copy", copied, { class: "plain" });
  return copy;
}

/** Show a notice of an error or a result; screen readers read it. */
export function notice(text, kind = "") {
  const shown = make("p", { class: kind }, text);
  find("notices").append(shown);
  setTimeout(() => shown.remove(), 8000);
  return shown;
}

/** Call `doing`; show its error. */
export async function trying(doing) {
  try {
    return await doing();
  } catch (problem) {
    notice([problem.message, here(problem.remedy)].filter(Boolean).join(" "), "problem");
  }
}
