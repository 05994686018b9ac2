/** `version`: what this executable is. */

import { buildInfo } from "../build_info.ts";
import { writeTo } from "../platform/output.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";

/** The mode. */
export const versionMode: ModeSpec = {
  name: "version",
  kind: "read-only",
  summary: "Print the version, the commit it was built from, and its runtime.",
  flags: [{ name: "json", summary: "Print one JSON object." }],
  startsPrograms: false,
  run: version,
};

async function version(call: Call): Promise<ExitStatus> {
  const { version, commit, target, deno } = buildInfo();
  const text = hasFlag(call, "json")
    ? JSON.stringify({ name: "turnguard", version, commit, target, deno })
    : `turnguard ${version} (${commit?.slice(0, 12) ?? "unknown commit"}, ${target}, deno ${deno})`;
  await writeTo("stdout", `${text}\n`);
  return EXIT.ok;
}
