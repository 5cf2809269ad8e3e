/** Elements in which one chooses: selects, checkboxes, radios, dates and times. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { plain, textObject } from "../mrkdwn.js";
import { closePopover, popover, arrows } from "../overlay.js";
import { isDirect, isMember, titleOf } from "../selectors.js";
import { store } from "../store.js";
import { use } from "./elements.js";

/** @typedef {import("./index.js").Context} Context */

/**
 * Remembers how to read an element, for submitting a modal.
 * @param {Context} ctx @param {any} one @param {string} blockId @param {() => any} read
 */
export function register(ctx, one, blockId, read) {
  ctx.fields?.set(`${blockId}/${one.action_id}`, { blockId, actionId: one.action_id, read });
}

/** What was entered before the blocks were drawn again, if anything. @param {Context} ctx */
export const keptValue = (ctx, one, blockId) => ctx.kept?.[blockId]?.[one.action_id];

/** In an input block an element only tells the app if the block asks for it. @param {Context} ctx */
export const isSilent = (one) => one.isInInput && !one.isDispatching;

/** @param {any} one @returns {Array<{value: string, label: string, group?: string}>} */
function optionsOf(one) {
  const made = (option, group) => ({ value: option.value, label: option.text.text, group });
  if (one.type.endsWith("static_select")) {
    const groups = (one.option_groups ?? []).flatMap(
      (group) => group.options.map((option) => made(option, group.label.text))
    );
    return [...(one.options ?? []).map((option) => made(option)), ...groups];
  }
  if (one.type.endsWith("users_select")) return [...store.members.values()].map(
    (member) => ({ value: member.id, label: member.real_name || member.name })
  );
  if (one.type.endsWith("channels_select")) return rooms((channel) => channel.kind === "channel");
  if (one.type.endsWith("conversations_select")) return rooms((channel) => isMember(channel));
  return [one.initial_option, ...(one.initial_options ?? [])].filter(Boolean).map((option) => made(option));
}

const rooms = (wanted) =>
  [...store.channels.values()].filter(wanted).map(
    (channel) => ({ value: channel.id, label: `${isDirect(channel) ? "" : "#"}${titleOf(channel)}` })
  );

const INITIAL = ["initial_option", "initial_user", "initial_conversation", "initial_channel"];

function initialOf(one) {
  const found = INITIAL.map((name) => one[name]).find((value) => value !== undefined);
  return typeof found === "object" && found ? found.value : found ?? "";
}

/** @param {any} one @param {Context} ctx @param {string} blockId */
export function select(one, ctx, blockId) {
  const options = optionsOf(one);
  const chosen = keptValue(ctx, one, blockId) ?? initialOf(one);
  const el = /** @type {HTMLSelectElement} */ (h("select.field.select", {
    "aria-label": one.placeholder?.text ?? "Choose",
    "data-testid": `action-${one.action_id}`,
  },
    h(
      "option",
      { value: "", disabled: Boolean(chosen) && !one.isInInput, selected: !chosen },
      one.placeholder?.text ?? "Choose…"
    )));
  const groups = new Map();
  for (const option of options) {
    const made = h("option", { value: option.value, selected: option.value === chosen }, option.label);
    if (option.group) groups.set(option.group, [...(groups.get(option.group) ?? []), made]);
    else el.append(made);
  }
  for (const [label, made] of groups) el.append(h("optgroup", { label }, made));
  el.addEventListener("change", () => !isSilent(one) && el.value && use(one, ctx, blockId, el, { selected: el.value }));
  register(ctx, one, blockId, () => el.value || null);
  return h("span.select-wrap", null, el, icon("down"));
}

/** @param {any} one @param {Context} ctx @param {string} blockId */
export function multiSelect(one, ctx, blockId) {
  const options = optionsOf(one);
  const chosen = new Set(keptValue(ctx, one, blockId) ?? initialsOf(one));
  const label = h("span", null);
  const el = h(
    "button.field.multi",
    { type: "button", "aria-haspopup": "listbox", "data-testid": `action-${one.action_id}` },
    label,
    icon("down")
  );
  const name = () => {
    const names = options.filter((option) => chosen.has(option.value)).map((option) => option.label);
    label.textContent = names.join(", ") || one.placeholder?.text || "Choose…";
    el.classList.toggle("is-empty", names.length === 0);
  };
  const toggle = (option, box) => {
    if (box.checked && chosen.size >= (one.max_selected_items ?? Infinity)) return void (box.checked = false);
    if (box.checked) chosen.add(option.value);
    else chosen.delete(option.value);
    name();
  };
  el.addEventListener("click", () => {
    const list = options.map((option) => {
      const box = h(
        "input",
        { type: "checkbox", checked: chosen.has(option.value), "data-testid": `option-${option.value}` }
      );
      box.addEventListener("change", () => toggle(option, box));
      return h("label.choice", null, box, h("span", null, option.label));
    });
    const done = () => {
      closePopover();
      if (!isSilent(one)) use(one, ctx, blockId, el, { selected: [...chosen] });
    };
    popover(
      el,
      h(
        "div.multi-list",
        { role: "listbox", on: { keydown: arrows } },
        list,
        h("button.button.primary.small", { type: "button", on: { click: done } }, "Done")
      )
    );
  });
  name();
  register(ctx, one, blockId, () => [...chosen]);
  return el;
}

function initialsOf(one) {
  const found = one.initial_options ?? one.initial_users ?? one.initial_conversations ?? one.initial_channels ?? [];
  return found.map((option) => (typeof option === "object" ? option.value : option));
}

const choice = (type, name, option, isChosen) => {
  const box = h(
    "input",
    { type, name, value: option.value, checked: isChosen, "data-testid": `option-${option.value}` }
  );
  return {
    box,
    el: h(
      "label.choice",
      null,
      box,
      h("span", null, textObject(option.text), option.description && h("small", null, plain(option.description.text)))
    ),
  };
};

/** @param {any} one @param {Context} ctx @param {string} blockId */
export function checkboxes(one, ctx, blockId) {
  const chosen = new Set(keptValue(ctx, one, blockId) ?? initialsOf(one));
  const made = one.options.map(
    (option) => choice("checkbox", `${blockId}/${one.action_id}`, option, chosen.has(option.value))
  );
  const read = () => made.filter(({ box }) => box.checked).map(({ box }) => box.value);
  const el = h("div.choices", { role: "group", "data-testid": `action-${one.action_id}` }, made.map((each) => each.el));
  el.addEventListener("change", () => !isSilent(one) && use(one, ctx, blockId, el, { selected: read() }));
  register(ctx, one, blockId, read);
  return el;
}

/** @param {any} one @param {Context} ctx @param {string} blockId */
export function radios(one, ctx, blockId) {
  const chosen = keptValue(ctx, one, blockId) ?? one.initial_option?.value;
  const name = `${blockId}/${one.action_id}/${Math.random()}`;
  const made = one.options.map((option) => choice("radio", name, option, option.value === chosen));
  const read = () => made.find(({ box }) => box.checked)?.box.value ?? null;
  const el = h(
    "div.choices",
    { role: "radiogroup", "data-testid": `action-${one.action_id}` },
    made.map((each) => each.el)
  );
  el.addEventListener("change", () => !isSilent(one) && use(one, ctx, blockId, el, { selected: read() }));
  register(ctx, one, blockId, read);
  return el;
}

const PICKERS = {
  datepicker: ["date", "initial_date"],
  timepicker: ["time", "initial_time"],
  datetimepicker: ["datetime-local", "initial_date_time"],
};

/** @param {any} one @param {Context} ctx @param {string} blockId */
export function picker(one, ctx, blockId) {
  const [type, initial] = PICKERS[one.type];
  const isMoment = one.type === "datetimepicker";
  const given = keptValue(ctx, one, blockId) ?? one[initial];
  const el = /** @type {HTMLInputElement} */ (h(
    "input.field",
    { type, "aria-label": one.placeholder?.text ?? type, "data-testid": `action-${one.action_id}` }
  ));
  if (given) el.value = isMoment ? localMoment(Number(given)) : given;
  const read = () => (!el.value ? null : isMoment ? String(Math.floor(new Date(el.value).getTime() / 1000)) : el.value);
  el.addEventListener("change", () => !isSilent(one) && read() && use(one, ctx, blockId, el, { selected: read() }));
  register(ctx, one, blockId, read);
  return el;
}

function localMoment(seconds) {
  const at = new Date(seconds * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
