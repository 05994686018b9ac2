/**
 * Types of the terminal colour functions this project uses.
 *
 * Each wraps its text in the codes of one style, or returns it unchanged while
 * colour is off. Colour starts on unless `NO_COLOR` is set; the program decides
 * by {@link setColorEnabled} whether the output is a terminal at all.
 *
 * @module
 */

/** Turns colour on or off for the whole process (off for good when `NO_COLOR` is set). */
export declare function setColorEnabled(value: boolean): void;

/** Whether the functions of this module colour their text. */
export declare function getColorEnabled(): boolean;

/** The text without any terminal control sequence. */
export declare function stripAnsiCode(text: string): string;

/** The text in the style its name says. */
export declare function bold(text: string): string;

/** The text in the style its name says. */
export declare function dim(text: string): string;

/** The text in the style its name says. */
export declare function italic(text: string): string;

/** The text in the style its name says. */
export declare function underline(text: string): string;

/** The text in the style its name says. */
export declare function inverse(text: string): string;

/** The text in the style its name says. */
export declare function red(text: string): string;

/** The text in the style its name says. */
export declare function green(text: string): string;

/** The text in the style its name says. */
export declare function yellow(text: string): string;

/** The text in the style its name says. */
export declare function blue(text: string): string;

/** The text in the style its name says. */
export declare function magenta(text: string): string;

/** The text in the style its name says. */
export declare function cyan(text: string): string;

/** The text in the style its name says. */
export declare function white(text: string): string;

/** The text in the style its name says. */
export declare function gray(text: string): string;
