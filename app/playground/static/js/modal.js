/** Modals: the topmost of the stack, with what was entered kept while the app changes it. */

import { append, h } from "./dom.js";
import { act } from "./api.js";
import { icon } from "./icons.js";
import { renderBlocks } from "./blocks/index.js";
import { store } from "./store.js";

/** @type {{el: HTMLDialogElement, id: string, hash: string, fields: Map<string, any>} | null} */
let shown = null;

/** @type {Map<string, Record<string, any>>} what was entered into each view of the stack */
const memory = new Map();

/** Brings the dialog in line with the store. */
export function drawModal() {
  const view = store.modals.at(-1);
  if (shown) memory.set(shown.id, entered(shown.fields));
  if (!view) return hide();
  if (shown?.id === view.id && shown.hash === view.hash) return;
  show(view, memory.get(view.id) ?? stateOf(view.values));
}

function hide() {
  memory.clear();
  shown?.el.close();
  shown?.el.remove();
  shown = null;
}

/** The server's record of what was entered, as plain values. @param {Record<string, any>} values */
function stateOf(values) {
  const plainOf = ({ type, ...entry }) => {
    const [value] = Object.values(entry);
    if (Array.isArray(value)) return value.map((one) => one?.value ?? one);
    return value?.value ?? value ?? undefined;
  };
  const block = (actions) => Object.fromEntries(Object.entries(actions).map(([id, entry]) => [id, plainOf(entry)]));
  return Object.fromEntries(Object.entries(values ?? {}).map(([id, actions]) => [id, block(actions)]));
}

function show(view, kept, errors = {}) {
  const fields = new Map();
  const el = shown?.el ?? frame();
  el.dataset.viewId = view.id;
  shown = { el, id: view.id, hash: view.hash, fields };
  const ctx = {
    place: /** @type {const} */ ("modal"),
    fields,
    kept,
    errors,
    click: (details) => act("click_in_view", { view_id: view.id, ...details }),
  };
  const { payload } = view;
  const submit = payload.submit && h(
    "button.button.primary",
    { type: "submit", "data-testid": "modal-submit" },
    payload.submit.text
  );
  const onSubmit = (event) => {
    event.preventDefault();
    send(view, fields, submit);
  };
  el.replaceChildren();
  el.setAttribute("aria-label", payload.title?.text ?? "Dialog");
  append(el, h("form.modal-form", { novalidate: true, on: { submit: onSubmit } },
    h("header.dialog-head", null,
      view.previous_id && h(
        "button.quiet",
        { type: "button", "aria-label": "Back", on: { click: () => close(view) } },
        icon("left")
      ),
      h("h2", { "data-testid": "modal-title" }, payload.title?.text ?? ""),
      h(
        "button.quiet",
        { type: "button", "aria-label": "Close", "data-testid": "modal-x", on: { click: () => close(view) } },
        icon("close")
      )),
    h("div.dialog-body", null, renderBlocks(payload.blocks ?? [], ctx)),
    h("footer.dialog-foot", null,
      h(
        "button.button",
        { type: "button", "data-testid": "modal-close", on: { click: () => close(view) } },
        payload.close?.text ?? (submit ? "Cancel" : "Close")
      ), submit)));
  const isNew = !el.open;
  if (isNew) el.showModal();
  const wrong = Object.keys(errors)[0];
  const place = wrong ? `[data-testid="input-${CSS.escape(wrong)}"]` : isNew ? ".dialog-body" : null;
  if (place) el.querySelector(`${place} :is(input, textarea, select, button)`)?.focus();
}

function frame() {
  const el = /** @type {HTMLDialogElement} */ (h("dialog.dialog.modal", { "data-testid": "modal" }));
  el.addEventListener("cancel", (event) => {
    event.preventDefault();
    const view = store.modals.at(-1);
    if (view) close(view);
  });
  document.getElementById("overlays").append(el);
  return el;
}

const close = (view) => act("close_view", { view_id: view.id });

/** @param {Map<string, {blockId: string, actionId: string, read: () => any}>} fields block_id → action_id → value */
function entered(fields) {
  const values = {};
  for (const { blockId, actionId, read } of fields.values()) (values[blockId] ??= {})[actionId] = read();
  return values;
}

async function send(view, fields, button) {
  const values = entered(fields);
  if (button) {
    button.disabled = true;
    button.classList.add("is-busy");
  }
  const said = await act("submit_view", { view_id: view.id, values });
  if (button?.isConnected) {
    button.disabled = false;
    button.classList.remove("is-busy");
  }
  if (said?.errors && shown?.id === view.id) show(view, values, said.errors);
}
