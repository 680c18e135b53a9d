// The title of the session, and its editing.

import { find, make, toMessage } from "./dom.js";

/** Show a title, unless it is being edited. */
export function showTitle(text) {
  if (find("title").querySelector("input")) return;
  find("title").replaceChildren(text);
  document.title = `${text} · terp`;
}

/** Let the user edit the title; `rename` gets the new one. */
export function writeTitle(rename) {
  const before = find("title").textContent;
  const field = make("input", { "aria-label": "Title of the session", maxlength: 120, value: before });
  const end = (written) => {
    // Removing the field takes its focus.
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
