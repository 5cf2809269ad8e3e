/** The backend: reading the state and doing things in the member's name. */

import { caughtUp, store } from "./store.js";
import { toast } from "./toast.js";

const LARGEST_FILE = 32 * 1024 * 1024;

/**
 * The state as `user` sees it, or `{people}` if there is no such person.
 * @param {string} user
 */
export async function readState(user) {
  const query = user ? `?user=${encodeURIComponent(user)}` : "";
  const answer = await fetch(`/playground/state${query}`, { cache: "no-store" });
  if (!answer.ok && answer.status !== 404) throw new Error(`state: ${answer.status}`);
  return answer.json();
}

/**
 * Does something in the member's name. A refusal is shown as a toast and gives null. What was done is in the store
 * when this is over, unless the feed is away.
 * @param {string} type
 * @param {Record<string, any>} [details]
 * @returns {Promise<any>}
 */
export async function act(type, details = {}) {
  const body = JSON.stringify({ type, user: store.me, ...details });
  try {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("/playground/actions", { method: "POST", headers, body });
    const said = await answer.json();
    if (answer.ok) {
      await caughtUp(said.seq);
      return said;
    }
    toast(said.message ?? "This did not work.", "error");
  } catch {
    toast("The playground cannot be reached right now.", "error");
  }
  return null;
}

/** @param {File} file @returns {Promise<string | null>} the file's id */
export async function upload(file) {
  if (file.size > LARGEST_FILE) {
    toast(`“${file.name}” is too large: files of up to 32 MB can be uploaded.`, "error");
    return null;
  }
  const content = await asBase64(file);
  if (!content) {
    toast(`“${file.name}” is empty.`, "error");
    return null;
  }
  const said = await act("upload", { name: file.name, content_base64: content });
  return said?.file ?? null;
}

function asBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

export const fileUrl = (id) => `/playground/files/${encodeURIComponent(id)}?user=${encodeURIComponent(store.me)}`;
