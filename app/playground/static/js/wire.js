/** Between what a person types (@Name, #channel) and what Slack stores (<@U…>, <#C…>). */

import { store } from "./store.js";
import { nameOf } from "./selectors.js";
import { unescape } from "./mrkdwn.js";

const CODE = /(```[\s\S]*?```|`[^`\n]+`)/;
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** @param {string} typed @returns {string} */
export function toWire(typed) {
  const names = nameTable();
  return typed.split(CODE).map((part, at) => (at % 2 ? part : linked(part, names))).join("");
}

function linked(text, names) {
  const longest = [...names.keys()].sort((a, b) => b.length - a.length).map(escaped).join("|");
  const people = new RegExp(`(^|[^\\w@])@(${longest})(?![\\w])`, "gi");
  return text
    .replace(people, (all, before, name) => `${before}${names.get(name.toLowerCase())}`)
    .replace(/(^|[^\w#])#([\w-]+)/g, (all, before, name) => {
      const channel = [...store.channels.values()].find((one) => one.name === name && one.kind !== "im");
      return channel ? `${before}<#${channel.id}>` : all;
    });
}

function nameTable() {
  const names = new Map();
  for (const range of ["here", "channel", "everyone"]) names.set(range, `<!${range}>`);
  for (const member of store.members.values()) {
    names.set(member.name.toLowerCase(), `<@${member.id}>`);
    if (member.real_name) names.set(member.real_name.toLowerCase(), `<@${member.id}>`);
  }
  return names;
}

/** What the person typed, for editing again. @param {string} stored */
export function fromWire(stored) {
  const plain = stored
    .replace(/<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g, (all, id) => `@${nameOf(id)}`)
    .replace(
      /<#([CGD][A-Z0-9]+)(?:\|([^>]*))?>/g,
      (all, id, label) => `#${store.channels.get(id)?.name ?? label ?? id}`
    )
    .replace(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, "@$1")
    .replace(/<((?:https?|mailto|tel):[^>|]+)(?:\|[^>]*)?>/g, "$1");
  return unescape(plain);
}

/** The members a stored text mentions. @param {string} stored */
export const mentioned = (stored) => [...stored.matchAll(/<@([UW][A-Z0-9]+)/g)].map((found) => found[1]);
