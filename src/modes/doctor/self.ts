/** `doctor --self`: what the executable was built to be, and whether it is that. */

import { type BuildInfo, buildInfo, readableEnvironment } from "../../build_info.ts";

/** One permission: what the build grants, and what the runtime says. */
export interface GrantedPermission {
  readonly name: string;
  readonly wanted: "granted" | "refused";
  readonly found: "granted" | "refused";
}

/** What the executable says of itself. */
export interface SelfReport extends BuildInfo {
  /** Whether it is one compiled executable. */
  readonly compiled: boolean;
  readonly permissions: readonly GrantedPermission[];
  /** Variables that it may read; a `*` at the end stands for any rest. */
  readonly readableEnvironment: readonly string[];
  readonly isAsBuilt: boolean;
}

/** A variable that no list names: reading it must be refused. */
const UNLISTED = "SOMEBODYS_SECRET";

/** Whole permissions that the build grants, and those that it never does. */
const GRANTED = ["read", "write", "run"] as const;
const NEVER = ["net", "ffi", "sys"] as const;

/** Asks the runtime. Before anything was given up. */
export function observeSelf(): SelfReport {
  const readable = readableEnvironment();
  const permissions: readonly GrantedPermission[] = [
    ...GRANTED.map((name) => permission(name, { name }, "granted")),
    ...readable.map((text) => {
      const variable = text.replace("*", "X");
      return permission(`env ${text}`, { name: "env", variable }, "granted");
    }),
    permission("env of any other name", { name: "env", variable: UNLISTED }, "refused"),
    ...NEVER.map((name) => permission(name, { name }, "refused")),
  ];
  return {
    ...buildInfo(),
    compiled: Deno.build.standalone,
    permissions,
    readableEnvironment: readable,
    isAsBuilt: Deno.build.standalone && permissions.every(({ wanted, found }) => wanted === found),
  };
}

function permission(
  name: string,
  descriptor: Deno.PermissionDescriptor,
  wanted: GrantedPermission["wanted"],
): GrantedPermission {
  const { state } = Deno.permissions.querySync(descriptor);
  return { name, wanted, found: state === "granted" ? "granted" : "refused" };
}

/** The report for a screen. */
export function selfLines(report: SelfReport): readonly string[] {
  const wrong = report.permissions.filter(({ wanted, found }) => wanted !== found);
  return [
    `version      ${report.version}`,
    `commit       ${report.commit ?? "unknown"}`,
    `runtime      Deno ${report.deno}, ${report.target}`,
    `form         ${report.compiled ? "one compiled executable" : "run from its sources"}`,
    "may          read and write files, start programs and signal processes",
    "may never    use the network, load native code, ask about the system",
    `reads        ${report.readableEnvironment.length} variables or families of them, no others`,
    ...wrong.map(({ name, wanted, found }) =>
      `WRONG        ${name}: ${found} instead of ${wanted}`
    ),
    report.isAsBuilt
      ? "verdict      it has exactly the permissions that it was built with"
      : report.compiled
      ? "verdict      NOT the published build: install that one again"
      : "verdict      undetermined: the permissions are those of the command line",
  ];
}
