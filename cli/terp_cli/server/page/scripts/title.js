// The title of the session, and giving it another one.

import { find, make, toMessage } from "./dom.js";

/** Show a title, unless it is being written. */
export function showTitle(text) {
  if (find("title").querySelector("input")) return;
  find("title").replaceChildren(text);
  document.title = `${text} · terp`;
}

/** Have a person write the title; `rename` takes another one. */
export function writeTitle(rename) {
  const before = find("title").textContent;
  const field = make("input", { "aria-label": "Title of the session", maxlength: 120, value: before });
  const end = (written) => {
    // It loses the focus as it goes.
    field.onblur = null;
    const title = written.trim() || before;
    find("title").replaceChildren(title);
    if (title !== before) rename(title);
  };
  field.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    end(event.key === "Enter" ? field.value : before);
    toMessage();
  };
  field.onblur = () => end(field.value);
  find("title").replaceChildren(field);
  field.select();
}
