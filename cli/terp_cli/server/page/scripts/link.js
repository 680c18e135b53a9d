// The line to one session: its events come, what the person does goes. It mends itself.

import { token } from "./access.js";
import { call, pathOf, Refused } from "./api.js";

const LONGEST_WAIT = 4000;
const NONE = "There is no connection now. It will be tried again.";

export class Link {
  /** `told` hears events, `retold` the session as it is now, `changed` the state of the line, `again` that all events will come anew. */
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
    // Several events may have one number: come again behind the number before, and pass over those that came.
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

  /** Have something done; what came of it. */
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
    const broken = new Error("The connection broke off. Look whether it was done.");
    for (const { failed } of this.waiting.values()) failed(broken);
    for (const { failed } of this.expecting.splice(0)) failed(new Error(NONE));
    this.waiting.clear();
    if (closed.code === 1008 && closed.reason === "no token") return this.end("no token");
    if (closed.code === 1008 && closed.reason !== "not_open") return this.end(closed.reason);
    if (closed.code === 1008 && this.leftByServer) return this.end("closed");
    if (closed.code === 1008) return this.reopen();
    // 1001: the session was closed, or the server ends. The next attempt tells which.
    this.leftByServer = closed.code === 1001;
    this.changed("waiting");
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  /** Another server has the session now, or this one had closed it: its events come anew. */
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
