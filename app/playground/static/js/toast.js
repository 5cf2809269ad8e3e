/** Short sentences at the edge of the window, above any dialog. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

const SHOWN_MS = 6000;

/** @param {string} sentence @param {"info" | "error"} [kind] */
export function toast(sentence, kind = "info") {
  const el = h(
    `div.toast.toast-${kind}`,
    { "data-testid": "toast" },
    icon(kind === "error" ? "warning" : "info"),
    h("span", null, sentence)
  );
  const gone = () => el.remove();
  el.append(h("button.quiet", { "aria-label": "Dismiss", on: { click: gone } }, icon("close")));
  const place = document.getElementById("toasts");
  place.append(el);
  place.hidePopover();
  place.showPopover();
  while (place.children.length > 4) place.firstElementChild.remove();
  setTimeout(gone, SHOWN_MS);
}
