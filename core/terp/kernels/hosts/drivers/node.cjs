// Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
// The inspector evaluates as its console does: `const` may be declared again, `await` stands anywhere.
"use strict";
const fs = require("node:fs");
const inspector = require("node:inspector");
const { createRequire } = require("node:module");
const net = require("node:net");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const util = require("node:util");
const vm = require("node:vm");

const [code, verdict] = process.argv.splice(2, 2).map(Number);
const session = new inspector.Session();
session.connect();
const home = path.join(process.cwd(), "cell.js");
const require_ = createRequire(home);
const INTERRUPTED = { name: "Interrupted", message: "", trace: [] };
let interrupt = () => {};
let post;

const loader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const options = { filename: home, importModuleDynamically: loader };
const load = loader
  ? vm.compileFunction("return import(name)", ["name"], options)
  : (name) => import(name.startsWith("node:") ? name : pathToFileURL(require_.resolve(name)));
const show = (value) => util.inspect(value, { depth: 4, maxStringLength: null });
const hidden = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
// Node says of `loader` that it is an experiment.
const warn = process.emitWarning;
process.emitWarning = (...all) => String(all[0]).includes("DEFAULT_LOADER") || warn.apply(process, all);
hidden("require", require_);
hidden("module", { exports: {} });
hidden("exports", module.exports);
hidden(Symbol.for("terp"), { load, show, head: (value) => head(value), members: (value) => members(value), post: () => post() });
const HERE = 'globalThis[Symbol.for("terp")]';
const go = new vm.Script(`${HERE}.post()`);

const TEXT = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*[^]*?\*\//;
const IMPORT = /^[ \t]*import\s*(?:([\w$]+)\s*(?:,\s*)?)?(?:\*\s*as\s+([\w$]+)|(\{[^}]*\}))?\s*(?:from\s*)?(["'])([^"'\n]+)\4[ \t]*;?/;
const CODE = new RegExp(`(${TEXT.source})|${IMPORT.source.replace("\\4", "\\5")}|\\bimport\\s*(?=\\()`, "gm");

// Import statements as what a script may have instead, with the line numbers kept.
function withImports(text) {
  return text.replace(CODE, (all, skip, main, space, names, quote, from) => {
    if (skip !== undefined) return all;
    if (from === undefined) return `${HERE}.load`;
    const parts = main ? [`{default: ${main}}`] : [];
    if (names) parts.push(names.replace(/\s+as\s+/g, ": "));
    if (space) parts.push(space);
    const loaded = `await ${HERE}.load(${JSON.stringify(from)})`;
    const lines = "\n".repeat((all.match(/\n/g) ?? []).length);
    return parts.map((part) => `const ${part.replace(/\n/g, " ")} = ${loaded}; `).join("") + (parts.length ? "" : `${loaded};`) + lines;
  });
}

function prepared(text) {
  if (!/^\s*\{[^]*\}\s*$/.test(text)) return withImports(text);
  try {
    new vm.Script(`(${text})`);
    return withImports(`(${text})`);
  } catch {
    return withImports(text);
  }
}

// An interrupt in the middle of a stream's own write would leave it waiting for ever.
function writesAtOnce(stream, descriptor) {
  stream.setMaxListeners(0);
  stream.write = (piece, encoding, done) => {
    let left = typeof piece === "string" ? Buffer.from(piece, typeof encoding === "string" ? encoding : "utf8") : piece;
    while (left.length > 0) {
      try {
        left = left.subarray(fs.writeSync(descriptor, left));
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
    const call = typeof encoding === "function" ? encoding : done;
    if (call) process.nextTick(call);
    return true;
  };
}

// The lines of a stack that are the person's own.
function own(stack) {
  const lines = stack.split("\n").map((line) => line.trim().replace("<anonymous>:", "cell:"));
  const end = lines.findIndex((line) => line.includes(__filename) || line.includes("node:inspector"));
  return (end < 0 ? lines : lines.slice(0, end)).filter((line) => line && !/\bnode:/.test(line));
}

function failed({ exception = {}, text, lineNumber, columnNumber, scriptId }) {
  if (exception.subtype !== "error") {
    return { name: "Uncaught", message: exception.description ?? String(exception.value ?? text), trace: [] };
  }
  const [, message, stack] = /^([^]*?)((?:\n {4}at [^\n]*)*)$/.exec(exception.description);
  const trace = own(stack);
  if (exception.className === "SyntaxError" && scriptId) trace.unshift(`at cell:${lineNumber + 1}:${columnNumber + 1}`);
  const plain = message.replace(/^[\w$.]*(?: \[\w+\])?: /, "");
  return { name: exception.className, message: plain, trace };
}

function succeeded(result) {
  if (result.type === "undefined") return { value: null };
  if (result.objectId === undefined) {
    return { value: result.type === "string" ? show(result.value) : (result.description ?? String(result.value)) };
  }
  let value;
  const functionDeclaration = `function () { return ${HERE}.show(this) }`;
  session.post("Runtime.callFunctionOn", { objectId: result.objectId, functionDeclaration, returnByValue: true }, (_, told) => {
    value = told?.result.value;
  });
  return { value: value ?? result.description };
}

function evaluate(text) {
  return new Promise((resolve) => {
    interrupt = () => resolve(INTERRUPTED);
    const asked = { expression: prepared(text), replMode: true, objectGroup: "cell" };
    post = () => session.post("Runtime.evaluate", asked, (error, told) => {
      if (error) resolve({ name: "Error", message: error.message, trace: [] });
      else resolve(told.exceptionDetails ? failed(told.exceptionDetails) : succeeded(told.result));
    });
    try {
      go.runInThisContext({ breakOnSigint: true });
    } catch {
      resolve(INTERRUPTED);
    }
  });
}

// What is asked between cells. The inspector refuses what would change anything, a getter for instance.
const QUESTION = /^\x01(\d+) (\w+) ?([^]*)$/;
const known = new Set(Object.getOwnPropertyNames(globalThis));
const KEYWORDS = `async await break case catch class const continue debugger default delete do else export extends
  false finally for function if import in instanceof let new null return static super switch this throw true try typeof
  undefined var void while yield`.split(/\s+/);

function asked(method, parameters) {
  let told;
  session.post(method, parameters, (_, result) => { told = result; });
  return told;
}

const declared = () => asked("Runtime.globalLexicalScopeNames", {})?.names ?? [];

function looked(expression) {
  const told = asked("Runtime.evaluate", { expression, silent: true, throwOnSideEffect: true, objectGroup: "cell" });
  return told && !told.exceptionDetails ? told.result : undefined;
}

function called(objectId, functionDeclaration) {
  return asked("Runtime.callFunctionOn", { objectId, functionDeclaration, returnByValue: true, silent: true })?.result?.value;
}

const LOOK = { depth: 1, maxArrayLength: 20, maxStringLength: 80, customInspect: false, breakLength: Infinity, compact: 3 };
const head = (value) => util.inspect(value, LOOK).slice(0, 300);

function row(name) {
  const found = looked(name);
  if (!found) return [name, "?", ""];
  if (found.objectId === undefined) {
    const text = found.type === "string" ? head(found.value) : (found.description ?? String(found.value));
    return [name, found.type, found.type === "undefined" ? "" : text];
  }
  const text = ["function", "symbol"].includes(found.type) ? "" : called(found.objectId, `function () { return ${HERE}.head(this) }`);
  return [name, found.className ?? found.type, text ?? ""];
}

function names() {
  const globals = Object.getOwnPropertyNames(globalThis).filter((name) => !known.has(name) && /^[\w$]+$/.test(name));
  return [...declared(), ...globals].slice(0, 5000).map(row);
}

function words(word) {
  const [, path, receiver] = /^((.*?)\??\.)[\w$]*$/s.exec(word.replace(/[\w$]*$/, "x")) ?? [];
  if (!path) return [...declared(), ...Object.getOwnPropertyNames(globalThis), ...KEYWORDS].filter((name) => name.startsWith(word));
  const found = looked(`Object(${receiver})`) ?? looked(receiver);
  const members = found?.objectId && called(found.objectId, `function () { return ${HERE}.members(this) }`);
  return (members ?? []).map((name) => path + name).filter((name) => name.startsWith(word));
}

function members(value) {
  const found = new Set();
  for (let one = value; one !== null && one !== undefined && !util.types.isProxy(one); one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) if (/^[A-Za-z_$][\w$]*$/.test(name)) found.add(name);
  }
  return [...found].slice(0, 1000);
}

function answered(number, what, word) {
  try {
    return { answer: Number(number), rows: what === "names" ? names() : words(word) };
  } catch {
    return { answer: Number(number), rows: [] };
  } finally {
    session.post("Runtime.releaseObjectGroup", { objectGroup: "cell" });
  }
}

const tell = (told) => fs.writeSync(verdict, `${JSON.stringify(told)}\0`);
const late = (error) => console.error("Uncaught", error?.stack ? own(error.stack).join("\n    ") : error);
writesAtOnce(process.stdout, 1);
writesAtOnce(process.stderr, 2);
process.on("SIGINT", () => interrupt());
process.on("uncaughtException", late);
process.on("unhandledRejection", late);

(async () => {
  let text = "";
  tell({});
  for await (const piece of new net.Socket({ fd: code, writable: false }).setEncoding("utf8")) {
    const cells = (text + piece).split("\0");
    text = cells.pop();
    for (const cell of cells) {
      const question = QUESTION.exec(cell);
      if (question) {
        tell(answered(...question.slice(1)));
        continue;
      }
      const told = await evaluate(cell);
      interrupt = () => {};
      session.post("Runtime.releaseObjectGroup", { objectGroup: "cell" });
      tell(told);
    }
  }
  process.exit(0);
})();
