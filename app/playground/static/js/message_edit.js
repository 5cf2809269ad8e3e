/** Editing one's own message in place. */

import { h } from "./dom.js";
import { act } from "./api.js";
import { completer } from "./completion.js";
import { fit } from "./composer_box.js";
import { setUi } from "./ui.js";
import { fromWire, toWire } from "./wire.js";

/** @param {import("./store.js").Message} message */
export function editor(message) {
  const box = /** @type {HTMLTextAreaElement} */ (h(
    "textarea.edit-box",
    { rows: "1", "aria-label": "Edit message", "data-testid": "edit-box" }
  ));
  box.value = fromWire(message.text);
  const done = () => setUi({ editing: null });
  const save = async () => {
    const text = toWire(box.value.trim());
    if (!text || text === message.text) return done();
    if (await act("edit", { channel: message.channel, ts: message.ts, text })) done();
  };
  const completion = completer(box, message.channel);
  box.addEventListener("input", () => fit(box));
  box.addEventListener("keydown", (event) => {
    if (completion.handles(event) || event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      save();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      done();
    }
  });
  requestAnimationFrame(() => {
    fit(box);
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  });
  return h("div.editor", null, box,
    h("div.editor-foot", null,
      h("button.button.small", { type: "button", on: { click: done } }, "Cancel"),
      h("button.button.small.primary", { type: "button", "data-testid": "save-edit", on: { click: save } }, "Save")));
}
