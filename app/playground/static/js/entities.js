/** People, channels, broadcasts and links inside text. */

import { h } from "./dom.js";
import { go } from "./route.js";
import { channelOf, nameOf, titleOf } from "./selectors.js";
import { store } from "./store.js";

const SAFE_SCHEMES = new Set(["http:", "https:", "mailto:", "tel:"]);

/** @param {string} id */
export function mention(id) {
  const isMe = id === store.me;
  return h(`span.mention${isMe ? ".is-me" : ""}`, { data: { user: id } }, `@${nameOf(id)}`);
}

/** @param {string} id @param {string} [label] */
export function channelLink(id, label) {
  const channel = channelOf(id);
  if (!channel) return h("span.mention", null, label ? `#${label}` : "#private-channel");
  const open = (event) => {
    event.preventDefault();
    go({ channel: id });
  };
  return h("a.mention", { href: `#channel=${id}`, on: { click: open } }, `#${titleOf(channel)}`);
}

/** @param {string} range here, channel or everyone */
export const broadcast = (range) => h("span.mention.is-me", null, `@${range}`);

/** @param {string} id @param {string} [label] */
export const userGroup = (id, label) => h("span.mention", null, label || `@${id}`);

/**
 * A link that opens elsewhere; an address of an unknown kind stays text.
 * @param {string} url
 * @param {any} children
 */
export function link(url, children) {
  if (!isSafe(url)) return h("span", null, children);
  return h("a.link", { href: url, target: "_blank", rel: "noopener noreferrer nofollow", title: url }, children);
}

/** @param {string} url */
export function isSafe(url) {
  try {
    return SAFE_SCHEMES.has(new URL(url).protocol);
  } catch {
    return false;
  }
}

/**
 * What stands between < and > in Slack's text, or null when it is no entity.
 * @param {string} inside
 * @returns {Node | null}
 */
export function entity(inside) {
  const [target, label] = split(inside);
  if (/^@[UW][A-Z0-9]+$/.test(target)) return mention(target.slice(1));
  if (/^#[CGD][A-Z0-9]+$/.test(target)) return channelLink(target.slice(1), label);
  if (/^!(here|channel|everyone)$/.test(target)) return broadcast(target.slice(1));
  if (target.startsWith("!subteam^")) return userGroup(target.slice(9), label);
  if (target.startsWith("!date^")) return h("span", null, label || target.split("^")[2]);
  return /^(https?|mailto|tel):/.test(target) ? link(target, label || target.replace(/^(mailto|tel):/, "")) : null;
}

function split(inside) {
  const bar = inside.indexOf("|");
  return bar < 0 ? [inside, ""] : [inside.slice(0, bar), inside.slice(bar + 1)];
}
