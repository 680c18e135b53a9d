// Keys that work everywhere on the page.

import { find } from "./dom.js";
import { showSide, uncover } from "./look.js";

/** `does` has `stop` and `begin`. */
export function listenToKeys(does) {
  addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key === "k") {
      showSide("sidebar", true);
      find("sessionFilter").focus();
    } else if (event.altKey && event.key === "n") {
      does.begin();
    } else if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
      escape(does);
    } else {
      return;
    }
    event.preventDefault();
  });
}

/** Close the topmost part of the page; if there is none, stop the turn. */
function escape(does) {
  if (uncover()) return;
  if (find("sidebar").contains(document.activeElement)) find("messageInput").focus();
  else does.stop();
}
