// HTML that code made: in a frame of an origin of its own, without a network.

import { make } from "./dom.js";
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

/** A data frame becomes a table of this page; any other HTML keeps what it is in its frame. */
export function html(text) {
  return /<table[^>]*class="dataframe"/.test(text) ? make("div", {}, frameTables(DOMPurify.sanitize(text.replace(STYLES, ""), TABLES))) : framed(text);
}

function framed(text) {
  const frame = make("iframe", { class: "framed", sandbox: "allow-scripts", src: "/frame", title: "Output of the code", loading: "eager" });
  const hear = (message) => {
    if (!frame.isConnected) return removeEventListener("message", hear);
    if (message.source !== frame.contentWindow) return;
    if (message.data.ready) frame.contentWindow.postMessage({ html: text }, "*");
    const height = Number(message.data.height);
    if (height > 0) frame.style.height = `${Math.min(height + 2, TALLEST)}px`;
  };
  addEventListener("message", hear);
  return frame;
}
