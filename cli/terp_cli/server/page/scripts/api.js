// Calls of /v1.

import { token } from "./access.js";
import { make } from "./dom.js";

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.message);
    this.status = status;
    this.code = problem.code;
    this.remedy = problem.remedy;
  }
}

async function answered(method, path, body, type) {
  const headers = { Authorization: `Bearer ${token()}` };
  if (body !== undefined) headers["Content-Type"] = type;
  const answer = await fetch(path, { method, headers, body }).catch(() => {
    throw new Refused(0, { code: "unreachable", message: "The server cannot be reached." });
  });
  if (answer.ok) return answer;
  if (answer.status === 401) dispatchEvent(new Event("refused"));
  const told = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, told.error ?? { code: "error", message: `The server answered ${answer.status}.` });
}

/** Return the reply, from JSON; undefined if it is empty. */
export async function call(method, path, sent) {
  const body = sent === undefined ? undefined : JSON.stringify(sent);
  const answer = await answered(method, path, body, "application/json");
  return answer.status === 204 ? undefined : answer.json();
}

const inPath = (name) => name.split("/").map(encodeURIComponent).join("/");
export const pathOf = (session, more = "") => `/v1/sessions/${session}${more}`;
export const fileOf = (session, name) => pathOf(session, `/files/${inPath(name)}`);

export const upload = (session, name, file) => answered("PUT", fileOf(session, name), file, "application/octet-stream");

export const content = async (path) => (await answered("GET", path)).blob();

/** Download the file at a path. The token is in a header, so a plain link cannot do it. */
export async function save(path, name) {
  const answer = await answered("GET", path);
  const said = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "");
  saveBlob(await answer.blob(), name ?? said?.[1] ?? "file");
}

export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
