// Formulas, drawn as MathML by Temml, which is loaded with the first of them.

import { make } from "./dom.js";
import { readable } from "./shown.js";

const LONGEST_FORMULA = 10000;
let temmlComing;

/** Draw the formulas of a text, each in a `<code title="maths">`, in place, as soon as Temml is loaded. */
export function drawFormulas(nodes) {
  const found = [...nodes.querySelectorAll('code[title="maths"]')];
  if (!found.length) return;
  if (globalThis.temml) return found.forEach(drawFormula);
  temmlComing ??= loadTemml();
  // A text that was drawn again meanwhile has no node on the page.
  temmlComing.then(() => found.forEach(drawFormula), () => undefined);
}

/** Return the node of a formula, given with its marks. */
export function formula(raw) {
  const node = make("p", {}, make("code", { title: "maths" }, raw));
  drawFormulas(node);
  return node;
}

function loadTemml() {
  return new Promise((onload, onerror) => {
    const script = make("script", { integrity: document.body.dataset.maths, onload, onerror });
    const own = { createScriptURL: (address) => address };
    script.src = (globalThis.trustedTypes?.createPolicy("terp", own) ?? own).createScriptURL("/temml.js");
    document.head.append(script);
  });
}

/** Draw a formula; one that Temml rejects stays as it was written. */
function drawFormula(code) {
  const raw = code.textContent.trim();
  const displayMode = /^(\$\$|\\\[)/.test(raw);
  const mark = displayMode || raw.startsWith("\\") ? 2 : 1;
  const node = make("span", { class: displayMode ? "formula" : "", title: raw });
  if (raw.length > LONGEST_FORMULA) return;
  try {
    temml.render(readable(raw.slice(mark, -mark)), node, { displayMode, throwOnError: true, maxSize: [20, 100], maxExpand: 500 });
    code.replaceWith(node);
    // It may not be on the page yet.
    requestAnimationFrame(() => node.scrollWidth > node.clientWidth && (node.tabIndex = 0));
  } catch {
    code.removeAttribute("title");
  }
}
