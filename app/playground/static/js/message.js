/** One message as a row. */

import { h } from "./dom.js";
import { avatar } from "./avatar.js";
import { drawBody, patchBody } from "./message_body.js";
import { editor } from "./message_edit.js";
import { drawFiles } from "./files.js";
import { reactionBar } from "./reactions.js";
import { toolbar } from "./message_tools.js";
import { icon } from "./icons.js";
import { go } from "./route.js";
import { authorOf, mentionsMe } from "./selectors.js";
import { statusLine, statusSig } from "./status.js";
import { dismissEphemeral, store } from "./store.js";
import { agoOf, clockOf, fullOf, plural } from "./time.js";
import { ui } from "./ui.js";
import { openPerson } from "./directory.js";

/**
 * @typedef {{count: number, users: string[], last: string}} Summary
 * @typedef {{isGrouped: boolean, place: "channel" | "thread", summary?: Summary}} Setting
 * @typedef {import("./store.js").Message} Message
 */

/**
 * The row as an item for `sync`.
 * @param {Message} message @param {Setting} setting
 */
export function messageItem(message, setting) {
  const isEditing = ui.editing === message.ts;
  const { summary } = setting;
  const sig = [
    message.rev, setting.isGrouped, isEditing, summarySig(summary),
    setting.place === "channel" ? statusSig(message.channel, message.ts) : "",
  ].join("|");
  return {
    key: message.ts, sig,
    make: () => messageRow(message, setting, isEditing),
    patch: (el) => message.stream !== null && !isEditing && patchStream(el, message, setting),
  };
}

const summarySig = (summary) => (summary ? `${summary.count} ${summary.last} ${agoOf(summary.last)}` : "");

/** @param {Message} message @param {Setting} setting */
function messageRow(message, setting, isEditing) {
  const isNotice = message.subtype === "channel_join" || message.subtype === "channel_leave";
  const row = h("article.message", {
    "data-testid": "message", "aria-label": `${authorOf(message)}, ${clockOf(message.ts)}`, tabindex: "-1",
    data: { ts: message.ts, user: message.user, thread: message.thread_ts, stream: message.stream?.state },
    class: classes(message, setting),
  });
  row.append(
    h("div.gutter", null, setting.isGrouped ? time(message, "time.when-hover") : face(message)),
    h("div.content", null,
      message.is_ephemeral && onlyYou(message),
      message.is_broadcast && setting.place === "channel" && broadcastLine(message),
      !setting.isGrouped && head(message),
      isEditing ? editor(message) : body(message, isNotice),
      drawFiles(message.files),
      reactionBar(message),
      setting.place === "channel" && below(message, setting),
    ),
  );
  if (!isEditing && !message.is_ephemeral && message.subtype !== "tombstone") row.append(toolbar(
    message,
    setting.place
  ));
  return row;
}

function classes(message, setting) {
  return [
    setting.isGrouped && "is-grouped", message.is_ephemeral && "is-ephemeral", mentionsMe(message) && "is-for-me",
    message.stream?.state === "in_progress" && "is-streaming", message.subtype === "tombstone" && "is-gone",
  ].filter(Boolean).join(" ");
}

const face = (message) => {
  const open = () => openPerson(message.user);
  return h(
    "button.face",
    { type: "button", tabindex: "-1", "aria-label": authorOf(message), on: { click: open } },
    avatar(message.user, "md", message.username ?? undefined)
  );
};

const time = (message, spec = "time.when") =>
  h(
    spec,
    { datetime: new Date(Number(message.ts) * 1000).toISOString(), title: fullOf(message.ts) },
    clockOf(message.ts)
  );

function head(message) {
  const open = () => openPerson(message.user);
  const isApp = Boolean(message.bot_id) || store.members.get(message.user)?.is_bot;
  return h("div.head", null,
    h("button.author", { type: "button", tabindex: "-1", on: { click: open } }, authorOf(message)),
    isApp && h("span.app-badge", null, "APP"),
    time(message));
}

function body(message, isNotice) {
  const el = h("div.body", { "data-testid": "message-body", class: isNotice ? "is-notice" : "" });
  drawBody(el, message);
  return el;
}

function onlyYou(message) {
  const dismiss = () => dismissEphemeral(message.channel, message.ts);
  return h("div.only-you", { "data-testid": "ephemeral" }, icon("info"), h("span", null, "Only visible to you"),
    h("button.link-button", { type: "button", on: { click: dismiss } }, "Dismiss"));
}

const broadcastLine = (message) => {
  const open = () => go({ thread: message.thread_ts });
  return h("button.broadcast", { type: "button", on: { click: open } }, icon("reply"), "replied to a thread");
};

/** Under a root: the status of its thread and the line that leads into it. */
function below(message, { summary }) {
  if (message.thread_ts && message.thread_ts !== message.ts) return null;
  return [statusLine(message.channel, message.ts, "inline"), summary && summaryLine(message, summary)];
}

function summaryLine(message, summary) {
  const open = () => go({ thread: message.ts });
  return h("button.summary", { type: "button", "data-testid": "thread-summary", on: { click: open } },
    h("span.faces", null, summary.users.slice(0, 4).map((id) => avatar(id, "xs"))),
    h("span.summary-count", null, plural(summary.count, "reply")),
    h("span.summary-last", null, `Last reply ${agoOf(summary.last)}`),
    h("span.summary-open", null, "View thread"), icon("right"));
}

/** A stream grows in place, so that a selection or the pointer in it is not disturbed. */
function patchStream(row, message, setting) {
  const target = row.querySelector(":scope > .content > .body");
  const hasBar = Boolean(row.querySelector(":scope > .content > .reactions"));
  const hasExtras = hasBar || message.reactions.length > 0 || message.files.length > 0;
  const isSameHead = row.classList.contains("is-grouped") === setting.isGrouped;
  const wasLive = row.dataset.stream === "in_progress";
  if (!target || !wasLive || !isSameHead || hasExtras || setting.place !== "thread") return false;
  row.dataset.stream = message.stream.state;
  row.classList.toggle("is-streaming", message.stream.state === "in_progress");
  patchBody(target, message);
  return true;
}
