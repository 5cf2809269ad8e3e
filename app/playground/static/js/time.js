/** Times the way a chat shows them. A ts is Slack's: seconds since the epoch with six decimals. */

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", month: "long", day: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

export const dateOf = (ts) => new Date(Number(ts) * 1000);
export const clockOf = (ts) => clock.format(dateOf(ts));
export const fullOf = (ts) => full.format(dateOf(ts));
export const dayKey = (ts) => dateOf(ts).toDateString();

/** "Today", "Yesterday" or the day's name. @param {string} ts */
export function dayOf(ts) {
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(new Date()) - midnight(dateOf(ts))) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return day.format(dateOf(ts));
}

/** "just now", "3 minutes ago", "today at 10:02" … @param {string} ts */
export function agoOf(ts) {
  const seconds = Date.now() / 1000 - Number(ts);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return plural(Math.floor(seconds / 60), "minute") + " ago";
  return `${dayOf(ts).toLowerCase()} at ${clockOf(ts)}`;
}

/** @param {number} count @param {string} noun */
export const plural = (count, noun) =>
  `${count} ${count === 1 ? noun : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;

/** Slack's date tokens: {date_short}, {time} and their like. @param {number} seconds @param {string} format */
export function dateToken(seconds, format) {
  const at = new Date(seconds * 1000);
  const as = (options) => new Intl.DateTimeFormat(undefined, options).format(at);
  const ts = String(seconds);
  const KNOWN = {
    date_num: () => as({ year: "numeric", month: "2-digit", day: "2-digit" }),
    date: () => as({ dateStyle: "long" }),
    date_short: () => as({ dateStyle: "medium" }),
    date_long: () => as({ dateStyle: "full" }),
    date_pretty: () => dayOf(ts),
    date_short_pretty: () => dayOf(ts),
    date_long_pretty: () => dayOf(ts),
    time: () => clockOf(ts),
    time_secs: () => as({ timeStyle: "medium" }),
    ago: () => agoOf(ts),
  };
  return format.replace(/\{(\w+)\}/g, (token, name) => KNOWN[name]?.() ?? token);
}
