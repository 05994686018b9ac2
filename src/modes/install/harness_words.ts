/** The harnesses that a command line names. */

import { INTEGRATIONS } from "./integrations.ts";

/** Every harness that can be named, in the order in which they are done. */
export const HARNESS_WORDS: readonly string[] = INTEGRATIONS.map(({ harness }) => harness);

/** The word for all of them. */
export const ALL = "all";

/** What is wrong with the words of a command line, or `undefined`. */
export function whatIsWrong(words: readonly string[]): string | undefined {
  const choice = `${HARNESS_WORDS.join(", ")} or ${ALL}`;
  if (words.length === 0) return `say for which harness: ${choice}`;
  const unknown = words.find((word) => word !== ALL && !HARNESS_WORDS.includes(word));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not ${choice}`;
  const twice = words.find((word, index) => words.indexOf(word) < index);
  if (twice !== undefined) return `${twice} is named twice`;
  return words.includes(ALL) && words.length > 1 ? `${ALL} stands alone` : undefined;
}
