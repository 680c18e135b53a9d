// Objects that code displays: of all forms that a kernel sends, the one that shows most.

import { button, make } from "./dom.js";
import { html } from "./framed.js";
import { codeBlock } from "./code.js";
import { markdown } from "./markdown.js";
import { paintedNodes } from "./printed.js";
import { saveBlob } from "./api.js";

const asText = (value) => (Array.isArray(value) ? value.join("") : String(value));

function picture(type, value, name) {
  const bytes = type === "image/svg+xml" ? new TextEncoder().encode(asText(value)) : Uint8Array.from(atob(asText(value)), (one) => one.charCodeAt(0));
  const blob = new Blob([bytes], { type });
  const address = URL.createObjectURL(blob);
  const image = make("img", { src: address, alt: "Picture that the code made" });
  const larger = () => {
    const dialog = make("dialog", { class: "large", onclick: () => dialog.close(), onclose: () => dialog.remove() }, make("img", { src: address, alt: image.alt }));
    document.body.append(dialog);
    dialog.showModal();
  };
  const open = make("button", { type: "button", class: "picture", "aria-label": "Show the picture larger", onclick: larger }, image);
  return make("figure", {}, open, make("figcaption", {}, button("Download", () => saveBlob(blob, name), { class: "plain" })));
}

// In this order: what is first shows most.
const SHOWN = [
  ["image/png", (value, name) => picture("image/png", value, name)],
  ["image/jpeg", (value, name) => picture("image/jpeg", value, name)],
  ["image/svg+xml", (value, name) => picture("image/svg+xml", value, name)],
  ["text/html", (value) => html(asText(value))],
  ["text/markdown", (value) => markdown(asText(value))],
  ["application/json", (value) => codeBlock(JSON.stringify(value, null, 2), "json")],
  ["text/latex", (value) => codeBlock(asText(value), "latex")],
  ["text/plain", (value) => make("pre", { class: "printed" }, ...paintedNodes(asText(value)))],
];

/** A MIME bundle as a node. */
export function displayed({ data, path = "" }, number) {
  const [type, show] = SHOWN.find(([type]) => type in data) ?? [];
  const suffix = { "image/svg+xml": "svg", "image/jpeg": "jpg" }[type] ?? "png";
  const name = path.split("/").pop() || `picture-${number}.${suffix}`;
  const shown = type ? show(data[type], name) : `${Object.keys(data).join(", ")} cannot be shown here.`;
  return make("div", { class: "display" }, shown);
}
