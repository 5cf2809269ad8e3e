/** Standard Markdown, block by block. Parsing gives plain values, drawing gives DOM nodes; HTML stays text. */

import { h } from "./dom.js";
import { codeBlock } from "./code.js";
import { inline } from "./markdown_inline.js";

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^`\s]*).*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+•]|\d{1,9}[.)])(?:\s+(.*)|)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 12;

/**
 * @typedef {{kind: "heading", level: number, text: string} | {kind: "paragraph", text: string} | {kind: "rule"} |
 *   {kind: "code", language: string, text: string} | {kind: "quote", blocks: Block[]} |
 *   {kind: "list", isOrdered: boolean, start: number, items: Array<{task: boolean | null, blocks: Block[]}>} |
 *   {kind: "table", aligns: string[], head: string[], rows: string[][]}} Block
 */

/** @param {string} text @returns {Block[]} */
export function parseMarkdown(text) {
  return parseLines(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0);
}

/** @param {string} text @returns {DocumentFragment} */
export function markdown(text) {
  const made = document.createDocumentFragment();
  for (const block of parseMarkdown(text)) made.append(drawBlock(block));
  return made;
}

function parseLines(lines, depth) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const taken = takeBlock(lines, at, depth);
    blocks.push(taken.block);
    at = taken.next;
  }
  return blocks;
}

function takeBlock(lines, at, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return takeFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return { block: { kind: "heading", level: heading[1].length, text: heading[2] }, next: at + 1 };
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (/^\s*>/.test(line) && depth < DEEPEST) return takeQuote(lines, at, depth);
  if (ITEM.test(line) && depth < DEEPEST) return takeList(lines, at, depth);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && lines[at + 1].includes("-")) return takeTable(
    lines,
    at
  );
  return takeParagraph(lines, at);
}

/** A fence that is not closed yet, as in a stream, runs to the end. */
function takeFence(lines, at, [, indent, marks, language]) {
  const closing = new RegExp(`^ {0,3}${marks[0]}{${marks.length},}\\s*$`);
  const body = [];
  let next = at + 1;
  while (next < lines.length && !closing.test(lines[next])) {
    body.push(lines[next].startsWith(indent) ? lines[next].slice(indent.length) : lines[next].trimStart());
    next += 1;
  }
  const isOpen = next >= lines.length;
  if (isOpen && body.at(-1) === "") body.pop();
  return { block: { kind: "code", language, text: body.join("\n") }, next: next + 1 };
}

function takeQuote(lines, at, depth) {
  const inner = [];
  let next = at;
  while (next < lines.length && /^\s*>/.test(lines[next])) {
    inner.push(lines[next].replace(/^\s*> ?/, ""));
    next += 1;
  }
  return { block: { kind: "quote", blocks: parseLines(inner, depth + 1) }, next };
}

function takeList(lines, at, depth) {
  const [, indent, marker] = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(marker);
  const items = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || RULE.test(lines[next]) || /\d/.test(item[2]) !== isOrdered) break;
    if (item[1].length < indent.length || item[1].length > indent.length + 1) break;
    const taken = takeItem(lines, next, item);
    items.push({ task: taken.task, blocks: parseLines(taken.body, depth + 1) });
    next = taken.next;
  }
  return { block: { kind: "list", isOrdered, start: isOrdered ? parseInt(marker, 10) : 1, items }, next };
}

/** An item goes on as long as lines are indented under it; blank lines between do not end it. */
function takeItem(lines, at, [, indent, , first = ""]) {
  const task = /^\[([ xX])\]\s+/.exec(first);
  const body = [task ? first.slice(task[0].length) : first];
  let next = at + 1;
  while (next < lines.length) {
    const line = lines[next];
    const depth = line.length - line.trimStart().length;
    if (line.trim() && depth <= indent.length) {
      if (ITEM.test(line) || startsBlock(line) || !lines[next - 1].trim()) break;
    } else if (!line.trim() && !continues(lines, next + 1, indent.length)) break;
    body.push(line.slice(Math.min(depth, indent.length + 2)));
    next += 1;
  }
  return { task: task ? task[1] !== " " : null, body, next: skipBlank(lines, next, indent) };
}

const startsBlock = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || /^\s*>/.test(line);

function continues(lines, at, indent) {
  const line = lines[at];
  return Boolean(line?.trim()) && line.length - line.trimStart().length > indent;
}

function skipBlank(lines, at, indent) {
  const follower = !lines[at]?.trim() && ITEM.exec(lines[at + 1] ?? "");
  return follower && follower[1].length === indent.length ? at + 1 : at;
}

function takeTable(lines, at) {
  const aligns = cells(lines[at + 1]).map(
    (cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "")
  );
  const rows = [];
  let next = at + 2;
  while (next < lines.length && lines[next].trim() && lines[next].includes("|")) rows.push(cells(lines[next++]));
  return { block: { kind: "table", aligns, head: cells(lines[at]), rows }, next };
}

/** A bar inside `code` or after a backslash does not part cells. */
function cells(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return (inner.match(/(?:\\\||`[^`]*`|[^|])+|(?<=\|)(?=\|)|^(?=\|)/g) ?? [""]).map((cell) => cell.trim().replaceAll(
    "\\|",
    "|"
  ));
}

function takeParagraph(lines, at) {
  let next = at + 1;
  while (next < lines.length && lines[next].trim() && !startsBlock(lines[next]) && !ITEM.test(lines[next])) next += 1;
  return { block: { kind: "paragraph", text: lines.slice(at, next).map((line) => line.trimStart()).join("\n") }, next };
}

/** @param {Block} block @returns {HTMLElement} */
export function drawBlock(block) {
  return DRAW[block.kind](block);
}

const DRAW = {
  heading: ({ level, text }) => h(`h${Math.min(level + 1, 6)}.md-h${level}`, null, inline(text)),
  paragraph: ({ text }) => h("p", null, inline(text)),
  rule: () => h("hr", null),
  code: ({ language, text }) => codeBlock(text, language),
  quote: ({ blocks }) => h("blockquote", null, blocks.map(drawBlock)),
  list: drawList,
  table: ({ aligns, head, rows }) => {
    const cell = (tag) => (text, column) => h(
      tag,
      { class: aligns[column] ? `align-${aligns[column]}` : "" },
      inline(text)
    );
    const body = rows.map((row) => h("tr", null, head.map((_, column) => cell("td")(row[column] ?? "", column))));
    return h(
      "div.table-wrap",
      { tabindex: "0" },
      h("table", null, h("thead", null, h("tr", null, head.map(cell("th")))), h("tbody", null, body))
    );
  },
};

function drawList({ isOrdered, start, items }) {
  const drawn = items.map(({ task, blocks }) => {
    const content = blocks.map(
      (block, at) => (at === 0 && block.kind === "paragraph" ? h("span", null, inline(block.text)) : drawBlock(block))
    );
    if (task === null) return h("li", null, content);
    const box = h("input", { type: "checkbox", checked: task, disabled: true, "aria-label": task ? "done" : "open" });
    return h("li.task", null, box, h("div", null, content));
  });
  return h(isOrdered ? "ol" : "ul", isOrdered && start !== 1 ? { start } : null, drawn);
}
