// The files in the working directory of a session.

import { call, fileOf, pathOf, save, upload } from "./api.js";
import { button, find, make, notice, trying } from "./dom.js";
import { readable, size } from "./shown.js";

export class Files {
  /** `session` returns the id of the session, created if there is none; `attached` is called with new files. */
  constructor(session, attached) {
    Object.assign(this, { session, attached });
    const chosen = find("chosenFiles");
    chosen.onchange = () => this.take([...chosen.files]).then(() => (chosen.value = ""));
    find("attach").onclick = find("uploads").onclick = find("dropZone").onclick = () => chosen.click();
    find("archive").onclick = () => trying(async () => save(pathOf(await this.session(), "/archive")));
    this.takeDrops();
  }

  takeDrops() {
    const hint = find("dropHere");
    const has = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!has(event)) return;
      event.preventDefault();
      hint.hidden = false;
    });
    addEventListener("dragleave", (event) => (hint.hidden ||= !event.relatedTarget));
    addEventListener("drop", (event) => {
      hint.hidden = true;
      if (!has(event)) return;
      event.preventDefault();
      this.take([...event.dataTransfer.files]);
    });
  }

  async take(files) {
    for (const file of files) {
      await trying(async () => {
        const session = await this.session();
        const told = notice(`Uploading ${readable(file.name)} …`);
        await upload(session, file.name, file).finally(() => told.remove());
        this.attached(file.name);
        await this.show(session);
      });
    }
  }

  async show(session) {
    const wish = (this.wish = Symbol());
    const { files, more } = await call("GET", pathOf(session, "/files"));
    // The reply may be late, after another session was opened.
    if (wish !== this.wish) return;
    const rows = files.map((file) => this.row(session, file));
    const told = files.length ? [] : [make("li", { class: "muted" }, "No files yet.")];
    if (more) told.push(make("li", { class: "muted" }, "There are more; the archive has all."));
    find("files").replaceChildren(...rows, ...told);
  }

  row(session, { path, size: bytes }) {
    const name = readable(path);
    const remove = () => trying(async () => {
      if (!confirm(`Delete ${name}?`)) return;
      await call("DELETE", fileOf(session, path));
      await this.show(session);
    });
    return make(
      "li", {},
      button(name, () => trying(() => this.save(session, path)), { class: "plain name", title: `Download ${name}` }),
      make("small", { class: "muted" }, size(bytes)),
      button("@", () => this.attached(path), { class: "plain", "aria-label": `Attach ${name}`, title: "Attach to the next message" }),
      button("✕", remove, { class: "plain", "aria-label": `Delete ${name}` }),
    );
  }

  save(session, path) {
    return save(fileOf(session, path), path.split("/").pop());
  }
}
