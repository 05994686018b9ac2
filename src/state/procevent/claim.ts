/** Claims on process-event sources: one owner for each source on the whole machine. */

import { isAbsolute } from "@std/path";
import type { Environment } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { parsePid, type Pid } from "../../platform/pid.ts";
import { type LockTry, lockWithin } from "../lock.ts";
import { randomName, removeQuietly, replaceFile } from "../replace_file.ts";
import { parseSourceId, type SourceId } from "./source.ts";

/** Who owns a source. */
export interface Claim {
  readonly home: string;
  /** The runner, which leads the group of everything that it starts. */
  readonly runner: Pid;
  /** Names this generation. */
  readonly token: string;
  readonly runnerIdentity: string;
  /** Folder of the registration; empty in claims of older builds. */
  readonly folder: string;
  /** Identity of the registration; empty in claims of older builds. */
  readonly registration: string;
  /** `terminal`: the last result has come, and the registration is about to go. */
  readonly phase: "active" | "terminal";
}

/** What stands at a claim's place. */
export type ClaimReading =
  | { readonly kind: "none" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "claimed"; readonly claim: Claim };

/** Folder of all claims of this user, or `undefined` when no environment variable tells. */
export function claimRoot(environment: Environment): string | undefined {
  const root = environment.get("FM_PROCEVENT_CLAIM_ROOT");
  if (root !== undefined) return root;
  const home = environment.get("HOME");
  const states = environment.get("XDG_STATE_HOME") ??
    (home === undefined ? undefined : `${home}/.local/state`);
  return states === undefined ? undefined : `${states}/firstmate/procevent-claims`;
}

/** Makes the folder of claims; throws when it cannot be one. */
export function makeClaimRoot(root: string): void {
  if (!isAbsolute(root)) throw new Error(`the claim root ${root} is not an absolute path`);
  if (ownKind(root) === "link") throw new Error(`the claim root ${root} is a symbolic link`);
  Deno.mkdirSync(root, { recursive: true, mode: 0o700 });
  if (ownKind(root) !== "directory") throw new Error(`the claim root ${root} is not a directory`);
  Deno.chmodSync(root, 0o700);
}

function claimPath(root: string, id: SourceId): string {
  return `${root}/${id}.claim`;
}

/** Takes the lock that guards every change of a source. */
export async function lockSource(root: string, id: SourceId, limitMs: number): Promise<LockTry> {
  return await lockWithin(`${root}/${id}.lock`, limitMs);
}

/** Ids that are claimed by anybody, sorted. */
export function listClaims(root: string): readonly SourceId[] {
  try {
    return [...Deno.readDirSync(root)]
      .filter((entry) => entry.name.endsWith(".claim"))
      .map((entry) => parseSourceId(entry.name.slice(0, -".claim".length)))
      .filter((id) => id !== undefined)
      .toSorted();
  } catch {
    return [];
  }
}

/** Reads the claim on `id`. Never throws. */
export function readClaim(root: string, id: SourceId): ClaimReading {
  const path = claimPath(root, id);
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "none" };
  const content = kind === "file" ? readText(path) : undefined;
  if (content?.kind === "absent") return { kind: "none" };
  const claim = content?.kind === "text" ? parseClaim(content.text) : undefined;
  return claim === undefined ? { kind: "unreadable" } : { kind: "claimed", claim };
}

/** The claim in `text`, or `undefined` when anything in it is doubtful. */
export function parseClaim(text: string): Claim | undefined {
  const lines = text.replace(/\n$/, "").split("\n");
  const [home, pid = "", token = "", runnerIdentity] = lines;
  const [folder = "", registration = "", phase = "active"] = lines.slice(4);
  const runner = parsePid(pid);
  if (home === undefined || home === "" || runner === undefined || lines.length > 7) {
    return undefined;
  }
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(token)) return undefined;
  if (runnerIdentity === undefined || runnerIdentity === "") return undefined;
  if (folder !== "" && !isAbsolute(folder)) return undefined;
  if (phase !== "active" && phase !== "terminal") return undefined;
  return { home, runner, token, runnerIdentity, folder, registration, phase };
}

/** Text of a claim. */
export function formatClaim(claim: Claim): string {
  const { home, runner, token, runnerIdentity, folder, registration, phase } = claim;
  const lines = [home, String(runner), token, runnerIdentity, folder, registration, phase];
  return `${lines.join("\n")}\n`;
}

/** Writes the claim on `id`; the caller holds the source's lock. Throws what the system reports. */
export function writeClaim(root: string, id: SourceId, claim: Claim): void {
  replaceFile(claimPath(root, id), formatClaim(claim), {
    mode: 0o600,
    temporaryName: `${root}/.claim.${randomName()}`,
  });
}

/** Removes the claim on `id`; the caller holds the source's lock. */
export function removeClaim(root: string, id: SourceId): void {
  removeQuietly(claimPath(root, id));
}
