/** The environment as every rule reads it: an empty value is the same as none. */

/** Read-only view of environment variables. */
export interface Environment {
  /** Value of `name`, or `undefined` when it is unset or the empty string. */
  get(name: string): string | undefined;
}

/**
 * The environment of this process.
 *
 * Variables outside the list that the executable was built with read as unset.
 */
export function processEnvironment(): Environment {
  return { get: (name) => Deno.env.get(name) || undefined };
}

/** An environment made of the given values; used where a child's view is judged. */
export function environmentOf(values: Readonly<Record<string, string>>): Environment {
  return { get: (name) => values[name] || undefined };
}

/** `base` with some values of its own, and those values alone for a child that inherits the rest. */
export function environmentWith(
  base: Environment,
  added: Readonly<Record<string, string>>,
): { readonly environment: Environment; readonly added: Readonly<Record<string, string>> } {
  return {
    environment: {
      get: (name) => (Object.hasOwn(added, name) ? added[name] : base.get(name)) || undefined,
    },
    added,
  };
}
