/**
 * Types of the argument parser: the result's type follows from the options.
 *
 * A name in `boolean` becomes a boolean that is `false` when absent, a name in
 * `string` a string that is `undefined` when absent, a name in `collect` too
 * becomes a list. A name in `default` is never `undefined`. Names that no
 * option declares come out as `unknown`.
 *
 * @module
 */

/** A value that a flag can have when nothing declares its type. */
export type ArgValue = string | number | boolean;

/** How {@link parseArgs} reads the arguments. Every list holds long or short names. */
export interface ParseOptions<
  Booleans extends string = string,
  Strings extends string = string,
  Collected extends string = string,
  Defaults extends object = object,
  DoubleDash extends boolean = boolean,
> {
  /** Put what follows a bare `--` in the `"--"` list instead of in `_`. */
  "--"?: DoubleDash;
  /** Other names of a flag. A value given to one is set for all of them. */
  alias?: Readonly<Record<string, string | readonly string[]>>;
  /** Flags without a value. */
  boolean?: Booleans | readonly Booleans[];
  /** Flags whose value stays text; `"_"` keeps the plain arguments text. */
  string?: Strings | readonly Strings[];
  /** Flags that may be given several times. */
  collect?: Collected | readonly Collected[];
  /** Values of flags that are absent. */
  default?: Defaults;
  /** Boolean flags that `--no-NAME` turns off. */
  negatable?: string | readonly string[];
  /** Treat everything after the first plain argument as plain. */
  stopEarly?: boolean;
  /** Called for each undeclared argument; `false` leaves it out of the result. */
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

/** What {@link parseArgs} returns for the given options. */
export type Args<
  Booleans extends string,
  Strings extends string,
  Collected extends string,
  Defaults extends object,
  DoubleDash extends boolean,
> =
  & { [K in Exclude<Booleans, Collected>]: boolean }
  & { [K in Extract<Booleans, Collected>]: boolean[] }
  & {
    [K in Exclude<Strings, Collected | "_">]: K extends keyof Defaults ? string
      : string | undefined;
  }
  & { [K in Extract<Strings, Collected>]: string[] }
  & { [K in Exclude<keyof Defaults, Booleans | Strings>]: Defaults[K] }
  & { _: "_" extends Strings ? string[] : Array<string | number> }
  & (true extends DoubleDash ? { "--": string[] } : unknown)
  & { [name: string]: unknown };

/**
 * Reads command line arguments into flags and plain arguments.
 *
 * Pure: needs no permission and changes nothing. Throws `TypeError` for an
 * alias without a name. A `string` flag given without a value is the empty
 * string.
 */
export declare function parseArgs<
  const Booleans extends string = never,
  const Strings extends string = never,
  const Collected extends string = never,
  const Defaults extends object = Record<never, never>,
  const DoubleDash extends boolean = false,
>(
  args: readonly string[],
  options?: ParseOptions<Booleans, Strings, Collected, Defaults, DoubleDash>,
): Args<Booleans, Strings, Collected, Defaults, DoubleDash>;
