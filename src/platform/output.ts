/** Standard output and standard error, written so that a broken reader changes nothing else. */

/** Whether all bytes reached the stream. */
export type WriteOutcome = "written" | "not written";

/** Milliseconds that a reader may keep a full pipe before the text is given up. */
const WRITE_LIMIT_MS = 2_000;

/**
 * Writes `text` completely.
 *
 * A closed pipe, a full disk and a reader that never reads are all `not written`: a hook's exit
 * status carries the verdict and must not depend on who listens.
 */
export async function writeTo(stream: "stdout" | "stderr", text: string): Promise<WriteOutcome> {
  if (text === "") return "written";
  let timer: number | undefined;
  const limit = new Promise<WriteOutcome>((resolve) => {
    timer = setTimeout(() => resolve("not written"), WRITE_LIMIT_MS);
  });
  try {
    return await Promise.race([writeAll(Deno[stream], new TextEncoder().encode(text)), limit]);
  } finally {
    clearTimeout(timer);
  }
}

async function writeAll(
  stream: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<WriteOutcome> {
  try {
    for (let offset = 0; offset < bytes.length;) {
      offset += await stream.write(bytes.subarray(offset));
    }
    return "written";
  } catch {
    return "not written";
  }
}
