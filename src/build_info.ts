/**
 * What this build is: its version, commit, platform and Deno.
 *
 * The build puts a statement in front of the bundle that sets a global; started
 * from the sources, there is none, and the version says so.
 *
 * @module
 */

/** What is known about the running program. */
export interface BuildInfo {
  /** The released version, or `0.0.0-source` when run without a build. */
  readonly version: string;
  /** The full commit hash, or `null` when the build could not know it. */
  readonly commit: string | null;
  /** The platform triple it runs on. */
  readonly target: string;
  /** The version of the Deno inside it. */
  readonly deno: string;
}

function readStamp(): Pick<BuildInfo, "version" | "commit"> {
  const stamp: unknown = Reflect.get(globalThis, "__TURNGUARD_BUILD__");
  if (
    typeof stamp === "object" && stamp !== null && "version" in stamp && "commit" in stamp &&
    typeof stamp.version === "string" &&
    (typeof stamp.commit === "string" || stamp.commit === null)
  ) {
    return { version: stamp.version, commit: stamp.commit };
  }
  return { version: "0.0.0-source", commit: null };
}

/**
 * The description of the running program; needs no permission.
 *
 * Platform and Deno come from the runtime itself, so that one bundle serves all
 * platforms. Read when asked for: the stamp is set by the first module that runs,
 * and a part of the bundle may be evaluated before it.
 */
export function buildInfo(): BuildInfo {
  return { ...readStamp(), target: Deno.build.target, deno: Deno.version.deno };
}

/**
 * The variables that the executable was built to read, a `*` at the end standing for any rest; none
 * when run from the sources.
 */
export function readableEnvironment(): readonly string[] {
  const stamp: unknown = Reflect.get(globalThis, "__TURNGUARD_BUILD__");
  if (typeof stamp !== "object" || stamp === null || !("environment" in stamp)) return [];
  const names: readonly unknown[] = Array.isArray(stamp.environment) ? stamp.environment : [];
  return names.filter((name) => typeof name === "string");
}
