/** A deadman as a line of the user's crontab. */

import { type Backend, failed, type Job, type Outcome, type Standing } from "./backend.ts";
import { cronLines, linesFor, withLines, withoutLines } from "./crontab_text.ts";
import { failureOf, type Programs } from "./programs.ts";

/** What `crontab -l` says where there is none yet; other failures must not pass for that. */
const NO_CRONTAB = /no crontab|no such file/i;

/** The backend. */
export function cronBackend(programs: Programs): Backend {
  return {
    name: "cron",
    unavailable: async (job) => {
      if (!programs.has("crontab")) return "there is no crontab program";
      const lines = cronLines(job);
      if (lines.kind === "refused") return lines.because;
      const crontab = await read(programs);
      return crontab.kind === "failed" ? crontab.because : undefined;
    },
    preview: (job) => {
      const lines = cronLines(job);
      return lines.kind === "refused" ? [lines.because] : ["# crontab, at its end", ...lines.lines];
    },
    add: async (job) => await add(job, programs),
    remove: async (id) => await remove(id, programs),
    look: async (job) => await look(job, programs),
  };
}

async function add(job: Job, programs: Programs): Promise<Outcome> {
  const rendered = cronLines(job);
  if (rendered.kind === "refused") return failed(rendered.because);
  const crontab = await read(programs);
  if (crontab.kind === "failed") return crontab;
  const { lines } = rendered;
  if (isSame(linesFor(crontab.bytes, job.id), lines)) {
    return { kind: "unchanged", report: ["the crontab has its line already"] };
  }
  const fault = await write(programs, withLines(crontab.bytes, job.id, lines));
  if (fault !== undefined) return failed(fault);
  return { kind: "done", report: ["The crontab has got:", ...lines.map((line) => `  ${line}`)] };
}

async function remove(id: string, programs: Programs): Promise<Outcome> {
  if (!programs.has("crontab")) return { kind: "unchanged", report: [] };
  const crontab = await read(programs);
  if (crontab.kind === "failed") return crontab;
  const lines = linesFor(crontab.bytes, id);
  if (lines.length === 0) return { kind: "unchanged", report: [] };
  const fault = await write(programs, withoutLines(crontab.bytes, id));
  if (fault !== undefined) return failed(fault);
  return {
    kind: "done",
    report: ["The crontab has lost:", ...lines.map((line) => `  ${line}`)],
  };
}

async function look(job: Job, programs: Programs): Promise<Standing> {
  const crontab = await read(programs);
  if (crontab.kind === "failed") return { kind: "unknown", because: crontab.because };
  const found = linesFor(crontab.bytes, job.id);
  if (found.length === 0) return { kind: "missing" };
  const rendered = cronLines(job);
  const asWritten = rendered.kind === "lines" && isSame(found, rendered.lines);
  return asWritten
    ? { kind: "registered" }
    : { kind: "differs", because: "its crontab line was changed" };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

type Crontab =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "failed"; readonly because: string };

async function read(programs: Programs): Promise<Crontab> {
  const answer = await programs.run("crontab", ["-l"]);
  if (answer.kind === "ended" && answer.status !== 0 && NO_CRONTAB.test(answer.stderr)) {
    return { kind: "bytes", bytes: new Uint8Array() };
  }
  const fault = failureOf("crontab -l", answer);
  return answer.kind === "ended" && fault === undefined
    ? { kind: "bytes", bytes: answer.stdout }
    : { kind: "failed", because: fault ?? "crontab -l failed" };
}

async function write(
  programs: Programs,
  crontab: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  return failureOf("crontab -", await programs.run("crontab", ["-"], crontab));
}
