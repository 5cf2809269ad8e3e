/** Following the workspace: one WebSocket, resumed where it broke off, with the whole state read again if need be. */

import { readState } from "./api.js";
import { apply, changed, load, store } from "./store.js";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5000;

let socket = null;
let generation = 0;

/**
 * Shows the workspace as `user` sees it, from now on.
 * @param {string} user
 * @param {(people: string[]) => void} onUnknown
 * @returns {Promise<void>} once the state was read or the member turned out not to exist
 */
export async function follow(user, onUnknown) {
  const mine = ++generation;
  socket?.close();
  let wait = FIRST_WAIT_MS;
  let needsState = true;
  while (mine === generation) {
    try {
      if (needsState && !(await refresh(user, mine, onUnknown))) return;
      needsState = await listen(user, mine);
      wait = FIRST_WAIT_MS;
      if (needsState) continue;
    } catch {
      needsState = true;
    }
    if (mine !== generation) return;
    connection("lost");
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

async function refresh(user, mine, onUnknown) {
  const state = await readState(user);
  if (mine !== generation) return false;
  if (!state.me) {
    onUnknown(state.people);
    return false;
  }
  load(state);
  return true;
}

/** Resolves when the connection ended: true if the whole state has to be read again. */
function listen(user, mine) {
  return new Promise((resolve) => {
    const query = new URLSearchParams({ user, boot: store.boot, after: String(store.seq) });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const opened = new WebSocket(`${scheme}://${location.host}/playground/feed?${query}`);
    socket = opened;
    let hasLost = false;
    opened.onopen = () => mine === generation && connection("open");
    opened.onmessage = (event) => {
      if (mine !== generation || hasLost) return;
      hasLost = !apply(JSON.parse(event.data));
      if (hasLost) opened.close();
    };
    opened.onclose = () => resolve(hasLost);
  });
}

function connection(state) {
  if (store.connection === state) return;
  store.connection = state;
  changed();
}
