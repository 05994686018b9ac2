/**
 * `.watch-cycle-links/`: claims of arms to be the successor of one that has closed.
 *
 * An arm writes its claim without waiting for the ledger; whoever writes the ledger next enters it.
 */

import { readText } from "../platform/file_text.ts";
import { removeQuietly, replaceFile } from "./replace_file.ts";

/** A claim. */
export interface LinkClaim {
  readonly predecessor: number;
  readonly predecessorIdentity: string;
  /** `started:<pid>` or `attached:<pid>`. */
  readonly successor: string;
  /** Seconds since the epoch. */
  readonly claimedAt: number;
}

/** A claim as it was found. */
export interface FoundClaim extends LinkClaim {
  /** Name of its file. */
  readonly name: string;
}

/** What lies in the folder. A file that cannot be read belongs to neither list. */
export interface FoundClaims {
  readonly claims: readonly FoundClaim[];
  /** Names of files that hold no claim. */
  readonly malformed: readonly string[];
}

const FOLDER_NAME = ".watch-cycle-links";
const SUFFIX = ".claim";

/** Writes the claim of the arm `armPid`. Throws what the operating system reports. */
export function writeLinkClaim(state: string, armPid: number, claim: LinkClaim): void {
  const folder = `${state}/${FOLDER_NAME}`;
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(`${folder}/${armPid}${SUFFIX}`, `${formatLinkClaim(claim)}\n`, { mode: 0o600 });
}

/** The claims of a state directory; none when there is no folder of them. */
export function readLinkClaims(state: string): FoundClaims {
  const claims: FoundClaim[] = [];
  const malformed: string[] = [];
  for (const name of claimNames(`${state}/${FOLDER_NAME}`)) {
    const content = readText(`${state}/${FOLDER_NAME}/${name}`);
    if (content.kind !== "text") continue;
    const claim = parseLinkClaim(content.text);
    if (claim === undefined) malformed.push(name);
    else claims.push({ ...claim, name });
  }
  return { claims, malformed };
}

/** Removes claims by the names of their files. */
export function removeLinkClaims(state: string, names: readonly string[]): void {
  for (const name of names) removeQuietly(`${state}/${FOLDER_NAME}/${name}`);
}

/** The claim's line, without a newline. */
export function formatLinkClaim(claim: LinkClaim): string {
  return [
    `predecessor=${claim.predecessor}`,
    `predecessor_identity=${claim.predecessorIdentity}`,
    `successor=${claim.successor}`,
    `claimed_at=${claim.claimedAt}`,
  ].join("\t");
}

/** The claim in a file's text. */
export function parseLinkClaim(text: string): LinkClaim | undefined {
  const found =
    /^predecessor=([1-9][0-9]{0,9})\tpredecessor_identity=([^\t\n]+)\tsuccessor=((?:started|attached):[1-9][0-9]{0,9})\tclaimed_at=([0-9]{1,12})\n?$/
      .exec(text);
  const [, predecessor, predecessorIdentity, successor, claimedAt] = found ?? [];
  if (predecessorIdentity === undefined || successor === undefined) return undefined;
  return {
    predecessor: Number(predecessor),
    predecessorIdentity,
    successor,
    claimedAt: Number(claimedAt),
  };
}

function claimNames(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map((entry) => entry.name)
      .filter((name) => name.endsWith(SUFFIX));
  } catch {
    return [];
  }
}
