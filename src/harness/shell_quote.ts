/** Text as one word of a shell command line. */

/**
 * `text` as one word that sh, dash, bash, zsh and fish all read as exactly `text`.
 *
 * Single quotes keep everything but themselves. A backslash is put outside of them as well: fish
 * takes it as an escape there, before a quote or another backslash, and POSIX shells do not.
 */
export function shellQuote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, (character) => `'\\${character}'`)}'`;
}

/** `path` as it can be pasted into a shell: quoted only where it has to be. */
export function pasteable(path: string): string {
  return /^[A-Za-z0-9._\/+@%:,=-]+$/.test(path) ? path : shellQuote(path);
}

/** What {@link shellQuote} has quoted, as the first word of `text`; `undefined` when it has not. */
export function unquotedWord(text: string): string | undefined {
  const word = /^(?:'[^']*'|\\['\\])+/.exec(text)?.[0];
  return word?.replaceAll(
    /'([^']*)'|\\(['\\])/g,
    (_, plain?: string, escaped?: string) => escaped ?? plain ?? "",
  );
}
