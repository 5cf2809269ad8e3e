/** What stands under a channel's messages: suggested prompts, a word on who is missing, the composer. */

import { h, sync } from "./dom.js";
import { act } from "./api.js";
import { composer } from "./composer.js";
import { icon } from "./icons.js";
import { isMember, nameOf, titleOf } from "./selectors.js";
import { store, threadKey } from "./store.js";
import { setUi, ui } from "./ui.js";

/** @param {HTMLElement} root @param {import("./store.js").Channel} channel */
export function drawFoot(root, channel) {
  const items = [];
  const prompts = store.prompts.get(threadKey(channel.id, null));
  if (prompts?.prompts.length) items.push(
    { key: "prompts", sig: JSON.stringify(prompts), make: () => promptRow(channel, prompts) }
  );
  if (ui.absent?.channel === channel.id) items.push(
    { key: "absent", sig: JSON.stringify(ui.absent), make: () => absentees(channel, ui.absent.users) }
  );
  if (channel.is_archived) items.push(
    { key: "archived", sig: "", make: () => h("div.not-in", null, "This channel is archived.") }
  );
  else if (isMember(channel)) items.push(
    { key: `composer-${store.me}-${channel.id}`, sig: titleOf(channel), make: () => composer(channel.id, null) }
  );
  else items.push({ key: "join", sig: channel.id, make: () => joinBar(channel) });
  sync(root, items);
}

function joinBar(channel) {
  const join = () => act("join", { channel: channel.id });
  return h("div.not-in", { "data-testid": "join-bar" }, h(
    "span",
    null,
    "You are looking at ",
    h("b", null, `#${channel.name}`)
  ),
    h("button.button.primary", { type: "button", "data-testid": "join-channel", on: { click: join } }, "Join channel"));
}

function promptRow(channel, { title, prompts }) {
  const say = (prompt) => () => act("say", { channel: channel.id, text: prompt.message });
  return h("div.prompts", { "data-testid": "suggested-prompts" }, title && h("p", null, title),
    h(
      "div.ideas",
      null,
      prompts.map(
        (prompt) => h(
          "button.idea",
          { type: "button", title: prompt.message, "data-testid": "suggested-prompt", on: { click: say(prompt) } },
          prompt.title
        )
      )
    ));
}

function absentees(channel, users) {
  const dismiss = () => setUi({ absent: null });
  const invite = async () => {
    for (const id of users) await act("invite", { channel: channel.id, invited: id });
    dismiss();
  };
  const names = users.map(nameOf).join(", ");
  return h("div.absent", { "data-testid": "absent-notice" }, icon("info"), h(
    "span",
    null,
    h("b", null, names),
    ` ${users.length === 1 ? "is" : "are"} not in this channel and did not see that.`
  ),
    h(
      "button.button.small.primary",
      { type: "button", "data-testid": "absent-invite", on: { click: invite } },
      "Add to channel"
    ),
    h("button.quiet", { type: "button", "aria-label": "Dismiss", on: { click: dismiss } }, icon("close")));
}
