/** Interactive elements: buttons here, everything one chooses or types in its own module. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { isSafe } from "../entities.js";
import { confirmed, menu } from "../overlay.js";
import { plain, textObject } from "../mrkdwn.js";
import { checkboxes, multiSelect, picker, radios, select } from "./choices.js";
import { isOwn } from "./layout.js";
import { textInput } from "./inputs.js";

/** @typedef {import("./index.js").Context} Context */

const ICONS = { trash: "trash", edit: "pencil", refresh: "refresh", copy: "copy" };

const DRAW = {
  button, overflow, checkboxes,
  workflow_button: button,
  radio_buttons: radios,
  static_select: select,
  external_select: select,
  users_select: select,
  conversations_select: select,
  channels_select: select,
  multi_static_select: multiSelect, multi_external_select: multiSelect, multi_users_select: multiSelect,
  multi_conversations_select: multiSelect, multi_channels_select: multiSelect,
  datepicker: picker, timepicker: picker, datetimepicker: picker,
  plain_text_input: textInput, email_text_input: textInput, url_text_input: textInput, number_input: textInput,
  feedback_buttons: feedback,
  icon_button: iconButton,
  image: (one) => (isOwn(one.image_url ?? "") ? h("img.thumb", { src: one.image_url, alt: one.alt_text ?? "" }) : h(
    "div.thumb.placeholder",
    { role: "img", "aria-label": one.alt_text ?? "", title: one.alt_text ?? "" },
    icon("image")
  )),
};

/**
 * @param {any} one @param {Context} ctx @param {string} blockId
 * @returns {HTMLElement}
 */
export function element(one, ctx, blockId) {
  const draw = DRAW[one.type];
  return draw ? draw(one, ctx, blockId) : h("span.muted", null, one.type);
}

/**
 * Tells the app, after asking if the element wants that; `el` shows that it is under way.
 * @param {any} one @param {Context} ctx @param {string} blockId @param {HTMLElement} el
 * @param {Record<string, any>} [details]
 */
export async function use(one, ctx, blockId, el, details = {}) {
  if (one.confirm && !(await asked(one.confirm))) return false;
  el.classList.add("is-busy");
  const said = await ctx.click({ action_id: one.action_id, block_id: blockId, ...details });
  el.classList.remove("is-busy");
  return Boolean(said);
}

function asked(confirm) {
  return confirmed({
    title: confirm.title?.text ?? "Are you sure?", text: textObject(confirm.text), yes: confirm.confirm?.text ?? "Yes",
    no: confirm.deny?.text ?? "Cancel", isDanger: confirm.style === "danger",
  });
}

function button(one, ctx, blockId) {
  const props = {
    type: "button",
    class: one.style ?? "",
    "aria-label": one.accessibility_label,
    "data-testid": `action-${one.action_id}`,
    data: { actionId: one.action_id, value: one.value },
  };
  const el = h("button.button", props, plain(one.text?.text));
  el.addEventListener("click", () => {
    if (one.url && isSafe(one.url)) window.open(one.url, "_blank", "noopener,noreferrer");
    use(one, ctx, blockId, el, one.value === undefined ? {} : { value: one.value });
  });
  return el;
}

function overflow(one, ctx, blockId) {
  const el = h(
    "button.button.square",
    { type: "button", "aria-label": "More", "aria-haspopup": "menu", "data-testid": `action-${one.action_id}` },
    icon("more")
  );
  const items = one.options.map(
    (option) => ({
      label: option.text.text,
      testid: `option-${option.value}`,
      run: () => use(one, ctx, blockId, el, { selected: option.value }),
    })
  );
  el.addEventListener("click", () => menu(el, items));
  return el;
}

function feedback(one, ctx, blockId) {
  const make = (choice, name) => {
    const label = choice.accessibility_label ?? choice.text.text;
    const el = h(
      "button.feedback-button",
      {
        type: "button",
        "aria-label": label,
        title: choice.text.text,
        "aria-pressed": "false",
        "data-testid": `feedback-${name}`,
      },
      icon(name === "positive" ? "up" : "dislike")
    );
    el.addEventListener("click", async () => {
      if (!(await use(one, ctx, blockId, el, { value: choice.value }))) return;
      for (const other of el.parentElement.children) other.setAttribute("aria-pressed", String(other === el));
    });
    return el;
  };
  return h("span.feedback", null, make(one.positive_button, "positive"), make(one.negative_button, "negative"));
}

function iconButton(one, ctx, blockId) {
  const label = one.accessibility_label ?? one.text?.text ?? one.icon;
  const el = h(
    "button.feedback-button",
    { type: "button", "aria-label": label, title: one.text?.text ?? label, "data-testid": `action-${one.action_id}` },
    icon(ICONS[one.icon] ?? "bolt")
  );
  el.addEventListener("click", () => use(one, ctx, blockId, el, one.value === undefined ? {} : { value: one.value }));
  return el;
}
