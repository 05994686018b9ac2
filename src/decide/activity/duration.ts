/** Durations as people write them. */

const UNITS = new Map([["", 1], ["s", 1], ["m", 60], ["h", 3_600], ["d", 86_400]]);

/**
 * Seconds of a duration such as `90`, `1.5h` or `2d`; `undefined` for anything else.
 *
 * A number that is not negative, and a suffix `s`, `m`, `h` or `d`; without one it is seconds.
 */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ""] = /^([0-9]+(?:\.[0-9]+)?|\.[0-9]+)([smhd]?)$/.exec(text) ?? [];
  const factor = UNITS.get(unit);
  if (number === undefined || factor === undefined) return undefined;
  const seconds = Number(number) * factor;
  return Number.isFinite(seconds) ? seconds : undefined;
}
