/** The classic blocks: sections, headers, contexts, rows of actions, images. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { isSafe, link } from "../entities.js";
import { inlineMrkdwn, plain, textObject } from "../mrkdwn.js";
import { element } from "./elements.js";

/** @typedef {import("./index.js").Context} Context */

/** @param {any} block @param {Context} ctx */
export function section(block, ctx) {
  const text = h("div.section-text", null, block.text && textObject(block.text),
    block.fields && h("div.fields", null, block.fields.map((field) => h("div.field-cell", null, textObject(field)))));
  const accessory = block.accessory && h("div.accessory", null, element(block.accessory, ctx, block.block_id));
  return h("div.section", { class: accessory ? "has-accessory" : "" }, text, accessory);
}

export const header = (block) => h("h3.header-block", null, plain(block.text?.text));
export const divider = () => h("hr");

/** @param {any} block */
export function context(block) {
  return h(
    "div.context",
    null,
    block.elements.map(
      (one) => (one.type === "image" ? smallImage(one) : h("span.context-text", null, contextText(one)))
    )
  );
}

const contextText = (one) => (one.type === "mrkdwn" ? inlineMrkdwn(one.text) : plain(one.text));

/** @param {any} block @param {Context} ctx */
export const actions = (block, ctx) => h(
  "div.actions",
  null,
  block.elements.map((one) => element(one, ctx, block.block_id))
);

/** @param {any} block @param {Context} ctx */
export const contextActions = (block, ctx) => h(
  "div.context-actions",
  null,
  block.elements.map((one) => element(one, ctx, block.block_id))
);

/** Nothing is fetched from other machines: a picture from elsewhere is named and linked instead. */
export function image(block) {
  const title = block.title?.text ?? block.title;
  return h("figure.picture", null, title && h("figcaption", null, plain(title)), picture(block));
}

export const video = (block) => h(
  "div.placeholder",
  null,
  icon("image"),
  block.title_url ? link(block.title_url, block.title?.text ?? "Video") : block.title?.text ?? "Video"
);

function picture(block) {
  const address = block.image_url ?? "";
  if (isOwn(address)) return h("img", { src: address, alt: block.alt_text ?? "" });
  const label = block.alt_text || "Image";
  return h(
    "div.placeholder",
    { role: "img", "aria-label": label },
    icon("image"),
    h("span", null, label),
    isSafe(address) && link(address, "Open")
  );
}

function smallImage(one) {
  if (isOwn(one.image_url ?? "")) return h("img.context-image", { src: one.image_url, alt: one.alt_text ?? "" });
  return h(
    "span.context-image.is-empty",
    { role: "img", "aria-label": one.alt_text ?? "", title: one.alt_text ?? "" },
    icon("image")
  );
}

/** @param {string} address */
export function isOwn(address) {
  try {
    return new URL(address).origin === location.origin || address.startsWith("data:image/png;base64,");
  } catch {
    return false;
  }
}
