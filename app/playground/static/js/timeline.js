/** A channel's messages: days, groups, the line above what is new, and the way down to the end. */

import { h, sync } from "./dom.js";
import { emptyChannel } from "./hints.js";
import { icon } from "./icons.js";
import { messageItem } from "./message.js";
import { walkMessages } from "./message_keys.js";
import { scroller } from "./scroller.js";
import { threadSummaries, timeline } from "./selectors.js";
import { store, threadKey } from "./store.js";
import { dayKey, dayOf } from "./time.js";
import { ui } from "./ui.js";

const GROUP_S = 300;
const JUST_NOW_S = 2;
const DRAWN = 150;

let scroll = null;
let shownChannel = "";

/** @param {HTMLElement} root @param {import("./store.js").Channel} channel */
export function drawTimeline(root, channel) {
  if (!scroll) {
    scroll = scroller(root, showJump);
    walkMessages(root);
  }
  const isNew = shownChannel !== `${store.me}:${channel.id}`;
  shownChannel = `${store.me}:${channel.id}`;
  const messages = timeline(channel.id);
  const last = messages.at(-1);
  const draw = () => sync(root, items(channel, messages));
  if (isNew) {
    draw();
    scroll.toEnd();
  } else {
    scroll.around(draw);
    const isJustSaid = last?.user === store.me && Date.now() / 1000 - Number(last.ts) < JUST_NOW_S;
    if (isJustSaid && last.ts !== root.dataset.last) scroll.toEnd();
  }
  root.dataset.last = last?.ts ?? "";
}

/** @param {import("./store.js").Channel} channel @param {import("./store.js").Message[]} all */
function items(channel, all) {
  const most = ui.window.get(channel.id) ?? DRAWN;
  const messages = all.slice(-most);
  const summaries = threadSummaries(channel.id);
  const newLine = ui.newLine.get(channel.id);
  const found = [];
  if (messages.length < all.length) found.push(earlier(channel, most));
  else found.push(
    {
      key: "start",
      sig: JSON.stringify(
        [channel.name, channel.topic, channel.members, all.length === 0, store.prompts.has(threadKey(channel.id, null))]
      ),
      make: () => emptyChannel(channel, all.length === 0),
    }
  );
  let before = null;
  for (const message of messages) {
    const isNewDay = !before || dayKey(before.ts) !== dayKey(message.ts);
    if (isNewDay) found.push(day(message));
    const isFirstNew = newLine !== undefined && message.ts > newLine && (!before || before.ts <= newLine);
    const startsNew = isFirstNew && message.user !== store.me;
    if (startsNew) found.push({ key: "new", sig: message.ts, make: newMark });
    const isGrouped = !isNewDay && !startsNew && goesOn(before, message);
    found.push(messageItem(message, { isGrouped, place: "channel", summary: summaries.get(message.ts) }));
    before = message;
  }
  return found;
}

/** Whether a message continues the one above under the same head. */
export function goesOn(before, message) {
  return Boolean(before) && before.user === message.user && before.username === message.username &&
    Number(message.ts) - Number(before.ts) < GROUP_S && before.subtype === message.subtype &&
    !message.is_ephemeral && !before.is_ephemeral && !message.is_broadcast && before.subtype !== "tombstone";
}

const newMark = () =>
  h("div.new-line", { role: "separator", "aria-label": "New messages" }, h("span", null, "New"));

const day = (message) => ({
  key: `day-${dayKey(message.ts)}`, sig: dayOf(message.ts),
  make: () => h("div.day", { role: "separator", "aria-label": dayOf(message.ts) }, h("span", null, dayOf(message.ts))),
});

function earlier(channel, most) {
  const more = () => {
    ui.window.set(channel.id, most + DRAWN);
    const root = document.getElementById("timeline");
    const fromEnd = root.scrollHeight - root.scrollTop;
    drawTimeline(root, channel);
    root.scrollTop = root.scrollHeight - fromEnd;
  };
  return {
    key: "earlier",
    sig: String(most),
    make: () => h(
      "div.earlier",
      null,
      h("button.button.small", { type: "button", on: { click: more } }, "Show earlier messages")
    ),
  };
}

function showJump(isAtEnd) {
  const place = document.getElementById("jump");
  const button = () => h(
    "button.jump-button",
    { type: "button", "data-testid": "jump-to-end", on: { click: () => scroll.toEnd() } },
    icon("down"),
    "Jump to the latest"
  );
  sync(place, isAtEnd ? [] : [{ key: "jump", sig: "", make: button }]);
}

/** Whether the member sees the end of what is drawn, so that it counts as read. */
export const isAtEnd = () => scroll?.isAtEnd() ?? true;
