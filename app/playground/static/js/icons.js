/** Line icons, drawn here so that the page needs no image and no emoji font. */

const PATHS = {
  hash: "M9.5 4 7.5 20M16.5 4l-2 16M4.5 9h16M3.5 15h16",
  lock: "M7 10V7.5a5 5 0 0 1 10 0V10M6 10h12a1.5 1.5 0 0 1 1.5 1.5v7A1.5 1.5 0 0 1 18 20H6a1.5 1.5 0 0 1-1.5-1.5v-7A1.5 1.5 0 0 1 6 10Z",
  plus: "M12 5v14M5 12h14",
  send: "M4.5 12 4 5l16.5 7L4 19l.5-7Zm0 0H13",
  clip: "m20 11.5-8.2 8.2a5.2 5.2 0 0 1-7.4-7.4l8.6-8.6a3.5 3.5 0 0 1 5 5l-8.5 8.4a1.7 1.7 0 0 1-2.5-2.4l7.8-7.8",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM8.5 14.2c.8 1.3 2 2 3.5 2s2.7-.7 3.5-2M9 9.4v.4M15 9.4v.4",
  reply: "M20 11.5c0 4-3.6 7-8 7-1.2 0-2.4-.2-3.4-.6L4 19.5l1.3-3.7C4.5 14.5 4 13 4 11.5c0-4 3.6-7 8-7s8 3 8 7Z",
  pencil: "m4 20 1-4.5L16.5 4a2.1 2.1 0 0 1 3 0l.5.5a2.1 2.1 0 0 1 0 3L8.5 19 4 20ZM14.5 6l3.5 3.5",
  trash: "M4.5 7h15M9.5 7V4.5h5V7M6.5 7l.8 12.5h9.4L17.5 7M10.3 11v5M13.7 11v5",
  more: "M12 5.5v.01M12 12v.01M12 18.5v.01",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  down: "m6 9.5 6 6 6-6",
  right: "m9.5 6 6 6-6 6",
  left: "m14.5 6-6 6 6 6",
  people: "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c.4-3.7 3-5.7 6.5-5.7s6.1 2 6.5 5.7M15.5 5a3.3 3.3 0 0 1 0 6.3M18 14.8c2 .8 3.2 2.5 3.5 5.2",
  stop: "M7.5 6h9A1.5 1.5 0 0 1 18 7.5v9a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 6 16.5v-9A1.5 1.5 0 0 1 7.5 6Z",
  copy: "M9 8.5h9.5A1.5 1.5 0 0 1 20 10v9.5a1.5 1.5 0 0 1-1.5 1.5H9a1.5 1.5 0 0 1-1.5-1.5V10A1.5 1.5 0 0 1 9 8.5ZM16.5 5.5V5A1.5 1.5 0 0 0 15 3.5H5.5A1.5 1.5 0 0 0 4 5v9.5A1.5 1.5 0 0 0 5.5 16",
  check: "m5 12.5 4.7 4.7L19 7",
  warning: "M12 4 3 19.5h18L12 4ZM12 10v4.5M12 17v.2",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v5.5M12 7.7v.2",
  file: "M13.5 3.5H7A1.5 1.5 0 0 0 5.5 5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5l-5-5ZM13.5 3.5v5h5",
  image: "M5 4.5h14A1.5 1.5 0 0 1 20.5 6v12a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 18V6A1.5 1.5 0 0 1 5 4.5ZM3.5 16l4.7-4.5 4 3.8 3.3-3 5 4.5M15.5 9v.1",
  up: "M7 21V10.5l4-7.5c1.4 0 2.4 1 2.4 2.4V9h5.1a1.9 1.9 0 0 1 1.9 2.2l-1.2 7.2A3 3 0 0 1 16.2 21H7ZM7 10.5H3.5V21H7",
  dislike: "M17 3v10.5l-4 7.5c-1.4 0-2.4-1-2.4-2.4V15H5.5a1.9 1.9 0 0 1-1.9-2.2l1.2-7.2A3 3 0 0 1 7.8 3H17ZM17 13.5h3.5V3H17",
  bolt: "M13 3 5 13.5h6L10.5 21 19 10h-6.2L13 3Z",
  at: "M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0Zm0 0v1.5a2.5 2.5 0 0 0 5 0V12a8.5 8.5 0 1 0-3.5 6.9",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c.6-4 3.5-6 7.5-6s6.9 2 7.5 6",
  refresh: "M20 12a8 8 0 1 1-2.5-5.8M20 3.5v4.2h-4.2",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20.5 20.5",
};

/**
 * @param {keyof typeof PATHS} name
 * @param {string} [extra] further classes
 */
export function icon(name, extra = "") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name} ${extra}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name] ?? PATHS.info);
  svg.appendChild(path);
  return svg;
}
