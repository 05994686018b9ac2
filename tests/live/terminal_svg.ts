/**
 * A terminal's screen as a picture that scales.
 *
 * @module
 */

import xterm, { type IBufferCell, type Terminal } from "@xterm/headless";

/** A stretch of a line that looks the same throughout. */
interface Stretch {
  readonly column: number;
  readonly columns: number;
  readonly text: string;
  readonly colour: string;
  readonly background: string | undefined;
  readonly bold: boolean;
}

const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;
const TEXT = "#d6dbe1";
const PAPER = "#10151b";
/** The sixteen colours that a terminal may choose itself. */
const PALETTE = [
  ..."#10151b #ff6b68 #7fc97f #e5c07b #6cb6ff #c792ea #56c5d0 #d6dbe1".split(" "),
  ..."#6b7683 #ff8f8c #a5e0a5 #f2d798 #96ceff #dab4f5 #86dde6 #ffffff".split(" "),
];
/** Levels of the colour cube that follows them. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/**
 * Draws what a terminal shows.
 *
 * @param screen Lines with escape sequences, as a terminal multiplexer captures them.
 * @param columns Width of the terminal.
 * @param title What the picture shows, for those who cannot see it.
 */
export async function terminalSvg(
  screen: string,
  columns: number,
  title: string,
): Promise<string> {
  const text = screen.trimEnd();
  const rows = text.split("\n").length;
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  await new Promise<void>((written) => terminal.write(text.replaceAll("\n", "\r\n"), written));
  const lines = Array.from({ length: rows }, (_, row) => stretches(terminal, row, columns));
  terminal.dispose();
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = rows * CELL.height + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14">`,
    ...lines.flatMap((line, row) => line.map((stretch) => drawn(stretch, row))),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function stretches(terminal: Terminal, row: number, columns: number): readonly Stretch[] {
  const line = terminal.buffer.active.getLine(row);
  const found: Stretch[] = [];
  for (let column = 0; column < columns; column++) {
    const cell = line?.getCell(column);
    // The second half of a wide character is a cell without a width.
    if (cell === undefined || cell.getWidth() === 0) continue;
    const next = stretchOf(cell, column);
    const last = found.at(-1);
    if (last !== undefined && looksLike(last, next)) found.splice(-1, 1, joined(last, next));
    else found.push(next);
  }
  // A capture cuts off the blank end of a line, so that what is left of its background says nothing.
  return found.filter(({ text }) => text.trim() !== "");
}

function stretchOf(cell: IBufferCell, column: number): Stretch {
  const ink = cell.isFgDefault() ? TEXT : colourOf(cell.getFgColor(), cell.isFgRGB());
  const paper = cell.isBgDefault() ? undefined : colourOf(cell.getBgColor(), cell.isBgRGB());
  const inverse = cell.isInverse() !== 0;
  return {
    column,
    columns: cell.getWidth(),
    text: cell.getChars() === "" ? " " : cell.getChars(),
    colour: inverse ? paper ?? PAPER : cell.isDim() !== 0 ? `${ink}99` : ink,
    background: inverse ? ink : paper,
    bold: cell.isBold() !== 0,
  };
}

function looksLike(one: Stretch, other: Stretch): boolean {
  return one.colour === other.colour && one.background === other.background &&
    one.bold === other.bold;
}

function joined(one: Stretch, other: Stretch): Stretch {
  return { ...one, columns: one.columns + other.columns, text: one.text + other.text };
}

function colourOf(value: number, isRgb: boolean): string {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  const chosen = PALETTE[value];
  if (chosen !== undefined) return chosen;
  const grey = 8 + 10 * (value - 232);
  const cube = value - 16;
  const parts = value >= 232
    ? [grey, grey, grey]
    : [cube / 36, cube / 6, cube].map((part) => LEVELS[Math.floor(part) % 6] ?? 0);
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** A text that is as wide as its cells whatever the font, on its background where it has one. */
function drawn(stretch: Stretch, row: number): string {
  const x = round(MARGIN + stretch.column * CELL.width);
  const y = MARGIN + row * CELL.height;
  const width = round(stretch.columns * CELL.width);
  const rectangle = stretch.background === undefined
    ? ""
    : `<rect x="${x}" y="${y}" width="${width}" height="${CELL.height}" fill="${stretch.background}"/>`;
  const weight = stretch.bold ? ' font-weight="bold"' : "";
  return `${rectangle}<text x="${x}" y="${y + 13}" textLength="${width}" fill="${stretch.colour}"` +
    `${weight} xml:space="preserve">${escaped(stretch.text)}</text>`;
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
