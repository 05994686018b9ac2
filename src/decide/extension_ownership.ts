/** Whether an extension of Pi or omp proves that it will start the next watcher of this home. */

import type { Liveness } from "../platform/liveness.ts";
import type { ExtensionMarker } from "../state/extension_marker.ts";

/** The process that line 1 of the session lock names. */
export interface SessionLineFact {
  /** The line as it is; empty without a lock. */
  readonly line: string;
  readonly liveness: Liveness | "not-a-pid";
}

/** One extension of a family, and the marker that it left when it was loaded. */
export interface ExtensionFact {
  /** Path of the extension below the root. */
  readonly file: string;
  /** SHA-256 of the extension as it is on disk now, in hex; `undefined` when it is not there. */
  readonly digest: string | undefined;
  readonly marker: ExtensionMarker | undefined;
  /** Whether the marker must name an active generation. */
  readonly generation: "required" | "none";
}

/** The two extensions that one harness needs. */
export interface FamilyFact {
  readonly name: "Pi" | "omp";
  readonly extensions: readonly ExtensionFact[];
}

/** Everything that an ownership proof is made of. */
export interface OwnershipFact {
  readonly session: SessionLineFact;
  readonly families: readonly FamilyFact[];
}

/** Whether an extension owns supervision. */
export type ExtensionOwnership =
  | { readonly kind: "proven"; readonly saw: string }
  | { readonly kind: "unproven"; readonly saw: string };

/**
 * One family with every part in order is a proof; a part of another family replaces nothing.
 *
 * Markers outlive the process that wrote them and the extension that they speak of, so each is tied
 * to the bytes on disk and to the session that holds the lock.
 */
export function judgeOwnership({ session, families }: OwnershipFact): ExtensionOwnership {
  if (session.liveness !== "alive") return unproven("the session lock names no live process");
  const faults = families.map(({ name, extensions }) => ({
    name,
    fault: extensions.map((extension) => faultOf(extension, session.line))
      .find((fault) => fault !== undefined),
  }));
  const proven = faults.find(({ fault }) => fault === undefined);
  return proven === undefined
    ? unproven(faults.map(({ name, fault }) => `${name}: ${fault}`).join("; "))
    : { kind: "proven", saw: `the extensions of ${proven.name} are loaded by pid ${session.line}` };
}

function faultOf(extension: ExtensionFact, session: string): string | undefined {
  const { file, digest, marker, generation } = extension;
  if (digest === undefined) return `${file} is not there`;
  if (marker === undefined) return `${file} left no marker`;
  if (marker.digest !== `sha256:${digest}`) return `${file} is not what was loaded`;
  if (marker.session === "" || marker.session !== session) {
    return `${file} was loaded by another session`;
  }
  if (generation === "required" && !isActive(marker.generation)) {
    return `${file} names no active generation`;
  }
  return undefined;
}

/** The word must be `active`: a generation that hands over starts no watcher any more. */
function isActive(line: string): boolean {
  const digits = /^generation=([0-9]+) (?:.* )?phase=active$/.exec(line)?.[1];
  return digits !== undefined && !/^0+$/.test(digits);
}

function unproven(saw: string): ExtensionOwnership {
  return { kind: "unproven", saw };
}
