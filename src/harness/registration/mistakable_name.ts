/** Which installed paths would make turnguard look like a harness in a process list. */

/** Words that other tools look for in the name of a program. */
const WORDS_IN_NAMES: readonly string[] = [
  "claude",
  "codex",
  "opencode",
  "grok",
  "kimi",
  "cursor",
];

/** Names that other tools take for a harness when one component of a path equals them. */
const WHOLE_NAMES: ReadonlySet<string> = new Set([
  ...WORDS_IN_NAMES,
  "cursor-agent",
  "omp",
  "pi",
  "pi-code",
  "pi-signed",
]);

/**
 * What in `path` would be taken for a harness, or `undefined`.
 *
 * Session locks and supervisors recognise a harness by its path in the process list; a guard that
 * looks like one would be taken for the session it guards.
 */
export function mistakablePart(path: string): string | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const name = (parts.at(-1) ?? "").toLowerCase();
  const word = WORDS_IN_NAMES.find((each) => name.includes(each));
  if (word !== undefined) return `the word "${word}" in its file name`;
  const whole = parts.find((part) => WHOLE_NAMES.has(part.toLowerCase()));
  if (whole === undefined) return undefined;
  const isFolder = parts.lastIndexOf(whole) < parts.length - 1;
  return isFolder ? `the folder "${whole}"` : `the file name "${whole}"`;
}
