/** rich_text blocks, as Slack's composer makes them. */

import { h } from "./dom.js";
import { codeBlock } from "./code.js";
import { emoji } from "./emoji.js";
import { broadcast, channelLink, link, mention, userGroup } from "./entities.js";
import { dateToken } from "./time.js";

/** @param {{elements?: any[]}} block */
export const richText = (block) => h("div.rich", null, (block.elements ?? []).map(part));

function part(element) {
  switch (element.type) {
    case "rich_text_list": return list(element);
    case "rich_text_preformatted": return codeBlock(
      element.elements.map((one) => one.text ?? one.url ?? "").join(""),
      element.language
    );
    case "rich_text_quote": return h("blockquote", null, element.elements.map(richInline));
    default: return h("p", null, (element.elements ?? []).map(richInline));
  }
}

function list(element) {
  const isOrdered = element.style === "ordered";
  const items = element.elements.map((section) => h("li", null, (section.elements ?? []).map(richInline)));
  const props = {
    class: `indent-${Math.min(element.indent ?? 0, 8)}`,
    start: isOrdered && element.offset ? element.offset + 1 : null,
  };
  return h(isOrdered ? "ol" : "ul", props, items);
}

const INLINE = {
  text: (one) => lines(one.text),
  link: (one) => link(one.url, one.text || one.url),
  user: (one) => mention(one.user_id),
  channel: (one) => channelLink(one.channel_id),
  usergroup: (one) => userGroup(one.usergroup_id),
  broadcast: (one) => broadcast(one.range),
  emoji: (one) => emoji(one.name),
  date: (one) => h("time", null, dateToken(one.timestamp, one.format ?? "{date_short}")),
  color: (one) => h(
    "span.swatch",
    null,
    h("i", { style: { background: /^#[0-9a-f]{3,8}$/i.test(one.value) ? one.value : "none" } }),
    one.value
  ),
};

/** @param {any} one an inline element */
export function richInline(one) {
  const style = one.style ?? {};
  let node = (INLINE[one.type] ?? ((other) => other.text ?? ""))(one);
  if (style.code) node = h("code", null, node);
  if (style.strike) node = h("s", null, node);
  if (style.underline) node = h("u", null, node);
  if (style.italic) node = h("em", null, node);
  if (style.bold) node = h("strong", null, node);
  return node;
}

const lines = (text) => String(text).split("\n").flatMap((line, at) => (at ? [h("br", null), line] : [line]));
