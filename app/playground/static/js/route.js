/** Where the member is, kept in the address: #user=…&channel=…&thread=…&tab=… */

/** @typedef {{user: string, channel: string, thread: string, tab: string}} Route */

const NAMES = ["user", "channel", "thread", "tab"];

/** @returns {Route} */
export function route() {
  const given = new URLSearchParams(location.hash.slice(1));
  return /** @type {Route} */ (Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? ""])));
}

/**
 * Changes the named parts and keeps the rest; another channel leaves the thread and tab behind. The page shows the new
 * place when this returns, so that no key pressed next goes to the old one.
 * @param {Partial<Route>} parts
 * @param {{isQuiet?: boolean}} [how] quiet ones make no entry in the history
 */
export function go(parts, { isQuiet = false } = {}) {
  const base = route();
  const isElsewhere = parts.channel !== undefined && parts.channel !== base.channel;
  const next = { ...base, ...(isElsewhere ? { thread: "", tab: "" } : {}), ...parts };
  const query = NAMES.filter((name) => next[name]).map((name) => `${name}=${encodeURIComponent(next[name])}`);
  const hash = `#${query.join("&")}`;
  if (hash === location.hash) return;
  if (isQuiet) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
