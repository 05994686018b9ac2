/** The checks of a home, each with what may be done with it. */

import { judgeCheck } from "../../decide/check_trust.ts";
import type { Home } from "../../observe/home.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { CHECK_SUFFIX, parseCheckId, readCheck } from "../../state/check_trust.ts";
import { judgeRelayShim, RELAY_ID } from "./relay_shim.ts";

/** What may be done with one check. */
export type Candidate =
  /** Run a copy of these bytes. */
  | {
    readonly kind: "trusted";
    readonly hash: string;
    readonly script: Uint8Array<ArrayBuffer>;
  }
  /** Run the relay's poll script. */
  | { readonly kind: "relay"; readonly pollScript: string }
  /** Belongs to pull-request polling, which has its own runner. */
  | { readonly kind: "left-out" }
  | { readonly kind: "changed" }
  | { readonly kind: "rejected"; readonly because: string };

/**
 * File names of the checks of a state directory, in the order in which they are swept.
 *
 * As in a shell's pattern, names that start with a dot and links that lead nowhere do not count.
 * Throws when the directory cannot be listed.
 */
export function checkNames(state: string): readonly string[] {
  return [...Deno.readDirSync(state)]
    .map((entry) => entry.name)
    .filter((name) => name.endsWith(CHECK_SUFFIX) && !name.startsWith("."))
    .filter((name) => targetKind(`${state}/${name}`) !== "absent")
    .toSorted();
}

/** The id in a check's file name. */
export function idInName(name: string): string {
  return name.slice(0, -CHECK_SUFFIX.length);
}

/** Judges the check with this file name, as it is at this moment. */
export async function judgeCandidate(home: Home, name: string): Promise<Candidate> {
  const text = idInName(name);
  if (text === RELAY_ID) {
    const verdict = judgeRelayShim(home);
    return verdict.kind === "valid" ? { ...verdict, kind: "relay" } : verdict;
  }
  if (targetKind(`${home.state}/${text}.pr-poll-registration`) !== "absent") {
    return { kind: "left-out" };
  }
  const id = parseCheckId(text);
  if (id === undefined) return { kind: "rejected", because: "its name is not an ID" };
  const facts = await readCheck(home.state, id);
  const verdict = judgeCheck(facts);
  if (verdict.kind !== "trusted") return verdict;
  if (facts.script === undefined) return { kind: "rejected", because: "the check cannot be read" };
  return { kind: "trusted", hash: verdict.hash, script: facts.script };
}
