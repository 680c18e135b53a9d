// The token, and which session this tab shows. Both come in the fragment, which is sent to nobody.

import { find } from "./dom.js";

const KEPT = "terp-token";

const fragment = () => new URLSearchParams(location.hash.slice(1));

/** Take the token out of the address, so that no history keeps it; a reload of this tab finds it again. */
export function takeToken() {
  const given = fragment().get("token");
  if (!given) return;
  sessionStorage.setItem(KEPT, given);
  nameSession(namedSession());
}

export const token = () => sessionStorage.getItem(KEPT) ?? "";
export const namedSession = () => fragment().get("session") ?? "";

export function nameSession(session) {
  history.replaceState(null, "", session ? `#session=${session}` : "#");
}

/** Ask for a token until the server takes one. */
export function askForToken(problem, retry) {
  const dialog = find("access");
  find("accessProblem").textContent = problem;
  find("accessForm").onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEPT, find("token").value.trim());
    find("token").value = "";
    dialog.close();
    retry();
  };
  if (!dialog.open) dialog.showModal();
}
