/** Processes that are found by a word of their command line. */

import { parsePid, type Pid } from "./pid.ts";
import { runProgram } from "./program.ts";

/** Pids of the processes whose command line contains `text`; empty when they cannot be listed. */
export async function pidsNaming(text: string): Promise<readonly Pid[]> {
  const files = procFiles();
  const output = files.length > 0
    ? await runProgram("grep", ["-l", "-F", "-e", text, "--", ...files])
    : await runProgram("ps", ["-axo", "pid=,command="], { COLUMNS: "10000" });
  if (output.kind !== "answered") return [];
  // A status that is not 0 only says that some process has ended since it was listed.
  return new TextDecoder().decode(output.stdout).split("\n")
    .filter((line) => files.length > 0 || line.includes(text))
    .map((line) => parsePid(/[0-9]+/.exec(line)?.[0] ?? ""))
    .filter((pid) => pid !== undefined);
}

function procFiles(): readonly string[] {
  try {
    return [...Deno.readDirSync("/proc")]
      .filter((entry) => /^[0-9]+$/.test(entry.name))
      .map((entry) => `/proc/${entry.name}/cmdline`);
  } catch {
    return [];
  }
}
