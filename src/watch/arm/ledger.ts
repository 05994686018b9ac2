/** The ledger of watches as an arm writes it. Nothing is decided by it, and nothing waits for it long. */

import { enterLinks, type LedgerBounds, trimRows } from "../../decide/cycle_ledger.ts";
import { numberSetting } from "../../decide/number.ts";
import { nowSeconds } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";
import { liveness } from "../../platform/liveness.ts";
import { parsePid, type Pid } from "../../platform/pid.ts";
import { ownPid, type Processes } from "../../platform/processes.ts";
import {
  cycleField,
  type CycleRow,
  formatCycleRow,
  ledgerValue,
} from "../../state/cycle_ledger.ts";
import { readLinkClaims, removeLinkClaims, writeLinkClaim } from "../../state/cycle_links.ts";
import { lockWithin } from "../../state/lock.ts";
import { replaceFile } from "../../state/replace_file.ts";

/** What a ledger is kept with. */
export interface LedgerSetup {
  readonly state: string;
  readonly environment: Environment;
  readonly look: () => Processes;
  /** Writes to standard error. */
  readonly complain: (text: string) => Promise<unknown>;
}

/** Milliseconds that a writer waits for the ledger, and between two tries. */
const LOCK_LIMIT_MS = 400;
const LOCK_STEP_MS = 20;

/** Bytes of a ledger that are read; its own bound is far below. */
const READ_LIMIT_BYTES = 64 * 1024 * 1024;

/** The arm that this one continues. */
interface Predecessor {
  readonly pid: Pid;
  readonly identity: string;
}

/** One arm's pen. Everything that goes wrong is said on standard error, and is of no consequence. */
export class CycleLedger {
  readonly #setup: LedgerSetup;
  readonly #path: string;
  readonly #lockPath: string;
  readonly #identity: Promise<string>;
  /** Looked up at once: a predecessor that still lives may be gone when it is needed. */
  readonly #predecessor: Promise<Predecessor | undefined>;

  constructor(setup: LedgerSetup) {
    this.#setup = setup;
    this.#path = `${setup.state}/.watch-cycle-exits.log`;
    this.#lockPath = `${setup.state}/.watch-cycle-exits.lock`;
    this.#identity = identityText(ownPid(), setup.look());
    this.#predecessor = this.#findPredecessor();
  }

  /** Records a watch that has ended, and every successor that waits to be entered. */
  async record(row: Omit<CycleRow, "armPid" | "armIdentity">): Promise<void> {
    const armIdentity = await this.#identity;
    const line = formatCycleRow({ ...row, armPid: Deno.pid, armIdentity });
    await this.#commit(`row ${row.reason}`, "skipped", [line]);
  }

  /** Enters this arm's watch as the successor of the predecessor's last one, if there is one. */
  async link(successor: string): Promise<void> {
    const predecessor = await this.#predecessor;
    if (predecessor === undefined) return;
    try {
      writeLinkClaim(this.#setup.state, Deno.pid, {
        predecessor: predecessor.pid,
        predecessorIdentity: predecessor.identity,
        successor: successor,
        claimedAt: nowSeconds(),
      });
    } catch {
      await this.#setup.complain("watcher-ledger: successor link skipped - not writable\n");
      return;
    }
    await this.#commit("successor link", "deferred", []);
  }

  async #commit(
    what: string,
    otherwise: "skipped" | "deferred",
    added: readonly string[],
  ): Promise<void> {
    try {
      const attempt = await lockWithin(this.#lockPath, LOCK_LIMIT_MS, { stepMs: LOCK_STEP_MS });
      if (attempt.kind === "refused") {
        const why = `${this.#lockPath} stayed held for ${LOCK_LIMIT_MS}ms`;
        await this.#setup.complain(`watcher-ledger: ${what} ${otherwise} - ${why}\n`);
        return;
      }
      using _held = attempt.lock;
      this.#write(added);
    } catch {
      await this.#setup.complain(`watcher-ledger: ${what} ${otherwise} - not writable\n`);
    }
  }

  /** The ledger is complete before any claim goes. */
  #write(added: readonly string[]): void {
    const { state, environment } = this.#setup;
    const before = this.#rows();
    const { claims, malformed } = readLinkClaims(state);
    const linked = enterLinks([...before, ...added], claims, {
      now: nowSeconds(),
      horizonSeconds: setting(environment, "FM_WATCH_CYCLE_LINK_HORIZON_S", 300),
    });
    const rows = trimRows(linked.rows, this.#bounds());
    const extended = added.length > 0 && linked.settled.length === 0 && rows === linked.rows;
    if (extended) Deno.writeTextFileSync(this.#path, joined(added), { append: true, mode: 0o600 });
    else if (added.length + linked.settled.length > 0) {
      replaceFile(this.#path, joined(rows), { mode: 0o600 });
    }
    removeLinkClaims(state, [...linked.settled, ...malformed]);
  }

  #bounds(): LedgerBounds {
    const { environment } = this.#setup;
    return {
      maximumBytes: setting(environment, "FM_WATCH_CYCLE_LOG_MAX_BYTES", 262_144),
      keptLines: setting(environment, "FM_WATCH_CYCLE_LOG_KEEP_LINES", 1_000),
    };
  }

  #rows(): readonly string[] {
    const content = readText(this.#path, READ_LIMIT_BYTES);
    if (content.kind === "unreadable") throw new Error(content.because);
    return content.kind === "text" ? content.text.split("\n").filter((row) => row !== "") : [];
  }

  async #findPredecessor(): Promise<Predecessor | undefined> {
    const pid = predecessorPid(this.#setup.environment);
    if (pid === undefined) return undefined;
    const living = liveness(pid) === "alive" ? await identityText(pid, this.#setup.look()) : "";
    const identity = living === "" ? this.#recordedIdentity(pid) : living;
    return identity === undefined ? undefined : { pid, identity };
  }

  #recordedIdentity(pid: Pid): string | undefined {
    try {
      const row = this.#rows().findLast((line) => cycleField(line, "arm_pid") === String(pid));
      return row === undefined ? undefined : cycleField(row, "arm_identity") || undefined;
    } catch {
      return undefined;
    }
  }
}

/** The pid of the arm that has just closed, where the caller names one that can be one. */
function predecessorPid(environment: Environment): Pid | undefined {
  return parsePid(environment.get("FM_WATCH_PREDECESSOR_ARM_PID") ?? "");
}

async function identityText(pid: Pid, processes: Processes): Promise<string> {
  const reading = await processes.identity(pid);
  return reading.kind === "known" ? ledgerValue(reading.identity) : "";
}

function setting(environment: Environment, name: string, fallback: number): number {
  return numberSetting(environment.get(name), "positive-digits", fallback).value;
}

function joined(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join("");
}
