/** What this member's page knows: the last state read from the server, brought up to date by the feed. */

/**
 * @typedef {{ts: string, channel: string, user: string, text: string, thread_ts: string | null,
 *   subtype: string | null, bot_id: string | null, app_id: string | null, blocks: any[], attachments: any[],
 *   files: any[], reactions: Array<{name: string, users: string[]}>, edited: boolean, username: string | null,
 *   icon_emoji: string | null, is_broadcast: boolean, stream: any, is_ephemeral?: boolean, rev: number}} Message
 * @typedef {{id: string, name: string, kind: "channel" | "group" | "im" | "mpim", members: string[],
 *   topic: string, purpose: string, is_archived: boolean, creator: string, created: number}} Channel
 * @typedef {{id: string, name: string, real_name: string, title: string, is_bot: boolean, app_id: string | null,
 *   bot_id: string | null, is_admin: boolean}} Member
 */

export const store = {
  isReady: false,
  connection: "connecting",
  boot: "",
  seq: 0,
  me: "",
  team: { id: "", name: "", domain: "" },
  /** @type {string[]} */ people: [],
  /** @type {Map<string, Member>} */ members: new Map(),
  /** @type {any[]} */ apps: [],
  /** @type {Array<{name: string, callback_id: string, is_for_messages: boolean}>} */ shortcuts: [],
  /** @type {Map<string, Channel>} */ channels: new Map(),
  /** @type {Map<string, Map<string, Message>>} */ messages: new Map(),
  /** Only this page has them, so a new state leaves them. @type {Map<string, Map<string, Message>>} */
  ephemerals: new Map(),
  /** @type {any} */ home: null,
  /** @type {any[]} */ modals: [],
  statuses: new Map(),
  sessions: new Map(),
  prompts: new Map(),
  titles: new Map(),
  /** @type {Map<string, string>} */ read: new Map(),
};

const LONGEST_CATCH_UP_MS = 3000;

let revision = 0;
const listeners = new Set();

/**
 * @param {() => void} listener called after each change
 * @returns {() => void} ends that
 */
export function onChange(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function changed() {
  for (const listener of listeners) listener();
}

/** Resolves once there is a workspace to be shown. @returns {Promise<void>} */
export function known() {
  if (store.isReady) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = onChange(() => {
      if (!store.isReady) return;
      stop();
      resolve();
    });
  });
}

/**
 * Resolves once the feed has come to that notice, also when it is only being opened. One that was lost is not waited
 * for: it brings everything later.
 * @param {number} seq @returns {Promise<void>}
 */
export function caughtUp(seq) {
  if (store.seq >= seq || store.connection === "lost") return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      listeners.delete(look);
      resolve();
    };
    const look = () => store.seq >= seq && done();
    const timer = setTimeout(done, LONGEST_CATCH_UP_MS);
    onChange(look);
  });
}

export const threadKey = (channel, ts) => `${channel}:${ts ?? ""}`;

/** @param {any} state the answer of /playground/state */
export function load(state) {
  if (store.me !== state.me || store.boot !== state.boot) store.ephemerals = new Map();
  Object.assign(store, {
    isReady: true, boot: state.boot, seq: state.seq, me: state.me, team: state.team, people: state.people,
    apps: state.apps, shortcuts: state.shortcuts, home: state.home, modals: state.modals,
    members: byId(state.members), channels: byId(state.channels), read: new Map(Object.entries(state.read)),
    messages: new Map(Object.entries(state.messages).map(([id, list]) => [id, byTs(list)])),
    statuses: byThread(state.thread_status), prompts: byThread(state.prompts),
    sessions: new Map(state.session_status.map((s) => [threadKey(s.channel, s.thread_ts), s.status])),
    titles: new Map(state.titles.map((t) => [threadKey(t.channel, t.thread_ts), t.title])),
  });
  changed();
}

const byId = (list) => new Map(list.map((one) => [one.id, one]));
const byThread = (list) => new Map(list.map((one) => [threadKey(one.channel, one.thread_ts), one]));
const byTs = (list) => new Map(list.map((message) => [message.ts, { ...message, rev: ++revision }]));

/**
 * Takes one notice of the feed in. Returns false when only reading the whole state again will do.
 * @param {any} notice
 */
export function apply(notice) {
  if (notice.type === "resync") return false;
  store.seq = notice.seq;
  const isEnough = APPLY[notice.type]?.(notice) ?? true;
  changed();
  return isEnough;
}

const APPLY = {
  message: ({ message }) => put(store.messages, message),
  message_deleted: ({ channel, ts }) => void store.messages.get(channel)?.delete(ts),
  ephemeral: ({ message }) => putEphemeral(message),
  channel: ({ channel }) => putChannel(channel),
  home: ({ view }) => void (store.home = view),
  modal: ({ view }) => putModal(view),
  modal_closed: ({ view_id: id }) => void (store.modals = store.modals.filter((view) => view.id !== id)),
  thread_status: putStatus,
  session_status: (n) => void store.sessions.set(threadKey(n.channel, n.thread_ts), n.status),
  prompts: (n) => void store.prompts.set(threadKey(n.channel, n.thread_ts), n),
  thread_title: (n) => void store.titles.set(threadKey(n.channel, n.thread_ts), n.title),
};

function put(place, message) {
  if (!store.channels.has(message.channel)) return false;
  const list = place.get(message.channel) ?? new Map();
  place.set(message.channel, list);
  list.set(message.ts, { ...message, rev: ++revision });
  return true;
}

/** A channel seen for the first time comes without its messages, so the state has to be read again. */
function putChannel(channel) {
  const isPrivate = channel.kind !== "channel";
  if (isPrivate && !channel.members.includes(store.me)) {
    store.channels.delete(channel.id);
    return true;
  }
  const isKnown = store.channels.has(channel.id);
  store.channels.set(channel.id, channel);
  return isKnown;
}

function putModal(view) {
  const at = store.modals.findIndex((open) => open.id === view.id);
  store.modals = at < 0 ? [...store.modals, view] : store.modals.with(at, view);
}

function putStatus(notice) {
  const key = threadKey(notice.channel, notice.thread_ts);
  if (notice.text) store.statuses.set(key, notice);
  else store.statuses.delete(key);
}

/** One that has become empty was taken back by the app. */
function putEphemeral(posted) {
  const isGone = !posted.text && !posted.blocks?.length && !posted.attachments?.length;
  if (!isGone) return put(store.ephemerals, asMessage(posted));
  store.ephemerals.get(posted.channel)?.delete(posted.ts);
  return true;
}

/** An ephemeral message is drawn like any other one, by the app it came from. */
function asMessage(posted) {
  const app = store.apps.find((one) => one.id === posted.app_id) ?? store.apps.find((one) => one.answers);
  return {
    ...posted, user: app?.bot_user_id ?? "", app_id: app?.id ?? null, bot_id: "-", subtype: null, files: [],
    reactions: [], edited: false, username: null, icon_emoji: null, is_broadcast: false, stream: null,
    is_ephemeral: true,
  };
}

/** @param {string} channel @param {string} ts */
export function dismissEphemeral(channel, ts) {
  store.ephemerals.get(channel)?.delete(ts);
  changed();
}
