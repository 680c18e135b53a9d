// A client on the npm SDK: node client.mjs SDK STEPS.json COMMAND…
// It takes the steps of a session one by one, and prints one line of JSON for each message and each end of a step.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";

const [sdk, steps, command, ...words] = process.argv.slice(2);
const acp = await import(sdk);
const program = { cwd: "", sessionId: "", answers: [], buffers: {}, ...JSON.parse(readFileSync(steps, "utf8")) };
const tell = (kind, value) => console.log(JSON.stringify({ kind, ...value }));

const child = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"], env: process.env });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

const app = acp
  .client({ name: "test" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    const [wanted, own] = program.answers.shift() ?? ["", {}];
    tell("asked", { options: params.options.map((one) => one.kind), code: params.toolCall.rawInput?.command });
    const option = wanted && params.options.find((one) => one.optionId.startsWith(wanted));
    if (!option) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: option.optionId }, _meta: { terp: own } };
  })
  .onRequest(acp.methods.client.fs.readTextFile, ({ params }) => {
    if (!(params.path in program.buffers)) throw acp.RequestError.resourceNotFound(params.path);
    return { content: program.buffers[params.path] };
  })
  .onRequest(acp.methods.client.fs.writeTextFile, ({ params }) => {
    tell("written", params);
    program.buffers[params.path] = params.content;
    return {};
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => {
    tell("update", params.update);
    const cancels = program.cancels;
    if (cancels && JSON.stringify(params.update).includes(cancels)) {
      program.cancels = "";
      agent.notify(acp.methods.agent.session.cancel, { sessionId: program.sessionId });
    }
  });

let agent;
await app.connectWith(stream, async (connected) => {
  agent = connected;
  const capabilities = { fs: { readTextFile: true, writeTextFile: true } };
  const made = await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: capabilities });
  tell("end", { step: "initialize", ...made });
  for (const [method, params] of program.steps) {
    if (method === "kill") {
      child.kill("SIGKILL");
      break;
    }
    try {
      const full = { sessionId: program.sessionId, ...params };
      const result = await agent.request(method, full);
      program.sessionId = result?.sessionId ?? program.sessionId;
      tell("end", { step: method, ...result });
    } catch (error) {
      tell("end", { step: method, error: error.message, code: error.code });
    }
  }
});
child.stdin.end();
const code = await new Promise((done) => (child.exitCode ?? child.signalCode ? done(child.exitCode) : child.on("exit", done)));
tell("exit", { code });
