/** The thread at the right: its root, the replies, the status line and its own composer. */

import { h, sync } from "./dom.js";
import { composer } from "./composer.js";
import { focusComposer } from "./composer_box.js";
import { icon } from "./icons.js";
import { messageItem } from "./message.js";
import { walkMessages } from "./message_keys.js";
import { go } from "./route.js";
import { scroller } from "./scroller.js";
import { isDirect, isMember, repliesOf, titleOf } from "./selectors.js";
import { statusLine, statusSig } from "./status.js";
import { store, threadKey } from "./store.js";
import { dayKey, dayOf, plural } from "./time.js";
import { goesOn } from "./timeline.js";

let parts = null;

/**
 * @param {HTMLElement} root @param {import("./store.js").Channel | undefined} channel
 * @param {string} ts of the root
 */
export function drawThread(root, channel, ts) {
  const isOpen = Boolean(channel && ts);
  if (root.hidden === isOpen) root.hidden = !isOpen;
  document.getElementById("app").classList.toggle("has-thread", isOpen);
  if (!isOpen) {
    root.replaceChildren();
    parts = null;
    return;
  }
  const key = `${store.me}:${channel.id}:${ts}`;
  if (parts?.key !== key) build(root, key);
  fill(channel, ts);
}

function build(root, key) {
  const list = h("div.thread-list", { role: "log", "aria-label": "Replies", tabindex: "0" });
  walkMessages(list);
  parts = {
    key,
    isFresh: true,
    head: h("div", null),
    list,
    status: h("div.thread-status", null),
    foot: h("div.thread-foot", null),
    scroll: scroller(list),
  };
  root.replaceChildren(parts.head, list, parts.status, parts.foot);
}

export const closeThread = () => go({ thread: "" });

function fill(channel, ts) {
  const title = store.titles.get(threadKey(channel.id, ts));
  sync(parts.head, [{ key: "head", sig: JSON.stringify([title, titleOf(channel)]), make: () => head(channel, title) }]);
  const root = store.messages.get(channel.id)?.get(ts);
  const draw = () => sync(
    parts.list,
    root ? items(channel, root) : [
      { key: "gone", sig: "", make: () => h("p.empty", null, "This thread is not there any more.") },
    ]
  );
  parts.scroll.around(draw);
  const { isFresh } = parts;
  if (isFresh) parts.scroll.toEnd();
  parts.isFresh = false;
  const line = {
    key: "status",
    sig: statusSig(channel.id, ts),
    make: () => statusLine(channel.id, ts, "panel") ?? h("span", { hidden: true }),
  };
  sync(parts.status, [line]);
  const canWrite = root && isMember(channel) && !channel.is_archived;
  sync(parts.foot, canWrite ? [{ key: "composer", sig: "", make: () => composer(channel.id, ts) }] : []);
  if (isFresh) focusComposer("thread-composer");
}

function head(channel, title) {
  return h("header.thread-head", null,
    h(
      "div.thread-title",
      null,
      h("h2", { "data-testid": "thread-title" }, title || "Thread"),
      h("small", null, `${isDirect(channel) ? "" : "#"}${titleOf(channel)}`)
    ),
    h(
      "button.quiet",
      {
        type: "button",
        "aria-label": "Close the thread",
        title: "Close (Esc)",
        "data-testid": "close-thread",
        on: { click: closeThread },
      },
      icon("close")
    ));
}

function items(channel, root) {
  const replies = repliesOf(channel.id, root.ts);
  const found = [messageItem(root, { isGrouped: false, place: "thread" })];
  const count = replies.filter((reply) => !reply.is_ephemeral).length;
  if (count) found.push(
    {
      key: "count",
      sig: String(count),
      make: () => h("div.reply-count", { "data-testid": "reply-count" }, h("span", null, plural(count, "reply"))),
    }
  );
  let before = root;
  for (const reply of replies) {
    const isNewDay = dayKey(before.ts) !== dayKey(reply.ts);
    if (isNewDay) found.push(
      {
        key: `day-${dayKey(reply.ts)}`,
        sig: dayOf(reply.ts),
        make: () => h("div.day", { role: "separator" }, h("span", null, dayOf(reply.ts))),
      }
    );
    found.push(
      messageItem(reply, { isGrouped: !isNewDay && before !== root && goesOn(before, reply), place: "thread" })
    );
    before = reply;
  }
  return found;
}
