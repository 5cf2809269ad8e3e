/** What only this window knows: drafts, which message is being edited, what is unfolded. */

export const ui = {
  /** @type {Map<string, {text: string, files: Array<{id: string, name: string}>}>} by composer key */
  drafts: new Map(),
  /** @type {string | null} ts of the message that is being edited */
  editing: null,
  isDrawerOpen: false,
  /** @type {Map<string, number>} how many messages of a channel are drawn */
  window: new Map(),
  /** @type {Map<string, string>} channel → where the line "New" is drawn while the channel stays open */
  newLine: new Map(),
  /** @type {{channel: string, users: string[]} | null} mentioned people who are not in the channel */
  absent: null,
};

const listeners = new Set();

/** @param {() => void} listener */
export const onUiChange = (listener) => void listeners.add(listener);

/** @param {Partial<typeof ui>} parts */
export function setUi(parts) {
  Object.assign(ui, parts);
  for (const listener of listeners) listener();
}
