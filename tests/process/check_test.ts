/**
 * `check` on the built executable: what may run, what is bound to what, and that nothing a check
 * starts outlives it.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { type RunOptions, runTurnguard, startTurnguard } from "../support/turnguard.ts";

/** Writes a check of mode 700, unregistered. */
function writeCheck(home: TestHome, id: string, body: string, mode = 0o700): string {
  const name = `state/${id}.check.sh`;
  home.write(name, `#!/usr/bin/env bash\n${body}\n`);
  Deno.chmodSync(home.path(name), mode);
  return home.path(name);
}

/** Writes and registers a check. */
async function trusted(home: TestHome, id: string, body: string): Promise<string> {
  const path = writeCheck(home, id, body);
  const run = await runTurnguard(["check-register", id, ...home.args]);
  assertEquals([run.status, run.stderr], [0, ""]);
  return path;
}

async function runCheck(
  home: TestHome,
  id: string,
  options: RunOptions = {},
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  return await runTurnguard(["check", "run", id, ...home.args], options);
}

function names(home: TestHome): readonly string[] {
  return [...Deno.readDirSync(home.state)].map((entry) => entry.name).toSorted();
}

/** The pid that a check's child wrote into a file of the home's folder, once it is complete. */
async function pidIn(path: string): Promise<number> {
  const text = (): string => {
    try {
      return Deno.readTextFileSync(path);
    } catch {
      return "";
    }
  };
  await until(() => text().endsWith("\n"));
  return Number(text());
}

/** Whether a process does anything any more; one that nobody collected yet does not. */
function runs(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}

async function sha256(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", Deno.readFileSync(path))).toHex();
}

Deno.test("check-register: binds the bytes with a record of mode 600", async () => {
  await using home = makeHome();
  const path = writeCheck(home, "c1", "echo hello");
  const run = await runTurnguard(["check-register", "c1", ...home.args]);
  assertEquals(run, { status: 0, stdout: "registered: state/c1.check.sh\n", stderr: "" });
  const record = home.path("state/c1.check-trust");
  assertEquals(Deno.readTextFileSync(record), `fm-custom-check-v1\n${await sha256(path)}\n`);
  assertEquals((Deno.lstatSync(record).mode ?? 0) & 0o7777, 0o600);
  assertEquals(names(home), ["c1.check-trust", "c1.check.sh"]);
});

Deno.test("check-register: a second registration binds the edited bytes", async () => {
  await using home = makeHome();
  await trusted(home, "c1", "echo one");
  const path = await trusted(home, "c1", "echo two");
  assertStringIncludes(
    Deno.readTextFileSync(home.path("state/c1.check-trust")),
    await sha256(path),
  );
  assertEquals((await runCheck(home, "c1")).stdout, "two\n");
});

const INVALID = "error: invalid custom check registration\n";
const NO_STATE = "error: state directory is unavailable\n";
const NO_CHECK = "error: custom check is unavailable\n";
const NO_TRUST = "error: custom check trust path is unavailable\n";

/** Refused registrations: how the home is spoilt, the words, and the answer. */
const REGISTER_ERRORS: Readonly<
  Record<string, readonly [(home: TestHome) => void, readonly string[], number, string]>
> = {
  "no ID": [() => {}, [], 2, INVALID],
  "two IDs": [() => {}, ["c1", "c2"], 2, INVALID],
  "an empty ID": [() => {}, [""], 2, INVALID],
  "a leading dot": [() => {}, [".c1"], 2, INVALID],
  "a path": [() => {}, ["../c1"], 2, INVALID],
  "a blank": [() => {}, ["c 1"], 2, INVALID],
  "no state directory": [(home) => home.remove("state"), ["c1"], 1, NO_STATE],
  "state is a link": [
    (home) => {
      Deno.renameSync(home.state, home.path("real"));
      Deno.symlinkSync(home.path("real"), home.state);
    },
    ["c1"],
    1,
    NO_STATE,
  ],
  "no check": [(home) => home.remove("state/c1.check.sh"), ["c1"], 1, NO_CHECK],
  "the check is a link": [
    (home) => {
      Deno.renameSync(home.path("state/c1.check.sh"), home.path("real.sh"));
      Deno.symlinkSync(home.path("real.sh"), home.path("state/c1.check.sh"));
    },
    ["c1"],
    1,
    NO_CHECK,
  ],
  "the check is a folder": [
    (home) => {
      home.remove("state/c1.check.sh");
      Deno.mkdirSync(home.path("state/c1.check.sh"), { mode: 0o700 });
    },
    ["c1"],
    1,
    NO_CHECK,
  ],
  "mode 755": [
    (home) => Deno.chmodSync(home.path("state/c1.check.sh"), 0o755),
    ["c1"],
    1,
    NO_CHECK,
  ],
  "mode 4700": [
    (home) => Deno.chmodSync(home.path("state/c1.check.sh"), 0o4700),
    ["c1"],
    1,
    NO_CHECK,
  ],
  "two hard links": [
    (home) => Deno.linkSync(home.path("state/c1.check.sh"), home.path("other")),
    ["c1"],
    1,
    NO_CHECK,
  ],
  "trust is a link": [
    (home) => Deno.symlinkSync(home.path("nowhere"), home.path("state/c1.check-trust")),
    ["c1"],
    1,
    NO_TRUST,
  ],
  "trust is a folder": [
    (home) => Deno.mkdirSync(home.path("state/c1.check-trust")),
    ["c1"],
    1,
    NO_TRUST,
  ],
  "trust has two hard links": [
    (home) => {
      home.write("state/c1.check-trust", "x");
      Deno.linkSync(home.path("state/c1.check-trust"), home.path("other"));
    },
    ["c1"],
    1,
    NO_TRUST,
  ],
};

Deno.test("check-register: every refusal has its text and status, and changes nothing", async () => {
  for (const [row, [spoil, words, status, stderr]] of Object.entries(REGISTER_ERRORS)) {
    await using home = makeHome();
    writeCheck(home, "c1", "echo hello");
    spoil(home);
    const before = snapshot(home.root);
    const run = await runTurnguard(["check-register", ...words, ...home.args]);
    assertEquals([row, run], [row, { status, stdout: "", stderr }]);
    assertEquals(snapshot(home.root), before, row);
  }
});

Deno.test("check add --file: copies the script in, registers it, and runs the copy", async () => {
  await using home = makeHome();
  const script = `${home.folder}/probe`;
  Deno.writeTextFileSync(script, "echo probed\n");
  const added = await runTurnguard(["check", "add", "p", "--file", script, ...home.args]);
  assertEquals([added.status, added.stderr], [0, ""]);
  const { mode, nlink } = Deno.lstatSync(home.path("state/p.check.sh"));
  assertEquals([(mode ?? 0) & 0o7777, nlink], [0o700, 1]);
  assertEquals((await runCheck(home, "p")).stdout, "probed\n");
});

Deno.test("check add --file: never overwrites, and a refusal leaves nothing behind", async () => {
  await using home = makeHome();
  const script = `${home.folder}/probe`;
  Deno.writeTextFileSync(script, "echo probed\n");
  writeCheck(home, "old", "echo old");
  Deno.mkdirSync(home.path("state/blocked.check-trust"));
  const before = snapshot(home.root);
  for (
    const [id, file, because] of [
      ["old", script, /there is a check already/],
      ["blocked", script, /trust record is taken/],
      ["new", `${home.folder}/none`, /cannot be read/],
    ] as const
  ) {
    const run = await runTurnguard(["check", "add", id, "--file", file, ...home.args]);
    assertEquals([run.status, run.stdout], [1, ""], id);
    assertMatch(run.stderr, because);
  }
  assertEquals(snapshot(home.root), before);
});

Deno.test("check add --file: of many at once exactly one puts its script in place", async () => {
  await using home = makeHome();
  const runs = await Promise.all(["1", "2", "3", "4", "5"].map(async (number) => {
    const script = `${home.folder}/probe-${number}`;
    Deno.writeTextFileSync(script, `echo ${number}\n`);
    return await runTurnguard(["check", "add", "p", "--file", script, ...home.args]);
  }));
  const winner = runs.findIndex((run) => run.status === 0) + 1;
  assertEquals(runs.map((run) => run.status).toSorted(), [0, 1, 1, 1, 1]);
  assertEquals((await runCheck(home, "p")).stdout, `${winner}\n`);
});

/** Command lines that are refused, with their status and a word of the complaint. */
const REFUSED: ReadonlyArray<readonly [readonly string[], number, RegExp]> = [
  [[], 2, /add ID, remove ID, list or run ID/],
  [["add"], 2, /needs an ID/],
  [["add", "../a"], 2, /not an ID/],
  [["add", "x-watch"], 2, /relay/],
  [["probe", "a"], 2, /"probe"/],
  [["remove", "a", "--file", "f"], 2, /--file belongs to add/],
  [["run", "a", "--json"], 2, /--json belongs to list/],
  [["list", "a"], 2, /no ID/],
  [["add", "none"], 1, /is missing/],
  [["add", "open"], 1, /mode 755 instead of 700/],
  [["remove", "open"], 1, /not registered/],
  [["run", "none"], 1, /no such check/],
  [["run", "open"], 1, /mode 755/],
  [["run", "plain"], 1, /not registered/],
];

Deno.test("check: what is refused changes nothing and says why in one line", async () => {
  await using home = makeHome();
  writeCheck(home, "open", "echo", 0o755);
  writeCheck(home, "plain", "echo");
  const before = snapshot(home.root);
  for (const [words, status, complaint] of REFUSED) {
    const run = await runTurnguard(["check", ...words, ...home.args]);
    assertEquals([run.status, run.stdout], [status, ""], words.join(" "));
    assertMatch(run.stderr, complaint);
    assertMatch(run.stderr, /^turnguard check: [^\n]*\n$/);
  }
  assertEquals(snapshot(home.root), before);
});

Deno.test("check remove: takes away the script only when it is the copy made here", async () => {
  await using home = makeHome();
  Deno.writeTextFileSync(`${home.folder}/probe`, "echo\n");
  for (const id of ["copied", "edited"]) {
    await runTurnguard(["check", "add", id, "--file", `${home.folder}/probe`, ...home.args]);
  }
  Deno.writeTextFileSync(home.path("state/edited.check.sh"), "echo more\n");
  await trusted(home, "own", "echo");
  const said = [];
  for (const id of ["copied", "edited", "own"]) {
    const run = await runTurnguard(["check", "remove", id, ...home.args]);
    assertEquals([run.status, run.stderr], [0, ""]);
    said.push(run.stdout);
  }
  assertEquals(names(home), ["edited.check.sh", "own.check.sh"]);
  assertMatch(said[0] ?? "", /removed too/);
  assertMatch(said[1] ?? "", /edited since[^]*rm -- .*edited\.check\.sh/);
  assertMatch(said[2] ?? "", /not put there by turnguard[^]*rm -- .*own\.check\.sh/);
});

Deno.test("check list: one state for each check, for people and as JSON", async () => {
  await using home = makeHome();
  const empty = await runTurnguard(["check", "list", ...home.args]);
  assertEquals(empty.stdout, "no checks\n");
  await trusted(home, "good", "echo");
  Deno.writeTextFileSync(await trusted(home, "moved", "echo"), "echo evil\n");
  writeCheck(home, "plain", "echo");
  Deno.removeSync(await trusted(home, "ghost", "echo"));
  writeCheck(home, "polled", "echo");
  home.write("state/polled.pr-poll-registration");
  writeCheck(home, "x-watch", "echo");
  Deno.chmodSync(home.path("state/good.check-trust"), 0o600);
  const json = await runTurnguard(["check", "list", "--json", ...home.args]);
  const listed: readonly Readonly<Record<string, unknown>>[] = JSON.parse(json.stdout);
  assertEquals(listed.map(({ id, state }) => [id, state]), [
    ["ghost", "missing"],
    ["good", "trusted"],
    ["moved", "changed"],
    ["plain", "rejected"],
    ["polled", "left-out"],
    ["x-watch", "rejected"],
  ]);
  assertEquals(listed[1]?.["path"], home.path("state/good.check.sh"));
  const { stdout } = await runTurnguard(["check", "list", ...home.args]);
  assertMatch(stdout, /^moved +changed +it was changed after it was registered$/m);
  assertMatch(stdout, /^plain +rejected +it is not registered$/m);
  assertMatch(stdout, /\n6 checks, 3 refused\n$/);
});

/** How trust is lost after a registration. */
const LOST_TRUST: Readonly<Record<string, (home: TestHome) => void>> = {
  "edited": (home) => Deno.writeTextFileSync(home.path("state/c.check.sh"), "touch ran\n"),
  "mode 500": (home) => Deno.chmodSync(home.path("state/c.check.sh"), 0o500),
  "second name": (home) => Deno.linkSync(home.path("state/c.check.sh"), home.path("other")),
  "trust of mode 644": (home) => Deno.chmodSync(home.path("state/c.check-trust"), 0o644),
  "trust with a second name": (home) =>
    Deno.linkSync(home.path("state/c.check-trust"), home.path("other")),
  "trust behind a link": (home) => {
    Deno.renameSync(home.path("state/c.check-trust"), home.path("real"));
    Deno.symlinkSync(home.path("real"), home.path("state/c.check-trust"));
  },
  "trust with a third line": (home) =>
    Deno.writeTextFileSync(home.path("state/c.check-trust"), "more\n", { append: true }),
  "trust gone": (home) => home.remove("state/c.check-trust"),
  "script behind a link": (home) => {
    Deno.renameSync(home.path("state/c.check.sh"), home.path("real.sh"));
    Deno.symlinkSync(home.path("real.sh"), home.path("state/c.check.sh"));
  },
};

Deno.test("check run: a check that is not as it was registered is never started", async () => {
  for (const [row, lose] of Object.entries(LOST_TRUST)) {
    await using home = makeHome();
    const mark = `${home.folder}/ran`;
    await trusted(home, "c", `touch '${mark}'`);
    lose(home);
    const run = await runCheck(home, "c", { cwd: home.folder });
    assertEquals([row, run.status, run.stdout], [row, 1, ""]);
    assertMatch(run.stderr, /is not run:/);
    assertEquals([...Deno.readDirSync(home.folder)].some((found) => found.name === "ran"), false);
  }
});

Deno.test("check run: silence is nothing, output is printed, the status means nothing", async () => {
  await using home = makeHome();
  await trusted(home, "silent", "exit 3");
  await trusted(home, "loud", "echo one; echo two; echo; echo; echo lost >&2; exit 3");
  assertEquals(await runCheck(home, "silent"), { status: 0, stdout: "", stderr: "" });
  assertEquals(await runCheck(home, "loud"), { status: 0, stdout: "one\ntwo\n", stderr: "" });
  assertEquals(names(home).filter((name) => name.startsWith(".")), []);
});

Deno.test("check run: environment and folder are inherited, standard input is empty", async () => {
  await using home = makeHome();
  await trusted(home, "c", 'echo "$UNLISTED_VARIABLE in $PWD: [$(cat)]"');
  const run = await runCheck(home, "c", {
    cwd: home.folder,
    env: { UNLISTED_VARIABLE: "seen" },
    stdin: "for somebody else",
  });
  assertEquals(run.stdout, `seen in ${home.folder}: []\n`);
});

Deno.test("check run: bash is not looked for in PATH", async () => {
  await using home = makeHome();
  await trusted(home, "c", "echo honest");
  for (const name of ["bash", "sh", "env"]) {
    home.write(`evil/${name}`, "#!/bin/sh\necho evil\n");
    Deno.chmodSync(home.path("evil", name), 0o755);
  }
  const run = await runCheck(home, "c", { env: { PATH: home.path("evil") } });
  assertEquals(run.stdout, "honest\n");
});

Deno.test("check run: leads a process group of its own", async () => {
  await using home = makeHome();
  await trusted(home, "c", 'read -r _ _ _ _ group _ < "/proc/$$/stat"; echo "$$ $group"');
  const [own, group] = (await runCheck(home, "c")).stdout.trim().split(" ");
  assertEquals(group, own);
});

/** Leaves a child behind that ignores TERM and says who it is; it ends by itself some day. */
function stubbornChild(file: string): string {
  return `bash -c 'trap "" TERM HUP; echo $$ > "${file}"; for _ in {1..600}; do sleep 1; done' &
while [ ! -s "${file}" ]; do sleep 0.01; done`;
}

Deno.test("check run: at the deadline the whole group ends, and what was printed counts", async () => {
  await using home = makeHome();
  const child = `${home.folder}/child`;
  await trusted(home, "c", `trap "" TERM\n${stubbornChild(child)}\necho before\nwait`);
  const run = await runCheck(home, "c", { env: { FM_CHECK_TIMEOUT: "1" } });
  assertEquals([run.status, run.stdout], [1, "before\n"]);
  assertMatch(run.stderr, /longer than 1 s/);
  assertEquals(runs(await pidIn(child)), false);
  assertEquals(names(home), ["c.check-trust", "c.check.sh"]);
});

Deno.test("check run: children left behind end with the check", async () => {
  await using home = makeHome();
  const child = `${home.folder}/child`;
  await trusted(home, "c", `${stubbornChild(child)}\necho done`);
  assertEquals(await runCheck(home, "c"), { status: 0, stdout: "done\n", stderr: "" });
  assertEquals(runs(await pidIn(child)), false);
});

Deno.test("check run: of ten megabytes the first 65,536 bytes are used", async () => {
  await using home = makeHome();
  await trusted(home, "c", "head -c 10000000 /dev/zero | tr '\\0' x");
  const { status, stdout } = await runCheck(home, "c");
  assertEquals([status, stdout === `${"x".repeat(65_536)}\n`], [0, true], `${stdout.length}`);
});

Deno.test("check run: binary output is shown without anything that steers a terminal", async () => {
  await using home = makeHome();
  await trusted(home, "c", "printf 'a\\0b\\033[31m\\tc\\r\\nd\\377\\n'");
  assertEquals((await runCheck(home, "c")).stdout, "ab\\x1b[31m\tc\nd\\u{fffd}\n");
});

Deno.test("check run: a check that rewrites itself while it runs goes on as registered", async () => {
  await using home = makeHome();
  const path = home.path("state/c.check.sh");
  await trusted(home, "c", `printf 'echo evil\\n%.0s' {1..99} > '${path}'\necho honest`);
  assertEquals((await runCheck(home, "c")).stdout, "honest\n");
  assertMatch((await runCheck(home, "c")).stderr, /changed after it was registered/);
});

Deno.test("check run: a stop ends the check with all that it started", async () => {
  await using home = makeHome();
  const child = `${home.folder}/child`;
  await trusted(home, "c", `${stubbornChild(child)}\nwait`);
  const turnguard = startTurnguard(["check", "run", "c", ...home.args]);
  try {
    const pid = await pidIn(child);
    assert(runs(pid));
    turnguard.kill("SIGTERM");
    assertEquals((await turnguard.status).code, 143);
    assertEquals(runs(pid), false);
  } finally {
    await turnguard.status;
  }
  assertEquals(names(home), ["c.check-trust", "c.check.sh"]);
});
