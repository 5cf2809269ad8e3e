/** Alerts, cards, carousels and containers. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { plain, textObject } from "../mrkdwn.js";
import { element } from "./elements.js";
import { renderBlocks } from "./index.js";
import { isOwn } from "./layout.js";

/** @typedef {import("./index.js").Context} Context */

const LEVELS = { info: "info", warning: "warning", error: "warning", success: "check", default: "info" };
const said = (text) => (typeof text === "string" ? plain(text) : textObject(text));

/** @param {any} block */
export function alert(block) {
  const level = LEVELS[block.level] ? block.level : "default";
  return h(`div.alert.alert-${level}`, { role: "note" }, icon(LEVELS[level]), h("div", null, said(block.text)));
}

/** @param {any} block @param {Context} ctx */
export function card(block, ctx) {
  const hero = block.hero_image ?? block.image;
  return h("div.card", null,
    hero && h(
      "div.card-hero",
      null,
      isOwn(hero.image_url ?? "") ? h("img", { src: hero.image_url, alt: hero.alt_text ?? "" }) : h(
        "div.placeholder",
        { role: "img", "aria-label": hero.alt_text ?? "" },
        icon("image")
      )
    ),
    h("div.card-text", null,
      block.title && h("div.card-title", null, said(block.title)),
      block.subtitle && h("div.card-subtitle", null, said(block.subtitle)),
      block.body && h("div.card-body", null, said(block.body))),
    block.actions?.length > 0 && h("div.actions", null, block.actions.map((one) => element(one, ctx, block.block_id))));
}

/** @param {any} block @param {Context} ctx */
export function carousel(block, ctx) {
  const cards = block.elements ?? block.cards ?? [];
  return h(
    "div.carousel",
    { tabindex: "0", role: "group", "aria-label": "Cards" },
    cards.map((one) => card({ block_id: block.block_id, ...one }, ctx))
  );
}

/** @param {any} block @param {Context} ctx */
export function container(block, ctx) {
  const inside = renderBlocks(block.child_blocks ?? block.blocks ?? block.elements ?? [], ctx);
  const title = said(block.title ?? "");
  if (!block.is_collapsible && !block.collapsible) return h(
    "div.container",
    null,
    block.title && h("div.container-title", null, title),
    inside
  );
  return h(
    "details.container",
    { open: !block.default_collapsed },
    h("summary.container-title", null, title, icon("down")),
    inside
  );
}
