const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/** True for `YYYY-MM-DD` of a day that exists in the proleptic Gregorian calendar. */
export function isCalendarDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00.000Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/**
 * RFC 3339 with `Z` or an offset, any number of fraction digits -> UTC with `Z` and exactly three (cut, not
 * rounded, so an instant is never moved into the future). undefined for anything else: impossible days, second 60,
 * a space in place of `T`, and instants whose UTC year is outside 0000-9999 (pcp section 2).
 */
export function parseUtc(input: string): string | undefined {
  const match = DATE_TIME.exec(input);
  if (!match) return undefined;
  const [, date, hour, minute, second, fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = match;
  if (!isCalendarDate(date!)) return undefined;
  const local = Date.parse(`${date}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  const utc = new Date(sign === "-" ? local + offsetMs : local - offsetMs).toISOString();
  return utc.length === "0000-00-00T00:00:00.000Z".length ? utc : undefined;
}
