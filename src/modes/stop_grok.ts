/** `stop --grok`: the guard for builds of Grok that wait for a verdict, and for those that do not. */

import { isAbsolute, join } from "@std/path";
import { grokCapability } from "../harness/grok.ts";
import { operationalPrompt } from "../harness/operational_prompt.ts";
import { isCompletePayload } from "../observe/payload.ts";
import type { Environment } from "../platform/environment.ts";
import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { readStandardInput, type StandardInput } from "../platform/stdin.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue } from "./mode.ts";
import { turnEndBanner } from "./stop_banner.ts";
import { journalTurnEnd } from "./stop_journal.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** The script that a home of the shell suite has to have for its turns to be guarded. */
const SUITE_GUARD = "bin/fm-turnend-guard.sh";

/** Set for a session that was resumed by us, and with it for its hooks: once is enough. */
const LATCH = "GROK_TURNEND_GUARD_ACTIVE";

/** Judges one Stop of Grok and returns its exit status. */
export async function stopGrok(call: Call): Promise<ExitStatus> {
  const input = await readStandardInput(isCompletePayload);
  const root = rootOf(call);
  if (input.kind !== "bytes" || root === undefined || !holdsGuard(root)) return EXIT.ok;
  const capability = grokCapability(new TextDecoder().decode(input.bytes).replaceAll("\0", ""));
  switch (capability.kind) {
    case "neither":
      return EXIT.ok;
    case "native": {
      const banner = await judge(call, root, input);
      if (banner === undefined) return EXIT.ok;
      await writeTo("stderr", banner);
      return EXIT.block;
    }
    case "legacy":
      await resume(call, root, capability.session, input);
      return EXIT.ok;
  }
}

/** The tree that is guarded, without a slash at its end. */
function rootOf(call: Call): string | undefined {
  const { environment } = call;
  const root = flagValue(call, "root") ??
    environment.get("GROK_WORKSPACE_ROOT") ?? environment.get("CLAUDE_PROJECT_DIR");
  return root?.replace(/(?<=.)\/$/, "");
}

/** A script that cannot be started guards nothing, and neither do we in its place. */
function holdsGuard(root: string): boolean {
  const path = join(root, SUITE_GUARD);
  return targetKind(path) === "absent" || isExecutable(path);
}

/** The banner of a turn that must not end, or `undefined`. */
async function judge(call: Call, root: string, input: StandardInput): Promise<string | undefined> {
  const rooted = { ...call, flags: new Map([...call.flags, ["root", root] as const]) };
  const judged = await judgeTurnEnd(rooted, hookHome(rooted), input);
  if (judged.verdict.kind === "allow") {
    if (call.deadline.settle()) await journalTurnEnd(rooted, judged, undefined);
    return undefined;
  }
  const { environment } = call;
  const harness = "grok";
  const banner = await turnEndBanner({ ...judged, environment, harness, cooperation: undefined });
  if (!call.deadline.settle()) return undefined;
  await journalTurnEnd(rooted, judged, harness);
  return banner;
}

/** Goes on with a session whose build ends its turn whatever a hook says, and waits for that turn. */
async function resume(
  call: Call,
  root: string,
  session: string,
  input: StandardInput,
): Promise<void> {
  const { environment } = call;
  if (environment.get(LATCH) !== undefined) return;
  const grok = findOnPath("grok", environment);
  if (grok === undefined) return;
  const banner = await judge(call, root, input);
  if (banner === undefined) return;
  const prompt = operationalPrompt(
    "turn-end-guard",
    "TURN WOULD END BLIND: repair the missing watcher supervision now, as the session-start block " +
      `says.\n\n${banner.replace(/\n+$/, "") || "The guard blocked this turn end."}`,
  );
  try {
    const home = environment.get("GROK_HOME") ??
      (environment.get("HOME") === undefined ? undefined : `${environment.get("HOME")}/.grok`);
    await new Deno.Command(grok, {
      args: ["--resume", session, "--cwd", root, "--output-format", "plain", "-p", prompt],
      env: { [LATCH]: "1", ...(home === undefined ? {} : { GROK_HOME: home }) },
      cwd: "/",
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn().status;
  } catch {
    // The turn has ended; the next one is judged anew.
  }
}

function findOnPath(name: string, environment: Environment): string | undefined {
  return environment.get("PATH")?.split(":").filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  return targetKind(path) === "file" && ((Deno.statSync(path).mode ?? 0o111) & 0o111) !== 0;
}
