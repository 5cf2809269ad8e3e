/** The bar above a conversation, and the tabs of an app's DM. */

import { h, sync } from "./dom.js";
import { act } from "./api.js";
import { avatar, presence } from "./avatar.js";
import { openMembers } from "./directory.js";
import { go, route } from "./route.js";
import { icon } from "./icons.js";
import { inlineMrkdwn } from "./mrkdwn.js";
import { menu } from "./overlay.js";
import { appOf, isDirect, isMember, othersIn, titleOf } from "./selectors.js";
import { store } from "./store.js";
import { setUi } from "./ui.js";

/** @param {HTMLElement} root @param {import("./store.js").Channel | undefined} channel */
export function drawHeader(root, channel) {
  const sig = JSON.stringify([channel && { ...channel, title: titleOf(channel) }, store.shortcuts, store.me]);
  sync(root, [{ key: channel?.id ?? "none", sig, make: () => bar(channel) }]);
}

function bar(channel) {
  const drawer = h(
    "button.quiet.only-narrow",
    {
      type: "button",
      "aria-label": "Open the sidebar",
      "data-testid": "open-sidebar",
      on: { click: () => setUi({ isDrawerOpen: true }) },
    },
    icon("menu")
  );
  if (!channel) return h("div.bar", null, drawer, h("h1.bar-title", null, store.team.name));
  const members = h("button.member-count", {
    type: "button",
    "aria-label": `${channel.members.length} members`,
    "data-testid": "member-count",
    on: { click: () => openMembers(channel) },
  },
    h(
      "span.faces",
      null,
      channel.members.slice(0, 3).map((id) => avatar(id, "xs"))
    ), h("span", null, channel.members.length));
  return h("div.bar", null, drawer,
    h("h1.bar-title", { "data-testid": "channel-title" }, sign(channel), h("span", null, titleOf(channel))),
    !isDirect(channel) && channel.topic && h(
      "p.topic",
      { "data-testid": "topic", title: channel.topic },
      inlineMrkdwn(channel.topic)
    ),
    h("span.bar-space", null),
    channel.kind !== "im" && members,
    h(
      "button.quiet",
      {
        type: "button",
        "aria-label": "Conversation menu",
        "aria-haspopup": "menu",
        "data-testid": "channel-menu",
        on: { click: (event) => menu(event.currentTarget, entries(channel)) },
      },
      icon("more")
    ));
}

function sign(channel) {
  if (channel.kind === "im") return h(
    "span.side-face",
    null,
    avatar(othersIn(channel)[0] ?? store.me, "xs"),
    presence(othersIn(channel)[0] ?? store.me)
  );
  return icon(channel.kind === "channel" ? "hash" : channel.kind === "group" ? "lock" : "people");
}

function entries(channel) {
  const shortcuts = store.shortcuts.filter((one) => !one.is_for_messages).map(
    (one) => ({
      label: one.name,
      icon: "bolt",
      testid: `shortcut-${one.callback_id}`,
      run: () => act("shortcut", { callback_id: one.callback_id }),
    })
  );
  const membership = isDirect(channel) ? [] : isMember(channel)
    ? [
      {
        label: "Leave channel",
        icon: "close",
        isDanger: true,
        testid: "leave-channel",
        run: () => act("leave", { channel: channel.id }),
      },
    ]
    : [{ label: "Join channel", icon: "plus", run: () => act("join", { channel: channel.id }) }];
  return [{ label: "Members", icon: "people", run: () => openMembers(channel) }, ...shortcuts, ...membership];
}

const TABS = [["home", "Home"], ["messages", "Messages"], ["about", "About"]];

/** @param {HTMLElement} root @param {import("./store.js").Channel | undefined} channel */
export function drawTabs(root, channel) {
  const app = appOf(channel);
  root.hidden = !app?.answers;
  if (root.hidden) return;
  const here = route().tab || "messages";
  sync(root, [{ key: app.id, sig: here, make: () => tabList(here) }]);
}

function tabList(here) {
  return h("div.tab-list", { role: "tablist" }, TABS.map(([tab, label]) => {
    const open = () => go({ tab: tab === "messages" ? "" : tab, thread: "" });
    return h(
      "button.tab",
      {
        type: "button",
        role: "tab",
        "aria-selected": String(tab === here),
        "data-testid": `tab-${tab}`,
        on: { click: open },
      },
      label
    );
  }));
}
