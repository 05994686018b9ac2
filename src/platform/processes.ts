/** Other processes of this machine: identity, and what the harness recogniser needs to know. */

import type { Environment } from "./environment.ts";
import { liveness } from "./liveness.ts";
import {
  type MachineClocks,
  parseProcClocks,
  readClocksBelow,
  readWakeTime,
} from "./machine_clocks.ts";
import { parsePid, type Pid } from "./pid.ts";
import type { ProcessInfo } from "./process_info.ts";
import { parseProcFiles, parseProcOutput, type ProcRecord } from "./proc_stat.ts";
import { type IdentityReading, procIdentity, psIdentity } from "./process_identity.ts";
import { runProgram } from "./program.ts";
import { parsePsTable } from "./ps_table.ts";

/** Reads processes; every pid is looked at once, and the answer is kept for the whole run. */
export interface Processes {
  /** How processes are read here, for people. */
  readonly method: "proc" | "proc-override" | "ps";
  /** Identity of a live process. Ask for liveness first: a dead pid has no identity. */
  identity(pid: Pid): Promise<IdentityReading>;
  /** The process, or `undefined` when it is gone or cannot be read. */
  info(pid: Pid): Promise<ProcessInfo | undefined>;
  /** Whether it has ended and is still listed, because nobody has asked for its status yet. */
  isZombie(pid: Pid): Promise<boolean>;
  /**
   * The machine's clocks, read together with a process that is asked about next: where there is a
   * `/proc`, one program reads both.
   */
  clocksWith(pid: Pid): Promise<MachineClocks>;
}

/**
 * The process reader for this machine.
 *
 * `/proc` is read through `/bin/cat`, since the contents of those files are closed to a program that
 * was built with less than every permission. `FM_PROC_ROOT_OVERRIDE` names another tree that is read
 * directly. Without a usable `/proc`, `ps` is asked.
 */
export function systemProcesses(environment: Environment): Processes {
  return new LazyProcesses(() => chooseReader(environment));
}

/** A reader that is chosen at the first question: most turn ends ask none. */
class LazyProcesses implements Processes {
  readonly #choose: () => Processes;
  #chosen: Processes | undefined;

  constructor(choose: () => Processes) {
    this.#choose = choose;
  }

  get method(): Processes["method"] {
    return this.#reader().method;
  }

  identity(pid: Pid): Promise<IdentityReading> {
    return this.#reader().identity(pid);
  }

  info(pid: Pid): Promise<ProcessInfo | undefined> {
    return this.#reader().info(pid);
  }

  isZombie(pid: Pid): Promise<boolean> {
    return this.#reader().isZombie(pid);
  }

  clocksWith(pid: Pid): Promise<MachineClocks> {
    return this.#reader().clocksWith(pid);
  }

  #reader(): Processes {
    return this.#chosen ??= this.#choose();
  }
}

function chooseReader(environment: Environment): Processes {
  const override = environment.get("FM_PROC_ROOT_OVERRIDE");
  const fallback = new PsProcesses(environment.get("TZ"));
  if (override !== undefined) {
    return new ProcProcesses("proc-override", directReader(override), fallback);
  }
  return hasProc() ? new ProcProcesses("proc", THROUGH_CAT, fallback) : fallback;
}

function hasProc(): boolean {
  try {
    return Deno.lstatSync(`/proc/${Deno.pid}/stat`).isFile;
  } catch {
    return false;
  }
}

/** Reads one process, or one process and the machine's clocks. */
interface ProcReader {
  readonly record: (pid: Pid) => Promise<ProcRecord | undefined>;
  readonly withClocks: (
    pid: Pid,
  ) => Promise<{ readonly clocks: MachineClocks; readonly record: ProcRecord | undefined }>;
}

const THROUGH_CAT: ProcReader = {
  record: async (pid) => {
    const output = await runProgram("cat", [`/proc/${pid}/stat`, `/proc/${pid}/cmdline`]);
    if (output.kind !== "answered" || !output.success) return undefined;
    return parseProcOutput(output.stdout);
  },
  withClocks: async (pid) => {
    const files = ["uptime", "stat", `${pid}/stat`, `${pid}/cmdline`].map((name) =>
      `/proc/${name}`
    );
    const output = await runProgram("cat", files);
    if (output.kind !== "answered") return { clocks: { kind: "unknown" }, record: undefined };
    const bytes = output.stdout;
    // Lines of the machine's own files start with a word, the process's with its pid. Latin 1 keeps
    // one character for each byte, so that positions are those of the bytes.
    const text = new TextDecoder("latin1").decode(bytes);
    const end = text.indexOf(`\n${pid} (`) + 1;
    return {
      clocks: parseProcClocks(end === 0 ? text : text.slice(0, end)),
      record: end === 0 || !output.success ? undefined : parseProcOutput(bytes.subarray(end)),
    };
  },
};

function directReader(root: string): ProcReader {
  const record = (pid: Pid): Promise<ProcRecord | undefined> => {
    try {
      const stat = Deno.readFileSync(`${root}/${pid}/stat`);
      return Promise.resolve(parseProcFiles(stat, Deno.readFileSync(`${root}/${pid}/cmdline`)));
    } catch {
      return Promise.resolve(undefined);
    }
  };
  return {
    record,
    withClocks: async (pid) => ({
      clocks: readClocksBelow(root),
      record: await record(pid),
    }),
  };
}

/** Processes of a machine with `/proc`. */
class ProcProcesses implements Processes {
  readonly method: "proc" | "proc-override";
  readonly #read: ProcReader;
  readonly #fallback: Processes;
  readonly #records = new Map<Pid, Promise<ProcRecord | undefined>>();

  constructor(method: "proc" | "proc-override", read: ProcReader, fallback: Processes) {
    this.method = method;
    this.#read = read;
    this.#fallback = fallback;
  }

  async identity(pid: Pid): Promise<IdentityReading> {
    const record = await this.#record(pid);
    if (record === undefined) return await this.#identityElsewhere(pid);
    if (record.commandLine.length === 0) {
      const because = record.state === "Z" ? "a zombie has no command line" : "no command line";
      return { kind: "unknown", because };
    }
    return { kind: "known", identity: procIdentity(record.startTicks, record.commandLine) };
  }

  async info(pid: Pid): Promise<ProcessInfo | undefined> {
    const record = await this.#record(pid);
    if (record === undefined) return undefined;
    const args = new TextDecoder().decode(record.commandLine).split("\0");
    if (args.at(-1) === "") args.pop();
    return {
      pid,
      parent: record.parent,
      command: record.name,
      args: args.join(" "),
      argv0: args[0] ?? "",
    };
  }

  async isZombie(pid: Pid): Promise<boolean> {
    const record = await this.#record(pid);
    return record === undefined ? await this.#fallback.isZombie(pid) : record.state === "Z";
  }

  #record(pid: Pid): Promise<ProcRecord | undefined> {
    const known = this.#records.get(pid);
    if (known !== undefined) return known;
    const record = this.#read.record(pid);
    this.#records.set(pid, record);
    return record;
  }

  async clocksWith(pid: Pid): Promise<MachineClocks> {
    const read = this.#read.withClocks(pid);
    if (!this.#records.has(pid)) this.#records.set(pid, read.then(({ record }) => record));
    return (await read).clocks;
  }

  /** A process whose `/proc` files are closed (hidden processes) is asked for through `ps`. */
  async #identityElsewhere(pid: Pid): Promise<IdentityReading> {
    if (liveness(pid) === "dead") return { kind: "unknown", because: "the process is gone" };
    return await this.#fallback.identity(pid);
  }
}

/** Processes of a machine without `/proc`, such as macOS. */
class PsProcesses implements Processes {
  readonly method = "ps";
  readonly #environment: Record<string, string>;
  readonly #identities = new Map<Pid, Promise<IdentityReading>>();
  #table: Promise<ReadonlyMap<Pid, ProcessInfo>> | undefined;

  /** `zone` is the caller's `TZ`: the start date is printed in it, and recorders kept theirs. */
  constructor(zone: string | undefined) {
    this.#environment = { COLUMNS: "10000", ...(zone === undefined ? {} : { TZ: zone }) };
  }

  identity(pid: Pid): Promise<IdentityReading> {
    const known = this.#identities.get(pid);
    if (known !== undefined) return known;
    const reading = this.#readIdentity(pid);
    this.#identities.set(pid, reading);
    return reading;
  }

  async info(pid: Pid): Promise<ProcessInfo | undefined> {
    this.#table ??= this.#readTable();
    return (await this.#table).get(pid);
  }

  async isZombie(pid: Pid): Promise<boolean> {
    const output = await runProgram("ps", ["-p", String(pid), "-o", "stat="], this.#environment);
    return psText(output).trimStart().startsWith("Z");
  }

  async clocksWith(): Promise<MachineClocks> {
    return await readWakeTime();
  }

  async #readIdentity(pid: Pid): Promise<IdentityReading> {
    const args = ["-p", String(pid), "-o", "lstart=", "-o", "command="];
    const output = await runProgram("ps", args, this.#environment);
    if (output.kind === "failed") return { kind: "unknown", because: `ps: ${output.because}` };
    const identity = output.success
      ? psIdentity(new TextDecoder().decode(output.stdout))
      : undefined;
    if (identity === undefined) return { kind: "unknown", because: "ps does not tell" };
    return { kind: "known", identity };
  }

  /** Two listings, because only the last column of a listing is printed without padding or cut. */
  async #readTable(): Promise<ReadonlyMap<Pid, ProcessInfo>> {
    const [commands, args] = await Promise.all(
      ["pid=,ppid=,comm=", "pid=,ppid=,args="].map((columns) =>
        runProgram("ps", ["-axww", "-o", columns], this.#environment)
      ),
    );
    return parsePsTable(psText(commands), psText(args));
  }
}

function psText(output: Awaited<ReturnType<typeof runProgram>> | undefined): string {
  if (output?.kind !== "answered" || !output.success) return "";
  return new TextDecoder().decode(output.stdout);
}

/** Pid of this process, in the checked form. */
export function ownPid(): Pid {
  return requirePid(Deno.pid);
}

/** Pid of the process that started this one, in the checked form; `undefined` below an init. */
export function parentPid(): Pid | undefined {
  return parsePid(String(Deno.ppid));
}

function requirePid(value: number): Pid {
  const pid = parsePid(String(value));
  if (pid === undefined) throw new Error(`unusable process id ${value}`);
  return pid;
}
