// Functions that show an event in the conversation `it`: one for every event, also for those that show nothing.

import { here } from "./shown.js";

export const TOLD = {
  turn_started: (it, event) => it.begin(event),
  model_called: (it) => {
    it.beginReply();
    it.does.changed("doing", "the model thinks");
  },
  model_retrying: (it, event) => it.void(event),
  reasoning_delta: (it, { text }) => it.think(text),
  // A value that terp inserted is between marks that neither the model nor the value can contain.
  text_delta: (it, { text, reference }) => {
    const clean = text.replace(/[\ufdd0\ufdd1]/g, "");
    it.write(reference ? `\ufdd0${clean}\ufdd1` : clean);
  },
  code_delta: (it, event) => it.drawn(event.call_id).write(event),
  code_proposed: (it, event) => it.propose(event),
  code_typed: (it, event) => {
    it.turn = undefined;
    it.card(event.call_id).propose({ ...event, effects: { found: [] }, tier: "none", place: "", asks: "" });
  },
  asked: (it, event) => it.ask(event),
  answered: (it, event) => it.answered(event),
  code_declined: (it, event) => it.card(event.call_id).decline(event.reason, "declined"),
  code_rejected: (it, event) => it.card(event.call_id).decline(event.reason, "cannot run"),
  code_started: (it, event) => {
    it.card(event.call_id).start(event);
    it.does.changed("doing", "code runs");
  },
  printed: (it, event) => it.drawn(event.call_id).put(event.output),
  late_output: (it, event) => it.drawn(event.call_id).put(event.output),
  code_finished: (it, event) => it.finishCode(event),
  job_changed: (it, { job, state }) => it.said(state === "ended" ? `Job ${job} has ended.` : `Job ${job} runs in the background.`),
  kernel_changed: (it, { language, state, why }) => {
    if (state === "starting") it.does.changed("doing", `the ${language} kernel starts`);
    if (state === "interrupting") it.said(`The code does not answer. Stop again to end the ${language} kernel and its variables.`, "problem");
    if (why && ["died", "restarted", "left"].includes(state)) it.said(`The ${language} kernel: ${state}. ${why}`, "problem");
  },
  progress: (it, { what, done, total }) => it.does.changed("doing", total ? `${what}: ${Math.round((100 * done) / total)} %` : what),
  usage_reported: (it, event) => it.use(event),
  history_compacted: (it, { before, after, how, reason }) =>
    it.said(`${reason === "undone" ? "Compaction undone" : `Compacted (${how})`}: ${before.toLocaleString()} → ${after.toLocaleString()} tokens.`),
  history_rewound: (it, { removed }) => it.rewind(removed),
  session_forked: (it, { copy }) => it.said(`Saved a copy of the conversation: ${copy}.`),
  session_resumed: (it, event) => it.resume(event),
  code_compared: (it, { difference }) => it.said(difference ? "The output differs from before." : "The output is the same as before."),
  check_started: (it, { check, attempt }) => it.said(`Check ${attempt}: ${check}`),
  check_finished: (it, event) => it.said(ofCheck(event)),
  noticed: (it, { text, remedy }) => it.said([text, here(remedy)].filter(Boolean).join(" "), "notice"),
  turn_finished: (it, event) => it.finish(event),
};

function ofCheck({ passed, why, output, results = [], ...files }) {
  const kinds = ["changed", "missing", "new"].filter((kind) => files[kind]?.length);
  const other = kinds.length ? [`Files of the check: ${kinds.map((kind) => `${kind} ${files[kind].join(", ")}`).join("; ")}.`] : [];
  const how = passed ? ["The check has passed."] : ["The check has not passed.", why];
  return [...how, ...other, ...results].join(" ") + (passed ? "" : `\n${output}`);
}
