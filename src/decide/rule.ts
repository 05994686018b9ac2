/** A verdict is found by asking rules in order; this file says what a rule is and how it is asked. */

/** Whether a turn may end. */
export type TurnOutcome = "allow" | "block";

/** What one rule concluded from its fact. */
export type Conclusion<Code extends string, Outcome extends string = TurnOutcome> =
  /** The rule does not decide; the next one is asked. */
  | { readonly kind: "ask-on"; readonly saw: string }
  | Decision<Code, Outcome>;

/** A conclusion that decides. */
export interface Decision<Code extends string, Outcome extends string> {
  readonly kind: Outcome;
  readonly code: Code;
  readonly saw: string;
}

/** One rule: the fact it needs, what it makes of it, and why it exists. */
export interface Rule<Facts, Code extends string, Outcome extends string = TurnOutcome> {
  /** Short name, the same in the journal, in `explain` and in the documentation. */
  readonly id: string;
  /** The rule's reason in one sentence. */
  readonly because: string;
  /** Asks for the fact and judges it. */
  readonly conclude: (ask: Ask<Facts>) => Promise<Conclusion<Code, Outcome>>;
}

/** Where facts come from. A fact is observed when the first rule asks for it, and only then. */
export type Ask<Facts> = <Name extends keyof Facts>(name: Name) => Promise<Facts[Name]>;

/** A rule over the single fact `fact`. */
export function rule<
  Facts,
  Code extends string,
  Name extends keyof Facts,
  Outcome extends string = TurnOutcome,
>(
  id: string,
  fact: Name,
  because: string,
  judge: (fact: Facts[Name]) => Conclusion<Code, Outcome>,
): Rule<Facts, Code, Outcome> {
  return { id, because, conclude: async (ask) => judge(await ask(fact)) };
}

/** One rule's part in a verdict. */
export interface Step<Code extends string, Outcome extends string = TurnOutcome> {
  readonly rule: string;
  readonly because: string;
  readonly conclusion: Conclusion<Code, Outcome>;
}

/** The outcome of asking rules, with every step that led to it. */
export interface Verdict<Code extends string, Outcome extends string = TurnOutcome> {
  readonly kind: Outcome;
  readonly code: Code;
  readonly steps: readonly Step<Code, Outcome>[];
}

/**
 * Asks `rules` in order until one decides.
 *
 * The last rule must decide. Throws when the list runs out: that is a defect, and callers treat it
 * like every other failure to judge.
 */
export async function decide<Facts, Code extends string, Outcome extends string = TurnOutcome>(
  rules: readonly Rule<Facts, Code, Outcome>[],
  ask: Ask<Facts>,
): Promise<Verdict<Code, Outcome>> {
  const steps: Step<Code, Outcome>[] = [];
  for (const { id, because, conclude } of rules) {
    const conclusion = await conclude(ask);
    steps.push({ rule: id, because, conclusion });
    if (isDecision(conclusion)) return { kind: conclusion.kind, code: conclusion.code, steps };
  }
  throw new Error("the last rule did not decide");
}

function isDecision<Code extends string, Outcome extends string>(
  conclusion: Conclusion<Code, Outcome>,
): conclusion is Decision<Code, Outcome> {
  return conclusion.kind !== "ask-on";
}
