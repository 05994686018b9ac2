/** The host's count of follow-ups in a row, which keeps a park from going round for ever. */

/** The field as it arrived. */
export type LoopCountField =
  | { readonly kind: "absent" }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "wrong-type" };

/** The count; `undefined` when what arrived cannot be trusted to bound anything. */
export function loopCount(field: LoopCountField): number | undefined {
  switch (field.kind) {
    case "absent":
      return 0;
    case "wrong-type":
      return undefined;
    case "number": {
      const count = Math.floor(field.value);
      // A number so large that it is no longer written in digits counts nothing.
      return /^[0-9]+$/.test(String(count)) ? count : undefined;
    }
  }
}

/** Where a count stands. */
export type LoopStanding = "below" | "at-ceiling" | "past-ceiling";

/** Compares a count with the ceiling. */
export function judgeLoop(count: number, ceiling: number): LoopStanding {
  if (count < ceiling) return "below";
  return count === ceiling ? "at-ceiling" : "past-ceiling";
}

/** The session that a budget is kept for; an id that could not stand in a file is nobody's. */
export function budgetSession(id: string | undefined): string {
  return id !== undefined && /^[A-Za-z0-9._-]+$/.test(id) ? id : "unknown";
}
