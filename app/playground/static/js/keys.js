/** Keys that work anywhere on the page. */

import { focusComposer } from "./composer_box.js";
import { closePopover } from "./overlay.js";
import { closeThread } from "./thread.js";
import { route } from "./route.js";
import { quickSwitch } from "./quick_switch.js";
import { setUi, ui } from "./ui.js";

/** @param {KeyboardEvent} event */
export function onKey(event) {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    quickSwitch();
  }
  if (event.key === "Escape") escape(event);
}

/** Closes the nearest thing that is open. */
function escape(event) {
  if (document.querySelector("dialog[open]") && !document.querySelector("dialog .popover")) return;
  if (closePopover()) return void event.preventDefault();
  if (ui.isDrawerOpen) return setUi({ isDrawerOpen: false });
  if (!route().thread) return;
  closeThread();
  focusComposer("composer");
}
