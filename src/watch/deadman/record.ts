/** The record of a deadman, outside of the home: how it was installed, and what it remembers. */

import { dirname, isAbsolute } from "@std/path";
import { type Attempt, type DeadmanMemory, NO_MEMORY, type Sample } from "../../decide/deadman.ts";
import { type Environment, environmentOf } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";
import { hashBytes } from "../../state/journal.ts";
import { replaceFile } from "../../state/replace_file.ts";

/** Which scheduler takes the samples; `none` is one that the operator runs. */
export const BACKEND_NAMES = ["systemd", "launchd", "cron", "none"] as const;

/** A scheduler by name. */
export type BackendName = (typeof BACKEND_NAMES)[number];

/** The record as it is written, one JSON object. */
export interface DeadmanRecord {
  readonly format: 1;
  readonly root: string;
  readonly home: string;
  readonly backend: BackendName;
  readonly executable: string;
  readonly intervalSeconds: number;
  readonly cooldownSeconds: number;
  readonly bootGraceSeconds: number;
  /** The command that is told of an alarm: an absolute path and its arguments. */
  readonly notify: readonly [string, ...string[]];
  /** The variables of {@link SETTINGS} that were set when it was installed. */
  readonly settings: Readonly<Record<string, string>>;
  readonly memory: DeadmanMemory;
}

/** A record as it was found. */
export type RecordReading =
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly because: string }
  | { readonly kind: "record"; readonly record: DeadmanRecord };

/**
 * The variables that decide which home is meant and how it is judged.
 *
 * A scheduler starts programs with an environment of its own, in which the same home would be judged
 * differently from a session: what counts is what was set at installation.
 */
const SETTINGS = [
  "FM_ROOT_OVERRIDE",
  "FM_HOME",
  "FM_STATE_OVERRIDE",
  "FM_CONFIG_OVERRIDE",
  "FM_GUARD_GRACE",
  "FM_POLL",
  "FM_PROC_ROOT_OVERRIDE",
  "TURNGUARD_WATCH_PATH",
  "TZ",
] as const;

/** Permissions of the record: its command may carry an address or a token. */
const RECORD_MODE = 0o600;
const FOLDER_MODE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;

/** The values of {@link SETTINGS} that are set. */
export function currentSettings(environment: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(SETTINGS.flatMap((name) => {
    const value = environment.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** `environment` with {@link SETTINGS} as they were recorded, unset where they were. */
export function recordedEnvironment(
  environment: Environment,
  settings: Readonly<Record<string, string>>,
): Environment {
  const recorded = environmentOf(settings);
  const names: readonly string[] = SETTINGS;
  return { get: (name) => (names.includes(name) ? recorded : environment).get(name) };
}

/** The name of a home in file names and schedules: 16 hex digits. */
export async function homeId(home: string): Promise<string> {
  return await hashBytes(new TextEncoder().encode(home));
}

/**
 * Where the record of a home lies, `${XDG_STATE_HOME:-~/.local/state}/turnguard/deadman/<id>.json`;
 * `undefined` when neither variable names an absolute folder.
 */
export function recordPath(environment: Environment, id: string): string | undefined {
  const home = absolute(environment.get("HOME"));
  const folder = absolute(environment.get("XDG_STATE_HOME")) ??
    (home === undefined ? undefined : `${home}/.local/state`);
  return folder === undefined ? undefined : `${folder}/turnguard/deadman/${id}.json`;
}

/** The lock that keeps two samples of one home, and a change of its record, apart. */
export function lockPath(path: string): string {
  return `${path}.lock`;
}

/** A variable that should name a folder; a relative one means another folder for each caller. */
function absolute(path: string | undefined): string | undefined {
  return path === undefined || !isAbsolute(path) ? undefined : path.replace(/(?<=.)\/+$/, "");
}

/** Makes the folder of a record, closed to others. Throws what the operating system reports. */
export function makeRecordFolder(path: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
}

/** Writes a record whole. Throws what the operating system reports, with the old one untouched. */
export function writeRecord(path: string, record: DeadmanRecord): void {
  replaceFile(path, `${JSON.stringify(record, null, 2)}\n`, { mode: RECORD_MODE });
}

/**
 * Reads a record. One that others may write is `unreadable`, since it names a program to start;
 * a memory that makes no sense is forgotten.
 */
export function readRecord(path: string): RecordReading {
  const found = readText(path);
  if (found.kind !== "text") return found;
  if (isWritableByOthers(path)) {
    return { kind: "unreadable", because: "others may write it, and it names a program to start" };
  }
  const record = parseRecord(found.text);
  return record === undefined
    ? { kind: "unreadable", because: "it is not what turnguard deadman install wrote" }
    : { kind: "record", record };
}

function isWritableByOthers(path: string): boolean {
  try {
    return ((Deno.statSync(path).mode ?? 0) & WRITABLE_BY_OTHERS) !== 0;
  } catch {
    return false;
  }
}

/** The record in `text`, or `undefined` when it is none. */
export function parseRecord(text: string): DeadmanRecord | undefined {
  const fields = fieldsOf(parseJson(text));
  if (fields?.["format"] !== 1) return undefined;
  const { root, home, executable } = fields;
  const backend = BACKEND_NAMES.find((name) => name === fields["backend"]);
  const intervalSeconds = whole(fields["intervalSeconds"]);
  const cooldownSeconds = whole(fields["cooldownSeconds"]);
  const bootGraceSeconds = whole(fields["bootGraceSeconds"]);
  const [command, ...args] = texts(fields["notify"]) ?? [];
  const settings = textsByName(fields["settings"]);
  if (
    typeof root !== "string" || typeof home !== "string" || typeof executable !== "string" ||
    backend === undefined || intervalSeconds === null || intervalSeconds === 0 ||
    cooldownSeconds === null || bootGraceSeconds === null || command === undefined ||
    !isAbsolute(command) || settings === undefined
  ) return undefined;
  return {
    format: 1,
    root,
    home,
    backend,
    executable,
    intervalSeconds,
    cooldownSeconds,
    bootGraceSeconds,
    notify: [command, ...args],
    settings,
    memory: parseMemory(fields["memory"]),
  };
}

function parseMemory(value: unknown): DeadmanMemory {
  const fields = fieldsOf(value);
  const streak = whole(fields?.["streak"]);
  if (fields === undefined || streak === null) return NO_MEMORY;
  return {
    sample: parseSample(fields["sample"]),
    streak,
    streakSinceSeconds: whole(fields["streakSinceSeconds"]),
    countedAtSeconds: whole(fields["countedAtSeconds"]),
    toldAtSeconds: whole(fields["toldAtSeconds"]),
    attempt: parseAttempt(fields["attempt"]),
  };
}

const SAMPLE_KINDS = ["healthy", "unhealthy", "unknown", "grace"] as const;

function parseSample(value: unknown): Sample | null {
  const { because, ...fields } = fieldsOf(value) ?? {};
  const kind = SAMPLE_KINDS.find((name) => name === fields["kind"]);
  const atSeconds = whole(fields["atSeconds"]);
  if (kind === undefined || atSeconds === null || typeof because !== "string") return null;
  return { kind, because, atSeconds };
}

const OUTCOMES = ["started", "told", "failed"] as const;

function parseAttempt(value: unknown): Attempt | null {
  const { because, ...fields } = fieldsOf(value) ?? {};
  const outcome = OUTCOMES.find((name) => name === fields["outcome"]);
  const atSeconds = whole(fields["atSeconds"]);
  if (outcome === undefined || atSeconds === null || typeof because !== "string") return null;
  return { atSeconds, outcome, because };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

/** A whole number that is not negative; `null` for anything else. */
function whole(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function texts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const found = items.filter((item) => typeof item === "string");
  return found.length === items.length ? found : undefined;
}

function textsByName(value: unknown): Readonly<Record<string, string>> | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined) return undefined;
  const entries = Object.entries(fields)
    .flatMap(([name, text]) => typeof text === "string" ? [[name, text] as const] : []);
  return entries.length === Object.keys(fields).length ? Object.fromEntries(entries) : undefined;
}
