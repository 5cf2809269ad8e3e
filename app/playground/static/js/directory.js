/** Finding and meeting: channels to browse, people to write to, who is in a channel, who somebody is. */

import { h } from "./dom.js";
import { act } from "./api.js";
import { avatar } from "./avatar.js";
import { dialog } from "./overlay.js";
import { go } from "./route.js";
import { icon } from "./icons.js";
import { searchable } from "./searchable.js";
import { channelOf, isDirect, isMember, nameOf } from "./selectors.js";
import { store } from "./store.js";
import { plural } from "./time.js";

export function browseChannels() {
  let close = () => {};
  const enter = (room) => {
    close();
    go({ channel: room.id });
  };
  const rows = () => {
    const rooms = [...store.channels.values()].filter((one) => !isDirect(one) && !one.is_archived);
    return rooms.sort((a, b) => a.name.localeCompare(b.name)).map((room) => ({
      key: room.id,
      text: `${room.name} ${room.topic}`,
      sig: JSON.stringify([store.me, room]),
      make: () => roomRow(room, () => enter(room)),
    }));
  };
  const create = h(
    "button.button.primary",
    { type: "button", "data-testid": "create-channel", on: { click: () => (close(), createChannel()) } },
    "Create a channel"
  );
  close = dialog(
    { title: "Channels", body: searchable(rows, "Search channels"), actions: [create], testid: "channel-browser" }
  );
}

function roomRow(room, open) {
  const about = [
    isMember(room) && "Joined",
    plural(room.members.length, "member"),
    room.topic,
  ].filter(Boolean).join(" · ");
  return h("div.row", null, h(
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
  const others = () => [...store.members.values()].filter((member) => member.id !== store.me);
  const rows = () => others().map((member) => rowTo(member, () => close()));
  close = dialog({ title: "New message", body: searchable(rows, "Search people and apps"), testid: "people-browser" });
}

/** A row that opens the direct conversation with somebody, which begins with that if there is none. */
export function rowTo(member, close) {
  const write = async () => {
    const said = await act("open_dm", { others: [member.id] });
    close();
    if (said) go({ channel: said.channel });
  };
  return personItem(member, () => personRow(member, write, `dm-${member.id}`));
}

/** A person's row in a searchable list. `sign` is what else its look depends on. */
function personItem(member, make, sign = "") {
  const text = `${member.real_name} ${member.name}`;
  return { key: member.id, text, sig: JSON.stringify([member, sign]), make };
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

/** @param {import("./store.js").Channel} opened */
export function openMembers(opened) {
  let close = () => {};
  const show = (member) => () => (close(), openPerson(member.id));
  const invite = (member) => h(
    "button.button.small",
    {
      type: "button",
      "data-testid": `invite-${member.id}`,
      on: { click: async () => (await act("invite", { channel: opened.id, invited: member.id })) && close() },
    },
    "Add"
  );
  const rows = () => {
    const channel = channelOf(opened.id) ?? opened;
    const inside = channel.members.map((id) => store.members.get(id)).filter(Boolean);
    const canInvite = isMember(channel) && !isDirect(channel);
    const others = [...store.members.values()].filter((member) => !channel.members.includes(member.id));
    const outside = canInvite ? others : [];
    return [
      ...inside.map((member) => personItem(member, () => personRow(member, show(member)), "inside")),
      ...outside.map((member) => personItem(member, () => personRow(member, show(member), null, invite(member)))),
    ];
  };
  close = dialog(
    {
      title: isDirect(opened) ? "Members" : `Members of #${opened.name}`,
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
