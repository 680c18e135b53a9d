// Approval of code: run, edit, decline. A decision names the digest of the code that was shown.

import { find, toMessage, trying } from "./dom.js";
import { readable } from "./shown.js";

// A key or a click that was meant for something else must decide nothing.
const GRACE_MS = 600;
const KEYS = { y: "approveCodeButton", e: "editCode", n: "declineCode" };

export class Approval {
  /** `decide` sends a decision about a call. */
  constructor(decide) {
    this.decide = decide;
    this.node = find("approval");
    find("approveCodeButton").onclick = () => this.send({ decision: "run" });
    find("editCode").onclick = () => this.edit();
    find("declineCode").onclick = () => this.show("declining", "reason");
    find("declining").onsubmit = (event) => {
      event.preventDefault();
      this.decline(false);
    };
    find("declineAndStop").onclick = () => this.decline(true);
    find("proposeEdited").onclick = () => this.propose();
    for (const cancel of this.node.querySelectorAll("[data-cancels]")) cancel.onclick = () => this.show("deciding");
    this.node.onkeydown = (event) => this.key(event);
  }

  get open() {
    return Boolean(this.card);
  }

  /** Ask about the code that a card shows. `mayTakeFocus` is false while the user types. */
  ask(card, proposed, mayTakeFocus) {
    const { written } = this;
    this.written = undefined;
    if (written === proposed.code && !proposed.asks) {
      // The user wrote exactly this code, and needs no second question.
      const { call_id, digest } = proposed;
      return trying(() => this.decide({ call_id, digest, decision: "run" }));
    }
    this.card = card;
    this.proposed = proposed;
    this.allow(false);
    clearTimeout(this.grace);
    this.grace = setTimeout(() => this.allow(true), GRACE_MS);
    find("reason").value = "";
    card.hold(this.node);
    this.node.hidden = false;
    this.show("deciding");
    if (mayTakeFocus) this.node.focus({ preventScroll: true });
  }

  allow(yes) {
    for (const one of find("deciding").querySelectorAll("button")) one.disabled = !yes;
  }

  over() {
    const hadFocus = this.node.contains(document.activeElement);
    this.card = this.proposed = undefined;
    this.node.hidden = true;
    // Its card may be removed; this node is kept for the next one.
    document.body.append(this.node);
    if (hadFocus) toMessage();
  }

  show(part, focus) {
    for (const one of ["deciding", "declining", "editing"]) find(one).hidden = one !== part;
    if (focus) find(focus).focus();
    else if (this.node.contains(document.activeElement)) this.node.focus({ preventScroll: true });
  }

  edit() {
    const edited = find("edited");
    edited.value = this.proposed.code;
    this.show("editing", "edited");
    edited.setSelectionRange(0, 0);
    edited.scrollTop = 0;
  }

  propose() {
    const code = find("edited").value;
    if (code === this.proposed.code) return this.show("deciding");
    // A field does not show invisible characters: code with one is proposed again.
    this.written = readable(code) === code ? code : undefined;
    this.send({ decision: "run", code });
  }

  decline(stop) {
    this.send({ decision: "decline", reason: find("reason").value, stop });
  }

  send(fields) {
    if (!this.open) return;
    const { call_id, digest } = this.proposed;
    trying(() => this.decide({ call_id, digest, ...fields }));
  }

  key(event) {
    const typing = event.target.matches("input, textarea");
    if (event.key === "Escape" && (typing || find("deciding").hidden)) this.show("deciding");
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !find("editing").hidden) this.propose();
    else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key in KEYS) find(KEYS[event.key]).click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
