// A prompt, with buttons to send it again, or to edit it.

import { button, make, toMessage } from "./dom.js";
import { readable } from "./shown.js";

/** Return a prompt as a node. `undo` undoes its turn and all later ones, and sends a prompt. */
export function prompted({ prompt, attachments }, undo) {
  const again = (...asked) => node.querySelector(".choice") ?? undo(choose, ...asked);
  const text = make("div", { class: "prompt", "aria-label": "You" }, readable(prompt));
  const means = make("div", { class: "bar means" }, button("Edit", () => edit(), { class: "plain" }), button("Retry", () => again(prompt, attachments), { class: "plain" }));
  const node = make("div", { class: "asked" }, text, means);
  const choose = (question) =>
    new Promise((done) => {
      const end = (said) => () => {
        asking.remove();
        const field = said === undefined && node.querySelector("textarea");
        if (field) field.focus();
        else toMessage();
        done(said);
      };
      const yes = button("Yes", end(true), { class: "solid" });
      const asking = make("div", { class: "choice", role: "group", "aria-label": "Files" }, make("p", {}, readable(question)), make("div", { class: "bar wraps" }, yes, button("No, keep them", end(false)), button("Cancel", end(), { class: "plain" })));
      asking.onkeydown = (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        end()();
      };
      node.append(asking);
      // The view may be held at the end, and the question must be seen.
      asking.scrollIntoView({ block: "center" });
      yes.focus({ preventScroll: true });
    });
  const edit = () => {
    const field = make("textarea", { "aria-label": "The message, to be changed", rows: 1 });
    field.value = prompt;
    const shown = () => node.replaceChildren(text, means);
    const send = () => (field.value.trim() && field.value !== prompt ? again(field.value.trim(), attachments) : shown());
    field.onkeydown = (event) => {
      if (event.key === "Escape") shown();
      else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    node.replaceChildren(field, make("div", { class: "bar" }, make("small", { class: "muted" }, "Undoes this turn and those after it."), button("Cancel", shown, { class: "plain" }), button("Send", send, { class: "solid" })));
    field.focus();
  };
  return node;
}
