// The list of sessions, with a filter.

import { call } from "./api.js";
import { button, find, make } from "./dom.js";
import { since } from "./shown.js";

export class SessionsList {
  /** `choose` opens one. */
  constructor(choose) {
    this.choose = choose;
    this.rows = [];
    this.current = "";
    const filter = find("sessionFilter");
    filter.oninput = () => this.draw();
    filter.addEventListener("keydown", (event) => {
      if (event.key === "Enter") find("sessions").querySelector("button")?.click();
      if (event.key !== "Escape" || !filter.value) return;
      event.stopPropagation();
      filter.value = "";
      this.draw();
    });
    find("sidebar").addEventListener("keydown", (event) => this.move(event));
  }

  async refresh() {
    const number = (this.asked = (this.asked ?? 0) + 1);
    const { sessions } = await call("GET", "/v1/sessions");
    // An earlier reply may come later, with an old title.
    if (number !== this.asked) return;
    this.rows = sessions;
    this.draw();
  }

  mark(session) {
    this.current = session;
    this.draw();
  }

  titleOf(session) {
    return this.rows.find((row) => row.id === session)?.title;
  }

  draw() {
    const words = find("sessionFilter").value.toLowerCase();
    const shown = this.rows.filter((row) => `${row.title} ${row.model}`.toLowerCase().includes(words));
    const focused = document.activeElement.dataset.session;
    const none = make("li", { class: "muted" }, words ? "Nothing found." : "No sessions yet.");
    find("sessions").replaceChildren(...(shown.length ? shown.map((row) => this.row(row)) : [none]));
    if (focused) find("sessions").querySelector(`[data-session="${focused}"]`)?.focus();
  }

  row({ id, title, used, open }) {
    const told = make("small", { class: "muted" }, `${open ? "● open · " : ""}${since(used)}`);
    const about = { "data-session": id, "aria-current": id === this.current && "true" };
    const chosen = button(title || "Empty session", () => this.choose(id), about);
    chosen.append(told);
    return make("li", {}, chosen);
  }

  /** Move through the list with the arrows, also from the field. */
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [find("sessionFilter"), ...find("sessions").querySelectorAll("button")];
    const next = all[all.indexOf(document.activeElement) + step];
    next?.focus();
    event.preventDefault();
  }
}
