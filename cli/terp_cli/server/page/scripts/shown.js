// Text of others, made safe to show.

// Controls, and characters that reorder or hide text: code must be read as it runs.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Return the text with all invisible characters made visible. */
export const readable = (text) => text.replace(HIDDEN, (one) => `<U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);

const HERE = { max_steps: "Write “go on” for more of them." };

/** Return a remedy in the words of the page; flags are only for the command line of the server. */
export const here = (remedy, reason) => (/--\w/.test(remedy) ? `${HERE[reason] ?? "A new session can have another profile, and so another model."} On the server's command line: ${remedy}` : remedy);

const SIZES = ["B", "kB", "MB", "GB"];

export function size(bytes) {
  let unit = 0;
  for (; bytes >= 1000 && unit < 3; unit++) bytes /= 1000;
  return `${unit && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${SIZES[unit]}`;
}

export function seconds(time) {
  if (time < 10) return `${time.toFixed(1)} s`;
  return time < 90 ? `${Math.round(time)} s` : `${Math.round(time / 60)} min`;
}

export const dollars = (cost) => (cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`);

export function since(time) {
  const minutes = (Date.now() / 1000 - time) / 60;
  if (minutes < 1) return "now";
  if (minutes < 60) return `${Math.floor(minutes)} min ago`;
  return minutes < 1440 ? `${Math.floor(minutes / 60)} h ago` : new Date(time * 1000).toLocaleDateString();
}
