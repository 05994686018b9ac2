/**
 * Types of the assertions that tests use, and of the two that sources may use.
 *
 * Each throws {@link AssertionError} when its promise does not hold; `msg` is
 * added to the error's text. None needs a permission.
 *
 * @module
 */

/** Any class, abstract ones included. */
type Class<T> = abstract new (...args: never[]) => T;

/** The error of a failed assertion. */
export declare class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

/** Demands a truthy value. */
export declare function assert(expr: unknown, msg?: string): asserts expr;

/** Demands a falsy value. */
export declare function assertFalse(expr: unknown, msg?: string): void;

/** Demands deep equality. */
export declare function assertEquals<T>(actual: T, expected: T, msg?: string): void;

/** Demands that two values differ deeply. */
export declare function assertNotEquals<T>(actual: T, expected: T, msg?: string): void;

/** Demands identity (`Object.is`). */
export declare function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T;

/** Demands that two values are not identical. */
export declare function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void;

/** Demands a difference of at most `tolerance` (default one part in ten million). */
export declare function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  msg?: string,
): void;

/** Demands that a list holds all the expected members. */
export declare function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void;

/** Demands a value that is neither `null` nor `undefined`. */
export declare function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T>;

/** Demands that `actual` is greater than `expected`. */
export declare function assertGreater<T>(actual: T, expected: T, msg?: string): void;

/** Demands that `actual` is not less than `expected`. */
export declare function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void;

/** Demands that `actual` is less than `expected`. */
export declare function assertLess<T>(actual: T, expected: T, msg?: string): void;

/** Demands that `actual` is not greater than `expected`. */
export declare function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void;

/** Demands an instance of a class. */
export declare function assertInstanceOf<T>(
  actual: unknown,
  expectedType: Class<T>,
  msg?: string,
): asserts actual is T;

/** Demands an error, of a class and with a text in its message where given. */
export declare function assertIsError<E extends Error = Error>(
  error: unknown,
  ErrorClass?: Class<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E;

/** Demands that a text matches. */
export declare function assertMatch(actual: string, expected: RegExp, msg?: string): void;

/** Demands that a text does not match. */
export declare function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;

/** Demands that an object has at least the expected members, deeply. */
export declare function assertObjectMatch(
  actual: object,
  expected: Readonly<Record<PropertyKey, unknown>>,
  msg?: string,
): void;

/** Demands that a text holds another. */
export declare function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void;

/** Demands that a function throws, and returns what it threw. */
export declare function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Demands that a function throws an error of a class, and returns it. */
export declare function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: Class<E>,
  msgIncludes?: string,
  msg?: string,
): E;

/** Demands that a promise is rejected, and resolves with the reason. */
export declare function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
/** Demands rejection with an error of a class, and resolves with it. */
export declare function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: Class<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;

/** Whether two values are deeply equal. */
export declare function equal(a: unknown, b: unknown): boolean;

/** Always throws. */
export declare function fail(msg?: string): never;

/** Always throws: marks code that is not written yet. */
export declare function unimplemented(msg?: string): never;

/** Always throws: marks code that no input can reach. */
export declare function unreachable(msg?: string): never;
