/** A deadman as a timer of the user's own systemd. */

import { type Backend, failed, type Job, type Outcome, type Standing } from "./backend.ts";
import { failureOf, type Programs } from "./programs.ts";
import { type Files, firstDifferent, present, removeFiles, writeFiles } from "./unit_files.ts";

/** Seconds until the first sample after the timer was started. */
const FIRST_SECONDS = 60;

/** Seconds by which systemd may shift a sample to wake the machine less often. */
const ACCURACY_SECONDS = 15;

/** Where unit files lie, and who may keep the timer running without a session. */
export interface SystemdPlaces {
  /** `${XDG_CONFIG_HOME:-~/.config}/systemd/user`. */
  readonly folder: string;
  /** Whether the user's services run while nobody is logged in. */
  readonly lingers: () => boolean;
}

/** The backend. */
export function systemdBackend(programs: Programs, { folder, lingers }: SystemdPlaces): Backend {
  const systemctl = async (...args: readonly string[]): Promise<string | undefined> =>
    failureOf(`systemctl --user ${args[0]}`, await programs.run("systemctl", ["--user", ...args]));
  return {
    name: "systemd",
    // Asked for something that every manager has: its state may be "degraded" for other reasons.
    unavailable: async () => await systemctl("show", "--property=Version"),
    preview: (job) =>
      Object.entries(unitFiles(folder, job)).flatMap((
        [path, text],
      ) => [`# ${path}`, ...text.split("\n")]),
    add: async (job) => await add(job, folder, systemctl, lingers),
    remove: async (id) => await remove(id, folder, systemctl),
    look: async (job) => await look(job, folder, systemctl),
  };
}

type Systemctl = (...args: readonly string[]) => Promise<string | undefined>;

async function add(
  job: Job,
  folder: string,
  systemctl: Systemctl,
  lingers: () => boolean,
): Promise<Outcome> {
  const timer = timerName(job.id);
  const standing = await look(job, folder, systemctl);
  if (standing.kind === "registered") {
    return { kind: "unchanged", report: [`${timer} runs already`] };
  }
  const files = unitFiles(folder, job);
  const isNew = present(Object.keys(files)).length === 0;
  const fault = writeFiles(files).because ?? await systemctl("daemon-reload") ??
    await systemctl("enable", timer) ?? await systemctl("restart", timer);
  if (fault !== undefined) {
    // An earlier job stays as it was found as far as it can; a new one leaves nothing behind.
    if (isNew) await remove(job.id, folder, systemctl);
    return failed(fault);
  }
  return {
    kind: "done",
    report: [
      `${timer} runs every ${job.intervalSeconds} s:`,
      ...Object.keys(files).map((path) => `  ${path}`),
      ...(lingers() ? [] : [
        "It stops when you log out, unless you allow it to stay: loginctl enable-linger",
      ]),
    ],
  };
}

async function remove(id: string, folder: string, systemctl: Systemctl): Promise<Outcome> {
  const timer = timerName(id);
  const paths = [`${folder}/${timer}`, `${folder}/${serviceName(id)}`];
  const found = present(paths);
  if (found.length === 0) return { kind: "unchanged", report: [] };
  // Without its manager the timer does not run either; what would start it again are its files.
  const stopped = await systemctl("disable", "--now", timer);
  const fault = removeFiles(paths) ??
    removeFiles([`${folder}/timers.target.wants/${timer}`]);
  if (fault !== undefined) return failed(fault);
  await systemctl("daemon-reload");
  await systemctl("reset-failed", serviceName(id));
  return {
    kind: "done",
    report: [
      `${timer} was ${stopped === undefined ? "stopped and " : ""}removed:`,
      ...found.map((path) => `  ${path}`),
      ...(stopped === undefined ? [] : [`It could not be asked to stop: ${stopped}`]),
    ],
  };
}

async function look(job: Job, folder: string, systemctl: Systemctl): Promise<Standing> {
  const files = unitFiles(folder, job);
  if (present(Object.keys(files)).length === 0) return { kind: "missing" };
  const different = firstDifferent(files);
  if (different !== undefined) {
    return { kind: "differs", because: `${different} is not what would be written` };
  }
  const enabled = await systemctl("is-enabled", "--quiet", timerName(job.id)) ??
    await systemctl("is-active", "--quiet", timerName(job.id));
  if (enabled === undefined) return { kind: "registered" };
  const answers = await systemctl("show", "--property=Version") === undefined;
  return answers
    ? { kind: "differs", because: `${timerName(job.id)} is not running` }
    : { kind: "unknown", because: enabled };
}

function timerName(id: string): string {
  return `turnguard-deadman-${id}.timer`;
}

function serviceName(id: string): string {
  return `turnguard-deadman-${id}.service`;
}

/** The two unit files of a job, by their path. */
export function unitFiles(folder: string, job: Job): Files {
  const description = `Description=turnguard deadman of ${escapePercent(job.home)} (looks only)`;
  return {
    [`${folder}/${serviceName(job.id)}`]: [
      "[Unit]",
      description,
      "",
      "[Service]",
      "Type=oneshot",
      "WorkingDirectory=/",
      `ExecStart=${commandLine(job.words)}`,
      "TimeoutStartSec=120",
      "",
    ].join("\n"),
    [`${folder}/${timerName(job.id)}`]: [
      "[Unit]",
      description,
      "",
      "[Timer]",
      `OnActiveSec=${FIRST_SECONDS}`,
      `OnUnitActiveSec=${job.intervalSeconds}`,
      `AccuracySec=${ACCURACY_SECONDS}`,
      "",
      "[Install]",
      "WantedBy=timers.target",
      "",
    ].join("\n"),
  };
}

/** Words that run the words after them, by a program of a plain name. */
const THROUGH_SHELL = ["/bin/sh", "-c", 'exec "$0" "$@"'] as const;

/**
 * The words for `ExecStart`. The first is the program and not searched for variables, so a dollar in
 * it stands for itself; with a quote or a backslash in it systemd does not take it at all.
 */
function commandLine(words: Job["words"]): string {
  const [program, ...args] = /["'\\]/.test(words[0])
    ? [...THROUGH_SHELL, ...words] as const
    : words;
  return [quoted(program), ...args.map(quotedArgument)].join(" ");
}

/** A word in which systemd replaces variables. */
function quotedArgument(text: string): string {
  return quoted(text).replaceAll("$", "$$$$");
}

function quoted(text: string): string {
  return `"${escapePercent(text).replaceAll(/["\\]/g, "\\$&")}"`;
}

function escapePercent(text: string): string {
  return text.replaceAll("%", "%%");
}
