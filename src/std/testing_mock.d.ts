/**
 * Types of the spies and stubs that tests use.
 *
 * A stub replaces a method until it is restored; bind it with `using` and the
 * end of the scope restores it. None needs a permission.
 *
 * @module
 */

/** One recorded call. */
export interface SpyCall<Self, Arguments extends unknown[], Result> {
  /** What the function was called with. */
  args: Arguments;
  /** What it returned, when it returned. */
  returned?: Result;
  /** What it threw, when it threw. */
  error?: Error;
  /** What it was called on. */
  self?: Self;
}

/** A function that records its calls. */
export interface Spy<Self, Arguments extends unknown[], Result> {
  (this: Self, ...args: Arguments): Result;
  /** The function behind it. */
  original: (this: Self, ...args: Arguments) => Result;
  /** The calls so far, oldest first. */
  calls: SpyCall<Self, Arguments, Result>[];
  /** Whether the original is back in place. */
  restored: boolean;
}

/** A spy in the place of a method. */
export interface MethodSpy<Self, Arguments extends unknown[], Result>
  extends Spy<Self, Arguments, Result>, Disposable {
  /** Puts the original back. */
  restore(): void;
}

/** The error of a misused spy, such as one restored twice. */
export declare class MockError extends Error {
  constructor(message: string);
}

/** The methods of a type, by name. */
type MethodName<Self> = {
  [K in keyof Self]: Self[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Self];

/** The arguments of a method. */
type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never;

/** The result of a method. */
type ResultOf<F> = F extends (...args: never[]) => infer R ? R : never;

/** Wraps a function so that its calls are recorded. */
export declare function spy<Arguments extends unknown[], Result>(
  func: (...args: Arguments) => Result,
): Spy<unknown, Arguments, Result>;
/** Records the calls of a method, which still runs. */
export declare function spy<Self, Name extends MethodName<Self>>(
  self: Self,
  property: Name,
): MethodSpy<Self, ArgumentsOf<Self[Name]>, ResultOf<Self[Name]>>;

/** Replaces a method, by one that does nothing unless `func` is given. */
export declare function stub<Self, Name extends MethodName<Self>>(
  self: Self,
  property: Name,
  func?: (
    this: Self,
    ...args: ArgumentsOf<Self[Name]>
  ) => ResultOf<Self[Name]>,
): MethodSpy<Self, ArgumentsOf<Self[Name]>, ResultOf<Self[Name]>>;

/** A function that returns the given values one after the other. */
export declare function returnsNext<Result>(
  values: Iterable<Result | Error>,
): (...args: unknown[]) => Result;

/** An async function that resolves with the given values one after the other. */
export declare function resolvesNext<Result>(
  values: Iterable<Result | Error>,
): (...args: unknown[]) => Promise<Result>;

/** Demands an exact number of calls. */
export declare function assertSpyCalls<Self, Arguments extends unknown[], Result>(
  spy: Spy<Self, Arguments, Result>,
  expectedCalls: number,
): void;

/** Demands that one call, counted from zero, had the given arguments or result. */
export declare function assertSpyCall<Self, Arguments extends unknown[], Result>(
  spy: Spy<Self, Arguments, Result>,
  callIndex: number,
  expected?: Partial<Pick<SpyCall<Self, Arguments, Result>, "args" | "returned" | "self">>,
): void;
