/** The few requests of the man macros that the pages use, with their texts escaped. */

import { wrap } from "../wrap.ts";

/** When the pages were last written by hand; a date of the build would make every build another. */
const WRITTEN = "2026-12-01";

/** The first line of a page. */
export function title(name: string, version: string): readonly string[] {
  return [`.TH ${escaped(name.toUpperCase())} 1 ${WRITTEN} "turnguard ${version}"`, ".nh", ".ad l"];
}

/** A section with its body. */
export function section(heading: string, body: readonly string[]): readonly string[] {
  const [first, ...rest] = body;
  if (first === undefined) return [];
  // A heading begins a paragraph of its own.
  return [`.SH ${heading}`, ...(first === ".PP" ? [] : [first]), ...rest];
}

/** A paragraph. */
export function paragraph(text: string): readonly string[] {
  return [".PP", ...lines(text)];
}

/** Lines that keep their breaks. */
export function verbatim(kept: readonly string[]): readonly string[] {
  return [".PP", ".RS 4", ".nf", ...kept.map(escaped), ".fi", ".RE"];
}

/** A term in bold with what it means. */
export function entry(term: string, meaning: string): readonly string[] {
  return [".TP", `\\fB${escaped(term)}\\fR`, ...lines(meaning)];
}

/** A text in lines of the page's source, which a reader of it can compare. */
function lines(text: string): readonly string[] {
  return wrap(text, 72).map(escaped);
}

/** A line that begins with a request, or holds an escape, would not be text. */
export function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga").replaceAll("^", "\\(ha").replaceAll("~", "\\(ti");
  const ascii = plain.replaceAll(/[^\x20-\x7e]/gu, unicode);
  return ascii.startsWith(".") ? `\\&${ascii}` : ascii;
}

function unicode(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\[u${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}
