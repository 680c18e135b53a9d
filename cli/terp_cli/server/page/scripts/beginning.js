// How a new session shall be: its profile and its model.

import { call } from "./api.js";
import { find, make } from "./dom.js";

const ASKS = {
  before: "Nothing runs before you have approved it.",
  effect: "It starts at once, and asks at its effects. Where they cannot be held, it asks before it runs.",
  never: "This server runs it without asking.",
};

export class Beginning {
  async refresh() {
    const { model, profiles, approve } = await call("GET", "/v1/profiles");
    find("asks").textContent = ASKS[approve];
    this.profiles = new Map(profiles.map((profile) => [profile.name, profile]));
    this.model = model;
    const option = ({ name }) => make("option", { value: name }, name);
    find("profile").replaceChildren(make("option", { value: "" }, "of the server"), ...profiles.map(option));
    const models = new Set([model, ...profiles.map((profile) => profile.model)]);
    find("models").replaceChildren(...[...models].filter(Boolean).map((name) => make("option", { value: name })));
    find("profile").onchange = () => this.draw();
    this.draw();
  }

  draw() {
    const chosen = this.profiles.get(find("profile").value);
    find("model").placeholder = chosen?.model || this.model;
    find("profileAbout").textContent = chosen?.description ?? "";
  }

  get wishes() {
    return { profile: find("profile").value, model: find("model").value.trim() };
  }
}
