/** Slack's own markup (mrkdwn): *bold*, _italic_, ~strike~, `code`, fences, quotes and <entities>. */

import { h } from "./dom.js";
import { codeBlock } from "./code.js";
import { emoji } from "./emoji.js";
import { EMOJI } from "./emoji_table.js";
import { entity } from "./entities.js";
import { dateToken } from "./time.js";

const FENCE = /```\n?([\s\S]*?)\n?```/g;
const INLINE =
  /<([^<>\n]+)>|`([^`\n]+)`|(?<![\w*])\*(?=\S)([^*\n]*[^\s*])\*(?![\w*])|(?<![\w_])_(?=\S)([^_\n]*[^\s_])_(?![\w_])|(?<![\w~])~(?=\S)([^~\n]*[^\s~])~(?![\w~])|:([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):/g;

/** @param {string} text @returns {string} */
export const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** @param {string} text @returns {DocumentFragment} */
export function mrkdwn(text) {
  const made = document.createDocumentFragment();
  let at = 0;
  for (const fence of text.matchAll(FENCE)) {
    made.append(...paragraphs(text.slice(at, fence.index).replace(/\n$/, "")));
    made.append(codeBlock(unescape(fence[1])));
    at = fence.index + fence[0].length;
  }
  made.append(...paragraphs(at ? text.slice(at).replace(/^\n/, "") : text));
  return made;
}

/** Lines that start with > are quoted; the rest keeps its line breaks. */
function paragraphs(text) {
  if (!text) return [];
  const out = [];
  let run = [];
  let isQuoted = false;
  const flush = () => {
    if (run.length) out.push(h(isQuoted ? "blockquote" : "p.mrkdwn", null, inlineMrkdwn(run.join("\n"))));
    run = [];
  };
  for (const line of text.split("\n")) {
    const quote = /^(?:&gt;|>) ?/.exec(line);
    if (Boolean(quote) !== isQuoted) {
      flush();
      isQuoted = Boolean(quote);
    }
    run.push(quote ? line.slice(quote[0].length) : line);
  }
  flush();
  return out;
}

/** @param {string} text @returns {Array<Node | string>} */
export function inlineMrkdwn(text) {
  const out = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const node = draw(found);
    if (!node) continue;
    out.push(unescape(text.slice(at, found.index)), node);
    at = found.index + found[0].length;
  }
  out.push(unescape(text.slice(at)));
  return out.filter((part) => part !== "");
}

function draw([, inside, code, bold, italic, strike, name]) {
  if (inside) return date(inside) ?? entity(unescape(inside));
  if (code) return h("code", null, unescape(code));
  if (bold) return h("strong", null, inlineMrkdwn(bold));
  if (italic) return h("em", null, inlineMrkdwn(italic));
  if (strike) return h("s", null, inlineMrkdwn(strike));
  return EMOJI.has(name.split("::")[0]) ? emoji(name) : null;
}

function date(inside) {
  const found = /^!date\^(\d+)\^([^^|]+)/.exec(inside);
  return found && h("time", null, dateToken(Number(found[1]), found[2]));
}

/**
 * A text object of Block Kit.
 * @param {{type: string, text: string} | undefined} text
 */
export function textObject(text) {
  if (!text) return document.createDocumentFragment();
  if (text.type === "mrkdwn") return mrkdwn(text.text);
  return h("span.plain", null, plain(text.text));
}

/** Plain text still shows :emoji:. @param {string} text */
export function plain(text) {
  const parts = String(text ?? "").split(/:([a-z0-9_+'-]+):/);
  return parts.map((part, at) => (at % 2 === 0 ? part : EMOJI.has(part) ? emoji(part) : `:${part}:`));
}
