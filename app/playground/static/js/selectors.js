/** What the page shows, computed from the store. */

import { store, threadKey } from "./store.js";

/** @typedef {import("./store.js").Message} Message */
/** @typedef {import("./store.js").Channel} Channel */

export const me = () => store.members.get(store.me);
export const channelOf = (id) => store.channels.get(id);
export const isMember = (channel) => Boolean(channel?.members.includes(store.me));
export const isDirect = (channel) => channel?.kind === "im" || channel?.kind === "mpim";

/** @param {string} id */
export function nameOf(id) {
  return store.members.get(id)?.real_name || store.members.get(id)?.name || (id === "USLACKBOT" ? "Slackbot" : id);
}

/** @param {Message} message */
export const authorOf = (message) => message.username || nameOf(message.user);

/** The others in a DM. @param {Channel} channel */
export const othersIn = (channel) => channel.members.filter((id) => id !== store.me);

/** @param {Channel} channel */
export function titleOf(channel) {
  if (!isDirect(channel)) return channel.name;
  const others = othersIn(channel);
  return others.length ? others.map(nameOf).join(", ") : nameOf(store.me);
}

/** The app one talks to in this DM, if it is an app's. @param {Channel | undefined} channel */
export function appOf(channel) {
  if (channel?.kind !== "im") return undefined;
  return store.apps.find((app) => channel.members.includes(app.bot_user_id));
}

/** The app that would answer in this channel. @param {Channel | undefined} channel */
export function answeringApp(channel) {
  const inside = store.apps.filter((app) => channel?.members.includes(app.bot_user_id));
  return inside.find((app) => app.answers) ?? store.apps.find((app) => app.answers);
}

const isReply = (message) => Boolean(message.thread_ts && message.thread_ts !== message.ts);

function all(channel) {
  const messages = [...(store.messages.get(channel)?.values() ?? [])];
  const ephemerals = [...(store.ephemerals.get(channel)?.values() ?? [])];
  return [...messages, ...ephemerals].sort((a, b) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0));
}

/** What the channel itself shows. @param {string} channel @returns {Message[]} */
export const timeline = (channel) => all(channel).filter((message) => !isReply(message) || message.is_broadcast);

/** @param {string} channel @param {string} root @returns {Message[]} */
export const repliesOf = (channel, root) =>
  all(channel).filter((message) => isReply(message) && message.thread_ts === root);

/** Per root: how many replies, by whom, the last one. @param {string} channel */
export function threadSummaries(channel) {
  const found = new Map();
  for (const message of store.messages.get(channel)?.values() ?? []) {
    if (!isReply(message)) continue;
    const summary = found.get(message.thread_ts) ?? { count: 0, users: [], last: "" };
    summary.count += 1;
    if (!summary.users.includes(message.user)) summary.users.push(message.user);
    if (message.ts > summary.last) summary.last = message.ts;
    found.set(message.thread_ts, summary);
  }
  return found;
}

/** @param {Channel} channel @returns {{count: number, mentions: number}} what came since the member last looked */
export function unread(channel) {
  const since = store.read.get(channel.id) ?? "";
  let count = 0;
  let mentions = 0;
  if (!isMember(channel)) return { count, mentions };
  for (const message of store.messages.get(channel.id)?.values() ?? []) {
    if (message.ts <= since || message.user === store.me || message.subtype === "channel_join") continue;
    const isForMe = mentionsMe(message);
    if (isReply(message) && !message.is_broadcast && !isForMe && !isDirect(channel)) continue;
    count += 1;
    if (isForMe || isDirect(channel)) mentions += 1;
  }
  return { count, mentions };
}

/** @param {Message} message */
export function mentionsMe(message) {
  return message.text.includes(`<@${store.me}`) || /<!(?:here|channel|everyone)/.test(message.text);
}

/** Whether something is being done in a thread that a person may stop. @param {string} channel @param {string} root */
export function isWorking(channel, root) {
  if (store.sessions.get(threadKey(channel, root)) === "processing") return true;
  return hasLiveStream(channel, root);
}

/** @param {string} channel @param {string} root */
export function hasLiveStream(channel, root) {
  for (const message of store.messages.get(channel)?.values() ?? []) {
    if (message.stream?.state === "in_progress" && (message.thread_ts ?? message.ts) === root) return true;
  }
  return false;
}
