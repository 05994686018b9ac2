/**
 * A Cursor park at work: does what each state of `decide/park/machine.ts` says, and nothing else.
 *
 * Cursor knows one way to be spoken to, the follow-up that this hook prints, and submits it as if a
 * person had written it. So at most one is printed, under the lock that a newer park and away mode have to
 * take too, after a last look at whether this park may still speak.
 */

import { type Baton, lockBaton, takeBaton } from "../../act/park/baton.ts";
import { forgetRepairs, recordRepair, repairsGiven } from "../../act/park/repair_budget.ts";
import { judgeLoop } from "../../decide/park/loop_count.ts";
import {
  advance,
  type ArmEvent,
  PARK_TABLE,
  type ParkActions,
  type ParkedState,
  type ParkEnd,
  type ParkEvents,
  type Refusal,
} from "../../decide/park/machine.ts";
import {
  ceilingFollowup,
  followupAnswer,
  rearmFollowup,
  repairFollowup,
  wakeFollowup,
} from "../../harness/cursor_texts.ts";
import { observeAwayMode } from "../../observe/daemon.ts";
import type { Pid } from "../../platform/pid.ts";
import { ArmOutput } from "../arm_output.ts";
import { watchingPark } from "./handover.ts";
import type { ParkInterruption, ParkSetup } from "./setup.ts";
import { Standing } from "./standing.ts";
import { keepVigil } from "./vigil.ts";

/** Parks until there is something to say, or until nothing has to be said. */
export async function park(setup: ParkSetup): Promise<ParkEnd> {
  const { home: { state }, event, settings } = setup;
  const taken = await takeBaton(state, event, settings.lock);
  const { to: first, end } = PARK_TABLE.claim[taken.kind];
  if (first === undefined) return end;
  if (taken.kind !== "claimed") throw new Error(`no baton to go on to ${first} with`);
  return await new Park(setup, taken.baton, watchingPark(state, taken.before)).run(first);
}

class Park {
  readonly #setup: ParkSetup;
  readonly #state: string;
  readonly #standing: Standing;
  readonly #baton: Baton;
  /** The park that the baton was taken from, as long as it may still be the watcher. */
  #earlier: Pid | undefined;
  #attempt = 0;
  #output = new ArmOutput();
  #reason = "";
  #repairsGiven = 0;
  #interruptedBy: ParkInterruption | undefined;

  constructor(setup: ParkSetup, baton: Baton, earlier: Pid | undefined) {
    const { home: { state }, owner, ownsSession } = setup;
    this.#setup = setup;
    this.#state = state;
    this.#baton = baton;
    this.#earlier = earlier;
    this.#standing = new Standing({ state, baton, owner, ownsSession });
  }

  async run(first: ParkedState): Promise<ParkEnd> {
    void this.#setup.interruption.then((by) => this.#interruptedBy = by);
    const actions = this.#actions();
    for (let state = first;;) {
      const by = this.#interruptedBy;
      // The time limit has something to say yet, and says it where the park arms.
      if (by === "signalled" || by === "session-end") return by;
      const step = await advance(state, actions);
      if (step.to === undefined) return step.end;
      state = step.to;
    }
  }

  #actions(): ParkActions {
    const { settings, commands, loopCount } = this.#setup;
    const need = (): ParkEvents["need"] => this.#setup.need().kind;
    const reset = (): Promise<"done" | Refusal> => this.#guarded(() => this.#forget() ?? "done");
    return {
      "bound": () => judgeLoop(loopCount, settings.ceiling),
      "ceiling-need": need,
      "tell-ceiling": () => this.#tell<never>(ceilingFollowup(loopCount, commands)),
      "look-away": () => observeAwayMode(this.#state) === "off" ? "here" : "away",
      "need": need,
      "session": async () => await this.#standing.provesSession() ? "ours" : "session-lost",
      "arm": () => this.#arm(),
      "need-of-wake": need,
      "need-of-healthy": need,
      "need-of-repair": need,
      "need-of-rearm": need,
      "tell-wake": () =>
        this.#tell<never>(wakeFollowup(this.#output.wakes, commands), () => this.#forget()),
      "tell-rearm": () => this.#tell<never>(rearmFollowup(commands), () => this.#forget()),
      "judge": () => this.#judge(),
      "budget": () => this.#budget(),
      "tell-repair": () => this.#tellRepair(),
      "reset-idle": reset,
      "reset-healthy": reset,
    };
  }

  async #arm(): Promise<ArmEvent> {
    const { settings, interruption, arm, isWatched } = this.#setup;
    const attempt = ++this.#attempt;
    const earlier = this.#earlier;
    this.#earlier = undefined;
    const end = await keepVigil({
      standing: this.#standing,
      pollMs: settings.pollMs,
      interruption,
      arm: (stop) => arm(stop, earlier),
    });
    this.#output = end.output;
    const woken = end.output.wakes.length > 0;
    // A wake that came with the time limit says more than that the time is over.
    if (end.kind === "left" && !(woken && end.because === "time-limit")) return end.because;
    if (observeAwayMode(this.#state) !== "off") return "away";
    if (woken) return "wake";
    if (await isWatched()) return "healthy";
    return attempt < settings.attempts ? "failed" : "failed-last";
  }

  async #judge(): Promise<ParkEvents["judge"]> {
    const banner = await this.#setup.judge();
    this.#reason = banner ?? "";
    return banner === undefined ? "allow" : "block";
  }

  #budget(): ParkEvents["budget"] {
    if (!this.#baton.isStillOurs()) return "superseded";
    const { session, settings } = this.#setup;
    this.#repairsGiven = repairsGiven(this.#state, session);
    return this.#repairsGiven < settings.budget ? "left" : "spent";
  }

  #tellRepair(): Promise<ParkEvents["tell-repair"]> {
    const { session, settings } = this.#setup;
    const prior = this.#repairsGiven;
    const text = repairFollowup({
      attempts: this.#attempt,
      nag: prior + 1,
      budget: settings.budget,
      evidence: this.#output.evidence,
      reason: this.#reason,
    });
    return this.#tell<"budget-moved">(text, () => {
      if (repairsGiven(this.#state, session) !== prior) return "budget-moved";
      return recordRepair(this.#state, session, prior + 1) ? undefined : "state-unwritable";
    });
  }

  #forget(): Refusal | undefined {
    return forgetRepairs(this.#state) ? undefined : "state-unwritable";
  }

  /** Prints a follow-up after `change`, unless either may not be any more. */
  async #tell<Hindrance extends string>(
    followup: string,
    change: () => Hindrance | Refusal | undefined = () => undefined,
  ): Promise<ParkEvents["tell-wake"] | Hindrance> {
    const answer = followupAnswer(followup);
    return await this.#guarded(async (): Promise<ParkEvents["tell-wake"] | Hindrance> => {
      const hindrance = change();
      if (hindrance !== undefined) return hindrance;
      return await this.#setup.print(answer) ? "told" : "not-written";
    });
  }

  /** Acts under the lock of the baton after a last look at whether this park may. */
  async #guarded<Outcome>(
    act: () => Outcome | Promise<Outcome>,
  ): Promise<Outcome | Refusal> {
    try {
      const lock = await lockBaton(this.#state, this.#setup.settings.lock);
      if (lock === undefined) return "lock-busy";
      using _lock = lock;
      return await this.#standing.prove() ?? await act();
    } catch {
      return "state-unwritable";
    }
  }
}
