/** What a message says: blocks if it has some, else its text; then attachments and the marks of its state. */

import { h, sync } from "./dom.js";
import { act } from "./api.js";
import { blockItems, renderBlocks } from "./blocks/index.js";
import { channelOf, titleOf } from "./selectors.js";
import { inlineMrkdwn, mrkdwn } from "./mrkdwn.js";
import { link } from "./entities.js";

const NAMED_COLOURS = { good: "#2f9e6b", warning: "#d99a1c", danger: "#d0405a" };
const STATES = { stopped: "Stopped", expired: "This answer was cut off by Slack" };

/** @param {Element} el @param {import("./store.js").Message} message */
export function drawBody(el, message) {
  if (message.subtype === "tombstone") return void el.append(h("p.gone", null, "This message was deleted."));
  if (message.subtype === "channel_join") return void el.append(h("p", null, `joined ${inChannel(message.channel)}`));
  if (message.stream) return patchBody(el, message);
  const hasBlocks = message.blocks.length > 0;
  el.append(hasBlocks ? renderBlocks(message.blocks, context(message)) : mrkdwn(message.text));
  for (const attachment of message.attachments) el.append(drawAttachment(attachment, message));
  if (message.edited) el.append(h("span.edited", null, "(edited)"));
  if (isEmojiOnly(message)) el.classList.add("is-jumbo");
}

/** Brings the body of a stream up to date, touching only what has changed. */
export function patchBody(el, message) {
  const isLive = message.stream.state === "in_progress";
  const items = blockItems(message.blocks, context(message), { isLive });
  if (isLive && items.length === 0) items.push(
    { key: "wait", sig: "", make: () => h("span.typing", { "aria-label": "writing" }, h("i"), h("i"), h("i")) }
  );
  if (STATES[message.stream.state]) items.push(
    { key: "state", sig: message.stream.state, make: () => h("p.stream-state", null, STATES[message.stream.state]) }
  );
  if (message.edited) items.push({ key: "edited", sig: "", make: () => h("span.edited", null, "(edited)") });
  sync(el, items);
}

function inChannel(id) {
  const channel = channelOf(id);
  return channel ? `#${titleOf(channel)}.` : "the channel.";
}

/** Where a click in this message's blocks goes. */
function context(message) {
  return {
    place: "message",
    click: (details) => act("click", { channel: message.channel, ts: message.ts, ...details }),
  };
}

function isEmojiOnly(message) {
  const section = message.blocks.length === 1 && message.blocks[0].type === "rich_text" && message.blocks[0].elements;
  if (!section || section.length !== 1) return false;
  const parts = section[0].elements ?? [];
  return parts.length <= 6 && parts.every(
    (one) => one.type === "emoji" || (one.type === "text" && !one.text.trim())
  ) && parts.some((one) => one.type === "emoji");
}

/** Attachments of the older kind: a coloured bar, a title, fields. */
function drawAttachment(attachment, message) {
  const { pretext, title, title_link: address, text, fields = [], footer, blocks } = attachment;
  const bar = h("div.attachment", null,
    attachment.author_name && h("div.attachment-author", null, attachment.author_name),
    title && h("div.attachment-title", null, address ? link(address, title) : inlineMrkdwn(title)),
    text && mrkdwn(text),
    blocks && renderBlocks(blocks, context(message)),
    fields.length > 0 && h(
      "div.attachment-fields",
      null,
      fields.map(
        (field) => h(
          "div",
          { class: field.short ? "is-short" : "" },
          h("b", null, field.title),
          mrkdwn(String(field.value ?? ""))
        )
      )
    ),
    footer && h("div.attachment-footer", null, footer));
  const colour = colourOf(attachment.color ?? "");
  if (colour) bar.style.setProperty("--bar", colour);
  if (!title && !text && !blocks && !fields.length && attachment.fallback) bar.append(mrkdwn(attachment.fallback));
  return h("div", null, pretext && mrkdwn(pretext), bar);
}

/** One of Slack's three names, or a hexadecimal colour; anything else is none. */
function colourOf(given) {
  if (given in NAMED_COLOURS) return NAMED_COLOURS[given];
  return /^#?[0-9a-f]{6}$/i.test(given) ? `#${given.replace("#", "")}` : "";
}
