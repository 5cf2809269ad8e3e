/** Standard Markdown inside a line: emphasis, code, links, Slack's entities and :emoji:. */

import { h } from "./dom.js";
import { emoji } from "./emoji.js";
import { EMOJI } from "./emoji_table.js";
import { entity, isSafe, link } from "./entities.js";
import { icon } from "./icons.js";

const PUNCTUATION = /[!-/:-@[-`{-~]/;
const URL_AT = /https?:\/\/[^\s<>"'`]+/y;
const EMOJI_AT = /:([a-z0-9_+'-]+):/y;
const ANGLE_AT = /<([^<>\s][^<>]*)>/y;
const LINK_AT = /\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/y;
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": "\u00a0" };
const ENTITY_AT = /&(?:amp|lt|gt|quot|nbsp);/y;
const STRONG_FIRST = ["***", "___", "**", "__", "~~", "*", "_", "~"];

/** @param {string} text @returns {Array<Node | string>} */
export function inline(text) {
  return new Line(text).read(0, text.length);
}

/** One run of text; `dead` remembers marks without a partner, so that a long text stays linear. */
class Line {
  constructor(text) {
    this.text = text;
    this.dead = new Set();
  }

  read(from, to) {
    const out = [];
    let plain = "";
    let at = from;
    const flush = () => {
      if (plain) out.push(plain);
      plain = "";
    };
    while (at < to) {
      const found = this.special(at, to);
      if (!found) {
        plain += this.text[at++];
      } else if (typeof found.node === "string") {
        plain += found.node;
        at = found.next;
      } else {
        flush();
        out.push(found.node);
        at = found.next;
      }
    }
    flush();
    return out;
  }

  /** What starts at `at`, if it is more than a character. */
  special(at, to) {
    switch (this.text[at]) {
      case "\\": return this.escape(at, to);
      case "\n": return { node: h("br", null), next: at + 1 };
      case "`": return this.code(at, to);
      case "&": return this.match(ENTITY_AT, at, to, ([token]) => ENTITIES[token]);
      case "<": return this.match(ANGLE_AT, at, to, ([, inside]) => entity(inside));
      case "!": return this.text[at + 1] === "[" ? this.link(at + 1, to, true) : null;
      case "[": return this.link(at, to, false);
      case ":": return this.match(EMOJI_AT, at, to, ([, name]) => (EMOJI.has(name) ? emoji(name) : null));
      case "h": return this.address(at, to);
      case "*": case "_": case "~": return this.emphasis(at, to);
      default: return null;
    }
  }

  match(pattern, at, to, make) {
    pattern.lastIndex = at;
    const found = pattern.exec(this.text);
    if (!found || at + found[0].length > to) return null;
    const node = make(found);
    return node === null || node === undefined ? null : { node, next: at + found[0].length };
  }

  escape(at, to) {
    const next = this.text[at + 1];
    if (at + 1 >= to || !next) return null;
    if (next === "\n") return { node: h("br", null), next: at + 2 };
    return PUNCTUATION.test(next) ? { node: next, next: at + 2 } : null;
  }

  code(at, to) {
    const marks = /`+/y;
    marks.lastIndex = at;
    const run = marks.exec(this.text)[0];
    if (this.dead.has(run)) return { node: run, next: at + run.length };
    let end = this.text.indexOf(run, at + run.length);
    while (end >= 0 && (this.text[end + run.length] === "`" || this.text[end - 1] === "`")) end = this.text.indexOf(
      run,
      end + run.length + 1
    );
    if (end < 0 || end >= to) {
      if (end < 0) this.dead.add(run);
      return { node: run, next: at + run.length };
    }
    const inside = this.text.slice(at + run.length, end).replace(/\n/g, " ");
    const trimmed = /^ .*\S.* $/.test(inside) ? inside.slice(1, -1) : inside;
    return { node: h("code", null, trimmed), next: end + run.length };
  }

  link(at, to, isImage) {
    return this.match(LINK_AT, at, to, ([, label, url]) => {
      if (!isSafe(url)) return null;
      return link(url, isImage ? [icon("image", "inline-icon"), label || url] : inline(label));
    });
  }

  /** Punctuation and emphasis marks at the end belong to the sentence, not to the address. */
  address(at, to) {
    if (/\w/.test(this.text[at - 1] ?? "")) return null;
    URL_AT.lastIndex = at;
    const found = URL_AT.exec(this.text.slice(0, to));
    if (!found) return null;
    let url = found[0].replace(/[.,;:!?*_~]+$/, "");
    while (url.endsWith(")") && url.split("(").length < url.split(")").length) url = url.slice(0, -1);
    return isSafe(url) ? { node: link(url, url), next: at + url.length } : null;
  }

  emphasis(at, to) {
    for (const mark of STRONG_FIRST) {
      if (!this.text.startsWith(mark, at) || this.dead.has(mark)) continue;
      const end = this.closing(mark, at, to);
      if (end < 0) continue;
      return { node: wrap(mark, this.read(at + mark.length, end)), next: end + mark.length };
    }
    const run = /^[*_~]+/.exec(this.text.slice(at, to))[0];
    return { node: run, next: at + run.length };
  }

  closing(mark, at, to) {
    const text = this.text;
    const isWordy = mark[0] === "_";
    const before = text[at - 1] ?? " ";
    if (/\s/.test(text[at + mark.length] ?? " ") || (isWordy && /\w/.test(before))) return -1;
    let end = text.indexOf(mark, at + mark.length + 1);
    if (end < 0) this.dead.add(mark);
    while (end >= 0 && end + mark.length <= to) {
      const after = text[end + mark.length] ?? " ";
      const last = text[end - 1];
      const isDoubled = mark.length === 1 && (after === mark || last === mark);
      const isInside = /[\s\\]/.test(last) || isDoubled;
      if (!isInside && !(isWordy && /\w/.test(after)) && !this.inCode(
        at,
        end
      )) return mark.length > 1 && after === mark[0] ? end + 1 : end;
      end = text.indexOf(mark, end + 1);
    }
    return -1;
  }

  inCode(at, end) {
    return (this.text.slice(at, end).split("`").length - 1) % 2 === 1 && this.text.indexOf("`", end) >= 0;
  }
}

function wrap(mark, children) {
  if (mark.length === 3) return h("strong", null, h("em", null, children));
  if (mark === "~" || mark === "~~") return h("s", null, children);
  return h(mark.length === 2 ? "strong" : "em", null, children);
}
