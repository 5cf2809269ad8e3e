/** Walking through messages with the arrow keys: Tab then leads into the toolbar of the one that has the focus. */

const STEPS = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

/** @param {HTMLElement} list */
export function walkMessages(list) {
  list.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const message = event.target.closest?.(".message");
    if (!step || (event.target !== list && event.target !== message)) return;
    const messages = [...list.querySelectorAll(":scope > .message")];
    if (!messages.length) return;
    event.preventDefault();
    const from = message ? messages.indexOf(message) : messages.length;
    const to = Math.min(Math.max(from + step, 0), messages.length - 1);
    messages[to].focus({ focusVisible: true });
    messages[to].scrollIntoView({ block: "nearest" });
  });
}
