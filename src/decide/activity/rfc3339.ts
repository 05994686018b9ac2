/** Dates as RFC 3339 writes them. */

const FORM =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))$/;

/** Seconds since the epoch of a date such as `2026-05-01T12:00:00.5Z`; `undefined` for others. */
export function epochSeconds(text: string): number | undefined {
  const found = FORM.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7)
    .map(Number);
  const offset = (Number(found[8] ?? 0) * 60 + Number(found[9] ?? 0)) * 60;
  const seconds = dayNumber(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
  return seconds - (found[7] === "-" ? -offset : offset);
}

/** Days since the epoch in the Gregorian calendar; years are counted from March, as leap days end them. */
function dayNumber(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const leaps = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) +
    Math.floor(marchYear / 400);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return marchYear * 365 + leaps + dayOfYear - 719_468;
}
