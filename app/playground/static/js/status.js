/** The line under a thread that says what the app is doing, and its Stop button. */

import { h } from "./dom.js";
import { act } from "./api.js";
import { icon } from "./icons.js";
import { answeringApp, channelOf, hasLiveStream, isWorking } from "./selectors.js";
import { store, threadKey } from "./store.js";

const ROTATE_MS = 3000;

/** @param {string} channel @param {string} root */
export function statusSig(channel, root) {
  const status = store.statuses.get(threadKey(channel, root));
  return JSON.stringify(
    [status?.text, status?.loading_messages, isWorking(channel, root), hasLiveStream(channel, root)]
  );
}

/**
 * @param {string} channel @param {string} root
 * @param {"inline" | "panel"} where
 * @returns {HTMLElement | null}
 */
export function statusLine(channel, root, where) {
  const status = store.statuses.get(threadKey(channel, root));
  const canStop = isWorking(channel, root);
  if (!status && !canStop) return null;
  const sentences = sentencesOf(status, channel, root);
  const text = h("span.status-text", null, sentences[0]);
  if (sentences.length > 1) rotate(text, sentences);
  return h(`div.status.status-${where}`, {
    "data-testid": where === "panel" ? "status-line" : "inline-status",
    role: "status",
  },
    h("span.status-dots", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), text,
    canStop && stopButton(channel, root, where));
}

function sentencesOf(status, channel, root) {
  if (status?.loading_messages.length) return status.loading_messages;
  const name = answeringApp(channelOf(channel))?.name ?? "The app";
  if (status) return [/^(is|are|has|was)\b/.test(status.text) ? `${name} ${status.text}` : `${name}: ${status.text}`];
  return [hasLiveStream(channel, root) ? `${name} is writing…` : `${name} is working…`];
}

function rotate(el, sentences) {
  const started = Date.now();
  const timer = setInterval(() => {
    if (!el.isConnected && Date.now() - started > ROTATE_MS) return clearInterval(timer);
    el.textContent = sentences[Math.floor((Date.now() - started) / ROTATE_MS) % sentences.length];
  }, ROTATE_MS);
}

function stopButton(channel, root, where) {
  const stop = (event) => {
    event.currentTarget.disabled = true;
    act("stop", { channel, thread_ts: root });
  };
  return h("button.stop", {
    type: "button",
    "data-testid": where === "panel" ? "stop-button" : "inline-stop-button",
    on: { click: stop },
  },
    icon("stop"), "Stop");
}
