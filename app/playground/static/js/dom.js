/** Building and updating DOM: the only two ways this page makes elements. Text is always a text node. */

/** @typedef {Node | string | number | null | undefined | false | Array<any>} Child */

/**
 * `h("button.primary", {"aria-label": "Send", on: {click}}, "Send")`.
 * Properties are attributes; `true` sets an empty one, `false`/`null` leaves it out; `on` holds listeners,
 * `data` holds data attributes.
 * @param {string} spec tag and classes
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(spec, props, ...children) {
  const [tag, ...classes] = spec.split(".");
  const el = document.createElement(tag || "div");
  if (classes.length) el.className = classes.join(" ");
  for (const [name, value] of Object.entries(props ?? {})) setProp(el, name, value);
  append(el, children);
  return el;
}

function setProp(el, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [type, listener] of Object.entries(value)) if (listener) el.addEventListener(type, listener);
  } else if (name === "data") {
    for (const [key, datum] of Object.entries(value)) if (datum != null) el.dataset[key] = String(datum);
  } else if (name === "class") {
    for (const one of String(value).split(" ")) if (one) el.classList.add(one);
  } else if (name === "value" || name === "checked" || name === "selected" || name === "disabled") {
    el[name] = value;
  } else if (name === "style") {
    for (const [key, css] of Object.entries(value)) el.style.setProperty(key, css);
  } else {
    el.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Node} parent @param {...Child} children */
export function append(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** @param {...Child} children */
export function fragment(...children) {
  const made = document.createDocumentFragment();
  append(made, children);
  return made;
}

const kept = new WeakMap();

/**
 * Makes the children of `parent` be `items`, keeping the elements whose signature has not changed.
 * `patch` may bring an existing element up to date itself; it returns true if it did.
 * @param {Element} parent
 * @param {Array<{key: string, sig: string, make: () => Element, patch?: (el: Element) => boolean}>} items
 */
export function sync(parent, items) {
  const before = new Map();
  for (const el of [...parent.children]) {
    const note = kept.get(el);
    if (note) before.set(note.key, el);
    else el.remove();
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    const old = before.get(item.key);
    before.delete(item.key);
    const el = old ? renewed(old, item) : noted(item.make(), item);
    if (old && el !== old) {
      if (next === old) next = old.nextElementSibling;
      old.remove();
    }
    if (el === next) next = next.nextElementSibling;
    else parent.insertBefore(el, next);
  }
  for (const el of before.values()) el.remove();
}

function renewed(el, item) {
  const note = kept.get(el);
  if (note.sig === item.sig) return el;
  if (item.patch?.(el)) {
    note.sig = item.sig;
    return el;
  }
  const hadFocus = el.contains(document.activeElement) ? focusPath(el) : null;
  const fresh = noted(item.make(), item);
  if (hadFocus) queueMicrotask(() => fresh.querySelector(hadFocus)?.focus());
  return fresh;
}

function noted(el, item) {
  kept.set(el, { key: item.key, sig: item.sig });
  return el;
}

/** A redrawn row gives the focus back to the control that had it, found by its test id. */
function focusPath(el) {
  const id = document.activeElement?.getAttribute("data-testid");
  return id && el !== document.activeElement ? `[data-testid="${CSS.escape(id)}"]` : null;
}

/** @param {Element} el @param {...Child} children */
export function replace(el, ...children) {
  el.replaceChildren(fragment(...children));
  return el;
}
