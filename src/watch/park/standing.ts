/** Whether a park may still act: it has the baton, its session has the lock, and nobody is away. */

import type { Baton } from "../../act/park/baton.ts";
import { observeAwayMode } from "../../observe/daemon.ts";
import { sessionLockHolder } from "../../observe/session.ts";
import { liveness } from "../../platform/liveness.ts";
import type { Pid } from "../../platform/pid.ts";

/** Why it may not. */
export type Lost = "superseded" | "session-lost" | "away";

/** Milliseconds for which what files and a signal tell stands in for the proof of the session. */
const PROOF_LASTS_MS = 300_000;

/** What a standing is judged by. */
export interface StandingSetup {
  readonly state: string;
  readonly baton: Baton;
  /** What the session lock named when it was proven to be ours. */
  readonly owner: Pid;
  readonly ownsSession: () => Promise<boolean>;
}

/** One park's standing. */
export class Standing {
  readonly #setup: StandingSetup;
  #provenMs = performance.now();
  #doubted = false;

  constructor(setup: StandingSetup) {
    this.#setup = setup;
  }

  /** The full question, for the moment before a change; `undefined` when the park may act. */
  async prove(): Promise<Lost | undefined> {
    const { state, baton } = this.#setup;
    if (!baton.isStillOurs()) return "superseded";
    if (!await this.provesSession()) return "session-lost";
    return observeAwayMode(state) === "off" ? undefined : "away";
  }

  /** Whether the session lock is still the one that was ours, and is still proven to be. */
  async provesSession(): Promise<boolean> {
    if (!this.#namesOwner() || !await this.#setup.ownsSession()) return false;
    this.#provenMs = performance.now();
    this.#doubted = false;
    return true;
  }

  /**
   * The question of every poll.
   *
   * The proof of the session starts a program, so it is asked for now and then only; and since a machine
   * under load may fail to start one, a single failure is no loss.
   */
  async glance(): Promise<Lost | undefined> {
    const { state, baton } = this.#setup;
    if (!baton.isStillOurs()) return "superseded";
    if (!this.#namesOwner() || !this.#ownerLives()) return "session-lost";
    if (observeAwayMode(state) !== "off") return "away";
    if (performance.now() - this.#provenMs < PROOF_LASTS_MS) return undefined;
    if (await this.provesSession()) return undefined;
    if (this.#doubted) return "session-lost";
    this.#doubted = true;
    return undefined;
  }

  #namesOwner(): boolean {
    return sessionLockHolder(this.#setup.state) === this.#setup.owner;
  }

  #ownerLives(): boolean {
    return liveness(this.#setup.owner) !== "dead";
  }
}
