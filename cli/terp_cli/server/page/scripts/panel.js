// The side that tells about the session: it is looked at again when something has changed.

import { find, trying } from "./dom.js";
import { showTitle } from "./title.js";
import { showFacts, showVariables } from "./facts.js";

// Many events of one moment, as after a reload, are one reason to look again.
const SOON_MS = 150;

export class Panel {
  /** `session` gives what is known of the session that is shown, or nothing. */
  constructor(files, sessions, session) {
    Object.assign(this, { files, sessions, session });
    this.tab = "Files";
    this.changes = new Set();
  }

  look(tab) {
    this.tab = tab;
    this.refresh();
  }

  /** Code `ran`, a turn `finished`, or the `cost` is another one. */
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
        // That it was closed stands above it, with the means to open it.
        if (problem.code !== "not_open") throw problem;
      }
    });
  }
}
