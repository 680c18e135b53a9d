// The colours of the page, and its open sides.

import { find } from "./dom.js";

const THEME = "terp-theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };
const WORDS = { auto: "◐ As the system", light: "☀ Light", dark: "☾ Dark" };

function wear(theme) {
  document.documentElement.dataset.theme = theme;
  find("theme").textContent = WORDS[theme];
  find("theme").setAttribute("aria-label", `Colours: ${WORDS[theme].slice(2)}`);
}

export function dress() {
  const kept = localStorage.getItem(THEME);
  wear(kept in NEXT ? kept : "auto");
  find("theme").onclick = () => {
    const next = NEXT[document.documentElement.dataset.theme];
    localStorage.setItem(THEME, next);
    wear(next);
  };
}

/** Open or close a side; on a phone it lies over the conversation, and takes the focus. */
export function showSide(name, open) {
  const { classList } = document.body;
  // Beside both there would be no room for the conversation.
  if (classList.toggle(`with-${name}`, open) && matchMedia("(max-width: 1099px)").matches) classList.remove(name === "panel" ? "with-sidebar" : "with-panel");
  find("showSessions").setAttribute("aria-expanded", classList.contains("with-sidebar"));
  find("showPanel").setAttribute("aria-expanded", classList.contains("with-panel"));
}

const narrow = matchMedia("(max-width: 799px)");
const isNarrow = () => narrow.matches;

/** On a phone, close the sides that cover the conversation; return true if any did. */
export function uncover() {
  const over = isNarrow() ? ["sidebar", "panel"].filter((side) => document.body.classList.contains(`with-${side}`)) : [];
  for (const side of over) showSide(side, false);
  return over.length > 0;
}

/** `chosen` is called with the tab of the panel that was opened. */
export function openSides(chosen) {
  const tabs = ["Files", "Variables", "Facts"];
  const choose = (name) => {
    for (const one of tabs) {
      find(`tab${one}`).setAttribute("aria-selected", one === name);
      find(`tab${one}`).tabIndex = one === name ? 0 : -1;
      find(`${one.toLowerCase()}Pane`).hidden = one !== name;
    }
    chosen(name);
  };
  tabs.forEach((name, at) => {
    find(`tab${name}`).onclick = () => choose(name);
    find(`tab${name}`).onkeydown = ({ key }) => {
      const next = tabs[at + ({ ArrowRight: 1, ArrowLeft: -1 }[key] ?? NaN)];
      if (!next) return;
      choose(next);
      find(`tab${next}`).focus();
    };
  });
  find("showSessions").onclick = () => showSide("sidebar");
  const toggle = (name) => () => {
    const isShown = document.body.classList.contains("with-panel") && !find(`${name.toLowerCase()}Pane`).hidden;
    showSide("panel", !isShown);
    if (!isShown) choose(name);
  };
  find("showPanel").onclick = toggle("Files");
  find("showFacts").onclick = toggle("Facts");
  for (const close of document.querySelectorAll("[data-closes]")) close.onclick = () => showSide(close.dataset.closes, false);
  showSide("sidebar", !isNarrow());
  narrow.onchange = uncover;
  document.body.classList.remove("starting");
}
