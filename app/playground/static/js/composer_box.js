/** The growing text box of a composer. */

const TALLEST = 260;

/** @param {HTMLTextAreaElement} box */
export function fit(box) {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, TALLEST)}px`;
}

/** Puts text where the caret is. @param {HTMLTextAreaElement} box @param {string} text */
export function insert(box, text) {
  box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
  box.focus();
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Puts marks around the selection. @param {HTMLTextAreaElement} box @param {string} mark */
export function wrapSelection(box, mark) {
  const { selectionStart: from, selectionEnd: to } = box;
  const chosen = box.value.slice(from, to);
  box.setRangeText(`${mark}${chosen}${mark}`, from, to, "end");
  if (!chosen) box.selectionStart = box.selectionEnd = from + mark.length;
  box.focus();
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Ready to write, but without the keyboard of a phone popping up. @param {"composer" | "thread-composer"} which */
export function focusComposer(which) {
  if (!matchMedia("(hover: hover)").matches || document.querySelector("dialog[open]")) return;
  document.querySelector(`[data-testid="${which}"]`)?.focus({ preventScroll: true });
}
