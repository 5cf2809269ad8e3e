/** The composer: text, completion, files, slash commands. One for the channel, one for the thread. */

import { h, replace } from "./dom.js";
import { act, upload } from "./api.js";
import { completer } from "./completion.js";
import { fit, insert, wrapSelection } from "./composer_box.js";
import { icon } from "./icons.js";
import { pickEmoji } from "./reactions.js";
import { go, route } from "./route.js";
import { appOf, channelOf, isDirect, repliesOf, timeline, titleOf } from "./selectors.js";
import { store } from "./store.js";
import { toast } from "./toast.js";
import { setUi, ui } from "./ui.js";
import { mentioned, toWire } from "./wire.js";

const MARKS = { b: "*", i: "_", e: "`" };

/**
 * @param {string} channel @param {string | null} root of the thread, or null in the channel
 * @returns {HTMLElement}
 */
export const composer = (channel, root) => new Composer(channel, root).el;

class Composer {
  constructor(channel, root) {
    this.channel = channel;
    this.root = root;
    const place = channelOf(channel);
    const key = `${store.me}:${channel}:${root ?? ""}`;
    this.draft = ui.drafts.get(key) ?? { text: "", files: [] };
    ui.drafts.set(key, this.draft);
    this.build(root ? "Reply…" : `Message ${isDirect(place) ? "" : "#"}${titleOf(place)}`);
    this.completion = completer(this.box, channel);
    this.listen();
    const also = h("label.also", null, this.broadcast, `Also send to #${place.name}`);
    this.el = root && !isDirect(place) ? h("div", null, this.frame, also) : this.frame;
    queueMicrotask(() => this.redraw());
  }

  build(label) {
    const id = (name) => (this.root ? `thread-${name}` : name);
    this.box = /** @type {HTMLTextAreaElement} */ (
      h("textarea.composer-box", {
        rows: "1",
        placeholder: label,
        "aria-label": label,
        autocomplete: "off",
        "data-testid": id("composer"),
      })
    );
    this.box.value = this.draft.text;
    this.chips = h("div.chips", null);
    this.broadcast = h("input", { type: "checkbox", "data-testid": "also-send" });
    this.picker = h("input", { type: "file", multiple: true, hidden: true, "data-testid": id("file-input") });
    this.sendButton = h(
      "button.send",
      { type: "button", "aria-label": "Send", title: "Send (Enter)", "data-testid": id("send") },
      icon("send")
    );
    this.frame = h("div.composer", null, this.box, this.chips, this.bar(), this.picker);
  }

  bar() {
    const tool = (name, title, click) =>
      h("button.composer-tool", { type: "button", "aria-label": title, title, on: { click } }, icon(name));
    const hint = h("span.composer-hint", null, h("kbd", null, "Shift"), "+", h("kbd", null, "Enter"), " for a new line");
    const addEmoji = (event) => pickEmoji(event.currentTarget, (name) => insert(this.box, `:${name}: `));
    return h(
      "div.composer-bar",
      null,
      tool("plus", "Attach files", () => this.picker.click()),
      tool("at", "Mention someone", () => insert(this.box, "@")),
      tool("smile", "Emoji", addEmoji),
      hint,
      this.sendButton
    );
  }

  listen() {
    const { box, picker } = this;
    box.addEventListener("input", () => this.redraw());
    box.addEventListener("keydown", (event) => this.onKey(event));
    box.addEventListener("paste", (event) => {
      if (!event.clipboardData?.files.length) return;
      event.preventDefault();
      this.add([...event.clipboardData.files]);
    });
    picker.addEventListener("change", () => {
      this.add([...picker.files]);
      picker.value = "";
    });
    this.sendButton.addEventListener("click", () => this.send());
    this.frame.addEventListener("composer:insert", (event) => {
      box.value = event.detail;
      box.focus();
      box.selectionStart = box.selectionEnd = box.value.length;
      this.redraw();
    });
    acceptDrops(this.frame, (files) => this.add(files));
  }

  onKey(event) {
    if (this.completion.handles(event) || event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "ArrowUp" && !this.box.value) {
      editLast(event, this.channel, this.root);
    } else if ((event.metaKey || event.ctrlKey) && MARKS[event.key]) {
      event.preventDefault();
      wrapSelection(this.box, MARKS[event.key]);
    }
  }

  redraw() {
    const { box, draft } = this;
    draft.text = box.value;
    fit(box);
    this.sendButton.disabled = !box.value.trim() && !draft.files.length;
    replace(this.chips, draft.files.map((file) => this.chip(file)));
  }

  chip(file) {
    const drop = () => {
      this.draft.files = this.draft.files.filter((one) => one !== file);
      this.redraw();
    };
    const props = { type: "button", "aria-label": `Remove ${file.name}`, on: { click: drop } };
    return h("span.chip", null, icon("file"), file.name, h("button.quiet", props, icon("close")));
  }

  /** @param {File[]} files */
  async add(files) {
    for (const file of files) {
      const id = await upload(file);
      if (id) this.draft.files.push({ id, name: file.name });
    }
    this.redraw();
    this.box.focus();
  }

  async send() {
    const typed = this.box.value.trim();
    const { files } = this.draft;
    if (!typed && !files.length) return;
    if (/^\/[a-z]/i.test(typed) && !files.length) {
      if (await slash(this.channel, this.root, typed)) this.put("", []);
      return;
    }
    const message = {
      channel: this.channel,
      text: toWire(typed),
      files: files.map((file) => file.id),
      thread_ts: this.root,
      broadcast: this.broadcast.checked,
    };
    this.put("", []);
    const answer = await act("say", message);
    if (answer) {
      this.broadcast.checked = false;
      after(message, answer.ts);
    } else {
      // A refused message is not lost, and neither is what was typed since.
      this.put([typed, this.box.value].filter(Boolean).join("\n"), files);
    }
  }

  put(text, files) {
    this.box.value = text;
    this.draft.files = files;
    this.redraw();
  }
}

async function slash(channel, root, typed) {
  if (root) {
    toast("Slack does not let slash commands be used in threads. Use them in the channel.", "error");
    return false;
  }
  const [, command, text] = /^(\/\S+)\s*([\s\S]*)$/.exec(typed);
  return act("slash", { channel, command, text });
}

/** A DM with an app is a list of threads: one goes where the answer will come. */
function after(said, ts) {
  const place = channelOf(said.channel);
  if (!said.thread_ts && appOf(place)?.answers && route().channel === said.channel) go({ thread: ts });
  const absent = mentioned(said.text).filter((id) => !place.members.includes(id) && store.members.has(id));
  if (absent.length && !isDirect(place)) setUi({ absent: { channel: said.channel, users: [...new Set(absent)] } });
}

function editLast(event, channel, root) {
  const messages = root ? repliesOf(channel, root) : timeline(channel);
  const isOwn = (one) => one.user === store.me && !one.is_ephemeral && one.subtype !== "channel_join";
  const own = messages.findLast(isOwn);
  if (!own) return;
  event.preventDefault();
  setUi({ editing: own.ts });
}

function acceptDrops(el, add) {
  const over = (isOver) => (event) => {
    event.preventDefault();
    el.classList.toggle("is-drop", isOver);
  };
  el.addEventListener("dragover", over(true));
  el.addEventListener("dragleave", over(false));
  el.addEventListener("drop", (event) => {
    over(false)(event);
    add([...event.dataTransfer.files]);
  });
}
