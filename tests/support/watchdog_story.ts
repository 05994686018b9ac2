/**
 * A watchdog over a session that is told event by event, in simulated time.
 *
 * @module
 */

import { ProgressWatch } from "../../src/activity/watchdog/progress_watch.ts";
import type { ActivityReading } from "../../src/activity/read_activity.ts";
import { EntryAges } from "../../src/decide/watchdog/entry_ages.ts";
import { IdleClock } from "../../src/decide/watchdog/idle_clock.ts";
import { isAfterStop, judgeHolds } from "../../src/decide/watchdog/judge_holds.ts";
import {
  parseWatchdogOptions,
  type WatchdogOptions,
} from "../../src/decide/watchdog/watchdog_options.ts";
import { ActivitySession, type Payload } from "./activity_session.ts";

/** Something that happens at a second of the story. */
export type Happening =
  | readonly [at: number, payload: Payload]
  | readonly [at: number, change: Change];

/**
 * A change around the session: a machine that sleeps (`suspend`), a watchdog alone that stands still
 * (`stopped`) or a clock that is set, each by an amount of seconds; an activity file that is `deleted`,
 * whose time alone moves (`touched`), or that holds nothing but a counter (`seed`); and whether the
 * session's home is `supervised`, 1 or 0.
 */
export class Change {
  constructor(
    readonly kind: "suspend" | "stopped" | "clock" | "deleted" | "touched" | "seed" | "supervised",
    readonly amount = 0,
  ) {}
}

/** A story. */
export interface WatchdogStory {
  readonly happenings: readonly Happening[];
  /** Flags, by name. */
  readonly flags?: Readonly<Record<string, string | true>>;
  /** Whether a person is at a terminal. */
  readonly hasTerminal?: boolean;
  /** Paths of transcripts, and when each of them grows. */
  readonly transcripts?: Readonly<Record<string, readonly number[]>>;
  /** Seconds after which the story is over. */
  readonly until?: number;
}

/** How a story ended: `idle 2700`, `wall 14400`, or `nothing` until its end. */
export interface StoryEnd {
  readonly end: string;
  readonly notes: readonly string[];
  readonly detail: string;
}

/** The options that flags make. */
export function watchdogOptions(
  flags: Readonly<Record<string, string | true>> = {},
): WatchdogOptions {
  const parsed = parseWatchdogOptions({
    flag: (name) => {
      const value = flags[name];
      return value === true ? undefined : value;
    },
    has: (name) => flags[name] !== undefined,
    variable: () => undefined,
    mode: "runner",
  });
  if (parsed.kind !== "options") throw new Error(parsed.message);
  return parsed.options;
}

/** Plays a story from its first second on. */
export async function playStory(story: WatchdogStory): Promise<StoryEnd> {
  const options = watchdogOptions(story.flags);
  const session = new ActivitySession("claude", {
    launchTtl: 0,
    maxSilence: 0,
    maxAge: 0,
    toolMax: 0,
  });
  const progress = new ProgressWatch(options.progress);
  const clock = new IdleClock(options, { mono: 0, wall: ActivitySession.start });
  const ages = new EntryAges(options.limits);
  const queue = story.happenings.toSorted(([one], [other]) => one - other);
  const notes: string[] = [];
  let [awake, wallOffset] = [0, 0];
  let [isThere, isSupervised, modified] = [false, false, 0];
  const wall = (): number => ActivitySession.start + awake + wallOffset;
  const transcriptAt = (path: string): number | undefined => {
    const grown = story.transcripts?.[path]?.filter((at) => at <= awake + wallOffset).at(-1);
    return grown === undefined ? undefined : ActivitySession.start + grown;
  };
  const happen = async (until: number): Promise<number> => {
    let stopped = 0;
    while ((queue[0]?.[0] ?? Infinity) <= until) {
      const next = queue.shift();
      if (next === undefined) break;
      const [at, what] = next;
      const then = ActivitySession.start + at + wallOffset;
      if (!(what instanceof Change)) {
        await session.tell(at + wallOffset, what);
        [isThere, modified] = [true, then];
      } else if (what.kind === "suspend" || what.kind === "clock") {
        wallOffset += what.amount;
      } else if (what.kind === "stopped") stopped += what.amount;
      else if (what.kind === "deleted") isThere = false;
      else if (what.kind === "touched") modified = then;
      else if (what.kind === "supervised") isSupervised = what.amount === 1;
      else {
        session.state.tool_call_count += 1;
        session.state.generation = 1;
        for (let number = 1; number <= what.amount; number++) {
          session.state.agents.set(`legacy:${number}`, LEGACY(then));
        }
        [isThere, modified] = [true, then];
      }
    }
    return stopped;
  };
  const until = story.until ?? 50_000;
  while (awake <= until) {
    await happen(awake);
    const { state } = session;
    const reading: ActivityReading = isThere
      ? {
        kind: "state",
        state,
        modifiedMs: modified * 1000,
        isDegraded: modified > state.updated_at + 2,
      }
      : { kind: "absent" };
    const now = { mono: awake, wall: wall() };
    ages.look(state, { dt: clock.passed(awake), wall: now.wall, transcriptAt });
    const holdsForPerson = options.waiting === "hold" ||
      (options.waiting === "auto" && story.hasTerminal === true);
    const holds = judgeHolds(
      { state, ages, holdsForPerson, supervised: isSupervised },
      options.holds,
    );
    const result = clock.look({
      ...now,
      targetGone: false,
      graceOver: false,
      graceIn: undefined,
      progressAt: progress.newest(reading, now.wall),
      holds,
      afterStop: isThere && isAfterStop(state, ages) && !holdsForPerson,
    });
    notes.push(...result.notes.map(({ kind }) => kind));
    const { verdict } = result;
    if (verdict.kind === "kill") {
      return { end: `${verdict.reason} ${Math.round(awake)}`, notes, detail: verdict.detail };
    }
    if (verdict.kind !== "wait") throw new Error(verdict.kind);
    const next = awake + verdict.seconds;
    awake = next + await happen(next);
  }
  return { end: "nothing", notes, detail: "" };
}

const LEGACY = (seen: number) => ({
  kind: "subagent" as const,
  mode: "unknown" as const,
  type: "",
  parent: "main",
  launch: null,
  started_at: seen,
  last_seen_at: seen,
  tools: 0,
  source: "legacy" as const,
  transcript: null,
});
