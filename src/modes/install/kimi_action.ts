/** `kimi install` and `kimi remove`, with the words of the script that they take the place of. */

import { writeTo } from "../../platform/output.ts";
import { printable } from "../../platform/printable.ts";
import { type Call, EXIT, type ExitStatus } from "../mode.ts";
import { executableOf } from "../registered_paths.ts";
import { tellPeople } from "./outcome.ts";
import { perform } from "./perform.ts";
import { planKimi, planKimiRemoval } from "./plan_kimi.ts";

/** Does one of both for the user. */
export async function kimiAction(call: Call, word: "install" | "remove"): Promise<ExitStatus> {
  const { environment } = call;
  if (word === "remove") {
    return await act(call, await planKimiRemoval({ environment }), "uninstall");
  }
  const executable = executableOf(call);
  if (executable.kind === "refused") {
    return await refuse(`${executable.path} ${executable.because}`);
  }
  const plan = planKimi({ environment, executable: executable.path });
  return await act(call, plan, "install");
}

async function act(
  { environment }: Call,
  plan: ReturnType<typeof planKimi>,
  mode: "install" | "uninstall",
): Promise<ExitStatus> {
  if (plan.kind === "refused") return await refuse(plan.wrong);
  const performed = await perform([plan], environment);
  if (performed.kind === "failed") return await refuse(performed.wrong);
  await tellPeople([plan], { mode, isDryRun: false, passedOver: [], attention: [] });
  return EXIT.ok;
}

async function refuse(wrong: string): Promise<ExitStatus> {
  await writeTo("stderr", `fm-kimi-turnend-hook: refused: ${printable(wrong)}\n`);
  return EXIT.failure;
}
