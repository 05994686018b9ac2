/** Checks of what harnesses were told to run: that it stands, can run, and did. */

import { join } from "@std/path";
import { PLUGIN_REGISTRATIONS } from "../../harness/plugins/table.ts";
import { decodeJson } from "../../harness/registration/json_text.ts";
import { ownGroups, type Registration } from "../../harness/registration/registration.ts";
import { type StandingHook, standingHooks } from "../../harness/registration/standing_hooks.ts";
import { REGISTRATIONS } from "../../harness/registration/table.ts";
import type { Home } from "../../observe/home.ts";
import type { Environment } from "../../platform/environment.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { type JournalEntry, readJournal } from "../../state/journal.ts";
import { placesOf } from "../install/hook_units.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";
import { trustOf } from "./trust.ts";

/** Where hooks are looked for. */
export interface RegistrationSources {
  readonly home: Home;
  readonly environment: Environment;
}

/** Seconds that a host must give a guard, whose own deadline is ten. */
const GUARD_SECONDS = 15;

/** Milliseconds in a minute, an hour and a day, for ages. */
const AGES = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1_000, "s"]] as const;

interface Found {
  readonly path: string;
  readonly hooks: readonly StandingHook[];
  readonly references: number;
}

/** All checks of registrations; one line that says so when there are none. */
export async function checkRegistrations(sources: RegistrationSources): Promise<readonly Check[]> {
  const journal = readJournal(sources.home.state);
  const checks = await Promise.all([
    ...REGISTRATIONS.map((registration) => checkHooks(registration, sources, journal)),
    ...PLUGIN_REGISTRATIONS.map(({ harness, files }) =>
      Promise.resolve(checkModules(harness, files, sources.home, journal))
    ),
  ]);
  const found = checks.flat();
  if (found.length > 0) return found;
  return [ok("hooks", "no harness is registered here; turnguard install registers one")];
}

async function checkHooks(
  registration: Registration,
  { home, environment }: RegistrationSources,
  journal: readonly JournalEntry[],
): Promise<readonly Check[]> {
  const { harness, shape = "groups" } = registration;
  const id = `hooks-${harness}`;
  const found: Found[] = [];
  for (const path of pathsOf(registration, home, environment)) {
    if (targetKind(path) !== "file") continue;
    const decoded = decodeJson(Deno.readFileSync(path));
    const read = decoded.kind === "text" ? standingHooks(decoded.text, shape) : decoded;
    if (read.kind === "refused") {
      const { line, column } = read.at;
      return [
        wrong(id, `${path}:${line}:${column} ${read.because}`, "mend it; its hooks do not run"),
      ];
    }
    found.push({ path, hooks: read.own, references: read.references.length });
  }
  const hooks = found.flatMap((file) => file.hooks);
  if (hooks.length === 0) return [];
  const faults = [
    ...doubles(id, harness, found),
    ...hooks.flatMap((hook) => faultsOf(id, hook, registration)),
  ];
  if (faults.length > 0) return faults;
  return [await lastRun(id, harness, hooks, { home, environment }, journal)];
}

/** The files of the home and of the user; a harness runs the hooks of both. */
function pathsOf(
  registration: Registration,
  { root }: Home,
  environment: Environment,
): readonly string[] {
  return [false, true].flatMap((isForUser) => {
    const places = placesOf(registration, { root, isForUser, environment });
    return places.kind === "none" ? [] : places.places.map(({ base, name }) => join(base, name));
  });
}

function doubles(id: string, harness: string, found: readonly Found[]): readonly Check[] {
  const seen = new Map<string, string>();
  for (const { path, hooks, references } of found) {
    for (const { event, token } of hooks) {
      const key = `${event} ${token}`;
      const before = seen.get(key);
      if (before !== undefined) {
        const where = before === path ? `twice in ${path}` : `in ${before} and in ${path}`;
        return [
          wrong(
            id,
            `${token} is registered ${where}: it runs twice`,
            advice(harness, before, path),
          ),
        ];
      }
      seen.set(key, path);
    }
    if (references > 0 && hooks.some(({ token }) => token !== "turnguard:record")) {
      return [
        wrong(
          id,
          `${path} also runs a guard of the shell suite: every block comes twice`,
          `turnguard uninstall ${harness}, or turnguard install ${harness} --replace-shell`,
        ),
      ];
    }
  }
  return [];
}

function advice(harness: string, before: string, path: string): string {
  return before === path
    ? `take one of them out of ${path}`
    : `turnguard uninstall ${harness} --user, or without --user`;
}

function faultsOf(
  id: string,
  { event, token, executable, timeout, at }: StandingHook,
  registration: Registration,
): readonly Check[] {
  const again = `turnguard install ${registration.harness}`;
  const where = `${event} (line ${at.line})`;
  if (executable === undefined) {
    return [wrong(id, `${where}: ${token} is not quoted as it was written`, again)];
  }
  if (targetKind(executable) !== "file") {
    return [wrong(id, `${where}: ${token} starts ${executable}, which is not there`, again)];
  }
  const wanted = timeoutOf(registration, token);
  if (timeout !== undefined && timeout < wanted) {
    return [
      wrong(id, `${where}: the host ends ${token} after ${timeout} s; it needs ${wanted}`, again),
    ];
  }
  return [];
}

/** Seconds that a hook is registered with, or that a guard needs in any case. */
function timeoutOf({ template, extras = [] }: Registration, token: string): number {
  const paths = { executable: "/", root: "/" };
  const entries = [template, ...extras.map((each) => each.template)]
    .flatMap((each) => ownGroups({ template: each }, paths)).flatMap((group) => group.entries);
  const timeout = entries.find((entry) => entry.token === token)?.entry["timeout"];
  if (typeof timeout === "number") return timeout;
  return /stop|guard|grok/.test(token) ? GUARD_SECONDS : 0;
}

/** When the hooks last really ran, which is the only proof that they do. */
async function lastRun(
  id: string,
  harness: string,
  hooks: readonly StandingHook[],
  sources: RegistrationSources,
  journal: readonly JournalEntry[],
): Promise<Check> {
  const what = `${hooks.length} hook(s) stand`;
  const last = journal.findLast((entry) => entry.harness === harness);
  if (last !== undefined) {
    return ok(id, `${what}; ${last.mode} last ran ${ageOf(last.time)} ago (${last.verdict})`);
  }
  const trust = await trustOf(harness, sources);
  return undetermined(
    id,
    `${what}; none was ever seen to run here${trust.known === "" ? "" : `; ${trust.known}`}`,
    `${trust.todo}, end a turn there, and look again`,
  );
}

function ageOf(time: string): string {
  const age = Math.max(0, Date.now() - Date.parse(time));
  const [unit, name] = AGES.find(([length]) => age >= length) ?? [1_000, "s"];
  return `${Math.floor(age / unit)} ${name}`;
}

function checkModules(
  harness: string,
  files: readonly { readonly path: string; readonly token: string; text(path: string): string }[],
  { root }: Home,
  journal: readonly JournalEntry[],
): readonly Check[] {
  const id = `hooks-${harness}`;
  const standing = files.flatMap((file) => {
    const path = join(root, file.path);
    if (targetKind(path) !== "file") return [];
    const text = Deno.readTextFileSync(path);
    return text.split("\n", 1)[0]?.includes(file.token) === true ? [{ file, path, text }] : [];
  });
  if (standing.length === 0) return [];
  for (const { file, path, text } of standing) {
    const named = /^const TURNGUARD = (".*");$/m.exec(text)?.[1];
    const executable: unknown = named === undefined ? undefined : JSON.parse(named);
    const again = `turnguard install ${harness}`;
    if (typeof executable !== "string" || text !== file.text(executable)) {
      return [wrong(id, `${path} is not as this build writes it`, again)];
    }
    if (targetKind(executable) !== "file") {
      return [wrong(id, `${path} starts ${executable}, which is not there`, again)];
    }
  }
  const what = `${standing.length} module(s) stand`;
  const last = journal.findLast((entry) => entry.harness === harness);
  return [
    last === undefined
      ? undetermined(
        id,
        `${what}; none was ever seen to run here`,
        "start a session there, end a turn, and look again",
      )
      : ok(id, `${what}; ${last.mode} last ran ${ageOf(last.time)} ago (${last.verdict})`),
  ];
}
