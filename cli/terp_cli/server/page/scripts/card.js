// One call: its code, its expected effects, its result and its output.

import { diffNode } from "./diff.js";
import { button, copies, make } from "./dom.js";
import { coloured } from "./code.js";
import { displayed, pictureFile, pictureType } from "./displayed.js";
import { paintedNodes, Printing } from "./printed.js";
import { readable, seconds, size } from "./shown.js";

const ENDED = { ok: "ran", error: "failed", interrupted: "stopped", timeout: "took too long", died: "the kernel died" };
const MOST_PICTURES = 4;
const LARGEST_PICTURE = 20e6;

export class Card {
  constructor(callId, displays) {
    this.callId = callId;
    this.displays = displays;
    this.state = make("span", { class: "state" }, "is being written");
    this.language = make("span", { class: "language" });
    this.code = make("code");
    this.told = make("p", { class: "told", hidden: true });
    this.output = make("div", { class: "output" });
    this.after = make("div", { class: "after" });
    this.node = make(
      "section", { class: "card", role: "group", "aria-label": "Code" },
      make("header", { class: "bar" }, this.language, this.state, copies(() => this.text)),
      make("pre", {}, this.code), this.told, this.output, this.after,
    );
    this.text = "";
    this.drawn = 0;
    this.pictures = new Set();
  }

  become(kind, words) {
    this.node.dataset.state = kind;
    this.state.textContent = words;
  }

  write({ language, text }) {
    this.language.textContent ||= readable(language);
    this.text += text;
  }

  propose({ language, code, effects, tier, place, asks }) {
    this.language.textContent = readable(language);
    this.text = code;
    this.code.replaceChildren(...coloured(code, language));
    this.drawn = code.length;
    const does = effects.found.map(({ kind, targets, more }) => `${kind}${targets.length ? `: ${targets.slice(0, 4).join(", ")}` : ""}${more ? " …" : ""}`);
    const where = place ? `in ${place}` : tier === "none" ? "no sandbox" : `in the sandbox (${tier})`;
    const lines = code.trimEnd().split("\n").length;
    // It may be higher than its frame, and must be reached by keys.
    if (lines > 12) this.code.parentNode.tabIndex = 0;
    const about = [`${lines} ${lines > 1 ? "lines" : "line"}`, does.join(" · ") || "computes only", asks && `asked about: ${asks}`].filter(Boolean).join(" — ");
    this.told.replaceChildren(readable(`${about} — `), make("span", { class: where === "no sandbox" ? "notice" : "" }, readable(where)));
    this.told.hidden = false;
    this.become("proposed", "proposed");
  }

  start({ execution_count: count }) {
    this.number = count;
    this.become("running", "running");
  }

  put(output) {
    switch (output.kind) {
      case "text": return this.print(output);
      case "display": return this.display(output);
      case "display_update": return this.displays.update(output);
      case "error": return this.fail(output);
      case "omitted": return this.omit(output);
      case "clear": return this.clear(output.wait);
      case "input_request": return undefined;
    }
  }

  add(node) {
    if (this.cleared) this.output.replaceChildren();
    this.cleared = false;
    this.output.append(node);
    this.printing = undefined;
    return node;
  }

  print({ stream, text }) {
    if (this.printing?.stream !== stream) {
      const printing = new Printing(stream);
      this.add(printing.node);
      this.printing = printing;
    }
    this.printing.add(text);
  }

  omit({ characters }) {
    this.isCut = true;
    this.add(make("p", { class: "muted" }, `… ${characters.toLocaleString()} characters left out`));
  }

  display(output) {
    this.drawPrinted();
    this.pictures.add(output.metadata?.terp?.saved);
    const node = this.add(displayed(output, this.number));
    if (output.display_id) this.displays.keep(output.display_id, node, this.number);
  }

  fail({ name, value, traceback }) {
    this.drawPrinted();
    const first = make("summary", {}, readable([name, value].filter(Boolean).join(": ")));
    this.add(traceback.length ? make("details", { class: "error" }, first, make("pre", { class: "printed" }, ...paintedNodes(traceback.join("\n")))) : make("p", { class: "error" }, first.textContent));
  }

  clear(wait) {
    this.printing = undefined;
    this.cleared = wait;
    if (!wait) this.output.replaceChildren();
  }

  /** Draw pictures that the run has saved but not displayed. */
  drawFiles(files, { has, content }) {
    const isNew = ({ path, action, size: bytes }) => action !== "deleted" && bytes <= LARGEST_PICTURE && pictureType(path) && has(path) && !this.pictures.has(path);
    for (const { path } of files.filter(isNew).slice(0, MOST_PICTURES)) {
      this.add(pictureFile(path, content));
      this.pictures.add(path);
    }
  }

  /** `does.save` downloads a file that the session `has`; `saveOutput` downloads all output of a run. */
  finish({ status, seconds: time, cwd, files: changes, files_told: files, effects_told: effects, changes_told: variables, note, output_path: whole }, does) {
    const { has, save, saveOutput } = does;
    this.become(status, `${ENDED[status]}, ${seconds(time)}`);
    this.drawFiles(files, does);
    const named = (path) => readable(path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path);
    for (const { path, diff } of changes.filter((one) => one.diff)) this.add(diffNode(named(path), diff));
    if (note) this.after.append(make("p", { class: "muted" }, readable(note)));
    for (const line of [effects, variables].filter(Boolean)) this.after.append(make("p", { class: "muted" }, readable(line)));
    if (whole && this.isCut) this.after.append(button("⤓ All of the output", () => saveOutput(this.number), { class: "file" }));
    for (const file of files) {
      const sized = file.path && !["deleted", "moved"].includes(file.action);
      const told = `${readable(file.told)} · ${file.action}${sized ? `, ${size(file.size)}` : ""}`;
      const there = file.path && file.action !== "deleted" && has(file.path);
      this.after.append(there ? button(`⤓ ${told}`, () => save(file.path), { class: "file" }) : make("span", { class: "file muted" }, told));
    }
  }

  decline(reason, words) {
    this.become("declined", words);
    if (reason) this.after.append(make("p", { class: "muted" }, readable(reason)));
  }

  /** Put the buttons of the approval at its end. */
  hold(node) {
    this.after.before(node);
    this.become("waiting", "waits for you");
  }

  drawPrinted() {
    this.printing?.draw();
    this.isCut ||= this.printing?.isCut;
  }

  draw() {
    if (this.drawn < this.text.length) {
      this.code.append(readable(this.text.slice(this.drawn)));
      this.drawn = this.text.length;
    }
    this.drawPrinted();
  }
}

/** Displays by their ids, which later runs may update. */
export class Displays {
  constructor() {
    this.known = new Map();
  }

  keep(id, node, number) {
    this.known.set(id, [...(this.known.get(id) ?? []), { node, number }]);
  }

  update(output) {
    const again = ({ node, number }) => {
      const next = displayed(output, number);
      node.replaceWith(next);
      return { node: next, number };
    };
    this.known.set(output.display_id, (this.known.get(output.display_id) ?? []).map(again));
  }
}
