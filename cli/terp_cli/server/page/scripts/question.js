// Other questions: a line for code that waits for one, a consent, a choice.

import { button, make, trying } from "./dom.js";
import { readable } from "./shown.js";

/** Return a question as a node. `answer` sends the answer; `more` returns fields that the event does not have. */
export function question({ question_id: id, kind, what, secret, options }, answer, more) {
  const say = (said) => trying(() => answer(id, said));
  const node = make("section", { class: "card question", role: "group", "aria-label": "A question", tabindex: -1 }, make("p", {}, readable(what) || "The code waits for a line."));
  node.words = new Map(Object.entries(options));
  const fill = { input: () => line(secret, say), consent: () => consent(say), choice: () => choice(node.words, say) }[kind];
  const means = fill();
  node.append(means);
  if (kind === "consent" || kind === "choice") {
    more(id).then(({ why }) => why && means.before(make("p", { class: "muted" }, readable(why))));
  }
  return node;
}

function line(secret, say) {
  const typed = make("input", { type: secret ? "password" : "text", "aria-label": "Input for the code", autocomplete: "off" });
  const send = (event) => {
    event.preventDefault();
    say(typed.value);
  };
  return make("form", { class: "bar", onsubmit: send }, typed, make("button", { class: "solid" }, "Enter"));
}

const consent = (say) => make("div", { class: "bar" }, button("Allow", () => say(true), { class: "solid" }), button("Do not allow", () => say(false)));

const choice = (words, say) => make("div", { class: "bar wraps" }, ...[...words].map(([letter, does]) => button(readable(does), () => say(letter))));
