// The whole page.

import { askForToken, namedSession, nameSession, REFUSED, takeToken, token, tokenTaken } from "./access.js";
import { call, content, fileOf, pathOf, save } from "./api.js";
import { Answering } from "./answering.js";
import { Approval } from "./approval.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { button, find, notice, toMessage, trying } from "./dom.js";
import { costLine, offerExports } from "./facts.js";
import { Files } from "./files.js";
import { listenToKeys } from "./keys.js";
import { Link } from "./link.js";
import { dress, openSides, uncover } from "./look.js";
import { Panel } from "./panel.js";
import { SessionsList } from "./sessions.js";
import { readable } from "./shown.js";
import { showTitle, writeTitle } from "./title.js";

const STATES = { connecting: "connecting …", connected: "connected", waiting: "no connection; trying again" };

class Page {
  constructor() {
    this.answering = new Answering((wishes) => this.change(wishes));
    this.composer = new Composer((prompt, attachments) => trying(() => this.ask(prompt, attachments)));
    this.files = new Files(() => this.session(), (name) => this.composer.attach(name));
    this.sessions = new SessionsList((id) => {
      uncover();
      this.open(id);
    });
    this.conversation = new Conversation(new Approval((decision) => this.link.send("approve", decision)), {
      answer: (question_id, answer) => this.link.send("answer", { question_id, answer }),
      more: async (id) => (await call("GET", pathOf(this.id))).questions.find((one) => one.question_id === id) ?? {},
      again: (...asked) => trying(() => this.again(...asked)),
      goOn: () => trying(() => this.link.send("go_on")),
      save: (path) => trying(() => this.save(path)),
      saveOutput: (number) => trying(() => save(pathOf(this.id, `/outputs/${number}`), `output-${number}.txt`)),
      content: (path) => content(fileOf(this.id, this.below(path))),
      whole: (path) => (path.startsWith("/") ? path : `${this.told.cwd}/${path}`),
      has: (path) => path.startsWith(`${this.told.cwd}/`),
      types: () => this.composer.isInUse,
      changed: (what, value) => this.changed(what, value),
    });
    this.panel = new Panel(this.files, this.sessions, () => this.id && { ...this.told, cost: this.conversation.cost });
    this.listen();
  }

  listen() {
    find("stop").onclick = () => this.stop();
    find("newSession").onclick = () => this.begin();
    find("fork").onclick = () => trying(() => this.fork());
    find("remove").onclick = () => trying(() => this.remove());
    find("rename").onclick = () => writeTitle((title) => trying(() => this.rename(title)));
    find("examples").onclick = ({ target }) => target.matches("button") && this.composer.write(target.textContent);
    find("toEnd").onclick = () => this.conversation.toEnd();
    find("messages").onclick = (event) => {
      const file = event.target.closest("a[data-file]")?.dataset.file;
      if (file === undefined) return;
      event.preventDefault();
      trying(() => this.save(file));
    };
    addEventListener("hashchange", async () => {
      takeToken();
      await this.starting;
      if (namedSession() && namedSession() !== this.id) this.open(namedSession());
    });
    addEventListener("refused", () => askForToken(REFUSED, () => this.start()));
    addEventListener("online", () => this.link?.timer && this.link.connect());
    offerExports(() => this.id);
    openSides((tab) => this.panel.look(tab));
    listenToKeys({ stop: () => this.stop(), begin: () => this.begin() });
  }

  start() {
    this.starting = this.started();
  }

  async started() {
    takeToken();
    if (!token()) return askForToken("", () => this.start());
    try {
      await Promise.all([this.answering.refresh(), this.sessions.refresh()]);
    } catch (problem) {
      return problem.status !== 401 && askForToken(problem.message, () => this.start());
    }
    tokenTaken();
    if (namedSession()) await this.open(namedSession());
    else toMessage();
  }

  /** Show the start page; a session is created with its first message or file. */
  begin() {
    uncover();
    this.leave();
    nameSession("");
    this.show("");
    toMessage();
  }

  leave() {
    this.link?.close();
    this.link = this.id = this.told = undefined;
    this.conversation.clear();
    this.changed("busy", false);
    this.changed("doing", "");
    find("state").replaceChildren();
    find("files").replaceChildren();
  }

  show(title) {
    showTitle(title || "New session");
    find("start").hidden = Boolean(this.told?.last);
    this.answering.show(this.told);
    this.sessions.mark(this.id);
  }

  /** Return the id of the session that is shown; create one if there is none. */
  async session() {
    // The session in the address may still be opening.
    await this.starting;
    if (this.id) return this.id;
    this.making ??= this.make().finally(() => (this.making = undefined));
    return this.making;
  }

  async make() {
    const made = await call("POST", "/v1/sessions", this.answering.wishes);
    this.enter(made);
    return made.id;
  }

  async open(id) {
    const wish = (this.wish = Symbol());
    await trying(async () => {
      const told = await call("POST", pathOf(id, "/resume"), {});
      // Another one may have been chosen since.
      if (wish !== this.wish) return;
      this.leave();
      this.enter(told);
    });
    if (!this.id) this.begin();
  }

  enter(told) {
    this.told = told;
    this.id = told.id;
    nameSession(told.id);
    this.show(this.sessions.titleOf(told.id));
    this.link = new Link(told.id, {
      told: (event) => this.conversation.take(event),
      retold: (told) => this.retold(told),
      changed: (state, why) => this.showState(state, why),
      again: () => this.conversation.clear(),
    });
    this.panel.refresh();
  }

  /** Show a model, profile or title that was changed here or elsewhere. */
  retold(told) {
    this.told = told;
    this.answering.show(told);
    this.panel.changed("finished");
  }

  showState(state, why) {
    const shown = find("state");
    // Changes during the interruption were not received.
    if (state === "connected" && this.missed) call("GET", pathOf(this.id)).then((told) => told.id === this.id && this.retold(told), () => undefined);
    this.missed = state === "waiting" || (this.missed && state === "connecting");
    shown.dataset.state = state;
    shown.textContent = STATES[state] ?? "closed";
    if (state !== "ended") return;
    if (why === "no token") dispatchEvent(new Event("refused"));
    else shown.append(" ", button("Open again", () => this.open(this.id)));
  }

  async ask(prompt, attachments) {
    await this.session();
    await this.link.ready();
    const { waiting } = await this.link.send("ask", { prompt, attachments });
    if (waiting) this.changed("doing", "asked when this turn is over");
    if (!this.sessions.titleOf(this.id)) {
      showTitle(prompt || "Session");
      trying(() => this.sessions.refresh());
    }
    this.conversation.toEnd();
    return true;
  }

  stop() {
    if (this.conversation.busy) trying(() => this.link.send("interrupt"));
  }

  changed(what, value) {
    if (what === "busy") {
      find("stop").hidden = !value;
      document.body.classList.toggle("busy", value);
      find("start").hidden ||= value;
    }
    else if (what === "doing") find("doing").textContent = value || (this.id ? costLine(this.conversation.cost) : "");
    else this.panel.changed(what);
  }

  below(path) {
    return path.startsWith(`${this.told.cwd}/`) ? path.slice(this.told.cwd.length + 1) : path;
  }

  /** Download a file by its path below the working directory, or by its whole path. */
  save(path) {
    const below = this.below(path);
    return save(fileOf(this.id, below), below.split("/").pop());
  }

  async fork() {
    const title = `${this.sessions.titleOf(this.id) || "Session"} (copy)`;
    const { id } = await call("POST", pathOf(this.id, "/fork"), { title });
    await this.sessions.refresh();
    await this.open(id);
    find("rename").click();
  }

  async remove() {
    if (!confirm("Delete this session, and the files of its own directory?")) return;
    const { id } = this;
    this.leave();
    await call("DELETE", pathOf(id));
    await this.sessions.refresh();
    this.begin();
  }

  async change(wishes) {
    const told = await call("PATCH", pathOf(this.id), wishes);
    if (told.id !== this.id) return undefined;
    this.told = told;
    this.panel.changed("cost");
    return told;
  }

  async rename(title) {
    await this.change({ title });
    await this.sessions.refresh();
    // An earlier reply may have shown the former title meanwhile.
    showTitle(title);
  }

  /** Undo the last `count()` turns, and send a prompt. `choose` asks the user about their files. */
  async again(count, choose, prompt, attachments) {
    const turns = count();
    const { question, files } = await call("GET", pathOf(this.id, `/rewind?turns=${turns}`));
    const restores = question && (await choose(question));
    if (restores === undefined) return;
    // There is another turn by now, perhaps with other files.
    if (turns !== count()) return this.again(count, choose, prompt, attachments);
    const { told } = await call("POST", pathOf(this.id, "/rewind"), { turns, files: restores ? files : [] });
    if (told.length) notice(readable(told.join(" ")));
    this.panel.changed("ran");
    await this.ask(prompt, attachments);
  }
}

dress();
new Page().start();
