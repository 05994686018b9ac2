/** The relay's shim, `x-watch.check.sh`: a fixed text that names the relay's poll script. */

import { whyNoCheck } from "../../decide/check_trust.ts";
import type { Home } from "../../observe/home.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { deviceOf, fileFact, readPlainFile } from "../../state/check_trust.ts";

/** Id under which the shim stands among the checks. */
export const RELAY_ID = "x-watch";

/** Bytes of the largest shim. */
const SHIM_LIMIT_BYTES = 64 * 1024;

/** Whether the poll script may run. The shim itself is never run. */
export type RelayVerdict =
  | { readonly kind: "valid"; readonly pollScript: string }
  | { readonly kind: "rejected"; readonly because: string };

/** Judges the shim of a home. */
export function judgeRelayShim(home: Home): RelayVerdict {
  const path = `${home.state}/${RELAY_ID}.check.sh`;
  const fault = whyNoCheck(fileFact(path), deviceOf(home.state));
  if (fault !== undefined) return rejected(`the shim ${fault}`);
  const bytes = readPlainFile(path, SHIM_LIMIT_BYTES);
  if (bytes === undefined) return rejected("the shim cannot be read");
  const pollScript = `${home.root}/bin/fm-x-poll.sh`;
  if (!isShimText(new TextDecoder().decode(bytes), home.home, pollScript)) {
    return rejected("the shim is not the text that set-up writes for this home");
  }
  if (ownKind(pollScript) !== "file") return rejected(`${pollScript} is not a regular file`);
  return { kind: "valid", pollScript };
}

function rejected(because: string): RelayVerdict {
  return { kind: "rejected", because };
}

/**
 * Whether `text` is a shim for these paths: the interpreter line, comments, the home, the poll script,
 * and nothing else.
 */
export function isShimText(text: string, home: string, pollScript: string): boolean {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.shift() !== "#!/usr/bin/env bash") return false;
  while (lines[0]?.startsWith("#") === true) lines.shift();
  const [setHome = "", start = ""] = lines;
  return lines.length === 2 &&
    wordAfter("export FM_HOME=", setHome) === home &&
    wordAfter("exec ", start) === pollScript;
}

function wordAfter(start: string, line: string): string | undefined {
  return line.startsWith(start) ? unquotedWord(line.slice(start.length)) : undefined;
}

const PLAIN_WORD = /^(?:\\[^\n]|[^\\\s'"`$&|;()<>{}[\]*?!^])+$/u;
const ANSI_WORD = /^\$'((?:\\[^\n]|[^\\'])*)'$/u;

/**
 * The text that one shell word stands for, in the two forms that `printf %q` writes: backslashes, or
 * `$'…'` where a character cannot be printed. Anything with a live shell character is no such word.
 */
export function unquotedWord(word: string): string | undefined {
  if (PLAIN_WORD.test(word)) return word.replaceAll(/\\(.)/gu, "$1");
  const inner = ANSI_WORD.exec(word)?.[1];
  return inner === undefined ? undefined : decodedAnsi(inner);
}

const ANSI_ESCAPES: Readonly<Record<string, number>> = {
  a: 0x07,
  b: 0x08,
  E: 0x1b,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
  v: 0x0b,
  "\\": 0x5c,
  "'": 0x27,
  '"': 0x22,
  "?": 0x3f,
};

/** Escapes stand for bytes: in a plain locale each byte of a character has one of its own. */
function decodedAnsi(inner: string): string | undefined {
  const bytes: number[] = [];
  for (const [part, octal, letter] of inner.matchAll(/\\([0-7]{1,3})|\\(.)|[^\\]+/gu)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (letter === undefined) bytes.push(...new TextEncoder().encode(part));
    else {
      const byte = ANSI_ESCAPES[letter];
      if (byte === undefined) return undefined;
      bytes.push(byte);
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
