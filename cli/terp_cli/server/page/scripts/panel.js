// The panel with files, variables and facts of the session; it is refreshed after changes.

import { find, trying } from "./dom.js";
import { showTitle } from "./title.js";
import { showFacts, showVariables } from "./facts.js";

// Many events at once, as after a reload, cause one refresh.
const SOON_MS = 150;

export class Panel {
  /** `session` returns the facts of the session that is shown, or nothing. */
  constructor(files, sessions, session) {
    Object.assign(this, { files, sessions, session });
    this.tab = "Files";
    this.changes = new Set();
  }

  look(tab) {
    this.tab = tab;
    this.refresh();
  }

  /** Refresh after code `ran`, a turn `finished`, or the `cost` changed. */
  changed(what) {
    this.changes.add(what);
    this.soon ??= setTimeout(() => this.catchUp(), SOON_MS);
  }

  async catchUp() {
    const changes = [...this.changes];
    this.changes.clear();
    this.soon = undefined;
    if (this.tab === "Facts" || changes.some((what) => what !== "cost")) await this.refresh();
    if (!changes.includes("finished")) return;
    await trying(() => this.sessions.refresh());
    const shown = this.session();
    if (shown) showTitle(this.sessions.titleOf(shown.id) ?? "Session");
  }

  async refresh() {
    const shown = this.session();
    if (!shown) return;
    await trying(async () => {
      try {
        if (this.tab === "Files") await this.files.show(shown.id);
        else if (this.tab === "Variables") await showVariables(shown.id);
        else showFacts(shown, shown.cost);
      } catch (problem) {
        // The head of the page says that the session was closed, with a button to open it.
        if (problem.code !== "not_open") throw problem;
      }
    });
  }
}
