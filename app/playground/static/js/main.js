/** Starts the page and draws it again whenever the workspace, the address or the window's own state changes. */

import { act } from "./api.js";
import { drawFoot } from "./foot.js";
import { focusComposer } from "./composer_box.js";
import { drawHeader, drawTabs } from "./header.js";
import { drawModal } from "./modal.js";
import { drawPane } from "./home.js";
import { drawSidebar } from "./sidebar.js";
import { drawThread } from "./thread.js";
import { drawTimeline, isAtEnd } from "./timeline.js";
import { follow } from "./feed.js";
import { go, route } from "./route.js";
import { onKey } from "./keys.js";
import { appOf, channelOf, isDirect, isMember, titleOf, unread } from "./selectors.js";
import { onChange, store } from "./store.js";
import { onUiChange, setUi, ui } from "./ui.js";

const REDRAW_MS = 60_000;
const byId = (id) => document.getElementById(id);
const LAST_MEMBER = "switchboard.member";

let isScheduled = false;
/** @type {string | null} */
let followed = null;
let told = "";
let entered = "";

/** Many changes in one frame make one drawing; a page in the background has no frames. */
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  if (document.hidden) setTimeout(draw, 30);
  else requestAnimationFrame(draw);
}

function draw() {
  isScheduled = false;
  drawBanner();
  if (!store.isReady || store.me !== route().user) return;
  const here = place();
  const isArrival = entered !== `${store.me}:${here?.id}`;
  if (isArrival) enter(here);
  byId("app").classList.remove("is-loading");
  byId("app").classList.toggle("is-drawer-open", ui.isDrawerOpen);
  drawSidebar(byId("sidebar"));
  drawHeader(byId("header"), here);
  drawTabs(byId("tabs"), here);
  drawMain(here);
  drawThread(byId("thread"), here, route().thread);
  drawModal();
  markRead(here);
  drawTitle(here);
  if (isArrival) focusComposer(route().thread ? "thread-composer" : "composer");
}

function drawMain(channel) {
  const tab = route().tab;
  const app = appOf(channel);
  const isPane = Boolean(app && tab && tab !== "messages");
  byId("pane").hidden = !isPane;
  byId("conversation").hidden = isPane || !channel;
  byId("foot").hidden = isPane || !channel;
  if (isPane) drawPane(byId("pane"), app, tab);
  else if (channel) {
    drawTimeline(byId("timeline"), channel);
    drawFoot(byId("foot"), channel);
  }
  tellHome(app, isPane ? tab : "messages");
}

/** The app hears which of its tabs a member looks at, once per visit. */
function tellHome(app, tab) {
  const now = app?.answers ? `${store.me}:${app.id}:${tab}` : "";
  if (now === told) return;
  told = now;
  if (now) act("open_home", { app_id: app.id, tab });
}

/** The channel in the address, or a first one to be in. */
function place() {
  const wanted = channelOf(route().channel);
  if (wanted) return wanted;
  const rooms = [...store.channels.values()].filter((one) => isMember(one) && !isDirect(one));
  const first = rooms.find((one) => one.name === "general") ?? rooms[0] ?? [...store.channels.values()][0];
  if (first) go({ channel: first.id, thread: "" }, { isQuiet: true });
  return first;
}

/** What is on the screen counts as read; where the member was before is remembered for the line "New". */
function markRead(channel) {
  if (!channel || document.hidden || !isAtEnd()) return;
  const { count } = unread(channel);
  if (!count) return;
  const last = [...store.messages.get(channel.id).keys()].reduce((a, b) => (a > b ? a : b), "");
  store.read.set(channel.id, last);
  act("mark_read", { channel: channel.id, ts: last });
}

/** Remembers, on coming to a channel, up to where it had been read. */
function enter(channel) {
  entered = `${store.me}:${channel?.id}`;
  ui.newLine.clear();
  ui.absent = null;
  ui.editing = null;
  if (channel && unread(channel).count) ui.newLine.set(channel.id, store.read.get(channel.id) ?? "");
}

function drawBanner() {
  const banner = byId("banner");
  banner.hidden = store.connection !== "lost";
  banner.textContent = banner.hidden ? "" : "Reconnecting…";
}

function drawTitle(channel) {
  const waiting = [...store.channels.values()].reduce((sum, one) => sum + unread(one).mentions, 0);
  const place = channel ? titleOf(channel) : "Welcome";
  document.title = `${waiting ? `(${waiting}) ` : ""}${place} – ${store.team.name} – Switchboard playground`;
}

function onRoute() {
  const { user } = route();
  const remembered = localStorage.getItem(LAST_MEMBER);
  if (!user && remembered) return go({ user: remembered }, { isQuiet: true });
  if (user !== followed) {
    followed = user;
    if (user) localStorage.setItem(LAST_MEMBER, user);
    told = "";
    follow(user, onUnknown);
  }
  draw();
}

/** An address may name nobody, or a member of another workspace: be somebody who is there. */
function onUnknown(people) {
  localStorage.removeItem(LAST_MEMBER);
  if (people.length) go({ user: people[0], channel: "" }, { isQuiet: true });
}

onChange(schedule);
onUiChange(schedule);
addEventListener("hashchange", onRoute);
addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", schedule);
byId("scrim").addEventListener("click", () => setUi({ isDrawerOpen: false }));
byId("timeline").addEventListener("scroll", () => isAtEnd() && schedule(), { passive: true });
setInterval(schedule, REDRAW_MS);
onRoute();
