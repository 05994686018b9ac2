/** The word that somebody probably meant. */

import { levenshteinDistance } from "@std/text";

/** Largest share of a word that may differ for another one to be suggested. */
const TOLERANCE = 0.4;

/** The candidate closest to `word`, or `undefined` when none is close. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: levenshteinDistance(word, candidate) }))
    .toSorted((one, other) => one.distance - other.distance)[0];
  if (near === undefined) return undefined;
  const length = Math.max(word.length, near.candidate.length);
  return near.distance / length <= TOLERANCE ? near.candidate : undefined;
}
