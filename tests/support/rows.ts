/**
 * Tables whose rows are each played in a home of their own.
 *
 * @module
 */

import { tabulate } from "./turnguard.ts";

/** A row: what it is, what it comes to, and how it is played. */
export type Row<Home> = readonly [
  name: string,
  expected: string,
  play: (home: Home) => Promise<string>,
];

/** What the rows come to, each in a home that `make` makes. */
export async function playRowsIn<Home extends AsyncDisposable>(
  make: () => Promise<Home>,
  rows: readonly Row<Home>[],
): Promise<Readonly<Record<string, string>>> {
  return await tabulate(rows, ([name]) => name, async ([, , play]) => {
    const home = await make();
    await using _home = home;
    return await play(home);
  });
}

/** What {@link playRowsIn} must come to. */
export function expectedOf(
  rows: readonly (readonly [name: string, expected: string, ...rest: readonly unknown[]])[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map(([name, expected]) => [name, expected]));
}
