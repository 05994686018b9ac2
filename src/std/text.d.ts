/**
 * Types of the text functions this project uses: pure, without any permission.
 *
 * @module
 */

/** The number of single-character edits that turn one text into the other. */
export declare function levenshteinDistance(first: string, second: string): number;
