/** Reactions: the pills under a message and the picker. */

import { h, replace } from "./dom.js";
import { act } from "./api.js";
import { closePopover, popover } from "./overlay.js";
import { emoji, findEmoji } from "./emoji.js";
import { FREQUENT } from "./emoji_table.js";
import { icon } from "./icons.js";
import { nameOf } from "./selectors.js";
import { store } from "./store.js";

const MOST_SHOWN = 84;

/** @param {import("./store.js").Message} message */
export function reactionBar(message) {
  if (!message.reactions.length) return null;
  const pills = message.reactions.map(({ name, users }) => {
    const isMine = users.includes(store.me);
    const who = users.map((id) => (id === store.me ? "You" : nameOf(id))).join(", ");
    return h(`button.pill${isMine ? ".is-mine" : ""}`, {
      type: "button",
      title: `${who} reacted with :${name}:`,
      "aria-pressed": String(isMine),
      "aria-label": `${users.length} × ${name}`,
      "data-testid": `reaction-${name}`,
      on: { click: () => toggleReaction(message, name) },
    }, emoji(name), h("span.pill-count", null, users.length));
  });
  const add = h(
    "button.pill.pill-add",
    {
      type: "button",
      "aria-label": "Add a reaction",
      on: { click: (event) => pickReaction(event.currentTarget, message) },
    },
    icon("smile")
  );
  return h("div.reactions", { "data-testid": "reactions" }, pills, add);
}

/** @param {import("./store.js").Message} message @param {string} name */
export function toggleReaction(message, name) {
  const isMine = message.reactions.find((one) => one.name === name)?.users.includes(store.me);
  return act(isMine ? "unreact" : "react", { channel: message.channel, ts: message.ts, name });
}

/** @param {HTMLElement} anchor @param {import("./store.js").Message} message */
export function pickReaction(anchor, message) {
  pickEmoji(anchor, (name) => toggleReaction(message, name));
}

/** @param {HTMLElement} anchor @param {(name: string) => void} onPick */
export function pickEmoji(anchor, onPick) {
  const grid = h("div.emoji-grid", { role: "listbox", "aria-label": "Emoji" });
  const pick = (name) => {
    closePopover();
    onPick(name);
  };
  const show = (typed) => {
    const names = typed ? findEmoji(typed, MOST_SHOWN) : [...new Set([...FREQUENT, ...findEmoji("", MOST_SHOWN)])];
    replace(
      grid,
      names.map(
        (name) => h(
          "button.emoji-choice",
          { type: "button", title: `:${name}:`, "aria-label": name, on: { click: () => pick(name) } },
          emoji(name)
        )
      )
    );
    if (!names.length) replace(grid, h("p.muted", null, "No emoji of this name."));
  };
  const search = h(
    "input.field",
    { type: "search", placeholder: "Search emoji", "aria-label": "Search emoji", "data-testid": "emoji-search" }
  );
  search.addEventListener("input", () => show(search.value.trim().toLowerCase().replaceAll(":", "")));
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    grid.querySelector("button")?.click();
  });
  show("");
  popover(anchor, h("div.emoji-picker", { "data-testid": "emoji-picker" }, search, grid));
}
