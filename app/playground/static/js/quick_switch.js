/** Going anywhere by the keyboard alone. */

import { h } from "./dom.js";
import { avatar } from "./avatar.js";
import { dialog } from "./overlay.js";
import { go } from "./route.js";
import { icon } from "./icons.js";
import { isDirect, isMember, titleOf } from "./selectors.js";
import { known, store } from "./store.js";
import { rowTo } from "./directory.js";
import { searchable } from "./searchable.js";

/** Ctrl+K: go anywhere by typing a part of its name. */
export function quickSwitch() {
  if (document.querySelector("dialog[open]")) return;
  let close = () => {};
  const rows = () => [
    ...places().map((one) => placeRow(one, () => (close(), go({ channel: one.id })))),
    ...strangers().map((one) => rowTo(one, () => close())),
  ];
  const [search, list] = searchable(rows, "Jump to…");
  const first = () => list.querySelector(".row button");
  search.addEventListener("keydown", async (event) => {
    if (event.key === "ArrowDown") first()?.focus();
    if (event.key !== "Enter") return;
    await known();
    first()?.click();
  });
  close = dialog({ title: "Jump to a conversation", body: [search, list], testid: "quick-switch" });
  search.focus();
}

const places = () =>
  [...store.channels.values()].filter((one) => !one.is_archived && (isMember(one) || one.kind === "channel"));

/** With whom there is no direct conversation yet. */
function strangers() {
  const met = new Set([...store.channels.values()].filter((one) => one.kind === "im").flatMap((one) => one.members));
  return [...store.members.values()].filter((one) => one.id !== store.me && !met.has(one.id));
}

function placeRow(channel, open) {
  const title = titleOf(channel);
  const sign = () => isDirect(channel) ? avatar(
    channel.members.find((id) => id !== store.me) ?? store.me,
    "xs"
  ) : icon(channel.kind === "group" ? "lock" : "hash");
  return {
    key: channel.id,
    text: title,
    sig: JSON.stringify([title, channel.kind, channel.members]),
    make: () => h("div.row", null, h(
      "button.row-open",
      { type: "button", "data-testid": `jump-${channel.id}`, on: { click: open } },
      sign(),
      h("span.row-text", null, h("b", null, title))
    )),
  };
}
