/** A verdict is found by asking rules in order; this file says what a rule is and how it is asked. */

/** What one rule concluded from its fact. */
export type Conclusion<Code extends string> =
  /** The rule does not decide; the next one is asked. */
  | { readonly kind: "ask-on"; readonly saw: string }
  /** The turn may end. */
  | { readonly kind: "allow"; readonly code: Code; readonly saw: string }
  /** The turn must not end. */
  | { readonly kind: "block"; readonly code: Code; readonly saw: string };

/** One rule: the fact it needs, what it makes of it, and why it exists. */
export interface Rule<Facts, Code extends string> {
  /** Short name, the same in the journal, in `explain` and in the documentation. */
  readonly id: string;
  /** The rule's reason in one sentence. */
  readonly because: string;
  /** Asks for the fact and judges it. */
  readonly conclude: (ask: Ask<Facts>) => Promise<Conclusion<Code>>;
}

/** Where facts come from. A fact is observed when the first rule asks for it, and only then. */
export type Ask<Facts> = <Name extends keyof Facts>(name: Name) => Promise<Facts[Name]>;

/** A rule over the single fact `fact`. */
export function rule<Facts, Code extends string, Name extends keyof Facts>(
  id: string,
  fact: Name,
  because: string,
  judge: (fact: Facts[Name]) => Conclusion<Code>,
): Rule<Facts, Code> {
  return { id, because, conclude: async (ask) => judge(await ask(fact)) };
}

/** One rule's part in a verdict. */
export interface Step<Code extends string> {
  readonly rule: string;
  readonly because: string;
  readonly conclusion: Conclusion<Code>;
}

/** The outcome of asking rules, with every step that led to it. */
export interface Verdict<Code extends string> {
  readonly kind: "allow" | "block";
  readonly code: Code;
  readonly steps: readonly Step<Code>[];
}

/**
 * Asks `rules` in order until one decides.
 *
 * The last rule must decide; a list that runs out is a defect and is reported as `undecided`, which
 * callers treat like every other failure to judge.
 */
export async function decide<Facts, Code extends string>(
  rules: readonly Rule<Facts, Code>[],
  ask: Ask<Facts>,
): Promise<Verdict<Code> | { readonly kind: "undecided"; readonly steps: readonly Step<Code>[] }> {
  const steps: Step<Code>[] = [];
  for (const { id, because, conclude } of rules) {
    const conclusion = await conclude(ask);
    steps.push({ rule: id, because, conclusion });
    if (conclusion.kind !== "ask-on") {
      return { kind: conclusion.kind, code: conclusion.code, steps };
    }
  }
  return { kind: "undecided", steps };
}
