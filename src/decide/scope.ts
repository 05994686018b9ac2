/** Which homes the guard acts in: primary homes and secondmate homes, nothing else. */

import type { ScopeFact, SecondmateMarker } from "./facts.ts";

/** Whether a home is in scope, with the first reason that decides. */
export type Scope =
  | { readonly kind: "in"; readonly because: "secondmate marker" | "primary checkout" }
  | {
    readonly kind: "out";
    readonly because:
      | "linked worktree"
      | "not a checkout root"
      | "no AGENTS.md"
      | "no bin/"
      | "no state directory";
  };

/**
 * A home is in scope when a genuine marker or its own Git directory says that it is nobody's task
 * worktree, and when it has the shape of a home.
 *
 * Task worktrees must never be blocked: their agent cannot repair supervision.
 */
export function judgeScope(fact: ScopeFact): Scope {
  const genuine = isGenuineMarker(fact.marker);
  if (!genuine && fact.git === "linked-worktree") {
    return { kind: "out", because: "linked worktree" };
  }
  if (!genuine && fact.git === "none") return { kind: "out", because: "not a checkout root" };
  if (fact.agentsFile !== "file") return { kind: "out", because: "no AGENTS.md" };
  if (fact.bin !== "directory") return { kind: "out", because: "no bin/" };
  if (fact.state !== "directory") return { kind: "out", because: "no state directory" };
  return { kind: "in", because: genuine ? "secondmate marker" : "primary checkout" };
}

/**
 * A marker is genuine when it is a plain file whose first line ends in a newline and names an id
 * once all white space is taken out.
 *
 * The newline is demanded because a writer that was interrupted leaves none.
 */
export function isGenuineMarker(marker: SecondmateMarker): boolean {
  if (marker.kind !== "file") return false;
  const end = marker.text.indexOf("\n");
  if (end < 0) return false;
  return /^[A-Za-z0-9._-]+$/.test(marker.text.slice(0, end).replace(/[ \t\r\v\f]/g, ""));
}
