/**
 * What the build prints: a line for each finished step, and on a terminal a
 * running clock while something takes long.
 *
 * @module
 */

import { dim } from "@std/fmt/colors";
import { wrap } from "./wrap.ts";

const LABEL_COLUMNS = 10;
const CLEAR_LINE = "\r\x1b[K";
const ENCODER = new TextEncoder();

/** Prints a finished step on stdout, wrapped to 80 columns. */
export function report(label: string, text: string): void {
  const indent = " ".repeat(LABEL_COLUMNS);
  const [first = "", ...rest] = wrap(`${indent}${text}`, indent).split("\n");
  const body = [first.trimStart(), ...rest].join("\n");
  console.log(`${dim(label.padEnd(LABEL_COLUMNS))}${body}`);
}

/**
 * Runs `work` while a line on the terminal says what goes on and for how many
 * seconds. Prints nothing when stderr is no terminal.
 */
export async function withClock<T>(text: string, work: () => Promise<T>): Promise<T> {
  if (!Deno.stderr.isTerminal()) return await work();
  const start = performance.now();
  const show = (): void => {
    const seconds = Math.floor((performance.now() - start) / 1000);
    Deno.stderr.writeSync(ENCODER.encode(`${CLEAR_LINE}${dim(`${text} ${seconds} s`)}`));
  };
  show();
  const timer = setInterval(show, 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    Deno.stderr.writeSync(ENCODER.encode(CLEAR_LINE));
  }
}
