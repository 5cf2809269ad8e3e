/** Showing emoji by name, and as plain :name: where this machine has no glyph for one. */

import { h } from "./dom.js";
import { EMOJI } from "./emoji_table.js";

const SIZE = 20;
const shown = new Map();
let missing = null;

/** @param {string} name without colons; a skin tone after "::" is ignored */
export function emoji(name) {
  const base = name.split("::")[0];
  const char = EMOJI.get(base);
  if (char && canDraw(char)) return h("span.emoji", { role: "img", "aria-label": base, title: `:${name}:` }, char);
  return h("span.emoji-name", { title: `:${name}:` }, `:${base}:`);
}

/** Names that start with, or else contain, what was typed. @param {string} typed @param {number} most */
export function findEmoji(typed, most) {
  const names = [...EMOJI.keys()];
  const starting = names.filter((name) => name.startsWith(typed));
  const containing = names.filter((name) => !name.startsWith(typed) && name.includes(typed));
  return [...starting, ...containing].slice(0, most);
}

/** A font without the glyph draws the same box for every character it lacks. */
function canDraw(char) {
  if (!shown.has(char)) {
    missing ??= picture("\u{1fffd}");
    shown.set(char, picture(char) !== missing);
  }
  return shown.get(char);
}

function picture(char) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) return char;
  pen.font = `${SIZE - 6}px sans-serif`;
  pen.textBaseline = "top";
  pen.fillText(char.replace("\ufe0f", ""), 1, 2);
  return pen.getImageData(0, 0, SIZE, SIZE).data.join();
}
