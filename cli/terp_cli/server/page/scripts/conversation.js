// The conversation of a session.

import { Card, Displays } from "./card.js";
import { pictureFile, pictureType } from "./displayed.js";
import { button, find, make, toMessage } from "./dom.js";
import { TOLD } from "./events.js";
import { Growing } from "./markdown.js";
import { prompted } from "./prompted.js";
import { question } from "./question.js";
import { here, readable } from "./shown.js";

const STOPPED = { interrupted: "Stopped.", declined: "Ended, as you declined.", max_steps: "Stopped: as many steps as are allowed." };

export class Conversation {
  /**
   * `approval` takes decisions. `does` has functions of the session: `answer` and `more` of
   * questions, `goOn`, `again`, which undoes turns and sends a prompt, `save` and `content` of a file by its path, `whole` for that path, and `saveOutput` of a run by its number, `has`, which is true for a file that can be downloaded, and `changed` for the rest of the page.
   */
  constructor(approval, does) {
    Object.assign(this, { approval, does });
    this.scroll = find("scroll");
    this.follow();
    this.clear();
  }

  /** Stay at the end if it is in view: pictures and frames get their height late. */
  follow() {
    this.atEnd = true;
    let last = 0;
    this.scroll.addEventListener("scroll", () => {
      const { scrollHeight, scrollTop, clientHeight } = this.scroll;
      // Growth does not leave the end: only scrolling up does.
      this.atEnd = scrollHeight - scrollTop - clientHeight < 80 || (this.atEnd && scrollTop >= last);
      last = scrollTop;
      find("toEnd").hidden = this.atEnd;
    });
    const sizes = new ResizeObserver(() => this.atEnd && find("messages").firstChild && this.toEnd());
    sizes.observe(find("messages"));
    sizes.observe(this.scroll);
  }

  clear() {
    if (this.approval.open) this.approval.over();
    find("messages").replaceChildren();
    this.queue = [];
    this.cards = new Map();
    this.questions = new Map();
    this.displays = new Displays();
    this.pictures = new Set();
    this.turn = this.text = this.thinking = this.retrying = undefined;
    this.begun = [];
    this.proposed = new Map();
    this.reply = [];
    this.drawing = new Set();
    this.busy = false;
    this.cost = { dollars: 0, known: true, input: 0, output: 0 };
  }

  /** Queue an event; all that are queued are drawn with the next frame. */
  take(event) {
    this.queue.push(event);
    this.schedule();
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    const frame = () => {
      this.scheduled = false;
      this.draw();
    };
    // A hidden page gets no frames.
    if (document.hidden) setTimeout(frame, 100);
    else requestAnimationFrame(frame);
  }

  draw() {
    const until = performance.now() + 24;
    let done = 0;
    while (done < this.queue.length && performance.now() < until) this.tell(this.queue[done++]);
    this.queue.splice(0, done);
    for (const one of this.drawing) if (!one.draw()) this.drawing.delete(one);
    if (this.queue.length || this.drawing.size) this.schedule();
  }

  toEnd() {
    this.scroll.scrollTop = this.scroll.scrollHeight;
  }

  tell(event) {
    TOLD[event.event]?.(this, event);
  }

  add(node) {
    this.turn ??= find("messages").appendChild(make("article", { class: "turn" }));
    this.turn.append(node);
    return node;
  }

  said(text, kind = "muted") {
    return this.add(make("p", { class: `line ${kind}` }, readable(text)));
  }

  begin(event) {
    this.turn = undefined;
    this.endQuestions();
    if (!event.continued) {
      const again = (...asked) => this.does.again(() => this.begun.length - this.begun.indexOf(node), ...asked);
      const node = this.add(prompted(event, again));
      this.begun.push(node);
    }
    this.setBusy(true, "starts");
  }

  /** Fold turns that were undone. */
  rewind(removed) {
    const [first] = this.begun.splice(Math.max(0, this.begun.length - removed));
    if (!first) return;
    const gone = make("details", { class: "gone muted" }, make("summary", {}, removed > 1 ? `${removed} turns were undone` : "A turn was undone"));
    first.parentNode.before(gone);
    while (gone.nextSibling) gone.append(gone.nextSibling);
    this.turn = undefined;
  }

  /** Remove the part of a reply that came before its request was repeated. */
  void(retrying) {
    for (const node of this.reply) node.remove();
    this.beginReply();
    this.retrying?.remove();
    this.retrying = this.said(`The model could not answer: ${retrying.reason}. Again in ${Math.round(retrying.delay_s)} s.`);
  }

  beginReply() {
    this.endText();
    this.reply = [];
  }

  endText() {
    const text = this.text;
    text?.finish();
    this.drawing.delete(text);
    this.text = this.thinking = undefined;
    if (text) this.drawNamed(text.node);
  }

  /** Draw the pictures of the session that a text names, unless they are above. */
  drawNamed(node) {
    for (const { dataset } of node.querySelectorAll("a[data-picture]")) {
      const path = this.does.whole(dataset.file);
      if (!pictureType(path) || !this.does.has(path) || this.pictures.has(path)) continue;
      this.pictures.add(path);
      this.reply.push(this.add(pictureFile(path, this.does.content)));
    }
  }

  write(text) {
    if (!this.text) {
      this.text = new Growing();
      this.reply.push(this.add(this.text.node));
    }
    this.text.add(text);
    this.drawing.add(this.text);
    this.does.changed("doing", "writes");
  }

  think(text) {
    if (!this.thinking) {
      this.thinking = make("p", {});
      this.reply.push(this.add(make("details", { class: "thinking" }, make("summary", {}, "Reasoning"), this.thinking)));
    }
    this.thinking.append(readable(text));
  }

  card(callId) {
    let card = this.cards.get(callId);
    if (!card) {
      this.endText();
      card = new Card(callId, this.displays);
      this.cards.set(callId, card);
      this.reply.push(this.add(card.node));
    }
    return card;
  }

  drawn(callId) {
    const card = this.card(callId);
    this.drawing.add(card);
    return card;
  }

  propose(event) {
    this.card(event.call_id).propose(event);
    this.proposed.set(event.call_id, event);
  }

  ask(asked) {
    if (asked.kind === "approval") {
      this.approval.ask(this.card(asked.what), this.proposed.get(asked.what), !this.does.types());
      this.asking = asked.question_id;
    } else {
      const node = this.add(question(asked, this.does.answer, this.does.more));
      this.questions.set(asked.question_id, node);
      if (!this.does.types()) (node.querySelector("input") ?? node).focus({ preventScroll: true });
    }
    this.does.changed("doing", "waits for you");
  }

  answered({ question_id: id, answer }) {
    if (id === this.asking && this.approval.open) {
      this.approval.card.become("answered", "answered");
      this.approval.over();
    }
    const node = this.questions.get(id);
    if (!node) return;
    const hadFocus = node.contains(document.activeElement);
    node.replaceChildren(node.firstChild, make("p", { class: "muted" }, readable(node.words.get(answer) ?? (answer || "answered"))));
    this.questions.delete(id);
    if (hadFocus) toMessage();
  }

  endQuestions() {
    if (this.approval.open) {
      this.approval.card.decline("", "has not run");
      this.approval.over();
    }
    for (const node of this.questions.values()) node.remove();
    this.questions.clear();
  }

  finishCode(event) {
    const card = this.card(event.call_id);
    card.draw();
    card.finish(event, this.does);
    for (const path of card.pictures) this.pictures.add(path);
    this.does.changed("ran");
  }

  finish({ reason, error, remedy }) {
    this.endText();
    this.endQuestions();
    this.retrying = undefined;
    const words = [error || STOPPED[reason], here(remedy, reason)].filter(Boolean).join("\n");
    if (words) this.said(words, error ? "problem" : "muted");
    this.setBusy(false, "");
    this.does.changed("finished");
  }

  setBusy(busy, words) {
    this.busy = busy;
    this.does.changed("busy", busy);
    this.does.changed("doing", words);
  }

  use({ input_tokens: input, output_tokens: output, cost_usd: cost }) {
    this.cost.input += input;
    this.cost.output += output;
    this.cost.dollars += cost ?? 0;
    this.cost.known &&= cost !== null;
    this.does.changed("cost");
  }

  resume({ lost, pending }) {
    this.beginReply();
    this.endQuestions();
    this.turn = undefined;
    this.setBusy(false, "");
    this.said(`The session continues.${lost ? " Its kernels are new: variables are gone." : ""}`);
    if (!pending.length) return;
    const again = button("Ask me again", () => this.does.goOn().then(() => again.remove()), { class: "solid" });
    this.add(make("div", { class: "line" }, make("p", {}, "This code waited for your answer, and has not run:"), ...pending.map((code) => make("pre", {}, readable(code))), again));
  }
}
