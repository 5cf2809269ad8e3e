/** Finding and meeting: channels to browse, people to write to, who is in a channel, who somebody is. */

import { h } from "./dom.js";
import { act } from "./api.js";
import { avatar } from "./avatar.js";
import { arrows, dialog } from "./overlay.js";
import { go } from "./route.js";
import { icon } from "./icons.js";
import { isDirect, isMember, nameOf, titleOf } from "./selectors.js";
import { store } from "./store.js";
import { plural } from "./time.js";

/** A list that a search field narrows. @param {Array<{text: string, el: HTMLElement}>} rows */
function searchable(rows, label) {
  const none = h("p.rows-none", { hidden: true, "data-testid": "no-match" }, "Nothing here has that in its name.");
  const list = h("div.rows", { on: { keydown: arrows } }, rows.map((row) => row.el), none);
  const search = h("input.field", { type: "search", placeholder: label, "aria-label": label });
  search.addEventListener("input", () => {
    const typed = search.value.trim().toLowerCase();
    for (const row of rows) row.el.hidden = !row.text.toLowerCase().includes(typed);
    none.hidden = rows.some((row) => !row.el.hidden);
  });
  return [search, list];
}

export function browseChannels() {
  const rooms = [...store.channels.values()].filter((one) => !isDirect(one) && !one.is_archived);
  rooms.sort((a, b) => a.name.localeCompare(b.name));
  let close = () => {};
  const rows = rooms.map((room) => {
    const open = () => {
      close();
      go({ channel: room.id });
    };
    const about = [
      isMember(room) && "Joined",
      plural(room.members.length, "member"),
      room.topic,
    ].filter(Boolean).join(" · ");
    const el = h("div.row", null, h(
      "button.row-open",
      { type: "button", "data-testid": `browse-${room.id}`, on: { click: open } },
      icon(room.kind === "group" ? "lock" : "hash"),
      h("span.row-text", null, h("b", null, room.name), h("small", null, about))
    ),
      !isMember(room) && h(
        "button.button.small",
        {
          type: "button",
          "data-testid": `join-${room.id}`,
          on: { click: async () => (await act("join", { channel: room.id })) && open() },
        },
        "Join"
      ));
    return { text: `${room.name} ${room.topic}`, el };
  });
  const create = h(
    "button.button.primary",
    { type: "button", "data-testid": "create-channel", on: { click: () => (close(), createChannel()) } },
    "Create a channel"
  );
  close = dialog(
    { title: "Channels", body: searchable(rows, "Search channels"), actions: [create], testid: "channel-browser" }
  );
}

function createChannel() {
  const name = h(
    "input.field",
    {
      type: "text",
      maxlength: "80",
      placeholder: "e.g. plan-budget",
      "aria-label": "Name",
      "data-testid": "new-channel-name",
      autofocus: true,
    }
  );
  const isPrivate = h("input", { type: "checkbox", "data-testid": "new-channel-private" });
  const create = async () => {
    const wanted = name.value.trim().toLowerCase().replace(/\s+/g, "-").replace(/^#/, "");
    const said = await act("create_channel", { name: wanted, private: isPrivate.checked });
    if (!said) return;
    close();
    go({ channel: said.channel });
  };
  const form = h(
    "form.stack",
    { on: { submit: (event) => (event.preventDefault(), create()) } },
    h("label.input-label", null, "Name"),
    name,
    h(
      "label.choice",
      null,
      isPrivate,
      h("span", null, "Private", h("small", null, "Only people who are invited can see it."))
    )
  );
  const close = dialog(
    {
      title: "Create a channel",
      body: form,
      actions: [
        h(
          "button.button.primary",
          { type: "button", "data-testid": "new-channel-create", on: { click: create } },
          "Create"
        ),
      ],
      testid: "new-channel",
    }
  );
}

export function newMessage() {
  let close = () => {};
  const others = [...store.members.values()].filter((member) => member.id !== store.me);
  const rows = others.map((member) => rowTo(member, () => close()));
  close = dialog({ title: "New message", body: searchable(rows, "Search people and apps"), testid: "people-browser" });
}

/** Opens the direct conversation with somebody, which begins with that if there is none. */
function rowTo(member, close) {
  const write = async () => {
    const said = await act("open_dm", { others: [member.id] });
    close();
    if (said) go({ channel: said.channel });
  };
  return { text: `${member.real_name} ${member.name}`, el: personRow(member, write, `dm-${member.id}`) };
}

function personRow(member, click, testid, extra) {
  const about = [
    `@${member.name}`,
    member.title || (member.is_bot ? "App" : ""),
    member.is_admin ? "Workspace admin" : "",
  ].filter(Boolean).join(" · ");
  return h("div.row", null, h("button.row-open", {
    type: "button",
    "data-testid": testid,
    on: { click },
  }, avatar(member.id, "sm"),
    h("span.row-text", null, h("b", null, member.real_name || member.name), h("small", null, about))), extra);
}

/** @param {import("./store.js").Channel} channel */
export function openMembers(channel) {
  let close = () => {};
  const inside = channel.members.map((id) => store.members.get(id)).filter(Boolean);
  const canInvite = isMember(channel) && !isDirect(channel);
  const others = [...store.members.values()].filter((member) => !channel.members.includes(member.id));
  const outside = canInvite ? others : [];
  const show = (member) => () => (close(), openPerson(member.id));
  const invite = (member) => h(
    "button.button.small",
    {
      type: "button",
      "data-testid": `invite-${member.id}`,
      on: { click: async () => (await act("invite", { channel: channel.id, invited: member.id })) && close() },
    },
    "Add"
  );
  const rows = [
    ...inside.map((member) => ({ text: `${member.real_name} ${member.name}`, el: personRow(member, show(member)) })),
    ...outside.map(
      (member) => ({
        text: `${member.real_name} ${member.name}`,
        el: personRow(member, show(member), null, invite(member)),
      })
    ),
  ];
  close = dialog(
    {
      title: isDirect(channel) ? "Members" : `Members of #${channel.name}`,
      body: searchable(rows, "Search members"),
      testid: "members",
    }
  );
}

/** @param {string} id */
export function openPerson(id) {
  const member = store.members.get(id);
  if (!member) return;
  let close = () => {};
  const write = async () => {
    const said = await act("open_dm", { others: [id] });
    close();
    if (said) go({ channel: said.channel });
  };
  const facts = [
    ["Handle", `@${member.name}`],
    ["Member ID", member.id],
    member.is_admin && ["Role", "Workspace admin"],
    member.app_id && ["App ID", member.app_id],
  ].filter(Boolean);
  const body = h("div.person", null, avatar(id, "lg"), h("div", null, h("h3", null, nameOf(id)), h(
    "p.muted",
    null,
    member.title || (member.is_bot ? "App" : "")
  ),
    h("dl.facts", null, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]))));
  close = dialog(
    {
      title: "Profile",
      body,
      actions: id === store.me ? [] : [h("button.button.primary", { type: "button", on: { click: write } }, "Message")],
      testid: "profile",
    }
  );
}

/** Ctrl+K: go anywhere by typing a part of its name. */
export function quickSwitch() {
  if (document.querySelector("dialog[open]")) return;
  let close = () => {};
  const open = (channel) => () => (close(), go({ channel: channel.id }));
  const rows = [...store.channels.values()].filter(
    (one) => !one.is_archived && (isMember(one) || one.kind === "channel")
  ).map((one) => {
    const sign = isDirect(one) ? avatar(
      one.members.find((id) => id !== store.me) ?? store.me,
      "xs"
    ) : icon(one.kind === "group" ? "lock" : "hash");
    return {
      text: titleOf(one),
      el: h(
        "div.row",
        null,
        h(
          "button.row-open",
          { type: "button", on: { click: open(one) } },
          sign,
          h("span.row-text", null, h("b", null, titleOf(one)))
        )
      ),
    };
  });
  const met = new Set([...store.channels.values()].filter((one) => one.kind === "im").flatMap((one) => one.members));
  const strangers = [...store.members.values()].filter((one) => one.id !== store.me && !met.has(one.id));
  rows.push(...strangers.map((one) => rowTo(one, () => close())));
  const [search, list] = searchable(rows, "Jump to…");
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") list.querySelector(".row:not([hidden]) button")?.click();
    if (event.key === "ArrowDown") list.querySelector(".row:not([hidden]) button")?.focus();
  });
  close = dialog({ title: "Jump to a conversation", body: [search, list], testid: "quick-switch" });
  search.focus();
}
