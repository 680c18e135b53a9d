// The token, and the session of this tab. Both are in the address's fragment, which is never sent.

import { find } from "./dom.js";

const KEPT = "terp-token";
export const REFUSED = "The server does not take this token.";
const TAKEN = "terp-token-taken";
const IN_ADDRESS = /[#&]token=([^&\s]+)/;
let connect;

const fragment = () => new URLSearchParams(location.hash.slice(1));

/** Take the token out of the address, so that no history keeps it; a reload of this tab finds it again. */
export function takeToken() {
  const given = fragment().get("token");
  if (!given) return;
  nameSession(namedSession());
  use(given);
}

/** Use this token, and close the question for one. */
function use(token) {
  sessionStorage.setItem(KEPT, token);
  sessionStorage.removeItem(TAKEN);
  if (!find("access").open) return;
  find("access").close();
  connect();
}

/** The server has accepted the token of this tab. */
export const tokenTaken = () => sessionStorage.setItem(TAKEN, "yes");

export const token = () => sessionStorage.getItem(KEPT) ?? "";
export const namedSession = () => fragment().get("session") ?? "";

export function nameSession(session) {
  history.replaceState(null, "", session ? `#session=${session}` : "#");
}

/** Ask for a token until the server accepts one. */
export function askForToken(problem, retry) {
  const dialog = find("access");
  const isNew = problem === REFUSED && sessionStorage.getItem(TAKEN);
  find("accessProblem").textContent = isNew ? "The server was started again, and has a new token. With --keep-token it keeps its token." : problem;
  connect = retry;
  find("accessForm").onsubmit = (event) => {
    event.preventDefault();
    const written = find("token").value.trim();
    find("token").value = "";
    use(IN_ADDRESS.exec(written)?.[1] ?? written);
  };
  if (!dialog.open) dialog.showModal();
}
