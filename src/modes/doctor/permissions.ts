/** Check of what the executable may do, as far as this mode has not given it up already. */

import { type Check, ok, undetermined, wrong } from "./check.ts";

/** Whether each permission is granted to the running program. */
export type Grants = Readonly<Record<PermissionName, boolean>>;

type PermissionName = "net" | "ffi" | "sys" | "read" | "run";

/** What no mode ever needs. */
const NEVER = ["net", "ffi", "sys"] as const;

/** What this mode needs itself; `write` is given up before it starts and cannot be seen. */
const NEEDED = ["read", "run"] as const;

/** Asks the runtime what is granted. */
export function observeGrants(): Grants {
  const isGranted = (name: PermissionName): boolean =>
    Deno.permissions.querySync({ name }).state === "granted";
  return {
    net: isGranted("net"),
    ffi: isGranted("ffi"),
    sys: isGranted("sys"),
    read: isGranted("read"),
    run: isGranted("run"),
  };
}

/** Whether the grants are those that the build bakes in. */
export function checkPermissions(grants: Grants, compiled: boolean): Check {
  const tooMany = NEVER.filter((name) => grants[name]);
  const missing = NEEDED.filter((name) => !grants[name]);
  if (!compiled) {
    return undetermined(
      "permissions",
      "run from its sources: the permissions are those of the command line",
    );
  }
  if (tooMany.length === 0 && missing.length === 0) {
    return ok(
      "permissions",
      "no network, native code or system information; reads files and starts programs; writing " +
        "was given up for this command",
    );
  }
  return wrong(
    "permissions",
    [
      ...(tooMany.length > 0 ? [`granted but never needed: ${tooMany.join(", ")}`] : []),
      ...(missing.length > 0 ? [`needed but not granted: ${missing.join(", ")}`] : []),
    ].join("; "),
    "this is not the published build: install that, or build it with: deno task build",
  );
}
