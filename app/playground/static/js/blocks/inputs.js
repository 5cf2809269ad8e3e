/** Input blocks and the elements one types into. */

import { h } from "../dom.js";
import { plain } from "../mrkdwn.js";
import { isSilent, keptValue, register } from "./choices.js";
import { element, use } from "./elements.js";

const TYPES = { email_text_input: "email", url_text_input: "url", number_input: "number" };
let made = 0;

/** @param {any} block @param {import("./index.js").Context} ctx */
export function input(block, ctx) {
  const error = ctx.errors?.[block.block_id];
  const one = { ...block.element, isInInput: true, isDispatching: block.dispatch_action === true };
  const id = `input-${++made}`;
  const control = element(one, ctx, block.block_id);
  const focus = control.matches("input, textarea, select") ? control : control.querySelector("input, textarea, select");
  focus?.setAttribute("aria-describedby", `${id}-more`);
  if (focus && !focus.closest(".choices")) focus.id = id;
  if (error) focus?.setAttribute("aria-invalid", "true");
  return h("div.input-block", { class: error ? "has-error" : "", "data-testid": `input-${block.block_id}` },
    h(
      "label.input-label",
      { for: id },
      plain(block.label?.text),
      block.optional && h("span.muted", null, " (optional)")
    ),
    control,
    h("div", { id: `${id}-more` },
      error && h("p.input-error", { role: "alert", "data-testid": `error-${block.block_id}` }, error),
      block.hint && h("p.input-hint", null, plain(block.hint.text))));
}

/** @param {any} one @param {import("./index.js").Context} ctx @param {string} blockId */
export function textInput(one, ctx, blockId) {
  const isLong = one.multiline === true;
  const props = {
    placeholder: one.placeholder?.text,
    minlength: one.min_length,
    maxlength: one.max_length,
    "data-testid": `action-${one.action_id}`,
    "aria-label": one.placeholder?.text ?? one.action_id, autofocus: one.focus_on_load,
    ...(isLong ? { rows: "4" } : {
      type: TYPES[one.type] ?? "text",
      step: one.is_decimal_allowed ? "any" : null,
      min: one.min_value,
      max: one.max_value,
    }),
  };
  const el = /** @type {HTMLInputElement} */ (h(`${isLong ? "textarea" : "input"}.field`, props));
  el.value = keptValue(ctx, one, blockId) ?? one.initial_value ?? "";
  const wants = one.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  const tell = () => !isSilent(one) && use(one, ctx, blockId, el, { selected: el.value });
  if (wants.includes("on_character_entered")) el.addEventListener("input", tell);
  if (wants.includes("on_enter_pressed") && !isLong) {
    el.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || isSilent(one)) return;
      event.preventDefault();
      tell();
    });
  }
  register(ctx, one, blockId, () => el.value || null);
  return el;
}
