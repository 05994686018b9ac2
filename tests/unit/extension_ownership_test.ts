/**
 * When the extensions of Pi or omp prove that they own supervision.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type ExtensionFact,
  type FamilyFact,
  judgeOwnership,
  type OwnershipFact,
} from "../../src/decide/extension_ownership.ts";
import { observeExtensions } from "../../src/observe/extension_markers.ts";
import { findHome } from "../../src/observe/home.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { makeHome, type TestHome } from "../support/home.ts";

const SESSION = "4242";
const DIGEST = "a".repeat(64);
const ACTIVE = "generation=3 phase=active";

function extension(
  generation: ExtensionFact["generation"],
  changes: Partial<ExtensionFact> = {},
): ExtensionFact {
  return {
    file: "x.ts",
    digest: DIGEST,
    marker: {
      digest: `sha256:${DIGEST}`,
      session: SESSION,
      generation: generation === "required" ? ACTIVE : "",
    },
    generation,
    ...changes,
  };
}

/** What can be wrong with one extension, whichever it is. */
const FAULTS: Readonly<Record<string, Partial<ExtensionFact>>> = {
  "extension gone": { digest: undefined },
  "extension changed": { digest: "b".repeat(64) },
  "marker gone": { marker: undefined },
  "digest without its kind": marker({ digest: DIGEST }),
  "digest of another kind": marker({ digest: `cksum:${DIGEST}` }),
  "digest in capitals": marker({ digest: `sha256:${DIGEST.toUpperCase()}` }),
  "digest with a blank more": marker({ digest: `sha256:${DIGEST} ` }),
  "other session": marker({ session: "4243" }),
  "no session": marker({ session: "" }),
  "session with a carriage return": marker({ session: `${SESSION}\r` }),
};

function marker(
  changes: Partial<NonNullable<ExtensionFact["marker"]>>,
): Partial<ExtensionFact> {
  return {
    marker: { digest: `sha256:${DIGEST}`, session: SESSION, generation: ACTIVE, ...changes },
  };
}

/** A family with one of its two extensions at fault, or none. */
function family(
  name: FamilyFact["name"],
  fault?: { readonly at: number; readonly changes: Partial<ExtensionFact> },
): FamilyFact {
  const extensions = [
    extension(name === "Pi" ? "required" : "none"),
    extension("none"),
  ];
  return {
    name,
    extensions: extensions.map((fact, at) =>
      at === fault?.at ? { ...fact, ...fault.changes } : fact
    ),
  };
}

function ownership(
  families: readonly FamilyFact[],
  session: OwnershipFact["session"] = { line: SESSION, liveness: "alive" },
): string {
  return judgeOwnership({ session, families }).kind;
}

Deno.test("judgeOwnership: a complete family is a proof, the other one or not", () => {
  const broken = { at: 0, changes: { marker: undefined } };
  assertEquals(ownership([family("Pi"), family("omp")]), "proven");
  assertEquals(ownership([family("Pi"), family("omp", broken)]), "proven");
  assertEquals(ownership([family("Pi", broken), family("omp")]), "proven");
  assertEquals(ownership([family("Pi", broken), family("omp", broken)]), "unproven");
});

Deno.test("judgeOwnership: one fault in either extension of a family is enough", () => {
  const gone = { at: 0, changes: { digest: undefined } };
  for (const name of ["Pi", "omp"] as const) {
    for (const at of [0, 1]) {
      for (const [fault, changes] of Object.entries(FAULTS)) {
        const families = name === "Pi"
          ? [family("Pi", { at, changes }), family("omp", gone)]
          : [family("Pi", gone), family("omp", { at, changes })];
        assertEquals(ownership(families), "unproven", `${name}, extension ${at}, ${fault}`);
      }
    }
  }
});

Deno.test("judgeOwnership: halves of two families make no proof", () => {
  for (const [pi, omp] of [[0, 1], [1, 0], [0, 0], [1, 1]] as const) {
    const changes = { marker: undefined };
    assertEquals(
      ownership([family("Pi", { at: pi, changes }), family("omp", { at: omp, changes })]),
      "unproven",
    );
  }
});

Deno.test("judgeOwnership: the session must be alive and not merely be named", () => {
  const families = [family("Pi"), family("omp")];
  for (const liveness of ["dead", "foreign", "unknown", "not-a-pid"] as const) {
    assertEquals(ownership(families, { line: SESSION, liveness }), "unproven", liveness);
  }
  assertEquals(ownership(families, { line: "1", liveness: "alive" }), "unproven");
});

/** Line 3 of Pi's watch marker, and whether it names an active generation. */
const GENERATIONS: ReadonlyArray<readonly [line: string, active: boolean]> = [
  [ACTIVE, true],
  ["generation=1 phase=active", true],
  ["generation=0012 phase=active", true],
  ["generation=3 since=5 phase=active", true],
  ["generation=0 phase=active", false],
  ["generation=00 phase=active", false],
  ["generation= phase=active", false],
  ["generation=3phase=active", false],
  ["generation=-3 phase=active", false],
  ["generation=3x phase=active", false],
  ["generation=3 phase=handoff", false],
  ["generation=3 phase=retiring", false],
  ["generation=3 phase=Active", false],
  ["generation=3 phase=active ", false],
  ["generation=3 phase=active\r", false],
  ["generation=3 phase=inactive", false],
  ["generation=3\tphase=active", false],
  [" generation=3 phase=active", false],
  ["phase=active generation=3", false],
  ["phase=active", false],
  ["generation=3", false],
  ["", false],
];

Deno.test("judgeOwnership: Pi's watch marker must name an active generation", () => {
  const gone = { at: 0, changes: { digest: undefined } };
  const actual = GENERATIONS.map(([line]) => {
    const changes = marker({ generation: line });
    return [line, ownership([family("Pi", { at: 0, changes }), family("omp", gone)]) === "proven"];
  });
  assertEquals(actual, GENERATIONS.map(([line, active]) => [line, active]));
});

Deno.test("judgeOwnership: no other marker needs a generation", () => {
  const changes = marker({ generation: "generation=0 phase=handoff" });
  const gone = { at: 0, changes: { digest: undefined } };
  assertEquals(ownership([family("Pi", { at: 1, changes }), family("omp", gone)]), "proven");
  for (const at of [0, 1]) {
    assertEquals(ownership([family("Pi", gone), family("omp", { at, changes })]), "proven");
  }
});

Deno.test("judgeOwnership: what is missing is named for both families", () => {
  const verdict = judgeOwnership({
    session: { line: SESSION, liveness: "alive" },
    families: [
      family("Pi", { at: 1, changes: { marker: undefined } }),
      family("omp", { at: 0, changes: { digest: undefined } }),
    ],
  });
  assertStringIncludes(verdict.saw, "Pi: x.ts left no marker");
  assertStringIncludes(verdict.saw, "omp: x.ts is not there");
});

async function observed(home: TestHome): Promise<OwnershipFact> {
  return await observeExtensions(findHome({
    environment: environmentOf({ FM_HOME: home.root }),
    root: home.root,
    startedAs: "turnguard",
    workingDirectory: () => "/",
    lookUpwards: false,
  }));
}

Deno.test("observeExtensions: a home without any of it has no session, extension or marker", async () => {
  await using home = makeHome();
  const { session, families } = await observed(home);
  assertEquals(session, { line: "", liveness: "not-a-pid" });
  assertEquals(
    families.map(({ name, extensions }) => [
      name,
      ...extensions.map(({ digest, marker, generation }) => [digest, marker, generation]),
    ]),
    [
      ["Pi", [undefined, undefined, "required"], [undefined, undefined, "none"]],
      ["omp", [undefined, undefined, "none"], [undefined, undefined, "none"]],
    ],
  );
});

Deno.test("observeExtensions: the digest is that of the bytes on disk", async () => {
  await using home = makeHome();
  home.write(".pi/extensions/fm-primary-pi-watch.ts", "abc");
  const { families } = await observed(home);
  assertEquals(
    families[0]?.extensions[0]?.digest,
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

Deno.test("observeExtensions: only regular files are extensions and markers", async () => {
  await using home = makeHome();
  home.write(".pi/extensions/fm-primary-pi-watch.ts/inside");
  home.write("state/.pi-watch-extension-loaded/inside");
  home.write("elsewhere", "sha256:x\n7");
  Deno.symlinkSync(home.path("elsewhere"), home.path("state/.pi-turnend-extension-loaded"));
  const { families } = await observed(home);
  assertEquals(families[0]?.extensions[0]?.digest, undefined);
  assertEquals(families[0]?.extensions[0]?.marker, undefined);
  assertEquals(families[0]?.extensions[1]?.marker, {
    digest: "sha256:x",
    session: "7",
    generation: "",
  });
});

Deno.test("observeExtensions: the session is line 1 of its lock, whatever follows", async () => {
  await using home = makeHome();
  const { pid } = home.sleeper();
  home.write("state/.lock", `${pid}\nharness=pi\n`);
  assertEquals((await observed(home)).session, { line: String(pid), liveness: "alive" });
});
