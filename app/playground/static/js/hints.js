/** The beginning of a conversation: what this place is and how to start. */

import { h } from "./dom.js";
import { avatar } from "./avatar.js";
import { answeringApp, appOf, isDirect, isMember, othersIn, titleOf } from "./selectors.js";
import { icon } from "./icons.js";
import { inlineMrkdwn } from "./mrkdwn.js";
import { store, threadKey } from "./store.js";

/** Puts a sentence into the channel's composer. @param {string} text */
export function suggest(text) {
  document.querySelector("#foot .composer")?.dispatchEvent(new CustomEvent("composer:insert", { detail: text }));
}

const idea = (text) => h(
  "button.idea",
  { type: "button", "data-testid": "idea", on: { click: () => suggest(text) } },
  text
);

/** @param {import("./store.js").Channel} channel @param {boolean} isEmpty */
export function emptyChannel(channel, isEmpty) {
  const el = h(
    "div.beginning",
    { "data-testid": "beginning" },
    isDirect(channel) ? directBeginning(channel) : roomBeginning(channel)
  );
  const hint = isEmpty ? howToStart(channel) : null;
  if (hint) el.append(hint);
  return el;
}

function roomBeginning(channel) {
  return [
    h("h2", null, icon(channel.kind === "group" ? "lock" : "hash"), channel.name),
    h(
      "p",
      null,
      `This is the very beginning of #${channel.name}. `,
      channel.topic ? inlineMrkdwn(channel.topic.replace(/([^.!?])$/, "$1.")) : null
    ),
  ];
}

function directBeginning(channel) {
  const others = othersIn(channel);
  const app = appOf(channel);
  return [
    h("div.beginning-face", null, avatar(others[0] ?? store.me, "lg")),
    h("h2", null, titleOf(channel)),
    h(
      "p",
      null,
      app
        ? `Everything you say here is for ${app.name}: no mention needed.`
        : `This is the very beginning of your conversation with ${titleOf(channel)}.`
    ),
  ];
}

function howToStart(channel) {
  const app = answeringApp(channel);
  if (!app || !isMember(channel)) return null;
  if (store.prompts.get(threadKey(channel.id, null))?.prompts.length) return null;
  if (appOf(channel)) return ideas(["What can you do?", "What do you remember about us?"]);
  if (isDirect(channel)) return null;
  if (!channel.members.includes(app.bot_user_id)) {
    return h(
      "p.start",
      null,
      h("b", null, `${app.name} is not in this channel. `),
      `Add it from the member list, or go to a channel where it is.`
    );
  }
  return h("div.start", { "data-testid": "how-to-start" },
    h(
      "p",
      null,
      h("b", null, `Mention @${app.name} in #${channel.name} to start. `),
      "It answers in a thread; inside that thread no further mention is needed."
    ),
    ideas(
      [
        `@${app.name} what can you do?`,
        `@${app.name} remember that we deploy on Tuesdays`,
        `@${app.name} when do we deploy?`,
      ]
    ));
}

const ideas = (texts) => h("div.ideas", null, texts.map(idea));
