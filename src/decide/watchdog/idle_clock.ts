/** When idle time and wall time are up, look by look. */

import type { Hold } from "./judge_holds.ts";
import type { HoldName } from "./watchdog_options.ts";

/** What the clock is set to. Seconds; 0 switches a limit off. */
export interface ClockSettings {
  readonly poll: number;
  readonly idleTimeout: number;
  readonly wallTimeout: number;
  readonly startupGrace: number;
  readonly postStopTimeout: number;
  readonly noSignal: "hold" | "kill";
  readonly holdMax: Readonly<Record<HoldName, number>>;
}

/** What one look has found. */
export interface LookFacts {
  /** Seconds of a clock that nobody sets and that stands while the machine sleeps. */
  readonly mono: number;
  /** Seconds since the epoch. */
  readonly wall: number;
  readonly targetGone: boolean;
  /** Whether the time after a forwarded signal is up. */
  readonly graceOver: boolean;
  /** Seconds until it is; `undefined` without a forwarded signal. */
  readonly graceIn: number | undefined;
  /** When the newest progress that was not seen before happened, in seconds since the epoch. */
  readonly progressAt: number | undefined;
  readonly holds: readonly Hold[];
  /** Whether the turn has ended with nothing pending and nobody is waited for. */
  readonly afterStop: boolean;
}

/** What is to be done now. */
export type ClockVerdict =
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "exited" }
  | {
    readonly kind: "kill";
    readonly reason: "idle" | "wall" | "signal";
    readonly detail: string;
  };

/** Something that a log should tell. */
export type ClockNote =
  | { readonly kind: "gap"; readonly seconds: number }
  | { readonly kind: "jump"; readonly seconds: number }
  | { readonly kind: "no-signal" };

/** The outcome of a look. */
export interface LookResult {
  readonly verdict: ClockVerdict;
  readonly notes: readonly ClockNote[];
  /** Holds that are within their own bounds. */
  readonly holds: readonly (Hold & { readonly since: number })[];
}

/** Seconds by which two looks may be late, or two clocks apart, without being told. */
const SLACK = 30;

/** Shortest time between two looks. */
const SHORTEST = 0.2;

/** The clock of one target. */
export class IdleClock {
  /** Seconds without progress or hold, and seconds altogether; time awake. */
  idle = 0;
  wall = 0;
  /** Whether progress was ever seen. */
  seen = false;
  readonly #settings: ClockSettings;
  #mono: number;
  #wallClock: number;
  #wasHeld = false;
  #warned = false;
  /** For how long each hold has been in force without a break. */
  readonly #heldFor = new Map<HoldName, number>();

  constructor(settings: ClockSettings, now: { readonly mono: number; readonly wall: number }) {
    this.#settings = settings;
    this.#mono = now.mono;
    this.#wallClock = now.wall;
  }

  /** Seconds since the look before, without a time in which the watchdog itself stood still. */
  passed(mono: number): number {
    const dt = mono - this.#mono;
    return this.#isGap(dt) ? this.#settings.poll : dt;
  }

  /** Moves on to a look. */
  look(facts: LookFacts): LookResult {
    const real = facts.mono - this.#mono;
    const dt = this.passed(facts.mono);
    const notes: ClockNote[] = this.#isGap(real) ? [{ kind: "gap", seconds: real }] : [];
    const jump = facts.wall - this.#wallClock - real;
    if (Math.abs(jump) > SLACK) notes.push({ kind: "jump", seconds: jump });
    this.#mono = facts.mono;
    this.#wallClock = facts.wall;
    this.wall += dt;
    const holds = this.#inForce(facts.holds, dt);
    const isNew = facts.progressAt !== undefined;
    if (isNew) this.seen = true;
    if (holds.length > 0) {
      this.idle = 0;
      this.#wasHeld = true;
    } else if (facts.progressAt !== undefined) {
      // The time of the event counts, not that of the look which noticed it.
      this.idle = Math.min(Math.max(0, facts.wall - facts.progressAt), dt);
      this.#wasHeld = false;
    } else if (this.#wasHeld) {
      this.idle = 0;
      this.#wasHeld = false;
    } else this.idle += dt;
    const verdict = this.#verdict(facts, holds);
    if (this.#isSignalless() && !this.#warned && this.#settings.noSignal === "hold") {
      this.#warned = true;
      notes.push({ kind: "no-signal" });
    }
    return { verdict, notes, holds };
  }

  /** Begins the idle time anew, when a decision was taken back. */
  cancel(): void {
    this.idle = 0;
  }

  /** Seconds until the target would be ended for idleness; `undefined` while it is held. */
  killIn(holds: readonly unknown[], afterStop: boolean): number | undefined {
    if (holds.length > 0 || this.#settings.idleTimeout === 0) return undefined;
    if (!this.seen && this.#settings.noSignal === "hold") return undefined;
    return Math.max(0, this.#limit(afterStop) - this.idle);
  }

  #isGap(dt: number): boolean {
    const { poll } = this.#settings;
    return dt > Math.max(3 * poll, poll + SLACK);
  }

  #inForce(
    holds: readonly Hold[],
    dt: number,
  ): readonly (Hold & { readonly since: number })[] {
    for (const name of [...this.#heldFor.keys()]) {
      if (!holds.some((hold) => hold.name === name)) this.#heldFor.delete(name);
    }
    return holds.flatMap((hold) => {
      const since = this.#heldFor.has(hold.name) ? (this.#heldFor.get(hold.name) ?? 0) + dt : 0;
      this.#heldFor.set(hold.name, since);
      const most = this.#settings.holdMax[hold.name];
      if (most > 0 && since >= most) return [];
      return [{
        ...hold,
        since,
        endsIn: Math.min(hold.endsIn, most > 0 ? most - since : Infinity),
      }];
    });
  }

  #limit(afterStop: boolean): number {
    const { idleTimeout, postStopTimeout, startupGrace } = this.#settings;
    return (afterStop ? postStopTimeout : idleTimeout) + (this.seen ? 0 : startupGrace);
  }

  #isSignalless(): boolean {
    const { idleTimeout } = this.#settings;
    return !this.seen && idleTimeout > 0 && this.idle >= this.#limit(false);
  }

  #verdict(facts: LookFacts, holds: readonly Hold[]): ClockVerdict {
    const { idleTimeout, wallTimeout, noSignal, poll } = this.#settings;
    if (facts.targetGone) return { kind: "exited" };
    if (facts.graceOver) return { kind: "kill", reason: "signal", detail: "grace is over" };
    if (wallTimeout > 0 && this.wall >= wallTimeout) {
      return { kind: "kill", reason: "wall", detail: `it ran for ${round(this.wall)} s` };
    }
    const limit = this.#limit(facts.afterStop);
    const mayKill = idleTimeout > 0 && (this.seen || noSignal === "kill");
    if (mayKill && holds.length === 0 && this.idle >= limit) {
      const detail = facts.afterStop ? "post-stop" : `no progress for ${round(this.idle)} s`;
      return { kind: "kill", reason: "idle", detail };
    }
    const due = [
      poll,
      mayKill ? limit - this.idle : Infinity,
      wallTimeout > 0 ? wallTimeout - this.wall : Infinity,
      facts.graceIn ?? Infinity,
      ...holds.map(({ endsIn }) => endsIn),
    ];
    return { kind: "wait", seconds: Math.max(SHORTEST, Math.min(...due)) };
  }
}

function round(seconds: number): number {
  return Math.round(seconds);
}
