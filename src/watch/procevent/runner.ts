/** The runner of a process-event source: claims it, waits for its command, captures the result. */

import { leadsOwnGroup } from "../../platform/process_group.ts";
import { numberSetting } from "../../decide/number.ts";
import { ownPid, systemProcesses } from "../../platform/processes.ts";
import {
  type Claim,
  lockSource,
  readClaim,
  removeClaim,
  writeClaim,
} from "../../state/procevent/claim.ts";
import { captureResult, markHandled, type Result } from "../../state/procevent/inbox.ts";
import {
  readSource,
  removeSource,
  runnerPath,
  type Source,
  type SourceId,
  stagingPath,
} from "../../state/procevent/source.ts";
import { randomName, removeQuietly, replaceFile } from "../../state/replace_file.ts";
import { isAutohandled, isSelfAnnouncing, isTerminal } from "./adapter.ts";
import { clearGeneration, ownership } from "./generation.ts";
import { publishResult } from "./publish.ts";
import { heldSource, LOCK_LIMIT_MS, SourceError, type SourceSetup } from "./setup.ts";
import { runSource } from "./source_command.ts";

/** How a run of a source ended. */
export type RunnerEnd =
  | { readonly kind: "already-owned" }
  /** The command failed and printed nothing; the registration stays. */
  | { readonly kind: "no-result"; readonly status: number }
  | { readonly kind: "captured"; readonly result: Result; readonly truncatedAt: number | undefined }
  | { readonly kind: "stopped" };

/** Bytes of output that are kept unless `FM_PROCEVENT_MAX_OUTPUT_BYTES` says otherwise. */
const DEFAULT_OUTPUT_BYTES = 1_048_576;

/**
 * Runs a source once, from its claim to its release.
 *
 * Throws a {@link SourceError} for what the caller should know: it leads no group, there is no such
 * source, a malformed limit, no claim possible.
 */
export async function runSourceOnce(
  setup: SourceSetup,
  id: SourceId,
  stop: Promise<unknown>,
): Promise<RunnerEnd> {
  if (!leadsOwnGroup()) throw new SourceError("a runner must lead its own process group");
  const limitBytes = outputLimit(setup);
  const claimed = await claimSource(setup, id);
  if (claimed === undefined) return { kind: "already-owned" };
  let end: RunnerEnd | undefined;
  try {
    end = await collect(setup, id, claimed, limitBytes, stop);
    return end;
  } finally {
    await release(setup, id, claimed.claim, end?.kind === "stopped");
  }
}

function outputLimit({ environment }: SourceSetup): number {
  const text = environment.get("FM_PROCEVENT_MAX_OUTPUT_BYTES");
  const setting = numberSetting(text, "digits", DEFAULT_OUTPUT_BYTES);
  if (setting.kind !== "malformed") return setting.value;
  throw new SourceError("FM_PROCEVENT_MAX_OUTPUT_BYTES must be a whole number");
}

interface Claimed {
  readonly claim: Claim;
  readonly source: Source;
}

async function claimSource(setup: SourceSetup, id: SourceId): Promise<Claimed | undefined> {
  const own = await systemProcesses(setup.environment).identity(ownPid());
  if (own.kind === "unknown") {
    throw new SourceError(`this process cannot be identified: ${own.because}`);
  }
  using _held = await heldSource(setup, id);
  const found = readSource(setup.home.state, id);
  if (found.kind === "absent") throw new SourceError(`not registered: ${id}`);
  if (found.kind === "unreadable") throw new SourceError(`${id} cannot be read: ${found.because}`);
  const owner = await ownership(setup, id);
  if (owner.kind === "dead" && owner.claim.phase === "active") {
    clearGeneration(setup, id, owner.claim);
  } else if (owner.kind !== "free") return undefined;
  const claim: Claim = {
    home: setup.home.home,
    runner: ownPid(),
    token: randomName(12),
    runnerIdentity: own.identity,
    folder: setup.folder,
    registration: found.identity,
    phase: "active",
  };
  writeClaim(setup.claims, id, claim);
  replaceFile(runnerPath(setup.folder, id), `${claim.runner}\n`, { mode: 0o600 });
  return { claim, source: found.source };
}

async function collect(
  setup: SourceSetup,
  id: SourceId,
  { claim, source }: Claimed,
  limitBytes: number,
  stop: Promise<unknown>,
): Promise<RunnerEnd> {
  const staging = stagingPath(setup.folder, id, claim.token);
  const end = await runSource(source.argv, staging, limitBytes, stop);
  if (end.kind === "stopped") return end;
  if (end.status !== 0 && end.bytes === 0) return { kind: "no-result", status: end.status };
  const result = await capture(setup, id, source, staging);
  await announce(setup, claim, result);
  return { kind: "captured", result, truncatedAt: end.truncated ? end.bytes : undefined };
}

async function capture(
  setup: SourceSetup,
  id: SourceId,
  source: Source,
  staging: string,
): Promise<Result> {
  using _held = await heldSource(setup, id);
  return captureResult(setup.home.state, id, source.adapter, staging);
}

/** Nothing before this mentions the result: it is complete on disk by now. */
async function announce(setup: SourceSetup, claim: Claim, result: Result): Promise<void> {
  const selfAnnouncing = await isSelfAnnouncing(setup, result.adapter);
  if (selfAnnouncing) await autohandle(setup, result);
  await publishResult(setup, result);
  if (await isTerminal(setup, result)) await retireRegistration(setup, claim, result.id);
  if (!selfAnnouncing) await autohandle(setup, result);
}

async function autohandle(setup: SourceSetup, result: Result): Promise<void> {
  if (!await isAutohandled(setup, result)) return;
  using _held = await heldSource(setup, result.id);
  markHandled(setup.home.state, result);
}

/** The claim says first what is about to happen, so that a retirement cut short is finished later. */
async function retireRegistration(
  setup: SourceSetup,
  claim: Claim,
  id: SourceId,
): Promise<void> {
  using _held = await heldSource(setup, id);
  writeClaim(setup.claims, id, { ...claim, phase: "terminal" });
  removeSource(setup.home.state, id, claim.registration);
}

/** Milliseconds that a stopped runner waits for the lock, which whoever stops it may well hold. */
const STOPPED_LOCK_LIMIT_MS = 200;

async function release(
  setup: SourceSetup,
  id: SourceId,
  claim: Claim,
  stopped: boolean,
): Promise<void> {
  removeQuietly(stagingPath(setup.folder, id, claim.token));
  const attempt = await lockSource(
    setup.claims,
    id,
    stopped ? STOPPED_LOCK_LIMIT_MS : LOCK_LIMIT_MS,
  );
  // Without the lock the claim stays; it names a generation that is gone, and the next one clears it.
  if (attempt.kind === "refused") return;
  using _held = attempt.lock;
  const now = readClaim(setup.claims, id);
  // Whoever displaced this generation owns the claim by now.
  if (now.kind !== "claimed" || now.claim.token !== claim.token) return;
  removeQuietly(runnerPath(setup.folder, id));
  removeClaim(setup.claims, id);
}
