// Elements without HTML text: what is not ours only ever becomes a text node.

import { here } from "./shown.js";

export const find = (id) => document.getElementById(id);

/** An element. `about` has attributes, and listeners as `onclick`; what is inside may be text. */
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

/** Back to where a person writes. Where keys are on the screen, they would cover what is to be read. */
export const toMessage = () => matchMedia("(hover: hover)").matches && find("messageInput").focus();

export function copies(text) {
  const copied = () => trying(() => navigator.clipboard.writeText(text()).then(() => (copy.textContent = "Copied")));
  const copy = button("Copy", copied, { class: "plain" });
  return copy;
}

/** A word that lasts: what went wrong, or was done. Screen readers say it. */
export function notice(text, kind = "") {
  const shown = make("p", { class: kind }, text);
  find("notices").append(shown);
  setTimeout(() => shown.remove(), 8000);
  return shown;
}

/** Do it, and say why if that cannot be. */
export async function trying(doing) {
  try {
    return await doing();
  } catch (problem) {
    notice([problem.message, here(problem.remedy)].filter(Boolean).join(" "), "problem");
  }
}
