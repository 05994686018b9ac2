/** Reading untrusted JSON field by field: a value of the wrong type is the same as none. */

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether `value` is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object `value` is, or an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** A string that is not empty, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A finite number, or `undefined`. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A whole number from 0, cut off and never negative; 0 for everything else. */
export function countOf(value: unknown): number {
  return Math.max(0, Math.floor(numberOf(value) ?? 0));
}

/** The first of `names` that holds a string which is not empty. */
export function firstText(fields: Fields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(fields[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** One of `words`, or `fallback`. */
export function wordOf<T extends string>(value: unknown, words: readonly T[], fallback: T): T {
  return words.find((word) => word === value) ?? fallback;
}

/** JSON text, or `undefined` when it is none. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
