// The connection to one session: it receives events, sends actions, and reconnects itself.

import { token } from "./access.js";
import { call, pathOf, Refused } from "./api.js";

const LONGEST_WAIT = 4000;
const NONE = "No connection. The page tries again.";

export class Link {
  /** `told` gets events, `retold` the facts of the session, `changed` the state of the connection; `again` is called before all events are sent again. */
  constructor(session, { told, retold, changed, again }) {
    Object.assign(this, { session, told, retold, changed, again });
    this.last = 0;
    this.ofLast = 0;
    this.wait = 250;
    this.number = 0;
    this.waiting = new Map();
    this.expecting = [];
    this.connect();
  }

  connect() {
    clearTimeout(this.timer);
    // Several events may have one number: resume after the number before, and skip those that were received.
    this.known = this.ofLast;
    this.knownNumber = this.last;
    const after = Math.max(0, this.last - 1);
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}${pathOf(this.session, "/ws")}?after=${after}`);
    this.socket = socket;
    this.changed("connecting");
    socket.onopen = () => {
      socket.send(JSON.stringify({ token: token() }));
      this.wait = 250;
      this.changed("connected");
      for (const { done } of this.expecting.splice(0)) done();
    };
    socket.onmessage = (message) => this.take(JSON.parse(message.data));
    socket.onclose = (closed) => socket === this.socket && this.lost(closed);
  }

  take(frame) {
    if ("reply_to" in frame) {
      const { done, failed } = this.waiting.get(frame.reply_to) ?? {};
      this.waiting.delete(frame.reply_to);
      if (frame.error) failed?.(new Refused(409, frame.error));
      else done?.(frame);
      return;
    }
    if (frame.changed_session) return this.retold(frame.changed_session);
    if (frame.number === this.knownNumber && this.known-- > 0) return;
    this.ofLast = frame.number === this.last ? this.ofLast + 1 : 1;
    this.last = frame.number;
    this.told(frame);
  }

  /** Return once there is a connection. */
  ready() {
    if (this.socket?.readyState === WebSocket.OPEN) return Promise.resolve();
    return new Promise((done, failed) => this.expecting.push({ done, failed }));
  }

  /** Send an action; return its result. */
  send(what, fields = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error(NONE));
    }
    return new Promise((done, failed) => {
      const id = ++this.number;
      this.waiting.set(id, { done, failed });
      this.socket.send(JSON.stringify({ do: what, id, ...fields }));
    });
  }

  async lost(closed) {
    const broken = new Error("The connection was lost. Check whether it was done.");
    for (const { failed } of this.waiting.values()) failed(broken);
    for (const { failed } of this.expecting.splice(0)) failed(new Error(NONE));
    this.waiting.clear();
    if (closed.code === 1008 && closed.reason === "no token") return this.end("no token");
    if (closed.code === 1008 && closed.reason !== "not_open") return this.end(closed.reason);
    if (closed.code === 1008 && this.leftByServer) return this.end("closed");
    if (closed.code === 1008) return this.reopen();
    // 1001: the session was closed, or the server ends. The next attempt shows which.
    this.leftByServer = closed.code === 1001;
    this.changed("waiting");
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  /** Resume a session that this server has closed; all its events are sent again. */
  async reopen() {
    try {
      this.retold(await call("POST", pathOf(this.session, "/resume"), {}));
    } catch (problem) {
      return this.end(problem.message);
    }
    this.last = this.ofLast = 0;
    this.again();
    this.connect();
  }

  end(why) {
    this.changed("ended", why);
  }

  close() {
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = undefined;
    socket.close();
  }
}
