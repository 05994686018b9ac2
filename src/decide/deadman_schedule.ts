/** How often a schedule of cron can repeat: only what divides an hour or a day evenly. */

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** The five time fields of a crontab line, or `undefined` where cron has none for the interval. */
export function cronFields(intervalSeconds: number): string | undefined {
  if (intervalSeconds === MINUTE_SECONDS) return "* * * * *";
  if (intervalSeconds === HOUR_SECONDS) return "0 * * * *";
  if (intervalSeconds === DAY_SECONDS) return "0 0 * * *";
  if (divides(intervalSeconds, MINUTE_SECONDS, HOUR_SECONDS)) {
    return `*/${intervalSeconds / MINUTE_SECONDS} * * * *`;
  }
  if (divides(intervalSeconds, HOUR_SECONDS, DAY_SECONDS)) {
    return `0 */${intervalSeconds / HOUR_SECONDS} * * *`;
  }
  return undefined;
}

/** Whether `seconds` is a whole number of units and divides `span` without rest. */
function divides(seconds: number, unitSeconds: number, spanSeconds: number): boolean {
  return seconds % unitSeconds === 0 && spanSeconds % seconds === 0;
}
