/** Text from payloads and files, made safe for a terminal. */

/**
 * `text` with every character that could steer a terminal or reorder a line shown as an escape.
 *
 * C0 and C1 controls, DEL, line and paragraph separators, bidirectional overrides and lone
 * surrogates become `\xNN` or `\u{NNNN}`; a backslash stays as it is, since the result is for eyes
 * and is never read back.
 */
export function printable(text: string): string {
  return text.toWellFormed().replace(STEERING, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u{${hex}}`;
  });
}

const STEERING =
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g;

/**
 * `value` as JSON whose strings carry no character that could steer a terminal: they are escaped, so
 * that a reader of the JSON still gets them back. Line breaks come from `indent` alone.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    STEERING,
    (character) =>
      character === "\n"
        ? character
        : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** {@link printable}, cut to `maximum` characters with a mark where something is missing. */
export function printableWithin(text: string, maximum: number): string {
  const safe = printable(text);
  return safe.length <= maximum ? safe : `${safe.slice(0, maximum - 1)}…`;
}
