/** Whether the primary checkout stands on a branch that belongs to a task. */

/** The branches of a checkout, as far as the rule asks. */
export type CheckoutFact =
  | { readonly kind: "none" }
  | {
    readonly kind: "checkout";
    /** The branch that is checked out; `undefined` for a commit. */
    readonly branch: string | undefined;
    /** The branch that the remote `origin` calls its default. */
    readonly remoteDefault: string | undefined;
    /** Those of the usual defaults that exist here, the likelier one first. */
    readonly localDefaults: readonly string[];
  };

/** A checkout that must be brought back. */
export interface Tangle {
  readonly branch: string;
  readonly defaultBranch: string;
}

/**
 * A named branch that is not the default one is a tangle: a task worked in the primary checkout
 * instead of its own worktree. Without a known default nothing can be said.
 */
export function judgeTangle(fact: CheckoutFact): Tangle | undefined {
  if (fact.kind === "none" || fact.branch === undefined) return undefined;
  const defaultBranch = fact.remoteDefault ?? fact.localDefaults[0];
  if (defaultBranch === undefined || defaultBranch === fact.branch) return undefined;
  return { branch: fact.branch, defaultBranch };
}
