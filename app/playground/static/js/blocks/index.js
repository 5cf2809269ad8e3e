/** Block Kit: which module draws which block. */

import { h } from "../dom.js";
import { drawBlock as drawMarkdown, parseMarkdown } from "../markdown.js";
import { richText } from "../rich_text.js";
import { actions, context, contextActions, divider, header, image, section, video } from "./layout.js";
import { alert, card, carousel, container } from "./cards.js";
import { input } from "./inputs.js";
import { plan, taskCard } from "./tasks.js";
import { table } from "./table.js";

/**
 * Where blocks stand and what happens in them.
 * @typedef {{place: "message" | "modal" | "home", click: (details: Record<string, any>) => Promise<any>,
 *   fields?: Map<string, {blockId: string, actionId: string, read: () => string | string[] | null}>,
 *   kept?: Record<string, any>, errors?: Record<string, string>}} Context
 */

const DRAW = {
  section, header, divider, context, actions, image, video, input, table, plan, alert, card, carousel, container,
  context_actions: contextActions,
  task_card: taskCard,
  rich_text: richText,
  markdown: (block) => h("div.markdown", null, parseMarkdown(block.text).map(drawMarkdown)),
  file: (block) => h("p.muted", null, `File ${block.external_id ?? ""}`),
};

/** @param {any} block @param {Context} ctx @param {number} at its position, which names it if it has no id */
export function renderBlock(block, ctx, at) {
  const draw = DRAW[block.type];
  if (!draw) return h("div.block.unknown", null, `A block this page cannot draw: ${block.type}`);
  const named = block.block_id ? block : { ...block, block_id: `block-${at}` };
  return h(`div.block.block-${block.type}`, { data: { blockId: named.block_id } }, draw(named, ctx));
}

/** @param {any[]} blocks @param {Context} ctx */
export const renderBlocks = (blocks, ctx) => h("div.blocks", null, runs(blocks).map((run) => renderRun(run, ctx)));

/** Task cards that follow each other make one timeline. */
function runs(blocks) {
  const found = [];
  blocks.forEach((block, at) => {
    const last = found.at(-1);
    if (block.type === "task_card" && last?.isTasks) last.blocks.push(block);
    else found.push({ isTasks: block.type === "task_card", at, blocks: [block] });
  });
  return found;
}

const renderRun = (run, ctx) =>
  run.isTasks ? h(
    "div.block.timeline-tasks",
    null,
    run.blocks.map((block) => taskCard(block, ctx))
  ) : renderBlock(run.blocks[0], ctx, run.at);

/**
 * Blocks as items for `sync`: markdown gives one for each of its own blocks, so that a growing text only
 * redraws its end.
 * @param {any[]} blocks @param {Context} ctx @param {{isLive: boolean}} state
 */
export function blockItems(blocks, ctx, { isLive }) {
  const items = [];
  for (const run of runs(blocks)) {
    if (run.blocks[0].type === "markdown") items.push(...markdownItems(run));
    else items.push({ key: `b${run.at}`, sig: JSON.stringify(run.blocks), make: () => renderRun(run, ctx) });
  }
  const last = items.at(-1);
  if (isLive && last && last.key.startsWith("m")) {
    const make = last.make;
    items[items.length - 1] = { ...last, sig: `${last.sig}|live`, make: () => withCaret(make()) };
  }
  return items;
}

function markdownItems(run) {
  return parseMarkdown(run.blocks[0].text).map((block, at) => ({
    key: `m${run.at}.${at}`, sig: JSON.stringify(block),
    make: () => h("div.markdown", null, drawMarkdown(block)),
  }));
}

/** The caret stands behind the last thing that was written. */
function withCaret(el) {
  let end = el.lastElementChild ?? el;
  while ([
    "UL",
    "OL",
    "LI",
    "BLOCKQUOTE",
    "DIV",
    "PRE",
  ].includes(end.tagName) && end.lastElementChild) end = end.lastElementChild;
  end.append(h("span.caret", { "aria-hidden": "true" }));
  return el;
}
