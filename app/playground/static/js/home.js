/** An app's Home and About tabs. */

import { h, sync } from "./dom.js";
import { act } from "./api.js";
import { avatar } from "./avatar.js";
import { renderBlocks } from "./blocks/index.js";
import { store } from "./store.js";

/** @param {HTMLElement} root @param {any} app @param {string} tab */
export function drawPane(root, app, tab) {
  if (tab === "about") return sync(root, [{ key: "about", sig: app.id, make: () => about(app) }]);
  const view = store.home?.app_id === app.id || !store.home?.app_id ? store.home : null;
  sync(
    root,
    [{ key: "home", sig: view ? `${view.id}${view.hash}` : "none", make: () => (view ? home(view) : empty(app)) }]
  );
}

function home(view) {
  const ctx = {
    place: /** @type {const} */ ("home"),
    click: (details) => act("click_in_view", { view_id: view.id, ...details }),
  };
  return h("div.home", { "data-testid": "home" }, renderBlocks(view.payload.blocks ?? [], ctx));
}

function empty(app) {
  return h(
    "div.empty",
    { "data-testid": "home-empty" },
    avatar(app.bot_user_id, "lg"),
    h("h2", null, `${app.name} has no Home yet`),
    h("p", null, "It appears here as soon as the app publishes it.")
  );
}

function about(app) {
  const bot = store.members.get(app.bot_user_id);
  const facts = [
    ["App ID", app.id],
    ["Bot user", `@${bot?.name ?? ""}`],
    ["Slash commands", app.commands.join(", ") || "none"],
  ];
  const rooms = [...store.channels.values()].filter(
    (one) => one.members.includes(app.bot_user_id) && one.kind !== "im" && one.kind !== "mpim"
  ).map((one) => `#${one.name}`);
  return h("div.home.about", { "data-testid": "about" },
    h(
      "div.person",
      null,
      avatar(app.bot_user_id, "lg"),
      h("div", null, h("h2", null, app.name), h("p.muted", null, "An app of this workspace"))
    ),
    h(
      "dl.facts",
      null,
      [
        ...facts,
        ["Channels", rooms.join(", ") || "none that you can see"],
      ].map(([name, value]) => [h("dt", null, name), h("dd", null, value)])
    ));
}
