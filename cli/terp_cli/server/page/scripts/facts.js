// Facts of a session: variables, cost, working directory; and its exports.

import { call, pathOf, save } from "./api.js";
import { button, find, make, trying } from "./dom.js";
import { dollars, readable, size } from "./shown.js";

const EXPORTS = { ipynb: "Notebook", md: "Markdown", html: "Page", py: "Script" };

export async function showVariables(session) {
  const { variables } = await call("GET", pathOf(session, "/variables"));
  const row = ({ name, type, shape, size: bytes, head }) => {
    const about = [readable(type), shape.join("×"), bytes && size(bytes)].filter(Boolean).join(" · ");
    return [make("dt", {}, make("b", {}, readable(name)), ` ${about}`), make("dd", {}, make("code", {}, readable(head)))];
  };
  const shown = variables.length ? make("dl", {}, ...variables.flatMap(row)) : make("p", { class: "muted" }, "No variables yet.");
  find("variablesPane").replaceChildren(shown);
}

function inWords(spent, known) {
  if (known) return dollars(spent);
  return spent ? `${dollars(spent)}, and what has no known price` : "not known for this model";
}

/** Return the line below a turn that has ended: the cost of all turns. */
export function costLine({ dollars: spent, input, output }) {
  return [spent && dollars(spent), input + output && `${(input + output).toLocaleString()} tokens`].filter(Boolean).join(" · ");
}

export function showFacts({ id, model, cwd, tier }, { dollars: spent, known, input, output }) {
  const facts = {
    Model: model,
    Cost: inWords(spent, known),
    Tokens: `${input.toLocaleString()} in, ${output.toLocaleString()} out`,
    Sandbox: tier,
    Directory: cwd,
    Session: id,
  };
  find("facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, readable(value))]));
}

/** `session` returns the id of the session that is shown. */
export function offerExports(session) {
  const offered = ([format, name]) => button(name, () => trying(() => save(pathOf(session(), `/export?format=${format}`))));
  find("exports").replaceChildren(...Object.entries(EXPORTS).map(offered));
}
