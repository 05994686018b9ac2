/** Facts that are observed when they are first asked for and kept from then on. */

/** A function that observes once and answers the same from then on. */
export function once<Fact>(observe: () => Fact | Promise<Fact>): () => Promise<Fact> {
  let kept: Promise<Fact> | undefined;
  return () => kept ??= Promise.resolve(observe());
}
