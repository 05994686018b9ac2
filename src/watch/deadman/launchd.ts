/** A deadman as an agent of launchd. */

import { type Backend, failed, type Job, type Outcome, type Standing } from "./backend.ts";
import { failureOf, type Programs } from "./programs.ts";
import { type Files, firstDifferent, present, removeFiles, writeFiles } from "./unit_files.ts";

/** Where agents lie, and in whose session they run. */
export interface LaunchdPlaces {
  /** `~/Library/LaunchAgents`. */
  readonly folder: string;
  /** Name of the operating system as the runtime gives it. */
  readonly system: string;
  /** The user whose session it is; `undefined` when it cannot be told. */
  readonly userId: number | undefined;
}

/** The backend. */
export function launchdBackend(programs: Programs, places: LaunchdPlaces): Backend {
  const { folder, system, userId } = places;
  const launchctl = async (...args: readonly string[]): Promise<string | undefined> =>
    failureOf(`launchctl ${args[0]}`, await programs.run("launchctl", args));
  const domain = `gui/${userId ?? ""}`;
  return {
    name: "launchd",
    unavailable: () =>
      Promise.resolve(
        system !== "darwin"
          ? "this is not macOS"
          : !programs.has("launchctl")
          ? "there is no /bin/launchctl"
          : userId === undefined
          ? "the user's id cannot be told"
          : undefined,
      ),
    preview: (job) =>
      Object.entries(agentFiles(folder, job)).flatMap((
        [path, text],
      ) => [`# ${path}`, ...text.split("\n")]),
    add: async (job) => await add(job, folder, domain, launchctl),
    remove: async (id) => await remove(id, folder, domain, launchctl),
    look: async (job) => await look(job, folder, domain, launchctl),
  };
}

type Launchctl = (...args: readonly string[]) => Promise<string | undefined>;

async function add(
  job: Job,
  folder: string,
  domain: string,
  launchctl: Launchctl,
): Promise<Outcome> {
  const name = label(job.id);
  if ((await look(job, folder, domain, launchctl)).kind === "registered") {
    return { kind: "unchanged", report: [`${name} runs already`] };
  }
  const files = agentFiles(folder, job);
  const isNew = present(Object.keys(files)).length === 0;
  const [path = ""] = Object.keys(files);
  const unwritten = writeFiles(files).because;
  // An agent that is loaded keeps its old schedule until it is loaded anew.
  await launchctl("bootout", `${domain}/${name}`);
  const fault = unwritten ?? await launchctl("bootstrap", domain, path);
  if (fault !== undefined) {
    if (isNew) removeFiles([path]);
    return failed(fault);
  }
  return { kind: "done", report: [`${name} runs every ${job.intervalSeconds} s:`, `  ${path}`] };
}

async function remove(
  id: string,
  folder: string,
  domain: string,
  launchctl: Launchctl,
): Promise<Outcome> {
  const path = agentPath(folder, id);
  if (present([path]).length === 0) return { kind: "unchanged", report: [] };
  const stopped = await launchctl("bootout", `${domain}/${label(id)}`);
  const fault = removeFiles([path]);
  if (fault !== undefined) return failed(fault);
  return {
    kind: "done",
    report: [
      `${label(id)} was removed:`,
      `  ${path}`,
      ...(stopped === undefined ? [] : [`It could not be asked to stop: ${stopped}`]),
    ],
  };
}

async function look(
  job: Job,
  folder: string,
  domain: string,
  launchctl: Launchctl,
): Promise<Standing> {
  const files = agentFiles(folder, job);
  if (present(Object.keys(files)).length === 0) return { kind: "missing" };
  const different = firstDifferent(files);
  if (different !== undefined) {
    return { kind: "differs", because: `${different} is not what would be written` };
  }
  const loaded = await launchctl("print", `${domain}/${label(job.id)}`);
  return loaded === undefined
    ? { kind: "registered" }
    : { kind: "differs", because: `${label(job.id)} is not loaded` };
}

function label(id: string): string {
  return `turnguard.deadman.${id}`;
}

function agentPath(folder: string, id: string): string {
  return `${folder}/${label(id)}.plist`;
}

/** The property list of a job, by its path. */
export function agentFiles(folder: string, job: Job): Files {
  return {
    [agentPath(folder, job.id)]: [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ' +
      '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
      '<plist version="1.0">',
      "<dict>",
      "  <key>Label</key>",
      `  <string>${escapeXml(label(job.id))}</string>`,
      "  <key>ProgramArguments</key>",
      "  <array>",
      ...job.words.map((word) => `    <string>${escapeXml(word)}</string>`),
      "  </array>",
      "  <key>WorkingDirectory</key>",
      "  <string>/</string>",
      "  <key>StartInterval</key>",
      `  <integer>${job.intervalSeconds}</integer>`,
      "  <key>ProcessType</key>",
      "  <string>Background</string>",
      "</dict>",
      "</plist>",
      "",
    ].join("\n"),
  };
}

const XML_ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => XML_ENTITIES[character] ?? character);
}
