/** What an agent is doing: task cards, one under the other, and plans that gather them. */

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { isSafe, link } from "../entities.js";
import { plain } from "../mrkdwn.js";
import { richText } from "../rich_text.js";

const WORDS = { pending: "to do", in_progress: "in progress", complete: "done", error: "failed" };
const unfolded = new Set();

/** @param {any} task */
export function taskCard(task) {
  const status = WORDS[task.status] ? task.status : "pending";
  const more = [text(task.details), text(task.output), sources(task.sources)].filter(Boolean);
  const head = [
    h(
      "span.task-mark",
      { role: "img", "aria-label": WORDS[status] },
      status === "complete" ? icon("check") : status === "error" ? icon("close") : null
    ),
    h("span.task-title", null, plain(task.title)),
  ];
  const props = { "data-testid": "task", data: { status, task: task.task_id } };
  if (!more.length) return h("div.task-card", props, h("div.task-head", null, head));
  const el = h(
    "details.task-card",
    { ...props, open: unfolded.has(task.task_id) },
    h("summary.task-head", null, head, icon("down")),
    h("div.task-more", null, more)
  );
  el.addEventListener("toggle", () => (el.open ? unfolded.add(task.task_id) : unfolded.delete(task.task_id)));
  return el;
}

/** @param {any} block */
export function plan(block) {
  const tasks = block.tasks ?? [];
  const done = tasks.filter((task) => task.status === "complete").length;
  const key = `plan ${block.block_id}`;
  const isWorking = tasks.some((task) => task.status === "in_progress");
  const el = h("details.plan", { "data-testid": "plan", open: !unfolded.has(key) },
    h("summary.plan-head", null, h(
      "span.task-mark",
      { data: { status: isWorking ? "in_progress" : done === tasks.length ? "complete" : "pending" } },
      !isWorking && done === tasks.length ? icon("check") : null
    ),
      h(
        "span.plan-title",
        null,
        plain(block.title?.text ?? block.title ?? "Plan")
      ), h("span.plan-count", null, `${done} of ${tasks.length}`), icon("down")),
    h("div.timeline-tasks", null, tasks.map(taskCard)));
  el.addEventListener("toggle", () => (el.open ? unfolded.delete(key) : unfolded.add(key)));
  return el;
}

function text(value) {
  if (!value) return null;
  return h("div.task-text", null, typeof value === "string" ? h("p", null, plain(value)) : richText(value));
}

function sources(list) {
  if (!list?.length) return null;
  return h(
    "div.task-sources",
    null,
    list.map(
      (source) => (isSafe(source.url ?? "") ? h(
        "span.source",
        null,
        link(source.url, source.text || source.title || source.url)
      ) : null)
    )
  );
}
