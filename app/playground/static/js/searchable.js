/** A list that a search field narrows. */

import { h, sync } from "./dom.js";
import { arrows } from "./overlay.js";
import { onChange, store } from "./store.js";

/** @typedef {{key: string, text: string, sig: string, make: () => HTMLElement}} Row */

const NONE = {
  key: "none",
  sig: "",
  make: () => h("p.rows-none", { "data-testid": "no-match" }, "Nothing here has that in its name."),
};

/**
 * The field and its list, which shows what the page knows for as long as it is on the page: people type before the
 * first state was read, and others come and go while a list is open.
 * @param {() => Row[]} rowsNow each with the `text` it is found by
 * @param {string} label
 */
export function searchable(rowsNow, label) {
  const list = h("div.rows", { on: { keydown: arrows } });
  const search = h("input.field", { type: "search", placeholder: label, "aria-label": label });
  const draw = () => {
    const typed = search.value.trim().toLowerCase();
    const found = rowsNow().filter((row) => row.text.toLowerCase().includes(typed));
    sync(list, found.length || !store.isReady ? found : [NONE]);
  };
  search.addEventListener("input", draw);
  const stop = onChange(() => (list.isConnected ? draw() : stop()));
  draw();
  return [search, list];
}
