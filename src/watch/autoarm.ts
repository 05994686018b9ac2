/**
 * One firing of Claude's auto-arm, from its claim to its exit status.
 *
 * Text is printed before an outcome is recorded, and only exit status 2 delivers it: a firing that
 * lost its claim, or whose outcome could not be recorded, exits 0 and is therefore silent.
 */

import { type ClaimAttempt, claimNext, type OwnClaim } from "../act/claim.ts";
import { budgetLockPath } from "../act/episode.ts";
import { type LookAgain, ownerLockHasRole, releaseAbandonedClaim } from "../act/legacy_claim.ts";
import { publishDowntime } from "../act/recovery.ts";
import { translate, translateInterruption, type Translation } from "../decide/autoarm.ts";
import { armAttempts, autoarmGraceSeconds, claimGraceSeconds } from "../decide/claude_settings.ts";
import type { ClaudeVariables } from "../decide/claude_settings.ts";
import { judgeNeed } from "../decide/need.ts";
import { judgeWatcher } from "../decide/watcher_health.ts";
import {
  firstFailureText,
  heldOpenText,
  interruptedText,
  laterFailureText,
  rearmText,
  rewakeText,
} from "../harness/autoarm_texts.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import type { Home } from "../observe/home.ts";
import { homeCommands } from "../observe/home_commands.ts";
import { observeNeed } from "../observe/need.ts";
import { observeWatcher } from "../observe/watcher.ts";
import { LEDGER_NAME } from "../state/claude_ledger.ts";
import { ALARM_NAME, alarmExists, NOTICE_NAME, noticeExists } from "../state/failure_episode.ts";
import { ArmOutput } from "./arm_output.ts";

/** Why a running firing is to end before its arm does. */
export type Interruption =
  | { readonly kind: "signal"; readonly name: "HUP" | "TERM" | "INT" }
  /** The time that the host gives the hook is nearly over. */
  | { readonly kind: "time-limit" }
  /** The session has ended: nobody is left to be told. */
  | { readonly kind: "session-end" };

/** What a firing needs. */
export interface FiringSetup {
  readonly home: Home;
  readonly variables: ClaudeVariables;
  readonly look: LookAgain;
  readonly trustedSessionId: string | undefined;
  /** Whether this session owns the session lock, asked again when a wake is handed over. */
  readonly ownsSession: () => Promise<boolean>;
  /** Runs one arm in the foreground; `stop` asks it to end. */
  readonly arm: (stop: Promise<void>) => Promise<ArmOutput>;
  readonly interruption: Promise<Interruption>;
  /** Prints to the session; delivered only when the firing ends `delivered`. */
  readonly print: (text: string) => Promise<void>;
}

/** How a firing ended. Only `delivered` is exit status 2. */
export interface FiringEnd {
  readonly delivered: boolean;
  readonly code: string;
}

/** Claims the home and supervises it until there is something to say. */
export async function fire(setup: FiringSetup): Promise<FiringEnd> {
  const attempt = await claim(setup);
  if (attempt.kind !== "claimed") return silent(`claim-${attempt.kind}`);
  return await new Firing(setup, attempt.claim).run();
}

/** Claims, and clears the abandoned claim of an older build where that is what stands in the way. */
async function claim(setup: FiringSetup): Promise<ClaimAttempt> {
  const { home: { state }, look, trustedSessionId } = setup;
  const graceSeconds = claimGraceSeconds(autoarmGraceSeconds(setup.variables));
  const request = { state, graceSeconds, look, trustedSessionId };
  const first = await claimNext(request);
  if (first.kind !== "failed" || !ownerLockHasRole(state)) return first;
  if (!await releaseAbandonedClaim(state, graceSeconds, look)) return first;
  return await claimNext(request);
}

/** What the arms of a firing came to. */
type CycleEnd =
  | { readonly kind: "superseded" }
  | { readonly kind: "away" }
  | { readonly kind: "interrupted"; readonly by: Interruption }
  | {
    readonly kind: "closed";
    readonly output: ArmOutput;
    readonly healthy: boolean;
    readonly attempts: number;
  };

class Firing {
  readonly #setup: FiringSetup;
  readonly #claim: OwnClaim;
  readonly #state: string;
  readonly #ledger: string;

  constructor(setup: FiringSetup, own: OwnClaim) {
    this.#setup = setup;
    this.#claim = own;
    this.#state = setup.home.state;
    this.#ledger = `${this.#state}/${LEDGER_NAME}`;
  }

  async run(): Promise<FiringEnd> {
    const end = await this.#cycle();
    switch (end.kind) {
      case "superseded":
        return silent("superseded");
      case "away":
        await this.#claim.commit("afk");
        return silent("away");
      case "interrupted":
        return await this.#interrupted(end.by);
      case "closed":
        return await this.#closed(end);
    }
  }

  /** Arms, at most as often as allowed, until one arm delivers a wake or a watcher is verified. */
  async #cycle(): Promise<CycleEnd> {
    const attempts = armAttempts(this.#setup.variables);
    let output = new ArmOutput();
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (!this.#claim.isStillOurs()) return { kind: "superseded" };
      const armed = await this.#armUntilInterrupted();
      if (armed.kind === "interrupted") return armed;
      output = armed.output;
      if (observeAwayMode(this.#state) !== "off") return { kind: "away" };
      const healthy = output.wakes.length === 0 && await this.#isHealthy();
      if (output.wakes.length > 0 || healthy) {
        return { kind: "closed", output, healthy, attempts: attempt };
      }
    }
    return { kind: "closed", output, healthy: false, attempts };
  }

  async #armUntilInterrupted(): Promise<
    | { readonly kind: "ended"; readonly output: ArmOutput }
    | { readonly kind: "interrupted"; readonly by: Interruption }
  > {
    const { arm, interruption } = this.#setup;
    let by: Interruption | undefined;
    const stop = interruption.then((reason) => {
      by = reason;
    });
    const output = await arm(stop);
    return by === undefined ? { kind: "ended", output } : { kind: "interrupted", by };
  }

  async #isHealthy(): Promise<boolean> {
    const { home, variables, look } = this.#setup;
    const grace = { ...variables, FM_GUARD_GRACE: String(autoarmGraceSeconds(variables)) };
    return judgeWatcher(await observeWatcher(home, grace, look())).kind === "healthy";
  }

  async #closed(end: Extract<CycleEnd, { kind: "closed" }>): Promise<FiringEnd> {
    const translation = translate({
      needed: judgeNeed(observeNeed(this.#state)).kind === "needed",
      actionable: end.output.wakes.length > 0,
      healthy: end.healthy,
      alarmed: alarmExists(this.#state),
      noticed: noticeExists(this.#state),
    });
    switch (translation) {
      case "clean":
        await this.#claim.commit("clean");
        return silent("clean");
      case "recovered":
        return await this.#recovered();
      case "rewake":
        return await this.#rewake(rewakeText(end.output.wakes, homeCommands(this.#setup.home)));
      case "silenced":
      case "first-failure":
      case "later-failure":
        return await this.#failed(
          translation,
          firstFailureText(end.attempts, end.output.evidence, this.#ledger),
          laterFailureText(end.output.evidence, this.#ledger),
        );
    }
  }

  async #recovered(): Promise<FiringEnd> {
    switch (this.#claim.endEpisode()) {
      case "ended":
        await this.#claim.commit("clean");
        return silent("recovered");
      case "superseded":
        return silent("superseded");
      case "failed":
        return await this.#heldOpen();
    }
  }

  async #heldOpen(): Promise<FiringEnd> {
    const alarmed = alarmExists(this.#state);
    if (!alarmed) {
      await this.#printIfOurs(heldOpenText({
        ledger: this.#ledger,
        notice: `${this.#state}/${NOTICE_NAME}`,
        alarm: `${this.#state}/${ALARM_NAME}`,
        budgetLock: budgetLockPath(this.#state),
      }));
    }
    const committed = await this.#claim.commit("failed-suppressed");
    return committed === "committed" && !alarmed ? delivered("held-open") : silent("held-open");
  }

  async #rewake(text: string): Promise<FiringEnd> {
    if (!await this.#printIfOurs(text)) return silent("superseded");
    const committed = await this.#claim.commitRewake(this.#setup.ownsSession);
    return committed === "committed" ? delivered("rewake") : silent(`rewake-${committed}`);
  }

  async #failed(
    translation: Extract<Translation, "silenced" | "first-failure" | "later-failure">,
    firstText: string,
    laterText: string,
  ): Promise<FiringEnd> {
    if (translation === "silenced") {
      await this.#claim.commit("failed-suppressed");
      return silent("silenced");
    }
    if (translation === "first-failure") {
      if (!await this.#printIfOurs(firstText)) return silent("superseded");
      const committed = await this.#claim.commit("failed", { notice: true });
      return committed === "committed" ? delivered("failed") : silent(`failed-${committed}`);
    }
    await this.#printIfOurs(laterText);
    const committed = await this.#claim.commit("failed-suppressed");
    return committed === "committed"
      ? delivered("failed-suppressed")
      : silent(`failed-suppressed-${committed}`);
  }

  /** Cut short by a signal, or by the time that the host gives. */
  async #interrupted(by: Interruption): Promise<FiringEnd> {
    if (by.kind === "time-limit") return await this.#timeLimit();
    // The claim of a dead owner is open to the next session; a failure that nobody had is not recorded.
    if (by.kind === "session-end") return silent("session-end");
    const episode = { alarmed: alarmExists(this.#state), noticed: noticeExists(this.#state) };
    return await this.#failed(
      translateInterruption(episode),
      interruptedText(by.name),
      laterFailureText([], this.#ledger),
    );
  }

  /** A park that reached its limit is a wake like any other: one turn, which arms again at its end. */
  async #timeLimit(): Promise<FiringEnd> {
    if (!this.#claim.isStillOurs()) return silent("superseded");
    if (observeAwayMode(this.#state) !== "off") {
      await this.#claim.commit("afk");
      return silent("away");
    }
    if (judgeNeed(observeNeed(this.#state)).kind !== "needed") {
      await this.#claim.commit("clean");
      return silent("clean");
    }
    if (alarmExists(this.#state)) {
      await this.#claim.commit("failed-suppressed");
      return silent("silenced");
    }
    // An arm that only followed somebody's watcher leaves no downtime of its own behind.
    await publishDowntime(this.#state, 1_000);
    return await this.#rewake(rearmText(homeCommands(this.#setup.home)));
  }

  async #printIfOurs(text: string): Promise<boolean> {
    if (!this.#claim.isStillOurs()) return false;
    await this.#setup.print(text);
    return true;
  }
}

function silent(code: string): FiringEnd {
  return { delivered: false, code };
}

function delivered(code: string): FiringEnd {
  return { delivered: true, code };
}
