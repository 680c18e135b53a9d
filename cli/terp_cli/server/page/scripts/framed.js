// HTML of code: in a frame with another origin, without a network.

import { make } from "./dom.js";
import { readable } from "./shown.js";
import { frameTables } from "./tables.js";

const TALLEST = 640;
const TABLES = {
  ALLOWED_TAGS: ["table", "thead", "tbody", "tr", "th", "td", "p", "div"],
  ALLOWED_ATTR: ["colspan", "rowspan"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

// The page has its own look for tables; a browser complains of styles that it may not apply.
const STYLES = /<style[\s\S]*?<\/style>|\sstyle="[^"]*"/g;

/** Return a data frame as a table of this page, and any other HTML in a frame; `other` replaces a frame that shows nothing. */
export function html(text, other) {
  return /<table[^>]*class="dataframe"/.test(text) ? make("div", {}, frameTables(DOMPurify.sanitize(text.replace(STYLES, ""), TABLES))) : framed(text, other);
}

function framed(text, other) {
  const frame = make("iframe", { class: "framed", sandbox: "allow-scripts", src: "/frame", title: "Output of the code", loading: "eager" });
  let failed;
  const hear = (message) => {
    if (!frame.isConnected) return removeEventListener("message", hear);
    if (message.source !== frame.contentWindow) return;
    if (message.data.ready) frame.contentWindow.postMessage({ html: text }, "*");
    const height = Number(message.data.height);
    const { why, empty } = message.data;
    if (why && !failed) frame.after((failed = make("p", { class: "muted" }, readable(String(why)))));
    if (why && empty) return frame.replaceWith(other());
    if (height > 0) frame.style.height = `${Math.min(height + 2, TALLEST)}px`;
  };
  addEventListener("message", hear);
  return frame;
}
