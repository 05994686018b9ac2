/** `completions`: the words of the command line for a shell, from the table that parsing uses. */

import { writeTo } from "../platform/output.ts";
import { commandLine } from "./command_line.ts";
import { bashCompletion } from "./completions/bash.ts";
import { fishCompletion } from "./completions/fish.ts";
import { zshCompletion } from "./completions/zsh.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";
import { complainUsage } from "./person_output.ts";
import { TOPICS } from "./topics/all.ts";

/** Each shell's generator. */
const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** The mode. */
export const completionsMode: ModeSpec = {
  name: "completions",
  kind: "read-only",
  summary: "Print the completion script of a shell.",
  operands: Object.keys(SHELLS).join(" | "),
  maximumOperands: 1,
  flags: [],
  details: [
    "The script goes to standard output: eval it in the shell's start-up file, or keep it as a " +
    "file where the shell looks for completions; its first lines say where. It needs nothing but " +
    "the shell, and knows the modes and flags of the executable that printed it.",
  ],
  startsPrograms: false,
  run: completions,
};

async function completions(call: Call): Promise<ExitStatus> {
  const [shell] = call.operands;
  if (shell !== "bash" && shell !== "zsh" && shell !== "fish") {
    const wrong = shell === undefined ? "no shell was named" : `there is none for "${shell}"`;
    return await complainUsage(completionsMode.name, `${wrong}; name bash, zsh or fish`);
  }
  const commands = await commandLine(call.modes, TOPICS.map(({ name }) => name));
  await writeTo("stdout", SHELLS[shell](commands));
  return EXIT.ok;
}
