/** `explain`: the verdict that a hook mode would give now, as a readable chain of its rules. */

import { isCompletePayload } from "../observe/payload.ts";
import { writeTo } from "../platform/output.ts";
import { readStandardInput, type StandardInput } from "../platform/stdin.ts";
import { personHome } from "./call_home.ts";
import { type Explanation, explanationJson, explanationText } from "./explanation.ts";
import { explainAutoarm } from "./explain_autoarm.ts";
import { explainClaudeStop } from "./explain_claude.ts";
import { explainStop } from "./explain_stop.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage, screenStyle } from "./person_output.ts";
import { STOP_FLAGS } from "./stop.ts";

/** The mode. */
export const explainMode: ModeSpec = {
  name: "explain",
  kind: "read-only",
  summary: "Show why a turn would end or be blocked: each rule and what it saw.",
  operands: "stop | autoarm",
  maximumOperands: 1,
  flags: [...STOP_FLAGS, { name: "json", summary: "Print one JSON object." }],
  details: [
    "Judges with the same facts and rules as the explained mode and changes nothing: no budget is " +
    "charged, no claim is made, nothing is waited for. Reads a payload from standard input; on a " +
    "terminal, or without any input, an ordinary first stop is assumed.",
    "With --claude the claim, the block budget and what this stop would be charged are shown too.",
  ],
  startsPrograms: true,
  run: explain,
};

/** The payload that is assumed when none is given. */
const FIRST_STOP: StandardInput = {
  kind: "bytes",
  bytes: new TextEncoder().encode('{"stop_hook_active":false}'),
};

async function explain(call: Call): Promise<ExitStatus> {
  const [subject] = call.operands;
  if (subject !== "stop" && subject !== "autoarm") {
    const wrong = subject === undefined ? "no mode was named" : `"${subject}" is not explained`;
    return await complainUsage(explainMode.name, `${wrong}; name stop or autoarm`);
  }
  const home = personHome(call);
  const given = await readStandardInput(isCompletePayload);
  const assumed = given.kind === "none" || (given.kind === "bytes" && given.bytes.length === 0);
  const input = assumed ? FIRST_STOP : given;
  const explanation: Explanation = {
    ...await explainSubject(subject, call, home, input),
    payload: assumed ? "assumed" : "given",
  };
  const text = hasFlag(call, "json")
    ? explanationJson(explanation)
    : explanationText(explanation, screenStyle(call.environment));
  await writeTo("stdout", text);
  return EXIT.ok;
}

async function explainSubject(
  subject: "stop" | "autoarm",
  call: Call,
  home: ReturnType<typeof personHome>,
  input: StandardInput,
): Promise<Omit<Explanation, "payload">> {
  if (subject === "autoarm") return await explainAutoarm(call, home, input);
  return hasFlag(call, "claude")
    ? await explainClaudeStop(call, home, input)
    : await explainStop(call, home, input);
}
