/** Tables. */

import { h } from "../dom.js";
import { richInline } from "../rich_text.js";
import { plain } from "../mrkdwn.js";

/** @param {any} block */
export function table(block) {
  const [head = [], ...rows] = block.rows ?? [];
  const cell = (tag) => (one, column) => {
    const settings = block.column_settings?.[column] ?? {};
    const align = settings.align ?? (one.type === "raw_number" ? "right" : "");
    return h(
      tag,
      { class: [align && `align-${align}`, settings.is_wrapped && "is-wrapped"].filter(Boolean).join(" ") },
      content(one)
    );
  };
  return h("div.table-wrap", { tabindex: "0" }, h("table", null,
    h("thead", null, h("tr", null, head.map(cell("th")))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map(cell("td")))))));
}

function content(one) {
  if (one.type === "rich_text") return (one.elements ?? []).flatMap((part) => (part.elements ?? []).map(richInline));
  return plain(one.text ?? String(one.number ?? one.value ?? ""));
}
