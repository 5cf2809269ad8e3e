/** Faces: initials on a colour that follows from the id, grey for bots; the answering app wears the mark. */

import { h } from "./dom.js";
import { store } from "./store.js";
import { nameOf } from "./selectors.js";

const HUES = [262, 198, 146, 24, 338, 220, 84, 4, 174, 292, 44, 118];

/** @param {string} id */
export function hueOf(id) {
  let sum = 7;
  for (const char of id) sum = (sum * 31 + char.codePointAt(0)) % 9973;
  return HUES[sum % HUES.length];
}

/** @param {string} name */
export function initialsOf(name) {
  const words = name.trim().split(/[\s._-]+/).filter(Boolean);
  if (words.length === 0) return "?";
  const letters = words.length === 1 ? [...words[0]].slice(0, 1) : [[...words[0]][0], [...words.at(-1)][0]];
  return letters.join("").toUpperCase();
}

/**
 * @param {string} id a member's
 * @param {string} [size] xs, sm, md or lg
 * @param {string} [name] shown instead of the member's own
 */
export function avatar(id, size = "md", name) {
  const app = store.apps.find((one) => one.bot_user_id === id);
  if (app?.answers && !name) return h(`span.avatar.avatar-${size}.avatar-app`, { "aria-hidden": "true" }, mark());
  const el = h(`span.avatar.avatar-${size}`, { "aria-hidden": "true" }, initialsOf(name || nameOf(id)));
  const hue = hueOf(id + (name ?? ""));
  const saturation = app ? 14 : 58;
  el.style.setProperty("--from", `hsl(${hue} ${saturation}% 52%)`);
  el.style.setProperty("--to", `hsl(${hue + 22} ${saturation}% 39%)`);
  return el;
}

/** The mark: two jacks, joined by a cable. */
export function mark() {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 32 32");
  svg.setAttribute("class", "mark");
  svg.setAttribute("aria-hidden", "true");
  const draw = (tag, attributes) => {
    const el = document.createElementNS(ns, tag);
    for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
    svg.append(el);
  };
  draw("path", { d: "M9 10.5v3.2c0 3.6 3 4.3 7 4.3s7 .9 7 4.4", class: "mark-cable" });
  draw("circle", { cx: 9, cy: 8.6, r: 2.9, class: "mark-jack" });
  draw("circle", { cx: 23, cy: 23.6, r: 2.9, class: "mark-jack" });
  draw("circle", { cx: 23, cy: 9, r: 2, class: "mark-hole" });
  draw("circle", { cx: 9, cy: 23, r: 2, class: "mark-hole" });
  return svg;
}

/** @param {string} id */
export const presence = (id) =>
  h("span.presence", { "aria-label": "online", role: "img", class: store.members.get(id)?.is_bot ? "is-app" : "" });
