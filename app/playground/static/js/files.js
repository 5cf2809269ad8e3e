/** Files under a message. */

import { h } from "./dom.js";
import { fileUrl } from "./api.js";
import { icon } from "./icons.js";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** @param {any[]} files */
export function drawFiles(files) {
  if (!files.length) return null;
  return h("div.files", null, files.map(drawFile));
}

function drawFile(file) {
  if (file.is_gone) return h("div.file.is-gone", null, icon("file"), "This file was deleted.");
  const link = {
    href: fileUrl(file.id),
    target: "_blank",
    rel: "noopener noreferrer",
    "data-testid": "file",
    download: PICTURES.has(file.mimetype) ? null : file.name,
  };
  if (PICTURES.has(file.mimetype)) {
    return h("figure.picture", null, h("figcaption", null, file.title || file.name),
      h("a", link, h("img", { src: fileUrl(file.id), alt: file.title || file.name, loading: "lazy" })));
  }
  return h("a.file", link, h("span.file-icon", null, icon("file")),
    h(
      "span.file-text",
      null,
      h("b", null, file.title || file.name),
      h("small", null, `${kindOf(file)} · ${sizeOf(file.size)}`)
    ));
}

function kindOf(file) {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(file.name);
  return ending ? ending[1].toUpperCase() : file.mimetype || "File";
}

/** @param {number} bytes */
export function sizeOf(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const steps = ["kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), steps.length);
  return `${(bytes / 1000 ** power).toFixed(1)} ${steps[power - 1]}`;
}
