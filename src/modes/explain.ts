/** `explain`: the verdict that another mode would give now, as a readable chain of its rules. */

import type { Step } from "../decide/rule.ts";
import type { TurnEndCode } from "../decide/turn_end.ts";
import type { Home } from "../observe/home.ts";
import { isCompletePayload } from "../observe/payload.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { readStandardInput, type StandardInput } from "../platform/stdin.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { STOP_FLAGS } from "./stop.ts";
import { blockedHarness, turnEndBanner } from "./stop_banner.ts";
import { type JudgedTurnEnd, judgeTurnEnd } from "./stop_verdict.ts";
import { wrap } from "./wrap.ts";

/** The mode. */
export const explainMode: ModeSpec = {
  name: "explain",
  kind: "read-only",
  summary: "Show why a turn would end or be blocked: each rule and what it saw.",
  operands: "stop",
  maximumOperands: 1,
  flags: [...STOP_FLAGS, { name: "json", summary: "Print one JSON object." }],
  details: [
    "Judges with the same facts and rules as the explained mode and changes nothing. Reads a " +
    "payload from standard input; on a terminal, or without any input, an ordinary first stop is " +
    "assumed.",
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
  const [mode] = call.operands;
  if (mode !== "stop") {
    const asked = mode === undefined ? "no mode was named" : `cannot explain "${printable(mode)}"`;
    await writeTo("stderr", `turnguard explain: ${asked}; try: turnguard explain stop\n`);
    return EXIT.usage;
  }
  const home = personHome(call);
  const given = await readStandardInput(isCompletePayload);
  const assumed = given.kind === "none" || (given.kind === "bytes" && given.bytes.length === 0);
  const judged = await judgeTurnEnd(call, home, assumed ? FIRST_STOP : given);
  const { environment } = call;
  const banner = judged.verdict.kind === "block"
    ? await turnEndBanner({
      ...judged,
      environment,
      harness: await blockedHarness(judged, environment),
      cooperation: undefined,
    })
    : undefined;
  const explanation: Explanation = {
    judged,
    home,
    assumed,
    banner,
    notices: malformedSettings(graceVariables(call.environment)).map(describeMalformed),
  };
  await writeTo("stdout", hasFlag(call, "json") ? asJson(explanation) : asText(explanation));
  return EXIT.ok;
}

interface Explanation {
  readonly judged: JudgedTurnEnd;
  readonly home: Home;
  /** Whether the payload is our own assumption. */
  readonly assumed: boolean;
  readonly banner: string | undefined;
  readonly notices: readonly string[];
}

function asJson({ judged, home, assumed, banner, notices }: Explanation): string {
  const { verdict, mode } = judged;
  const document = {
    mode: mode === "cursor" ? "stop --cursor" : "stop",
    verdict: verdict.kind,
    code: verdict.code,
    exit: verdict.kind === "block" ? EXIT.block : EXIT.ok,
    payload: assumed ? "assumed" : "given",
    home,
    steps: verdict.steps.map(({ rule, because, conclusion }) => ({
      rule,
      because,
      saw: conclusion.saw,
      conclusion: conclusion.kind,
      ...(conclusion.kind === "ask-on" ? {} : { code: conclusion.code }),
    })),
    notices,
    banner: banner ?? null,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Columns of the text form. */
const WIDTH = 80;

/** Columns of the column that holds rule names. */
const RULE_COLUMN = 20;

function asText({ judged, home, assumed, banner, notices }: Explanation): string {
  const { verdict } = judged;
  const headline = verdict.kind === "block"
    ? `BLOCK (exit ${EXIT.block}): this turn must not end - ${verdict.code}`
    : `ALLOW (exit ${EXIT.ok}): this turn may end - ${verdict.code}`;
  return [
    headline,
    "",
    ...field("home", `${home.home} (by ${home.foundBy})`),
    ...(home.root === home.home ? [] : field("root", home.root)),
    ...field("payload", assumed ? "none given: an ordinary first stop is assumed" : "as given"),
    ...notices.flatMap((notice) => field("setting", notice)),
    "",
    ...verdict.steps.flatMap(describeStep),
    ...(banner === undefined ? [] : ["The session is told:", "", banner.trimEnd()]),
    "",
  ].join("\n").replace(/\n{2,}$/, "\n");
}

const MARKS = { "ask-on": "·", "allow": "✓", "block": "✗" } as const;

const OUTCOMES = {
  "ask-on": "asks on",
  "allow": "the turn may end",
  "block": "the turn must not end",
} as const;

function describeStep({ rule, because, conclusion }: Step<TurnEndCode>): readonly string[] {
  const [first = "", ...more] = wrap(`${printable(conclusion.saw)}`, WIDTH - RULE_COLUMN);
  const indent = " ".repeat(RULE_COLUMN);
  return [
    `${MARKS[conclusion.kind]} ${rule}`.padEnd(RULE_COLUMN) + first,
    ...more.map((line) => indent + line),
    `${indent}→ ${OUTCOMES[conclusion.kind]}`,
    ...wrap(because, WIDTH - RULE_COLUMN).map((line) => indent + line),
    "",
  ];
}

function field(name: string, value: string): readonly string[] {
  return wrap(printable(value), WIDTH - 10).map((line, index) =>
    (index === 0 ? name : "").padEnd(10) + line
  );
}
