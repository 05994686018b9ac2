/** Numbers as the environment carries them: which texts are numbers, and what the others mean. */

/** A number that a rule uses, and where it came from. */
export type NumberSetting =
  | { readonly kind: "default"; readonly value: number }
  | { readonly kind: "set"; readonly value: number }
  | { readonly kind: "malformed"; readonly value: number; readonly text: string };

/** Which texts count as a number for one variable. */
export type NumberForm =
  /** ASCII digits and nothing else. */
  | "digits"
  /** Digits that are not all zero. */
  | "positive-digits"
  /** Digits with blanks around and one sign, the form of a shell's integer comparison. */
  | "integer";

const FORMS: Readonly<Record<NumberForm, RegExp>> = {
  "digits": /^[0-9]{1,15}$/,
  "positive-digits": /^0*[1-9][0-9]{0,14}$/,
  "integer": /^[ \t\n]*[+-]?[0-9]{1,15}[ \t\n]*$/,
};

/**
 * The number in `text`, or `fallback` when it is unset or malformed.
 *
 * A malformed value counts as unset: one typing mistake in an environment file must not make every
 * watcher look stale. It stays visible, so that people are told. Leading zeros are decimal.
 */
export function numberSetting(
  text: string | undefined,
  form: NumberForm,
  fallback: number,
): NumberSetting {
  if (text === undefined || text === "") return { kind: "default", value: fallback };
  if (!FORMS[form].test(text)) return { kind: "malformed", value: fallback, text };
  return { kind: "set", value: Number(text) };
}

/** A length of time that may be a fraction; what is no number at or above zero is the `fallback`. */
export function fractionSetting(text: string | undefined, fallback: number): number {
  return text !== undefined && /^[0-9]{1,15}(?:\.[0-9]{1,15})?$/.test(text)
    ? Number(text)
    : fallback;
}
