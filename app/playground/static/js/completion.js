/** The list of suggestions over a text box, driven by the keyboard or the pointer. */

import { h, replace } from "./dom.js";
import { choicesFor } from "./completion_choices.js";

let lists = 0;

/**
 * Attaches completion to a text box.
 * @param {HTMLTextAreaElement} box @param {string} channel
 * @returns {{handles: (event: KeyboardEvent) => boolean}} to be asked first about each key
 */
export const completer = (box, channel) => new Completer(box, channel);

class Completer {
  constructor(box, channel) {
    this.box = box;
    this.channel = channel;
    this.id = `completion-${++lists}`;
    /** @type {{from: number, at: number, choices: import("./completion_choices.js").Choice[]} | null} */
    this.open = null;
    const props = { role: "listbox", id: this.id, "aria-label": "Suggestions", "data-testid": "completions" };
    this.el = h("div.completions", props);
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", this.id);
    box.addEventListener("input", () => this.look());
    box.addEventListener("click", () => this.look());
    box.addEventListener("blur", () => this.close());
  }

  handles(event) {
    if (!this.open || event.isComposing || (event.key === "Enter" && event.shiftKey)) return false;
    const { at, choices } = this.open;
    const take = () => this.take(choices[at]);
    const run = {
      ArrowDown: () => this.move(at + 1),
      ArrowUp: () => this.move(at - 1),
      Enter: take,
      Tab: take,
      Escape: () => this.close(),
    }[event.key];
    if (!run) return false;
    event.preventDefault();
    event.stopPropagation();
    run();
    return true;
  }

  look() {
    const { box } = this;
    const before = box.value.slice(0, box.selectionStart);
    const found = document.activeElement === box ? choicesFor(before, this.channel) : null;
    if (!found?.choices.length) return this.close();
    const isComplete = found.choices.some((choice) => choice.text.trimEnd() === before.slice(found.from));
    if (isComplete && found.choices.length === 1) return this.close();
    this.open = { ...found, at: 0 };
    if (!this.el.isConnected) box.parentElement.append(this.el);
    this.draw();
  }

  close() {
    this.open = null;
    this.el.remove();
    this.box.removeAttribute("aria-activedescendant");
  }

  move(at) {
    const { length } = this.open.choices;
    this.open.at = (at + length) % length;
    this.draw();
  }

  take(choice) {
    const { box } = this;
    const after = box.value.slice(box.selectionStart);
    const text = after.startsWith(" ") ? choice.text.trimEnd() : choice.text;
    box.value = box.value.slice(0, this.open.from) + text + after;
    box.selectionStart = box.selectionEnd = this.open.from + text.length;
    this.close();
    box.focus();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  draw() {
    replace(this.el, this.open.choices.map((choice, at) => this.row(choice, at)));
    this.box.setAttribute("aria-activedescendant", `${this.id}-${this.open.at}`);
    this.el.children[this.open.at]?.scrollIntoView({ block: "nearest" });
  }

  row(choice, at) {
    const isChosen = at === this.open.at;
    const on = {
      pointerdown: (event) => {
        event.preventDefault();
        this.take(choice);
      },
      pointermove: () => !isChosen && this.move(at),
    };
    return h(
      "div.completion",
      { role: "option", id: `${this.id}-${at}`, "aria-selected": String(isChosen), "data-testid": "completion", on },
      h("span.completion-sign", null, choice.sign),
      h("b", null, choice.label),
      h("small", null, choice.detail)
    );
  }
}
