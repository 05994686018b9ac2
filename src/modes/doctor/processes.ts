/** Check of process reading: without identities no watcher can ever be proven. */

import type { Environment } from "../../platform/environment.ts";
import { parsePid } from "../../platform/pid.ts";
import type { IdentityReading } from "../../platform/process_identity.ts";
import { ownPid, type Processes, systemProcesses } from "../../platform/processes.ts";
import { type Check, ok, undetermined } from "./check.ts";

/** Identities of two processes that certainly live. */
export interface ProcessFacts {
  readonly method: Processes["method"];
  readonly own: IdentityReading;
  /** That of a child made for this. */
  readonly child: IdentityReading;
}

/** Computes the identity of this process and of a child. */
export async function observeProcesses(environment: Environment): Promise<ProcessFacts> {
  const processes = systemProcesses(environment);
  return {
    method: processes.method,
    own: await processes.identity(ownPid()),
    child: await childIdentity(processes),
  };
}

async function childIdentity(processes: Processes): Promise<IdentityReading> {
  try {
    // It lives as long as its standard input is open.
    const child = new Deno.Command("/bin/cat", {
      clearEnv: true,
      cwd: "/",
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await using _child = child;
    const pid = parsePid(String(child.pid));
    const reading: IdentityReading = pid === undefined
      ? { kind: "unknown", because: "the child has no usable pid" }
      : await processes.identity(pid);
    await child.stdin.close();
    return reading;
  } catch {
    return { kind: "unknown", because: "no child can be started" };
  }
}

const METHODS: Readonly<Record<Processes["method"], string>> = {
  "proc": "/proc",
  "proc-override": "the tree that FM_PROC_ROOT_OVERRIDE names",
  "ps": "ps",
};

/** Whether identities can be had here. */
export function checkProcesses({ method, own, child }: ProcessFacts): Check {
  const id = "processes";
  const unknown = [
    ...(own.kind === "unknown" ? [`our own (${own.because})`] : []),
    ...(child.kind === "unknown" ? [`that of a child (${child.because})`] : []),
  ];
  if (unknown.length === 0) {
    return ok(id, `identities can be computed, read from ${METHODS[method]}`);
  }
  return undetermined(
    id,
    `identities read from ${METHODS[method]} are unknown: ${
      unknown.join(", ")
    }; no watcher can be ` +
      "proven, so stops with work are blocked",
    method === "proc-override"
      ? "unset FM_PROC_ROOT_OVERRIDE outside of tests"
      : "look at how /proc is mounted, and whether ps works here",
  );
}
