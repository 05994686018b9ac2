/** What a session is told inside a turn. Other programs look for the capitals and quoted phrases. */

import { printableWithin } from "../platform/printable.ts";

/** Why supervision is down. */
export type LapseReason = "no-watcher" | "watcher-unknown" | "stale-beacon" | "clock-skew";

/** One lapse of supervision. */
export interface Lapse {
  readonly reason: LapseReason;
  /** The beacon, as the freshness rule describes it. */
  readonly beat: string;
  readonly graceSeconds: number;
}

/** Whether the session may repair what it is told about. */
export type Standing = "writable" | "read-only";

/** What the full banner says. */
export interface WarningBanner extends Lapse {
  /** What needs supervision, as the need rule names it. */
  readonly need: string;
  readonly standing: Standing;
  /** `FM_GUARD_CONTINUE_LINE`: what becomes of the command that asked for this warning. */
  readonly continueLine: string | undefined;
  /** Malformed settings that were replaced by their defaults. */
  readonly notices: readonly string[];
  /** `undefined` when it could not be worked out. */
  readonly repair: string | undefined;
}

const MARK = "●";
const RULE = MARK + "━".repeat(71);

/** Longest text of one line; the whole must stay below what a harness cuts off. */
const LINE_LIMIT = 1_000;

const CONDUCT: Readonly<Record<Standing, string>> = {
  "writable":
    "Trust the emitted supervision protocol and follow it; never start the watcher with " +
    "a shell &.",
  "read-only": "This session has no verified lock ownership: report this lapse, do not repair it.",
};

const CONTINUE_LINE = "This is a supervision warning only; the guarded operation WILL still run.";

const NEUTRAL_REPAIR = "Repair supervision as the session-start block of this session says.";

/** The full banner of a lapse. */
export function warningBanner(banner: WarningBanner): string {
  return framed([
    "WATCHER DOWN - SUPERVISION IS OFF",
    `${banner.need}, but ${causeOf(banner)}.`,
    CONDUCT[banner.standing],
    banner.continueLine ?? CONTINUE_LINE,
    ...banner.notices,
    banner.repair ?? NEUTRAL_REPAIR,
  ]);
}

function causeOf({ reason, beat, graceSeconds }: Lapse): string {
  const measured = `last beat: ${beat}, grace ${graceSeconds}s`;
  switch (reason) {
    case "no-watcher":
      return `no live watcher process holds this home lock (last beat: ${beat})`;
    case "watcher-unknown":
      return `whether a live watcher holds this home lock cannot be told (last beat: ${beat})`;
    case "stale-beacon":
      return `no watcher has a fresh beacon (${measured})`;
    case "clock-skew":
      return `the beacon is dated in the future and proves nothing: clock skew (${measured})`;
  }
}

/** The line that stands for a banner which was printed before. */
export function reminderLine({ beat, graceSeconds }: Lapse): string {
  return `WARNING: watcher still down (same stale episode; last beat: ${beat}, ` +
    `grace ${graceSeconds}s) - full banner already printed this episode.\n`;
}

/** The line about wakes that wait for this session. `command` drains them. */
export function pendingWakesLine(standing: Standing, command: string): string {
  const what = standing === "read-only"
    ? "left untouched, because this session has no verified lock ownership"
    : `drain them with ${command} before anything else`;
  return line(`WARNING: queued wakes pending - ${what}.`);
}

/** The line about wakes that another session handles. */
export function branchWakesLine(count: number): string {
  return line(
    `NOTE: all queued wakes (${count}) are held by the branch session that was granted them; do ` +
      "not drain them from here.",
  );
}

/** Longest cause that is taken over from an adapter's record. */
const CAUSE_LIMIT = 200;

/** The line about a turn end that an adapter could not report. */
export function adapterFailureLine(
  { harness, cause, ageSeconds }: {
    readonly harness: string;
    readonly cause: string;
    readonly ageSeconds: number;
  },
): string {
  return line(
    `NOTE: last turn-end adapter failure: ${printableWithin(harness, 40)}: ` +
      `${printableWithin(cause, CAUSE_LIMIT)} (${ageSeconds}s ago)`,
  );
}

/** The line about a turn that ended without its stop hook. */
export function blindEndLine(because: string, ageSeconds: number): string {
  return line(
    `NOTE: the last turn ended without its stop hook: ` +
      `${printableWithin(because, CAUSE_LIMIT)} (${ageSeconds}s ago)`,
  );
}

/** The line of a home whose need cannot be counted. */
export function unknownNeedLine(because: string): string {
  return line(`WARNING: cannot tell whether this home needs supervision - ${because}.`);
}

/** A primary checkout that stands on a task's branch. */
export interface TangleBanner {
  readonly root: string;
  readonly branch: string;
  readonly defaultBranch: string;
  readonly standing: Standing;
  /** Command that restores the checkout. */
  readonly command: string;
}

/** The banner of a tangle. */
export function tangleBanner(banner: TangleBanner): string {
  const { root, branch, defaultBranch, standing, command } = banner;
  return framed([
    "WORKTREE TANGLE - PRIMARY CHECKOUT IS ON A FEATURE BRANCH",
    `${root} is on branch ${branch} instead of its default branch ${defaultBranch}.`,
    `The work is safe on the branch ref ${branch}; only the checkout has to go back.`,
    standing === "read-only"
      ? "Restoring it belongs to the session with verified lock ownership; report this to it."
      : `Restore it: ${command}`,
  ]);
}

function framed(texts: readonly string[]): string {
  const body = texts.map((text) => `${MARK}  ${printableWithin(text, LINE_LIMIT)}`);
  return [RULE, ...body, RULE].map((text) => `${text}\n`).join("");
}

function line(text: string): string {
  return `${printableWithin(text, LINE_LIMIT)}\n`;
}
