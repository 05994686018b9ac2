/** The banner that a blocked turn end shows to the session. */

import { printableWithin } from "../platform/printable.ts";

/** What the banner says. */
export interface BlockBanner {
  /** What needs supervision, as the need rule names it. */
  readonly need: string;
  /** The beacon, as the freshness rule describes it. */
  readonly beat: string;
  /** A line between need and repair, for hosts that have one. */
  readonly cooperation: string | undefined;
  readonly repair: string;
  /** Malformed settings that were replaced by their defaults. */
  readonly notices: readonly string[];
}

const MARK = "●";
const RULE = MARK + "━".repeat(71);

/** Longest text of one line; a path in it may be of any length. */
const LINE_LIMIT = 1_500;

/** The banner's text, each line ended by a newline. */
export function blockBanner(banner: BlockBanner): string {
  const lines = [
    "TURN WOULD END BLIND - SUPERVISION IS OFF",
    `${banner.need}, but no live watcher holds this home lock (last beat: ${banner.beat}).`,
    ...(banner.cooperation === undefined ? [] : [banner.cooperation]),
    ...banner.notices,
    banner.repair,
  ];
  const body = lines.map((line) => `${MARK}  ${printableWithin(line, LINE_LIMIT)}`);
  return [RULE, ...body, RULE].map((line) => `${line}\n`).join("");
}
