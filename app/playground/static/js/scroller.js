/** Keeps a list of messages at its end while one reads the end, and where it is otherwise. */

const NEAR_PX = 80;

/** @param {HTMLElement} el the scrolling element @param {(isAtEnd: boolean) => void} [onMove] */
export function scroller(el, onMove = () => {}) {
  let isAtEnd = true;
  let height = el.clientHeight;
  let lastTop = 0;
  const toEnd = () => {
    el.scrollTop = el.scrollHeight;
    isAtEnd = true;
    onMove(true);
  };
  const isNearEnd = () => el.scrollHeight - el.scrollTop - el.clientHeight < NEAR_PX;
  // Content that grows moves the end away: only going up means that the reader left it.
  el.addEventListener("scroll", () => {
    const wentUp = el.scrollTop < lastTop - 1;
    lastTop = el.scrollTop;
    if (el.clientHeight !== height) return;
    isAtEnd = isNearEnd() || (isAtEnd && !wentUp);
    onMove(isAtEnd);
  }, { passive: true });
  el.addEventListener("load", () => isAtEnd && toEnd(), true);
  new ResizeObserver(() => {
    height = el.clientHeight;
    if (isAtEnd) toEnd();
  }).observe(el);
  return {
    toEnd,
    isAtEnd: () => isAtEnd,
    /** Runs an update of the list and then puts the view where it belongs. @param {() => void} update */
    around(update) {
      const top = el.scrollTop;
      update();
      if (isAtEnd) toEnd();
      else el.scrollTop = top;
    },
  };
}
