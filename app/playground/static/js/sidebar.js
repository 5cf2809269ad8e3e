/** The sidebar: workspace, channels, direct messages, apps, and who one is. */

import { h, sync } from "./dom.js";
import { act } from "./api.js";
import { avatar, mark, presence } from "./avatar.js";
import { browseChannels, newMessage } from "./directory.js";
import { go, route } from "./route.js";
import { icon } from "./icons.js";
import { appOf, isDirect, isMember, nameOf, othersIn, titleOf, unread } from "./selectors.js";
import { store } from "./store.js";
import { setUi } from "./ui.js";

/** @param {HTMLElement} root */
export function drawSidebar(root) {
  sync(root, [
    { key: "head", sig: store.team.name, make: head },
    { key: "lists", sig: "", make: () => h("div.side-scroll", null) },
    { key: "members", sig: JSON.stringify([store.me, store.people]), make: memberSwitch },
  ]);
  sync(root.children[1], [...channelItems(), ...directItems(), ...appItems()]);
}

function head() {
  return h("header.side-head", null,
    h("span.team-mark", null, mark()),
    h(
      "span.team",
      null,
      h("b", { "data-testid": "workspace-name" }, store.team.name),
      h("small", null, "Switchboard playground")
    ),
    h(
      "button.quiet.only-narrow",
      { type: "button", "aria-label": "Close the sidebar", on: { click: () => setUi({ isDrawerOpen: false }) } },
      icon("close")
    ));
}

function heading(title, label, testid, click) {
  return {
    key: `h-${title}`,
    sig: "",
    make: () => h(
      "div.side-heading",
      null,
      h("span", null, title),
      h(
        "button.quiet",
        { type: "button", "aria-label": label, title: label, "data-testid": testid, on: { click } },
        icon("plus")
      )
    ),
  };
}

const byTitle = (a, b) => titleOf(a).localeCompare(titleOf(b));

function channelItems() {
  const rooms = [...store.channels.values()].filter(
    (one) => !isDirect(one) && !one.is_archived && (isMember(one) || one.id === route().channel)
  );
  return [
    heading("Channels", "Browse or create channels", "browse-channels", browseChannels),
    ...rooms.sort(byTitle).map((room) => item(room, icon(room.kind === "group" ? "lock" : "hash"))),
  ];
}

function directItems() {
  const direct = [...store.channels.values()].filter((one) => isDirect(one) && isMember(one) && !appOf(one));
  const items = direct.sort(byTitle).map(
    (one) => item(
      one,
      one.kind === "mpim" ? h("span.group-size", null, othersIn(one).length) : face(othersIn(one)[0] ?? store.me)
    )
  );
  return [heading("Direct messages", "New direct message", "new-dm", newMessage), ...items];
}

/** Every app has its place, also before the first word was said to it. */
function appItems() {
  const items = store.apps.filter((app) => app.answers).map((app) => {
    const dm = [...store.channels.values()].find((one) => appOf(one)?.id === app.id && isMember(one));
    if (dm) return item(dm, face(app.bot_user_id));
    const open = async () => {
      const said = await act("open_dm", { others: [app.bot_user_id] });
      if (said) go({ channel: said.channel });
    };
    return {
      key: `a-${app.id}`,
      sig: app.name,
      make: () => h(
        "button.side-item",
        { type: "button", "data-testid": `app-${app.id}`, on: { click: open } },
        face(app.bot_user_id),
        h("span.side-name", null, app.name)
      ),
    };
  });
  return [{ key: "h-apps", sig: "", make: () => h("div.side-heading", null, h("span", null, "Apps")) }, ...items];
}

const face = (id) => h("span.side-face", null, avatar(id, "xs"), presence(id));

function item(channel, sign) {
  const { count, mentions } = unread(channel);
  const isHere = route().channel === channel.id;
  const news = isHere ? 0 : count;
  const title = titleOf(channel);
  const open = () => {
    go({ channel: channel.id });
    setUi({ isDrawerOpen: false });
  };
  const label = `${title}${news ? `, ${news} unread` : ""}`;
  return {
    key: channel.id, sig: JSON.stringify([title, isHere, news, mentions, channel.kind]),
    make: () => h("button.side-item", {
      type: "button", class: [
        isHere && "is-here",
        news && "is-unread",
      ].filter(Boolean).join(" "), "aria-current": isHere ? "page" : null,
      "aria-label": label, "data-testid": `channel-${channel.id}`, data: { name: title }, on: { click: open },
    }, h("span.side-sign", null, sign), h("span.side-name", null, title), news > 0 && mentions > 0 && h(
      "span.badge",
      { "data-testid": "badge" },
      mentions
    )),
  };
}

function memberSwitch() {
  const faces = store.people.map((id) => {
    const isMe = id === store.me;
    const become = () => !isMe && go({ user: id });
    return h(
      "button.as-face",
      {
        type: "button",
        role: "radio",
        "aria-checked": String(isMe),
        "aria-label": nameOf(id),
        title: nameOf(id),
        "data-testid": `member-${id}`,
        class: isMe ? "is-me" : "",
        on: { click: become },
      },
      avatar(id, "sm")
    );
  });
  return h("footer.side-foot", null,
    h("div.as-name", null, h("small", null, "You are"), h("b", { "data-testid": "current-member" }, nameOf(store.me))),
    h(
      "div.as-faces",
      { role: "radiogroup", "aria-label": "Use the workspace as", "data-testid": "member-switch" },
      faces
    ));
}
