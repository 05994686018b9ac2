/**
 * The stretch of Kimi's `config.toml` that is ours: put in and cut out as text, every other byte left.
 *
 * Kimi's configuration has one place for hooks of every project, so the stretch is marked by comments.
 * The shell suite writes the very same one.
 */

import { checkToml } from "./toml_check.ts";
import { positionAt, type Refusal } from "../registration/json_text.ts";

const NAME = "FIRSTMATE KIMI TURN-END HOOK";
const BEGIN = `# BEGIN ${NAME}`;
/** The begin of a region that had to supply the newline before itself. */
const BEGIN_WITH_NEWLINE = `${BEGIN} (OWNS PRECEDING NEWLINE)`;
const END = `# END ${NAME}`;

/** The name of the script that the region starts; outside of it nothing may name it. */
const SCRIPT = "fm-turn-end.sh";

const BODY = [
  "[[hooks]]",
  'event = "Stop"',
  'matcher = "^$"',
  `command = "bash \\"$HOME/.kimi-code/${SCRIPT}\\" >/dev/null 2>&1 || true"`,
  "timeout = 1",
].join("\n");

/** A configuration with the region, or without it. */
export type KimiEdit =
  | { readonly kind: "edited"; readonly text: string; readonly hadRegion: boolean }
  | Refusal;

/** Puts the region at the end of a configuration, or renews the one that is there. */
export function withKimiRegion(text: string): KimiEdit {
  const found = locate(text);
  if (found.kind === "refused") return found;
  const { region } = found;
  const candidate = region === undefined
    ? `${text}${text.endsWith("\n") ? regionText(false) : regionText(true)}`
    : `${text.slice(0, region.start)}${regionText(region.ownsNewline)}${text.slice(region.end)}`;
  return checked(text, candidate, region !== undefined);
}

/** Cuts the region out of a configuration. */
export function withoutKimiRegion(text: string): KimiEdit {
  const found = locate(text);
  if (found.kind === "refused") return found;
  const { region } = found;
  if (region === undefined) return { kind: "edited", text, hadRegion: false };
  const after = text.slice(region.end);
  const joint = region.ownsNewline && after !== "" ? "\n" : "";
  return checked(text, `${text.slice(0, region.start)}${joint}${after}`, true);
}

/** `candidate`, unless it is no TOML any more; `text`, which is, then has the reason in it. */
function checked(text: string, candidate: string, hadRegion: boolean): KimiEdit {
  if (checkToml(candidate) === undefined) return { kind: "edited", text: candidate, hadRegion };
  const at = Math.max(0, text.search(/^[ \t]*["']?hooks["']?[ \t]*=/m));
  const because = "has hooks here as one value, to which no [[hooks]] can be added: malformed TOML";
  return refusedAt(text, at, because);
}

function regionText(ownsNewline: boolean): string {
  const begin = ownsNewline ? `\n${BEGIN_WITH_NEWLINE}` : BEGIN;
  return `${begin}\n${BODY}\n${END}\n`;
}

interface Region {
  readonly start: number;
  readonly end: number;
  readonly ownsNewline: boolean;
}

/** Where the region is, or why the configuration must not be edited. */
function locate(
  text: string,
): { readonly kind: "found"; readonly region: Region | undefined } | Refusal {
  const wrong = checkToml(text);
  if (wrong !== undefined) return wrong;
  const own = offsetsOf(text, `${BEGIN}\n`);
  const owning = offsetsOf(text, `${BEGIN_WITH_NEWLINE}\n`);
  const ends = offsetsOf(text, END);
  const names = offsetsOf(text, NAME);
  const [begin] = [...own, ...owning];
  const [end] = ends;
  if (begin === undefined && end === undefined && names.length === 0) {
    return outside(text, undefined);
  }
  const isWhole = own.length + owning.length === 1 && ends.length === 1 && names.length === 2;
  if (!isWhole || begin === undefined || end === undefined || begin > end) {
    const because = "has markers of our region here that are partial, duplicated, or altered";
    return refusedAt(text, names[0] ?? begin ?? 0, because);
  }
  if (begin > 0 && text[begin - 1] !== "\n") {
    return refusedAt(text, begin, "has a marker of our region here that does not start its line");
  }
  const behind = end + END.length;
  if (text[end - 1] !== "\n" || (behind < text.length && text[behind] !== "\n")) {
    return refusedAt(text, end, "has a marker of our region here that is not a line of its own");
  }
  const ownsNewline = owning.length === 1;
  if (ownsNewline && begin === 0) {
    return refusedAt(text, 0, "lacks the newline that belongs to our region here");
  }
  const start = ownsNewline ? begin - 1 : begin;
  return outside(text, { start, end: Math.min(behind + 1, text.length), ownsNewline });
}

/** The region, unless the script is named outside of it: a tool that drops comments leaves that. */
function outside(
  text: string,
  region: Region | undefined,
): { readonly kind: "found"; readonly region: Region | undefined } | Refusal {
  const stray = offsetsOf(text, SCRIPT)
    .find((at) => region === undefined || at < region.start || at >= region.end);
  return stray === undefined
    ? { kind: "found", region }
    : refusedAt(text, stray, `names ${SCRIPT} here, outside of our region`);
}

function offsetsOf(text: string, part: string): readonly number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    offsets.push(at);
  }
  return offsets;
}

function refusedAt(text: string, offset: number, because: string): Refusal {
  return { kind: "refused", because, at: positionAt(text, offset) };
}
