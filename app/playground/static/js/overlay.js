/** Things that float: popovers beside a button, and dialogs. */

import { append, h } from "./dom.js";
import { icon } from "./icons.js";

let open = null;

/** Closes the popover that is open. Returns whether there was one. */
export function closePopover() {
  if (!open) return false;
  const { el, anchor, undo } = open;
  open = null;
  undo();
  el.remove();
  anchor.setAttribute("aria-expanded", "false");
  if (anchor.isConnected) anchor.focus({ preventScroll: true });
  return true;
}

/**
 * Shows `content` beside `anchor` until something else is clicked or Escape is pressed.
 * @param {HTMLElement} anchor
 * @param {Node} content
 * @param {string} [extra] further classes
 */
export function popover(anchor, content, extra = "") {
  const isSame = open?.anchor === anchor;
  closePopover();
  if (isSame) return null;
  const host = anchor.closest("dialog") ?? document.getElementById("overlays");
  const el = h("div.popover", { class: extra, tabindex: "-1" }, content);
  host.append(el);
  place(el, anchor);
  const outside = (event) => !el.contains(event.target) && !anchor.contains(event.target) && closePopover();
  document.addEventListener("pointerdown", outside, true);
  open = { el, anchor, undo: () => document.removeEventListener("pointerdown", outside, true) };
  anchor.setAttribute("aria-expanded", "true");
  (el.querySelector("input, [role=menuitem], button") ?? el).focus({ preventScroll: true });
  return el;
}

function place(el, anchor) {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = el;
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const below = at.bottom + 6;
  const top = below + height < innerHeight - 8 ? below : Math.max(8, at.top - height - 6);
  el.style.left = `${left}px`;
  el.style.top = `${top}px`;
}

/**
 * A menu of actions.
 * @param {HTMLElement} anchor
 * @param {Array<{label: string, icon?: string, isDanger?: boolean, testid?: string, run: () => void}>} items
 */
export function menu(anchor, items) {
  const list = h("div.menu", { role: "menu", on: { keydown: arrows } }, items.map((item) => {
    const run = () => {
      closePopover();
      item.run();
    };
    const props = { role: "menuitem", type: "button", "data-testid": item.testid, on: { click: run } };
    const el = h(
      `button.menu-item${item.isDanger ? ".is-danger" : ""}`,
      props,
      item.icon && icon(item.icon),
      h("span", null, item.label)
    );
    return el;
  }));
  return popover(anchor, list);
}

/** Up and down move through the controls of a list. @param {KeyboardEvent} event */
export function arrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll("button:not([disabled]), input")];
  const at = items.indexOf(document.activeElement);
  items.at((at + step + items.length) % items.length)?.focus();
}

/**
 * A dialog of the page itself. The returned function closes it.
 * @param {{title: string, body: any, actions?: any[], testid?: string}} parts
 */
export function dialog({ title, body, actions = [], testid }) {
  const el = /** @type {HTMLDialogElement} */ (h("dialog.dialog", { "aria-label": title, "data-testid": testid }));
  const close = () => {
    el.close();
    el.remove();
  };
  append(el, [
    h(
      "header.dialog-head",
      null,
      h("h2", null, title),
      h("button.quiet", { type: "button", "aria-label": "Close", on: { click: close } }, icon("close"))
    ),
    h("div.dialog-body", null, body),
    actions.length ? h("footer.dialog-foot", null, actions) : null,
  ]);
  el.addEventListener("click", (event) => event.target === el && close());
  el.addEventListener("close", () => el.remove());
  document.getElementById("overlays").append(el);
  el.showModal();
  return close;
}

/**
 * Asks before something is done.
 * @param {{title: string, text: any, yes: string, no?: string, isDanger?: boolean}} question
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, yes, no = "Cancel", isDanger = false }) {
  return new Promise((resolve) => {
    let answer = false;
    const answerWith = (given) => () => {
      answer = given;
      close();
    };
    const close = dialog({
      title, body: h("div.dialog-text", null, text), testid: "confirm",
      actions: [
        h("button.button", { type: "button", "data-testid": "confirm-no", on: { click: answerWith(false) } }, no),
        h(
          `button.button.${isDanger ? "danger" : "primary"}`,
          { type: "button", autofocus: true, "data-testid": "confirm-yes", on: { click: answerWith(true) } },
          yes
        ),
      ],
    });
    document.getElementById("overlays").lastElementChild.addEventListener("close", () => resolve(answer));
  });
}
