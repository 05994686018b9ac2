/** The text that tells one process from a later one with the same pid. */

declare const identityBrand: unique symbol;

/**
 * Identity of one process, compared byte for byte and never taken apart.
 *
 * On systems with `/proc`: `linux-starttime=<clock ticks since boot> cmdline-hex=<hex of the command
 * line, NULs included>`. Elsewhere: start date and command as `ps` prints them.
 */
export type ProcessIdentity = string & { readonly [identityBrand]: "ProcessIdentity" };

/** A computed identity, or why there is none. An unknown identity equals nothing, not even itself. */
export type IdentityReading =
  | { readonly kind: "known"; readonly identity: ProcessIdentity }
  | { readonly kind: "unknown"; readonly because: string };

/** The identity of the `/proc` form. `startTicks` is digits, `commandLine` is not empty. */
export function procIdentity(startTicks: string, commandLine: Uint8Array): ProcessIdentity {
  const key = Deno.build.os === "linux" ? "linux-starttime" : "proc-starttime";
  return `${key}=${startTicks} cmdline-hex=${commandLine.toHex()}` as ProcessIdentity;
}

/**
 * The identity of the `ps` form, from the output of `ps -p <pid> -o lstart= -o command=`.
 *
 * Leading blanks of each line and trailing newlines go; the run of blanks between the two columns
 * stays, because a shell script that recorded the identity kept it too.
 */
export function psIdentity(output: string): ProcessIdentity | undefined {
  const text = output.replaceAll("\0", "").replace(/\n+$/, "").replace(/^[ \t]+/gm, "");
  return text === "" ? undefined : text as ProcessIdentity;
}
