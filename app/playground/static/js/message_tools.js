/** The toolbar that appears on a message under the pointer or the focus. */

import { h } from "./dom.js";
import { act } from "./api.js";
import { confirmed, menu } from "./overlay.js";
import { emoji } from "./emoji.js";
import { go } from "./route.js";
import { icon } from "./icons.js";
import { pickReaction, toggleReaction } from "./reactions.js";
import { channelOf, isMember } from "./selectors.js";
import { store } from "./store.js";
import { fromWire } from "./wire.js";
import { setUi } from "./ui.js";
import { toast } from "./toast.js";

const QUICK = ["+1", "eyes", "white_check_mark"];

/** @param {import("./store.js").Message} message @param {"channel" | "thread"} place */
export function toolbar(message, place) {
  if (!isMember(channelOf(message.channel))) return "";
  const isOwn = message.user === store.me;
  const button = (name, label, testid, click) =>
    h(
      "button.tool",
      { type: "button", "aria-label": label, title: label, "data-testid": testid, on: { click } },
      icon(name)
    );
  return h("div.tools", { role: "toolbar", "aria-label": "Message actions" },
    QUICK.map(
      (name) => h(
        "button.tool",
        { type: "button", "aria-label": `React with ${name}`, on: { click: () => toggleReaction(message, name) } },
        emoji(name)
      )
    ),
    button("smile", "Add a reaction", "react", (event) => pickReaction(event.currentTarget, message)),
    place === "channel" && button(
      "reply",
      "Reply in thread",
      "reply-in-thread",
      () => go({ thread: message.thread_ts ?? message.ts })
    ),
    isOwn && button("pencil", "Edit message", "edit-message", () => setUi({ editing: message.ts })),
    isOwn && button("trash", "Delete message", "delete-message", () => remove(message)),
    button("more", "More actions", "more-actions", (event) => menu(event.currentTarget, more(message))));
}

function more(message) {
  const shortcuts = store.shortcuts.filter((one) => one.is_for_messages);
  return [
    { label: "Copy text", icon: "copy", run: () => copy(fromWire(message.text)) },
    { label: "Copy timestamp", icon: "copy", run: () => copy(message.ts) },
    ...shortcuts.map((one) => ({
      label: one.name, icon: "bolt", testid: `shortcut-${one.callback_id}`,
      run: () => act("message_shortcut", { channel: message.channel, ts: message.ts, callback_id: one.callback_id }),
    })),
  ];
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    toast("The browser does not allow copying here.", "error");
  }
}

async function remove(message) {
  const isSure = await confirmed(
    { title: "Delete message", text: "Delete this message? This cannot be undone.", yes: "Delete", isDanger: true }
  );
  if (isSure) act("delete", { channel: message.channel, ts: message.ts });
}
