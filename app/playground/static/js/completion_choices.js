/** What could be meant by a half-typed @name, #channel, /command or :emoji: */

import { avatar } from "./avatar.js";
import { emoji, findEmoji } from "./emoji.js";
import { icon } from "./icons.js";
import { store } from "./store.js";

/** @typedef {{text: string, sign: Node, label: string, detail: string}} Choice */

const MOST = 8;
const SHORTEST_EMOJI = 2;
const TOKEN = /(?:^|[\s(])([@#:])([^\s@#:]*(?: [^\s@#:]*)?)$/;
const FIND = { "@": people, "#": channels, ":": emojis };

/**
 * @param {string} before the text up to the caret @param {string} channel where it is typed
 * @returns {{from: number, choices: Choice[]} | null}
 */
export function choicesFor(before, channel) {
  if (/^\/\S*$/.test(before)) return { from: 0, choices: commands(before) };
  const found = TOKEN.exec(before);
  if (!found) return null;
  const [, sign, typed] = found;
  const choices = FIND[sign](typed.toLowerCase(), channel).slice(0, MOST);
  return { from: before.length - typed.length - 1, choices };
}

/** Those in the channel first, an app that answers before people, oneself last. */
function people(typed, channel) {
  const inside = new Set(store.channels.get(channel)?.members ?? []);
  const answering = new Set(store.apps.filter((app) => app.answers).map((app) => app.bot_user_id));
  const rank = (one) => (inside.has(one.id) ? 0 : 4) + (answering.has(one.id) ? 0 : 1) + (one.id === store.me ? 2 : 0);
  const found = [...store.members.values()].filter((one) => isMeant(one, typed));
  found.sort((a, b) => rank(a) - rank(b) || a.real_name.localeCompare(b.real_name));
  return [...found.map((one) => person(one, inside.has(one.id))), ...ranges(typed)];
}

const isMeant = (one, typed) =>
  [one.name, one.real_name, ...one.real_name.split(" ")].some((name) => name.toLowerCase().startsWith(typed));

function person(one, isInside) {
  const name = one.real_name || one.name;
  const detail = `${one.is_bot ? "App" : one.name}${isInside ? "" : " · not in this channel"}`;
  return { text: `@${name} `, sign: avatar(one.id, "xs"), label: name, detail };
}

const ranges = (typed) =>
  ["here", "channel", "everyone"]
    .filter((name) => typed && name.startsWith(typed))
    .map((name) => ({ text: `@${name} `, sign: icon("people"), label: `@${name}`, detail: "Notify people" }));

function channels(typed) {
  const rooms = [...store.channels.values()].filter((one) => one.kind === "channel" || one.kind === "group");
  return rooms
    .filter((one) => one.name.toLowerCase().includes(typed))
    .map((one) => {
      const sign = icon(one.kind === "group" ? "lock" : "hash");
      return { text: `#${one.name} `, sign, label: one.name, detail: one.topic };
    });
}

function emojis(typed) {
  if (typed.length < SHORTEST_EMOJI || typed.includes(" ")) return [];
  return findEmoji(typed, MOST).map((name) => ({ text: `:${name}: `, sign: emoji(name), label: `:${name}:`, detail: "" }));
}

const commands = (typed) =>
  store.apps.flatMap((app) => {
    const fitting = app.commands.filter((command) => command.startsWith(typed));
    const sign = () => avatar(app.bot_user_id, "xs");
    return fitting.map((command) => ({ text: `${command} `, sign: sign(), label: command, detail: app.name }));
  });
