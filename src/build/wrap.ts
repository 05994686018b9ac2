/**
 * Wraps text to the width of a terminal of the smallest usual kind.
 *
 * @module
 */

const WIDTH = 80;

/**
 * Breaks a paragraph into lines of at most 80 columns.
 *
 * Lines after the first start with `indent`. A word that is longer than a line
 * (a path, a hash) stays whole on a line of its own.
 */
export function wrap(text: string, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || line === indent || longer.length <= WIDTH) {
      line = line === indent ? `${indent}${word}` : longer;
    } else {
      lines.push(line);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line].join("\n");
}
