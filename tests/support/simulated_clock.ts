/**
 * A clock of its own for one process: time passes only while everything waits, as fast as it can.
 *
 * @module
 */

/** A timer that is due at a moment of awake time. */
interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Simulated milliseconds that pass in a real one while something real is waited for. */
const PACE_MS = 50;

/**
 * Replaces `Date`, `performance.now`, `setTimeout` and `clearTimeout` for the rest of the process.
 *
 * Real work (files, child processes) goes on in real time, so that to the code under test it looks slow.
 */
export class SimulatedClock {
  /** Milliseconds that were spent awake. */
  awakeMs = 0;
  /** What the wall clock is ahead of the time awake. */
  #wallMs: number;
  readonly #timers = new Map<number, Timer>();
  readonly #realTimeout = globalThis.setTimeout;
  #busy = 0;
  readonly #channel = new MessageChannel();
  #next = 1;
  #pumping = false;
  /** Called whenever time has moved. */
  moved: () => void = () => {};

  /** `startMs`: what the wall clock says at first, in milliseconds since the epoch. */
  constructor(startMs: number) {
    this.#wallMs = startMs;
    this.#channel.port2.onmessage = () => this.#turn();
    this.#install();
  }

  /** What the wall clock says. */
  get wallMs(): number {
    return this.#wallMs + this.awakeMs;
  }

  /** Sets the wall clock, or lets the machine sleep: the time awake does not know. */
  jump(ms: number): void {
    this.#wallMs += ms;
  }

  #install(): void {
    const wallMs = (): number => this.wallMs;
    const RealDate = globalThis.Date;
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args) =>
        args.length === 0 ? new target(wallMs()) : Reflect.construct(target, args),
      get: (target, name) => name === "now" ? wallMs : Reflect.get(target, name),
    });
    performance.now = () => this.awakeMs;
    globalThis.setTimeout = (run: string | (() => void), ms = 0) => {
      if (typeof run === "string") throw new TypeError("a timer takes a function");
      return this.#start(run, ms);
    };
    globalThis.clearTimeout = (id) => {
      this.#timers.delete(Number(id));
    };
  }

  #start(run: () => void, ms: number): number {
    const id = this.#next++;
    this.#timers.set(id, { dueMs: this.awakeMs + Math.max(0, ms), run });
    this.#pump();
    return id;
  }

  /** While `work` is under way, time passes at a pace at which it can end. */
  waitFor(work: Promise<unknown>): void {
    this.#busy++;
    void work.finally(() => this.#busy--);
  }

  /** One timer a turn of the event loop, so that what is real gets its turn as well. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    if (this.#busy === 0) this.#channel.port1.postMessage(0);
    else this.#realTimeout.call(globalThis, () => this.#turn(), 1);
  }

  #turn(): void {
    this.#pumping = false;
    const [, { dueMs }] = this.#earliest() ?? [0, { dueMs: this.awakeMs }];
    const paced = this.#busy > 0 && dueMs - this.awakeMs > PACE_MS;
    if (paced) this.awakeMs += PACE_MS;
    else this.#fire();
    if (this.#timers.size > 0) this.#pump();
  }

  #earliest(): readonly [number, Timer] | undefined {
    let earliest: readonly [number, Timer] | undefined;
    for (const entry of this.#timers) {
      if (earliest === undefined || entry[1].dueMs < earliest[1].dueMs) earliest = entry;
    }
    return earliest;
  }

  #fire(): void {
    const earliest = this.#earliest();
    if (earliest === undefined) return;
    this.#timers.delete(earliest[0]);
    this.awakeMs = Math.max(this.awakeMs, earliest[1].dueMs);
    this.moved();
    earliest[1].run();
  }
}
