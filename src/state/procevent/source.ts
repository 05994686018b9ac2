/** Registrations of process-event sources: `procevent/<id>.source`, a command whose result matters. */

import { errorMessage, readText } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { randomName, removeQuietly, replaceFile } from "../replace_file.ts";

declare const sourceIdBrand: unique symbol;

/** The name of a source: letters, digits and `.` `_` `-`, no leading dot, at most 64 characters. */
export type SourceId = string & { readonly [sourceIdBrand]: "SourceId" };

const SOURCE_SUFFIX = ".source";

/** The source id that `text` is, or `undefined` when it cannot be one. */
export function parseSourceId(text: string): SourceId | undefined {
  return isSourceId(text) ? text : undefined;
}

function isSourceId(text: string): text is SourceId {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(text);
}

/** Whether `text` can name an adapter. */
export function isAdapterName(text: string): boolean {
  return /^[a-z0-9-]{1,32}$/.test(text);
}

/** A registered source. */
export interface Source {
  readonly adapter: string;
  /** The command and its arguments, run without a shell; never empty. */
  readonly argv: readonly [string, ...string[]];
}

/** A registration as it was found. */
export type SourceReading =
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly because: string }
  | {
    readonly kind: "registered";
    readonly source: Source;
    /** `<device>:<inode>`; another registration under the same name has another one. */
    readonly identity: string;
  };

/** Folder of the registrations of a state directory. */
export function sourceFolder(state: string): string {
  return `${state}/procevent`;
}

/** Path of the registration of `id`. */
export function sourcePath(state: string, id: SourceId): string {
  return `${sourceFolder(state)}/${id}${SOURCE_SUFFIX}`;
}

/** Ids of all registrations, sorted; a name that is no id is left out. */
export function listSources(state: string): readonly SourceId[] {
  try {
    return [...Deno.readDirSync(sourceFolder(state))]
      .filter((entry) => entry.name.endsWith(SOURCE_SUFFIX))
      .map((entry) => parseSourceId(entry.name.slice(0, -SOURCE_SUFFIX.length)))
      .filter((id) => id !== undefined)
      .toSorted();
  } catch {
    return [];
  }
}

/** Reads the registration of `id`. Never throws. */
export function readSource(state: string, id: SourceId): SourceReading {
  const path = sourcePath(state, id);
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "absent" };
  if (kind !== "file") return { kind: "unreadable", because: "it is not a regular file" };
  try {
    const { dev, ino } = Deno.lstatSync(path);
    const content = readText(path);
    if (content.kind === "absent") return content;
    const source = content.kind === "text" ? parseSource(content.text) : undefined;
    if (source === undefined) return { kind: "unreadable", because: "it is not of the known form" };
    return { kind: "registered", source, identity: `${dev}:${ino ?? 0}` };
  } catch (error) {
    return { kind: "unreadable", because: errorMessage(error) };
  }
}

/** The source in `text`, or `undefined` when it is not exactly of the form of a registration. */
export function parseSource(text: string): Source | undefined {
  const lines = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const [adapterLine = "", countLine = "", header, ...argv] = lines;
  const adapter = /^adapter=(.*)$/.exec(adapterLine)?.[1] ?? "";
  const count = /^argc=([0-9]{1,9})$/.exec(countLine)?.[1];
  if (!isAdapterName(adapter) || count === undefined || header !== "argv:") return undefined;
  const [command, ...args] = argv;
  if (command === undefined || command === "" || argv.length !== Number(count)) return undefined;
  return { adapter, argv: [command, ...args] };
}

/** Text of a registration. No argument may hold a newline. */
export function formatSource({ adapter, argv }: Source): string {
  return [`adapter=${adapter}`, `argc=${argv.length}`, "argv:", ...argv, ""].join("\n");
}

/** Registers a source, in place of an earlier one. Throws what the operating system reports. */
export function writeSource(state: string, id: SourceId, source: Source): void {
  const folder = sourceFolder(state);
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(sourcePath(state, id), formatSource(source), {
    mode: 0o600,
    temporaryName: `${folder}/.source.${randomName()}`,
  });
}

/** Removes the registration of `id` if it is still the one with this identity. */
export function removeSource(state: string, id: SourceId, identity: string): void {
  const found = readSource(state, id);
  if (found.kind === "registered" && found.identity === identity) {
    removeQuietly(sourcePath(state, id));
  }
}

/** Path of the file that names the runner's pid. */
export function runnerPath(folder: string, id: SourceId): string {
  return `${folder}/${id}.runner`;
}

/** Path of the file that a running source's output is collected in. */
export function stagingPath(folder: string, id: SourceId, token: string): string {
  return `${folder}/.${id}.${token}.output`;
}
