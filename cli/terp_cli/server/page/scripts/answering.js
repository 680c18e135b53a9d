// Model and profile of a session, chosen in the head of the page; beside them the sandbox, and when the user is asked.

import { call } from "./api.js";
import { find, make, trying } from "./dom.js";

const APPROVALS = {
  before: ["asks", "good", "Nothing runs before you have approved it."],
  effect: ["asks at effects", "notice", "Code starts at once, and you are asked at its effects. Where they cannot be held, you are asked before it runs."],
  never: ["runs unasked", "problem", "This server runs code without asking."],
};
const OTHER = " other";

export class Answering {
  /** `change` changes the session that is shown, and returns its new facts. */
  constructor(change) {
    this.change = change;
    this.offer = { model: "", models: [], profiles: [], approve: "before", tier: "" };
    this.wishes = { profile: "", model: "" };
    this.listed = [];
    find("profile").onchange = ({ target }) => this.choose({ profile: target.value });
    find("model").onchange = ({ target }) => (target.value === OTHER ? this.nameOther(true) : this.choose({ model: target.value }));
    const other = find("otherModel");
    other.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      const model = event.key === "Enter" && other.value.trim();
      this.nameOther(false);
      if (model) this.choose({ model });
      find("model").focus();
    };
    other.onblur = () => this.nameOther(false);
  }

  async refresh() {
    this.offer = await call("GET", "/v1/profiles");
    find("asks").textContent = APPROVALS[this.offer.approve][2];
    this.draw();
    // The provider may take its time.
    call("GET", "/v1/listed_models").then(({ models }) => this.list(models), () => undefined);
  }

  list(models) {
    this.listed = models;
    // A list that is being read is not changed.
    if (document.activeElement === find("model")) find("model").addEventListener("blur", () => this.draw(), { once: true });
    else this.draw();
  }

  /** Show the model and profile of this session; without one, those of the next. */
  show(told) {
    this.told = told;
    if (!told) this.wishes = { profile: "", model: "" };
    this.draw();
  }

  nameOther(on) {
    find("otherModel").hidden = !on;
    find("model").hidden = on;
    find("otherModel").value = "";
    this.draw();
    if (on) find("otherModel").focus();
  }

  async choose(wishes) {
    // A profile has a model: it replaces one that was chosen before.
    if (!this.told) this.wishes = wishes.profile === undefined ? { ...this.wishes, ...wishes } : { ...wishes, model: "" };
    else this.told = (await trying(() => this.change(wishes))) ?? this.told;
    this.draw();
  }

  draw() {
    const { model, models, profiles, approve, tier } = this.offer;
    const named = (name) => profiles.find((one) => one.name === name);
    const { profile } = this.wishes;
    const shown = this.told ?? { profile, model: this.wishes.model || named(profile)?.model || model, tier, approve };
    const known = new Set([shown.model, ...models, ...profiles.map((one) => one.model)].filter(Boolean));
    const option = (value, text = value) => make("option", { value, selected: value === shown.model }, text);
    const listed = make("optgroup", { label: "Listed by servers" }, ...this.listed.filter((one) => !known.has(one)).map((one) => option(one)));
    find("model").replaceChildren(...(shown.model ? [] : [option("", "no model")]), ...[...known].map((one) => option(one)), option(OTHER, "Another one …"), ...(listed.firstChild ? [listed] : []));
    const names = new Set([shown.profile, ...(this.told ? [] : [""]), ...profiles.map(({ name }) => name)]);
    find("profile").replaceChildren(...[...names].map((name) => make("option", { value: name, selected: name === shown.profile }, name || "the server's profile")));
    find("profile").title = named(shown.profile)?.description ?? "";
    badge("tier", shown.tier === "none" ? "no sandbox" : shown.tier, shown.tier === "none" ? "notice" : "good");
    badge("approvals", ...APPROVALS[shown.approve]);
  }
}

function badge(id, text, kind) {
  find(id).textContent = text;
  find(id).className = `badge ${kind}`;
}
