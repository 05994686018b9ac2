/** How old and how silent what is in flight is, by a clock that nobody sets and that sleeps with the machine. */

import type { ActivityState, AgentEntry } from "../activity/activity_state.ts";
import type { ExpiryLimits } from "../activity/limits.ts";

/** Seconds without a sign of life after which an old agent may be given up. */
const OLD_AGENT_SILENCE = 600;

/** The moment of one look. */
export interface LookTime {
  /** Seconds awake since the look before. */
  readonly dt: number;
  /** Seconds since the epoch. */
  readonly wall: number;
  /** When a transcript last grew, in seconds since the epoch. */
  readonly transcriptAt: (path: string) => number | undefined;
}

/** What still counts, and for how long if nothing happens. */
export interface InFlight {
  readonly count: number;
  /** Seconds until the last of it expires. */
  readonly endsIn: number;
  /** Keys of what has stopped counting without an end of its own. */
  readonly expired: readonly string[];
}

interface Ages {
  age: number;
  silence: number;
  seen: number;
}

/**
 * Ages of the entries of one session, from look to look.
 *
 * The wall clock says something only when an entry is met for the first time or has just been seen
 * again, and then it is believed no more than the limits allow: a clock that is set can neither expire
 * an entry early nor keep it alive.
 */
export class EntryAges {
  readonly #limits: ExpiryLimits;
  #agents = new Map<string, Ages>();
  #launches = new Map<string, Ages>();
  #tools = new Map<string, Ages>();

  constructor(limits: ExpiryLimits) {
    this.#limits = limits;
  }

  /** Moves on to a look at `state`, which must hold what has expired as well. */
  look(state: ActivityState, time: LookTime): void {
    const { maxAge, maxSilence, launchTtl, toolMax } = this.#limits;
    this.#agents = next(this.#agents, state.agents, time, (agent) => ({
      began: agent.started_at,
      seen: lastSign(agent, time),
      most: Math.max(bound(maxAge), bound(maxSilence)),
    }));
    this.#launches = next(this.#launches, state.launches, time, ({ at }) => ({
      began: at,
      seen: at,
      most: Math.max(bound(maxAge), bound(launchTtl)),
    }));
    this.#tools = next(this.#tools, state.tools, time, ({ at }) => ({
      began: at,
      seen: at,
      most: bound(toolMax),
    }));
  }

  /** Subagents that count. */
  subagents(state: ActivityState): InFlight {
    const { maxAge, maxSilence, launchTtl } = this.#limits;
    const launchLimit = state.capabilities.has("subagent_start") ? launchTtl : maxAge;
    return summed([
      ...[...this.#agents].map(([key, { age, silence }]) => {
        const bySilence = left(silence, maxSilence);
        const byAge = Math.max(left(age, maxAge), left(silence, OLD_AGENT_SILENCE));
        return [key, Math.min(bySilence, maxAge === 0 ? Infinity : byAge)] as const;
      }),
      ...[...this.#launches].map(([key, { age }]) => [key, left(age, launchLimit)] as const),
    ]);
  }

  /** Other calls that count, of contexts that `isWaiting` does not name. */
  tools(state: ActivityState, isWaiting: (ctx: string) => boolean): InFlight {
    return summed(
      [...this.#tools].filter(([key]) => !isWaiting(state.tools.get(key)?.ctx ?? ""))
        .map(([key, { age }]) => [key, left(age, this.#limits.toolMax)] as const),
    );
  }
}

function next<Entry>(
  before: ReadonlyMap<string, Ages>,
  entries: ReadonlyMap<string, Entry>,
  { dt, wall }: LookTime,
  of: (entry: Entry) => { readonly began: number; readonly seen: number; readonly most: number },
): Map<string, Ages> {
  return new Map([...entries].map(([key, entry]) => {
    const { began, seen, most } = of(entry);
    const known = before.get(key);
    if (known === undefined) {
      const age = clamp(wall - began, most);
      return [key, { age, silence: clamp(wall - seen, most), seen }];
    }
    const silence = seen === known.seen ? known.silence + dt : clamp(wall - seen, dt);
    return [key, { age: known.age + dt, silence, seen }];
  }));
}

function lastSign({ last_seen_at, transcript }: AgentEntry, { transcriptAt }: LookTime): number {
  const grown = transcript === null ? undefined : transcriptAt(transcript);
  return Math.max(last_seen_at, grown ?? 0);
}

function summed(entries: readonly (readonly [key: string, left: number])[]): InFlight {
  const live = entries.filter(([, seconds]) => seconds > 0);
  return {
    count: live.length,
    endsIn: Math.max(0, ...live.map(([, seconds]) => seconds)),
    expired: entries.filter(([, seconds]) => seconds <= 0).map(([key]) => key),
  };
}

/** Seconds until a limit; a limit of 0 is none. */
function left(seconds: number, limit: number): number {
  return limit === 0 ? Infinity : limit - seconds;
}

function bound(limit: number): number {
  return limit === 0 ? Infinity : limit;
}

function clamp(seconds: number, most: number): number {
  return Math.min(Math.max(0, seconds), most);
}
