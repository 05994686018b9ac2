/** `man`: the manual pages, from the table that parsing uses and the topics of `help`. */

import { buildInfo } from "../build_info.ts";
import { writeTo } from "../platform/output.ts";
import { modePage, programPage } from "./manual/pages.ts";
import { type Call, EXIT, type ExitStatus, modeCalled, type ModeSpec } from "./mode.ts";
import { complainUsage } from "./person_output.ts";

/** The mode. */
export const manMode: ModeSpec = {
  name: "man",
  kind: "read-only",
  summary: "Print a manual page, of turnguard or of one mode.",
  operands: "[MODE]",
  maximumOperands: 1,
  flags: [],
  details: [
    "The page is in man's own format: turnguard man >turnguard.1, then man ./turnguard.1. The page " +
    "of a mode is what help MODE shows.",
  ],
  startsPrograms: false,
  run: man,
};

async function man(call: Call): Promise<ExitStatus> {
  const [word] = call.operands;
  const version = buildInfo().version;
  if (word === undefined) {
    const modes = await Promise.all(call.modes.map((row) => row.load()));
    await writeTo("stdout", programPage(modes, version));
    return EXIT.ok;
  }
  const row = modeCalled(call.modes, word);
  if (row === undefined) {
    return await complainUsage(manMode.name, `there is no mode "${word.slice(0, 40)}"`);
  }
  await writeTo("stdout", modePage(await row.load(), version));
  return EXIT.ok;
}
