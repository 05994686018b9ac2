/** A verdict as people and programs read it: its rules, what each saw, and what follows. */

import type { Step } from "../decide/rule.ts";
import type { Home } from "../observe/home.ts";
import { jsonText, printable } from "../platform/printable.ts";
import type { ExitStatus } from "./mode.ts";
import { labelled, SCREEN_COLUMNS, type Style } from "./person_output.ts";
import { wrap } from "./wrap.ts";

/** One explained verdict. */
export interface Explanation {
  /** The mode that would give this verdict, with its flags. */
  readonly mode: string;
  readonly verdict: string;
  readonly code: string;
  readonly exit: ExitStatus;
  /** What the verdict means, in a few words. */
  readonly meaning: string;
  readonly home: Home;
  /** Whether the payload was given, or is our own assumption. */
  readonly payload: "given" | "assumed";
  readonly steps: readonly Step<string, string>[];
  /** Facts beyond the rules, by name: the ledger's epoch, the claim, what would be charged. */
  readonly details: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
  /** What the session would be told on standard error or standard output. */
  readonly told: string | undefined;
}

/** The explanation as one JSON document. */
export function explanationJson(explanation: Explanation): string {
  const { mode, verdict, code, exit, payload, home, steps, details, notices, told } = explanation;
  const document = {
    mode,
    verdict,
    code,
    exit,
    payload,
    home,
    steps: steps.map(({ rule, because, conclusion }) => ({
      rule,
      because,
      saw: conclusion.saw,
      conclusion: conclusion.kind,
      ...("code" in conclusion ? { code: conclusion.code } : {}),
    })),
    details,
    notices,
    told: told ?? null,
  };
  return `${jsonText(document, 2)}\n`;
}

/** Columns of the column that holds rule names. */
const RULE_COLUMN = 20;

/** The explanation as a screen. */
export function explanationText(explanation: Explanation, style: Style): string {
  const { mode, verdict, code, exit, meaning, home, payload, told } = explanation;
  const paint = verdict === "block" ? style.bad : style.good;
  return [
    paint(`${verdict.toUpperCase()} (exit ${exit}): ${meaning} - ${code}`),
    "",
    ...field("mode", mode),
    ...field("home", `${home.home} (by ${home.foundBy})`),
    ...(home.root === home.home ? [] : field("root", home.root)),
    ...field("payload", payload === "given" ? "as given" : "none given: an ordinary first stop"),
    ...explanation.notices.flatMap((notice) => field("setting", notice)),
    "",
    ...explanation.steps.flatMap((step) => [...describeStep(step, style), ""]),
    ...Object.entries(explanation.details).flatMap(([name, value]) => field(name, value)),
    ...(Object.keys(explanation.details).length === 0 ? [] : [""]),
    ...(told === undefined ? [] : ["The session would be told:", "", told.trimEnd()]),
  ].join("\n").trimEnd() + "\n";
}

function describeStep(step: Step<string, string>, style: Style): readonly string[] {
  const { rule, because, conclusion } = step;
  const decided = conclusion.kind !== "ask-on";
  const mark = decided ? "→" : "·";
  const indent = " ".repeat(RULE_COLUMN);
  const name = `${mark} ${rule}`.padEnd(RULE_COLUMN);
  const outcome = decided ? [`${indent}${style.title(conclusion.kind)}`] : [];
  return [
    ...labelled(name, printable(conclusion.saw)),
    ...outcome,
    ...wrap(because, SCREEN_COLUMNS - RULE_COLUMN).map((line) => style.quiet(indent + line)),
  ];
}

function field(name: string, value: string): readonly string[] {
  return labelled(`${name.padEnd(9)} `, printable(value));
}
