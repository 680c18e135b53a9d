// The field for messages.

import { button, find, make } from "./dom.js";
import { readable } from "./shown.js";

export class Composer {
  /** `send` takes a prompt and the files that go with it; a prompt that could not be sent stays here. */
  constructor(send) {
    this.send = send;
    this.files = new Set();
    this.input = find("messageInput");
    this.typedAt = -Infinity;
    this.input.oninput = () => {
      this.typedAt = performance.now();
      this.fit();
    };
    this.input.onkeydown = (event) => {
      // While a word is being composed, Enter takes it.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.submit();
    };
    find("composer").onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
  }

  get isInUse() {
    return document.activeElement === this.input && (this.input.value !== "" || performance.now() - this.typedAt < 2000);
  }

  async submit() {
    const prompt = this.input.value.trim();
    if (this.sending || (!prompt && !this.files.size)) return;
    this.sending = true;
    try {
      if (!(await this.send(prompt, [...this.files]))) return;
      this.input.value = "";
      this.typedAt = -Infinity;
      this.files.clear();
      this.drawFiles();
      this.fit();
    } finally {
      this.sending = false;
    }
  }

  /** Put the beginning of a message into the field. */
  write(text) {
    this.input.value = text;
    this.fit();
    this.input.focus();
  }

  attach(name) {
    this.files.add(name);
    this.drawFiles();
    this.input.focus();
  }

  drawFiles() {
    const remove = (name) => {
      this.files.delete(name);
      this.drawFiles();
    };
    const row = (name) => make("li", {}, readable(name), button("✕", () => remove(name), { class: "plain", "aria-label": `Do not attach ${readable(name)}` }));
    find("attached").replaceChildren(...[...this.files].map(row));
  }

  fit() {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight + 2, innerHeight / 2.5)}px`;
  }
}
