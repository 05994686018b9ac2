/** One watch that an arm sees: where it began, and the ledger's row when it ends. */

import { observeBeacon } from "../../observe/beacon.ts";
import { WATCH_LOCK_NAME } from "../../observe/watcher.ts";
import { nowSeconds } from "../../platform/clock.ts";
import { readCapture } from "../../platform/file_text.ts";
import type { CycleRow } from "../../state/cycle_ledger.ts";
import type { CycleLedger } from "./ledger.ts";

/** How a watch ended; without an exit of its own, what is unknown is said to be. */
export interface CycleEnding {
  readonly reason: string;
  readonly exitCode?: number;
  /** Name without `SIG`. */
  readonly signal?: string;
  /** `started:<pid>` or `attached:<pid>`. */
  readonly successor?: string;
}

/** The watches of one arm, one after the other. */
export class Cycles {
  readonly #state: string;
  readonly #ledger: CycleLedger;
  #current: Pick<CycleRow, "origin" | "watcherPid" | "startedAt" | "lockBefore"> | undefined;

  constructor(state: string, ledger: CycleLedger) {
    this.#state = state;
    this.#ledger = ledger;
  }

  /** A watch begins; `lockBefore` is {@link lockText} from before its watcher was started. */
  begin(origin: CycleRow["origin"], watcherPid: number, lockBefore = this.lockText()): void {
    this.#current = { origin, watcherPid, startedAt: nowSeconds(), lockBefore };
  }

  /** The current watch has ended; its row is written. */
  async end(ending: CycleEnding): Promise<void> {
    if (this.#current === undefined) return;
    const { reason, exitCode = "unknown", signal = "unknown", successor = "none" } = ending;
    const beacon = observeBeacon(this.#state);
    await this.#ledger.record({
      ...this.#current,
      reason,
      exitCode,
      signal,
      successor,
      endedAt: nowSeconds(),
      beaconAge: beacon.kind === "beat" ? beacon.ageSeconds : "none",
      lockAfter: this.lockText(),
    });
    this.#current = undefined;
  }

  /** The watch lock as rows show it. */
  lockText(): string {
    const [pid, identity] = ["pid", "pid-identity"].map((name) => {
      const recorded = readCapture(`${this.#state}/${WATCH_LOCK_NAME}/${name}`);
      return recorded.kind === "text" && recorded.text !== "" ? recorded.text : "none";
    });
    return `pid:${pid}|identity:${identity}`;
  }
}
