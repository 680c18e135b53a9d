// Objects that code displays, in the richest form of those that the kernel sends.

import { button, make } from "./dom.js";
import { html } from "./framed.js";
import { codeBlock } from "./code.js";
import { formula } from "./maths.js";
import { markdown } from "./markdown.js";
import { paintedNodes } from "./printed.js";
import { saveBlob } from "./api.js";
import { readable } from "./shown.js";

const asText = (value) => (Array.isArray(value) ? value.join("") : String(value));

function encoded(type, value, name) {
  const bytes = type === "image/svg+xml" ? new TextEncoder().encode(asText(value)) : Uint8Array.from(atob(asText(value)), (one) => one.charCodeAt(0));
  return picture(new Blob([bytes], { type }), name);
}

function picture(blob, name) {
  const address = URL.createObjectURL(blob);
  const image = make("img", { src: address, alt: `Picture made by the code: ${name}` });
  const larger = () => {
    const dialog = make("dialog", { class: "large", onclick: () => dialog.close(), onclose: () => dialog.remove() }, make("img", { src: address, alt: image.alt }));
    document.body.append(dialog);
    dialog.showModal();
  };
  const open = make("button", { type: "button", class: "picture", "aria-label": "Show the picture larger", onclick: larger }, image);
  return make("figure", {}, open, make("figcaption", {}, button(`⤓ ${readable(name)}`, () => saveBlob(blob, name), { class: "plain" })));
}

// The richest form first.
const SHOWN = [
  ["image/png", (value, name) => encoded("image/png", value, name)],
  ["image/jpeg", (value, name) => encoded("image/jpeg", value, name)],
  ["image/svg+xml", (value, name) => encoded("image/svg+xml", value, name)],
  ["text/html", (value, name, other) => html(asText(value), other)],
  ["text/markdown", (value) => markdown(asText(value))],
  ["application/json", (value) => codeBlock(JSON.stringify(value, null, 2), "json")],
  ["text/latex", (value) => formula(asText(value))],
  ["text/plain", (value) => make("pre", { class: "printed" }, ...paintedNodes(asText(value)))],
];

const TYPES = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", svg: "image/svg+xml" };
export const pictureType = (path) => TYPES[path.split(".").pop().toLowerCase()];

/** Return a node for the picture in a file; it is removed if `content` fails, or has no picture. */
export function pictureFile(path, content) {
  const place = make("div", { class: "display" });
  const show = (blob) => {
    place.append(picture(new Blob([blob], { type: pictureType(path) }), path.split("/").pop()));
    place.querySelector("img").onerror = () => place.remove();
  };
  content(path).then(show, () => place.remove());
  return place;
}

/** Return a MIME bundle as a node. */
export function displayed({ data, path = "" }, number) {
  const { "text/html": page = "", ...others } = data;
  // An interactive chart is better than its picture.
  const isLive = asText(page).includes("\x3cscript");
  const [type, show] = SHOWN.find(([type]) => type in data && (!isLive || type === "text/html")) ?? [];
  const other = () => displayed({ data: others, path }, number);
  const suffix = { "image/svg+xml": "svg", "image/jpeg": "jpg" }[type] ?? "png";
  const name = path.split("/").pop() || `picture-${number}.${suffix}`;
  const shown = type ? show(data[type], name, other) : `${Object.keys(data).join(", ")} cannot be shown here.`;
  const hasPicture = isLive && Object.keys(others).some((one) => one.startsWith("image/"));
  const drawn = hasPicture ? [make("details", {}, make("summary", { class: "muted" }, "As a picture"), other())] : [];
  return make("div", { class: "display" }, shown, ...drawn);
}
