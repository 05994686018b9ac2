/** What an arm printed, kept within bounds whatever it prints in its hours of life. */

import { isEvidenceLine } from "../decide/autoarm.ts";
import { isWakeLine } from "../decide/wake_line.ts";

/** Lines of each kind that are kept. */
const KEPT_LINES = 8;

/** Characters of one line that are kept. */
const KEPT_CHARACTERS = 4_096;

/** Collects lines: the first wakes, the first evidence, and the last words. */
export class ArmOutput {
  readonly #wakes: string[] = [];
  readonly #evidence: string[] = [];
  readonly #last: string[] = [];

  /** Adds one line. */
  add(text: string): void {
    const line = text.slice(0, KEPT_CHARACTERS);
    if (isWakeLine(line) && this.#wakes.length < KEPT_LINES) this.#wakes.push(line);
    if (isEvidenceLine(line) && this.#evidence.length < KEPT_LINES) this.#evidence.push(line);
    if (line.trim() === "") return;
    this.#last.push(line);
    if (this.#last.length > KEPT_LINES) this.#last.shift();
  }

  /** Adds every line of a text. */
  addText(text: string): void {
    if (text !== "") { for (const line of text.replace(/\n$/, "").split("\n")) this.add(line); }
  }

  /** The first lines that deliver a wake; empty when there is none. */
  get wakes(): readonly string[] {
    return this.#wakes;
  }

  /** What to show of a failed arm. */
  get evidence(): readonly string[] {
    return this.#evidence.length > 0 ? this.#evidence : this.#last;
  }
}

/** Adds the lines of a byte stream to `output` until the stream ends. */
export async function collectLines(
  stream: ReadableStream<Uint8Array>,
  output: ArmOutput,
): Promise<void> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    // A line without an end is cut, not gathered: an arm may print one without any newline for hours.
    rest = (lines.pop() ?? "").slice(0, KEPT_CHARACTERS);
    for (const line of lines) output.add(line);
  }
  if (rest !== "") output.add(rest);
}
