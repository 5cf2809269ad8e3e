/** A block of code with its copy button. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

const SAID_MS = 1400;

/** @param {string} text @param {string} [language] */
export function codeBlock(text, language = "") {
  const button = h(
    "button.code-copy",
    { type: "button", "aria-label": "Copy code", "data-testid": "copy-code" },
    icon("copy"),
    h("span", null, "Copy")
  );
  button.addEventListener("click", () => copy(text, button));
  return h("div.code", { data: { language } },
    h("div.code-bar", null, h("span.code-language", null, language), button),
    h("pre", { tabindex: "0" }, h("code", null, text)));
}

async function copy(text, button) {
  const label = button.lastElementChild;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = "Copied";
  } catch {
    label.textContent = "Not allowed";
  }
  setTimeout(() => (label.textContent = "Copy"), SAID_MS);
}
