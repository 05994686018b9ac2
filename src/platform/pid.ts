/** Process ids as text files carry them, checked before any use. */

declare const pidBrand: unique symbol;

/** A decimal process id between 1 and 2147483647. */
export type Pid = number & { readonly [pidBrand]: "Pid" };

/** The largest value a pid can have on the platforms that are supported. */
const LARGEST_PID = 2_147_483_647;

/**
 * The pid that `text` names, or `undefined` when it is not digits, zero, or larger than a pid can be.
 *
 * Leading zeros are decimal. The check comes before every signal because the runtime truncates:
 * 0, -1, 1.5 and 2^32 + 1 would all "succeed" against another process or a whole group.
 */
export function parsePid(text: string): Pid | undefined {
  if (!/^[0-9]{1,20}$/.test(text)) return undefined;
  const value = Number(text);
  return isPid(value) ? value : undefined;
}

/** Whether `value` can name one process. */
export function isPid(value: number): value is Pid {
  return Number.isInteger(value) && value >= 1 && value <= LARGEST_PID;
}
