/** `kimi`: the turn-end hook of Kimi's workers, and its installation as the shell suite calls it. */

import { wakeWorker } from "../harness/kimi/wake_worker.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { writeTo } from "../platform/output.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";

/** Milliseconds; Kimi ends the hook after a second. */
const INPUT_LIMITS = { maximumBytes: 1024 * 1024, silenceMs: 500, settleMs: 20 };

const NEWLINE = 0x0a;

/** The mode. */
export const kimiMode: ModeSpec = {
  name: "kimi",
  kind: "person",
  summary: "Tell a home that a Kimi worker's turn has ended; install that hook.",
  operands: "install | remove | hook",
  maximumOperands: 1,
  flags: [
    {
      name: "executable",
      value: "PATH",
      summary: "install: path to register, instead of the one this was started as.",
    },
  ],
  details: [
    "Kimi Code is no harness of a home's own session: it has hooks for all projects only. Its workers " +
    "touch one marker file at the end of a turn, which a task's start has named, and nothing else.",
    "hook reads a payload on standard input, prints nothing and always ends with status 0.",
    "install and remove do what turnguard install kimi and uninstall kimi do, and refuse in the words " +
    "of the script that they take the place of.",
  ],
  startsPrograms: false,
  silent: ([word]) => word === "hook",
  run: async (call) => {
    const [word] = call.operands;
    if (word === "hook") return await hook(call);
    if (word === "install" || word === "remove") {
      const { kimiAction } = await import("./install/kimi_action.ts");
      return await kimiAction(call, word);
    }
    await writeTo("stderr", "usage: turnguard kimi install|remove\n");
    return EXIT.usage;
  },
};

/** The hook by its other name. */
export const kimiWakeMode: ModeSpec = {
  name: "kimi-wake",
  kind: "person",
  summary: "Tell a home that a Kimi worker's turn has ended; the same as kimi hook.",
  flags: [],
  startsPrograms: false,
  silent: () => true,
  run: hook,
};

async function hook({ environment }: Pick<Call, "environment">): Promise<ExitStatus> {
  try {
    const input = await readStandardInput((bytes) => bytes.includes(NEWLINE), INPUT_LIMITS);
    const home = environment.get("HOME");
    if (input.kind === "bytes" && home !== undefined) {
      wakeWorker(new TextDecoder().decode(input.bytes), home);
    }
  } catch {
    // A worker whose end is not told is found by its silence; Kimi must not be held up for it.
  }
  return EXIT.ok;
}
