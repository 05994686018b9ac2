/**
 * Types of the path functions this project uses: pure text, no file is touched.
 *
 * Functions that resolve against the working directory say so; every other one
 * works without any permission.
 *
 * @module
 */

/** The separator between path components: `/` on POSIX, `\` on Windows. */
export declare const SEPARATOR: "/" | "\\";

/** The separator between the entries of `PATH`: `:` on POSIX, `;` on Windows. */
export declare const DELIMITER: ":" | ";";

/** The parts that {@link parse} takes a path apart into. */
export interface ParsedPath {
  /** The root, `/` for an absolute POSIX path, empty for a relative one. */
  root: string;
  /** The folder, without a trailing separator. */
  dir: string;
  /** The last component with its extension. */
  base: string;
  /** The extension with its dot, or empty. */
  ext: string;
  /** The last component without its extension. */
  name: string;
}

/** The last component of a path, without `suffix` when it ends in it. */
export declare function basename(path: string | URL, suffix?: string): string;

/** The folder part of a path; `.` when there is none. */
export declare function dirname(path: string | URL): string;

/** The extension of the last component with its dot, or the empty string. */
export declare function extname(path: string | URL): string;

/** The path of a `file:` URL. Throws `TypeError` for any other scheme. */
export declare function fromFileUrl(url: string | URL): string;

/** Whether a path starts at a root. */
export declare function isAbsolute(path: string): boolean;

/** Joins components and normalizes the result. */
export declare function join(path?: string | URL, ...paths: string[]): string;

/** Removes `.`, `..` and doubled separators without looking at the disk. */
export declare function normalize(path: string | URL): string;

/** Takes a path apart. */
export declare function parse(path: string): ParsedPath;

/**
 * The relative path that leads from one path to another.
 *
 * Relative arguments are read against the working directory (needs read
 * permission then).
 */
export declare function relative(from: string, to: string): string;

/**
 * The absolute path that the components name, read from the right.
 *
 * Asks for the working directory when none of them is absolute (needs read
 * permission then).
 */
export declare function resolve(...pathSegments: string[]): string;

/** The `file:` URL of an absolute path. Throws `TypeError` for a relative one. */
export declare function toFileUrl(path: string): URL;
