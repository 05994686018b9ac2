/** The processes above a hook, as far as activity files name them. */

import type { HarnessProcess } from "../decide/activity/activity_state.ts";
import type { Environment } from "../platform/environment.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import { parseProcFiles } from "../platform/proc_stat.ts";
import { runProgram } from "../platform/program.ts";

/** One process of the chain. */
export interface ChainLink {
  readonly pid: Pid;
  readonly name: string;
  readonly parent: Pid | undefined;
  /** Start and boot; a command line is no part of it, since a headless harness has its prompt there. */
  readonly identity: string;
  /** Whether it has ended and is only listed, since nobody has asked for its status. */
  readonly ended: boolean;
  /** Whether it has a controlling terminal, where that is told. */
  readonly hasTerminal: boolean;
}

/** What identities are made with, and where pids mean something. */
export interface MachineMarks {
  readonly bootId: string | null;
  readonly hostname: string | null;
}

/** Processes that only pass a hook on. */
const TRAMPOLINES = [
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "fish",
  "env",
  "nice",
  "timeout",
  "setsid",
  "nohup",
  "turnguard",
];

/** Links of a chain that are looked at. */
const CHAIN_LIMIT = 32;

/** Characters of the boot id in an identity. */
const BOOT_LENGTH = 8;

/** Reads processes one by one, upwards. */
export class ProcessChain {
  readonly #environment: Environment;
  #marks: MachineMarks | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The process, or `undefined` when it is gone or cannot be read. Never throws. */
  async link(pid: Pid): Promise<ChainLink | undefined> {
    const override = this.#environment.get("FM_PROC_ROOT_OVERRIDE");
    if (override !== undefined) return this.#parsed(pid, readDirectly(override, pid));
    if (!hasProc()) return await this.#byPs(pid);
    const output = await runProgram("cat", [
      `/proc/${pid}/stat`,
      "/proc/sys/kernel/random/boot_id",
      "/proc/sys/kernel/hostname",
    ]);
    if (output.kind !== "answered" || !output.success) return undefined;
    return this.#parsed(pid, new TextDecoder().decode(output.stdout));
  }

  /** What the identities of this machine's processes are made with, once a process was read. */
  get marks(): MachineMarks {
    return this.#marks ?? { bootId: null, hostname: null };
  }

  /** The processes from `pid` upwards. */
  async *upwards(pid: Pid | undefined): AsyncGenerator<ChainLink, void> {
    let next = pid;
    for (let step = 0; step < CHAIN_LIMIT && next !== undefined && next > 1; step++) {
      const link = await this.link(next);
      if (link === undefined) return;
      yield link;
      next = link.parent;
    }
  }

  /** The nearest process from `pid` upwards that does more than passing hooks on. */
  async harness(pid: Pid | undefined): Promise<HarnessProcess | undefined> {
    for await (const link of this.upwards(pid)) {
      if (!isTrampoline(link)) return this.recorded(link);
    }
    return undefined;
  }

  /** A link as activity files record it. */
  recorded({ pid, identity }: ChainLink): HarnessProcess {
    return { pid, identity, ...this.marks };
  }

  #parsed(pid: Pid, text: string | undefined): ChainLink | undefined {
    if (text === undefined) return undefined;
    const lines = text.trimEnd().split("\n");
    const [bootId, hostname] = lines.slice(-2);
    const stat = lines.slice(0, -2).join("\n");
    const record = parseProcFiles(new TextEncoder().encode(stat), new Uint8Array());
    if (record === undefined || bootId === undefined) return undefined;
    this.#marks ??= { bootId, hostname: hostname ?? null };
    return {
      pid,
      name: record.name,
      parent: record.parent,
      identity: `${record.startTicks}@${bootId.slice(0, BOOT_LENGTH)}`,
      ended: /^[ZX]/.test(record.state),
      hasTerminal: terminalOf(stat) !== "0",
    };
  }

  async #byPs(pid: Pid): Promise<ChainLink | undefined> {
    const columns = ["ppid=", "tty=", "stat=", "lstart=", "comm="];
    const words = ["-ww", ...columns.flatMap((name) => ["-o", name]), "-p", String(pid)];
    const output = await runProgram("ps", words, { TZ: "UTC0" });
    if (output.kind !== "answered" || !output.success) return undefined;
    return parsePsLink(pid, new TextDecoder().decode(output.stdout));
  }
}

/** A line of `ps` with parent, terminal, state, start (five words) and command. */
export function parsePsLink(pid: Pid, text: string): ChainLink | undefined {
  const found = /^\s*([0-9]+)\s+(\S+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.+?)\s*$/.exec(
    text,
  );
  if (found === null) return undefined;
  const [, parent = "", terminal = "", state = "", start = "", command = ""] = found;
  return {
    pid,
    name: command.slice(command.lastIndexOf("/") + 1),
    parent: parsePid(parent),
    identity: `${start.replaceAll(/\s+/g, "_")}@-`,
    ended: state.startsWith("Z"),
    hasTerminal: !terminal.startsWith("?"),
  };
}

/** The number of the controlling terminal in the text of a `stat` file; `0` is none. */
function terminalOf(stat: string): string {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4] ?? "0";
}

/** Whether a process only passes hooks on. A login shell's name may begin with a dash. */
export function isTrampoline({ name }: Pick<ChainLink, "name">): boolean {
  return TRAMPOLINES.includes(name.replace(/^-/, ""));
}

function hasProc(): boolean {
  try {
    return Deno.lstatSync(`/proc/${Deno.pid}/stat`).isFile;
  } catch {
    return false;
  }
}

function readDirectly(root: string, pid: Pid): string | undefined {
  try {
    const files = [`${pid}/stat`, "sys/kernel/random/boot_id", "sys/kernel/hostname"];
    return files.map((name) => `${Deno.readTextFileSync(`${root}/${name}`).trimEnd()}\n`).join("");
  } catch {
    return undefined;
  }
}
