/** Small files under a state directory, read without trust in what lies at their path. */

/** What was found at a path that should be a small text file. */
export type FileText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly because: string };

/** Bytes that a state file may have; a larger one is foreign. */
const STATE_FILE_LIMIT_BYTES = 1024 * 1024;

/**
 * Reads a whole file the way a shell's command substitution does: NUL bytes dropped, all trailing
 * newlines removed, nothing else trimmed.
 *
 * Never throws and never waits: only a regular file (links followed) is opened, because opening a
 * FIFO would hang, and a file above the limit is `unreadable`. A dangling link or a loop of links
 * is `absent`.
 */
export function readCapture(path: string, limitBytes = STATE_FILE_LIMIT_BYTES): FileText {
  const found = readText(path, limitBytes);
  if (found.kind !== "text") return found;
  return { kind: "text", text: found.text.replaceAll("\0", "").replace(/\n+$/, "") };
}

/** As {@link readCapture}, but keeps every character. */
export function readText(path: string, limitBytes = STATE_FILE_LIMIT_BYTES): FileText {
  try {
    const info = Deno.statSync(path);
    if (!info.isFile) return { kind: "unreadable", because: "not a regular file" };
    if (info.size > limitBytes) {
      return { kind: "unreadable", because: `larger than ${limitBytes} bytes` };
    }
    return { kind: "text", text: decodeText(Deno.readFileSync(path)) };
  } catch (error) {
    return whyUnreadable(error);
  }
}

/** Line `number` (from 1) without its newline; the empty string when there is no such line. */
export function lineOf(text: string, number: number): string {
  return text.split("\n")[number - 1] ?? "";
}

/**
 * Bytes as text, invalid sequences replaced.
 *
 * A leading byte-order mark stays: a value that carries one differs from a value that does not.
 */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function whyUnreadable(error: unknown): FileText {
  if (error instanceof Deno.errors.NotFound) return { kind: "absent" };
  if (error instanceof Deno.errors.NotADirectory) return { kind: "absent" };
  if (error instanceof Deno.errors.FilesystemLoop) return { kind: "absent" };
  if (error instanceof Deno.errors.PermissionDenied) {
    return { kind: "unreadable", because: "permission denied" };
  }
  return { kind: "unreadable", because: errorMessage(error) };
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
