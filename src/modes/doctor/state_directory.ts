/** Checks of the state directory: what lies there, whose it is, and who may write to it. */

import { ownKind, type PathKind, targetKind } from "../../platform/path_kind.ts";
import { runProgram } from "../../platform/program.ts";
import { JOURNAL_NAME } from "../../state/journal.ts";
import { pasteable } from "../person_output.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/** What is known about a state directory without writing to it. */
export interface StateFacts {
  readonly path: string;
  /** Kind of the path, links followed. */
  readonly kind: PathKind;
  /** Kind of the path itself. */
  readonly ownKind: PathKind;
  /** Permission bits and owner; `undefined` when they cannot be read. */
  readonly mode: number | undefined;
  readonly owner: number | undefined;
  /** The user we are; `undefined` when the system does not say. */
  readonly user: number | undefined;
  readonly writable: "yes" | "no" | "unknown";
}

/** Observes the state directory at `path`. */
export async function observeState(path: string): Promise<StateFacts> {
  const info = statOf(path);
  return {
    path,
    kind: targetKind(path),
    ownKind: ownKind(path),
    mode: info?.mode ?? undefined,
    owner: info?.uid ?? undefined,
    user: await ownUser(),
    writable: await isWritable(path),
  };
}

function statOf(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The user id of this process: that of its own folder under `/proc`, else what `id` says. The
 * runtime's own answer would need a permission that nothing else does.
 */
async function ownUser(): Promise<number | undefined> {
  const uid = statOf(`/proc/${Deno.pid}`)?.uid;
  if (typeof uid === "number") return uid;
  const answer = await runProgram("id", ["-u"]);
  const text = answer.kind === "answered" ? new TextDecoder().decode(answer.stdout).trim() : "";
  return /^[0-9]+$/.test(text) ? Number(text) : undefined;
}

/** Asks the system, which also knows of groups, lists and read-only mounts. */
async function isWritable(path: string): Promise<StateFacts["writable"]> {
  const answer = await runProgram("test", ["-w", path]);
  if (answer.kind !== "answered") return "unknown";
  return answer.success ? "yes" : "no";
}

/** All checks of a state directory. The later ones need a directory to look at. */
export function checkState(facts: StateFacts): Check[] {
  const kind = checkKind(facts);
  if (facts.kind !== "directory") return [kind];
  return [kind, checkOwner(facts), checkAccess(facts)];
}

/** Whether a directory stands at the path. */
export function checkKind({ path, kind, ownKind }: StateFacts): Check {
  const id = "state-directory";
  switch (kind) {
    case "directory":
      return ok(id, ownKind === "link" ? `${path} (through a link)` : path);
    case "absent":
      return ownKind === "link"
        ? wrong(id, `${path} is a link that leads nowhere`, "remove it, then run: turnguard init")
        : wrong(id, `there is nothing at ${path}`, "make it with: turnguard init");
    case "unknown":
      return undetermined(id, `${path} may not be looked at`, "run this as its owner");
    case "file":
    case "link":
    case "other":
      return wrong(id, `${path} is no directory`, "move it away, then run: turnguard init");
  }
}

/** Whether the directory belongs to the user who runs this. */
export function checkOwner({ path, owner, user }: StateFacts): Check {
  const id = "state-owner";
  if (owner === undefined || user === undefined) {
    return undetermined(id, "the system does not tell who owns it, or who we are");
  }
  if (owner === user) return ok(id, "it belongs to this user");
  return wrong(
    id,
    `it belongs to user ${owner}, and this is user ${user}: hooks of the one cannot keep state ` +
      "of the other",
    `run this as user ${owner}, or give it away: chown -R ${user} ${pasteable(path)}`,
  );
}

const OTHERS_WRITE = 0o022;

/** Whether this user may write to the directory, and nobody else. */
export function checkAccess({ path, mode, writable }: StateFacts): Check {
  const id = "state-access";
  if (writable === "no") {
    return wrong(
      id,
      "it cannot be written: locks, records and the journal are lost",
      `chmod u+rwx ${pasteable(path)}, or look at how it is mounted`,
    );
  }
  if (mode === undefined) return undetermined(id, "the system does not tell its permission bits");
  if ((mode & OTHERS_WRITE) !== 0) {
    return wrong(
      id,
      `other users may write to it (mode ${octal(mode)}), and could forge a watcher`,
      `chmod go-w ${pasteable(path)}`,
    );
  }
  return writable === "yes"
    ? ok(id, `only this user writes to it (mode ${octal(mode)})`)
    : undetermined(id, `whether it can be written is unknown (mode ${octal(mode)})`);
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** Things under well-known names that are not what their readers expect. */
export function checkContents(state: string): Check {
  const id = "state-contents";
  const odd = [
    ...oddOne(state, JOURNAL_NAME, ["file"]),
    ...oddOne(state, `${JOURNAL_NAME}.1`, ["file"]),
    ...oddOne(state, ".last-watcher-beat", ["file"]),
    ...oddOne(state, ".watch.lock", ["link", "directory"]),
    ...oddOne(state, ".supervise-daemon.lock", ["link", "directory"]),
    ...oddOne(state, ".lock", ["file"]),
    ...oddOne(state, ".afk", ["file"]),
  ];
  if (odd.length === 0) return ok(id, "what stands under known names is what it should be");
  if (odd.every((one) => one.kind === "unknown")) {
    return undetermined(id, `closed to this user: ${odd.map((one) => one.name).join(", ")}`);
  }
  return wrong(
    id,
    `not what readers expect: ${odd.map(oddInWords).join(", ")}`,
    "find out who made them, then move them away",
  );
}

interface OddEntry {
  readonly name: string;
  readonly kind: Exclude<PathKind, "absent">;
}

function oddOne(state: string, name: string, expected: readonly PathKind[]): OddEntry[] {
  const kind = ownKind(`${state}/${name}`);
  return kind === "absent" || expected.includes(kind) ? [] : [{ name, kind }];
}

function oddInWords({ name, kind }: OddEntry): string {
  return `${name} is ${KIND_WORDS[kind]}`;
}

const KIND_WORDS: Readonly<Record<OddEntry["kind"], string>> = {
  file: "a plain file",
  directory: "a folder",
  link: "a link",
  other: "a special file",
  unknown: "closed to us",
};
