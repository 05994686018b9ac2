/**
 * The sweep over checks: its order, its outcomes, the relay's shim, and when it is due.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findHome, type Home } from "../../src/observe/home.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { parseCheckId } from "../../src/state/check_trust.ts";
import {
  checkSettings,
  dueAgeSeconds,
  isSweepDue,
  touchLastCheck,
} from "../../src/watch/checks/cadence.ts";
import { registerCheck } from "../../src/watch/checks/registration.ts";
import { isShimText, unquotedWord } from "../../src/watch/checks/relay_shim.ts";
import { outputText } from "../../src/watch/checks/run_check.ts";
import { sweepChecks, type SweepOutcome, type SweepSetup } from "../../src/watch/checks/sweep.ts";
import { makeHome, type TestHome } from "../support/home.ts";

function homeOf(home: TestHome): Home {
  return findHome({
    environment: environmentOf({}),
    root: home.root,
    startedAs: "turnguard",
    workingDirectory: () => "/",
    lookUpwards: false,
  });
}

function sweep(home: TestHome, changes: Partial<SweepSetup> = {}): Promise<SweepOutcome> {
  return sweepChecks({
    home: homeOf(home),
    timeoutSeconds: 60,
    tick: () => {},
    stop: new Promise(() => {}),
    ...changes,
  });
}

function writeCheck(home: TestHome, id: string, body: string): string {
  const name = `state/${id}.check.sh`;
  home.write(name, `${body}\n`);
  Deno.chmodSync(home.path(name), 0o700);
  return home.path(name);
}

async function trusted(home: TestHome, id: string, body: string): Promise<string> {
  const path = writeCheck(home, id, body);
  const parsed = parseCheckId(id);
  assert(parsed !== undefined);
  assertEquals((await registerCheck(home.state, parsed)).kind, "registered");
  return path;
}

function dotFiles(home: TestHome): readonly string[] {
  return [...Deno.readDirSync(home.state)].map((entry) => entry.name)
    .filter((name) => name.startsWith("."));
}

Deno.test("sweepChecks: without checks, or with silent ones, there is nothing", async () => {
  await using home = makeHome();
  assertEquals(await sweep(home), { kind: "nothing" });
  await trusted(home, "a", "exit 1");
  await trusted(home, "b", "printf '\\n\\n'");
  assertEquals(await sweep(home), { kind: "nothing" });
  assertEquals(dotFiles(home), []);
});

Deno.test("sweepChecks: the first output is the wake, later checks do not run", async () => {
  await using home = makeHome();
  await trusted(home, "a", "exit 0");
  const path = await trusted(home, "b", "echo one; echo two");
  await trusted(home, "c", `touch '${home.folder}/ran'; echo three`);
  writeCheck(home, "0", "echo unregistered");
  const reason = `check: ${path}: one\ntwo`;
  assertEquals(await sweep(home), {
    kind: "output",
    path,
    output: "one\ntwo",
    reason,
    row: { kind: "check", key: path, payload: reason },
  });
  assertEquals([...Deno.readDirSync(home.folder)].map((entry) => entry.name), ["home"]);
});

Deno.test("sweepChecks: what may not run is reported when nothing else has to be", async () => {
  await using home = makeHome();
  const a = writeCheck(home, "a", `touch '${home.folder}/ran'`);
  const b = await trusted(home, "b", "exit 0");
  Deno.writeTextFileSync(b, `touch '${home.folder}/ran'\n`);
  const odd = home.path("state", "c\nd.check.sh");
  Deno.writeTextFileSync(odd, "");
  const outcome = await sweep(home);
  assert(outcome.kind === "rejected");
  assertEquals(outcome.paths, [a, b, odd]);
  const shown = `${a} ${b} ${odd.replace("\n", "\\x0a")}`;
  assertEquals(outcome.reason, `check: rejected unauthenticated state checks: ${shown}`);
  assertEquals(outcome.row.key, "unauthenticated-state-checks");
  assertEquals([...Deno.readDirSync(home.folder)].map((entry) => entry.name), ["home"]);
});

Deno.test("sweepChecks: pull-request polls are neither run nor rejected", async () => {
  await using home = makeHome();
  await trusted(home, "t", "echo poll");
  home.write("state/t.pr-poll-registration");
  assertEquals(await sweep(home), { kind: "nothing" });
});

Deno.test("sweepChecks: a check that an earlier one replaced is not run", async () => {
  await using home = makeHome();
  const second = home.path("state/b.check.sh");
  await trusted(home, "a", `echo 'touch "${home.folder}/ran"' > '${second}'`);
  await trusted(home, "b", "exit 0");
  const outcome = await sweep(home);
  assertEquals(outcome.kind === "rejected" && outcome.paths, [second]);
  assertEquals([...Deno.readDirSync(home.folder)].map((entry) => entry.name), ["home"]);
});

Deno.test("sweepChecks: output before the deadline counts, silence until then is nothing", async () => {
  await using home = makeHome();
  await trusted(home, "a", "sleep 600 & sleep 600");
  let ticks = 0;
  const tick = (): void => void ticks++;
  assertEquals(await sweep(home, { timeoutSeconds: 1, tick }), { kind: "nothing" });
  assert(ticks > 0);
  await trusted(home, "b", "echo a; sleep 600");
  const outcome = await sweep(home, { timeoutSeconds: 1 });
  assertEquals(outcome.kind === "output" && outcome.output, "a");
  assertEquals(dotFiles(home), []);
});

Deno.test("sweepChecks: a stop ends the sweep", async () => {
  await using home = makeHome();
  await trusted(home, "a", "sleep 600");
  assertEquals(await sweep(home, { stop: Promise.resolve() }), { kind: "stopped" });
  assertEquals(dotFiles(home), []);
});

Deno.test("sweepChecks: copies of a watcher that was killed go some day", async () => {
  await using home = makeHome();
  home.write("state/.fm-custom-check.OldOne").write("state/.fm-custom-check.NewOne");
  const old = Date.now() / 1000 - 7_200;
  Deno.utimeSync(home.path("state/.fm-custom-check.OldOne"), old, old);
  await sweep(home);
  assertEquals(dotFiles(home), [".fm-custom-check.NewOne"]);
});

Deno.test("sweepChecks: a state directory that is gone is no crash", async () => {
  await using home = makeHome();
  home.remove("state");
  assertEquals((await sweep(home)).kind, "unable");
});

function shim(home: TestHome, changes: (text: string) => string = (text) => text): string {
  const text = `#!/usr/bin/env bash\n# Polls the relay.\nexport FM_HOME=${home.root}\n` +
    `exec ${home.root}/bin/fm-x-poll.sh\n`;
  home.write("state/x-watch.check.sh", changes(text));
  Deno.chmodSync(home.path("state/x-watch.check.sh"), 0o700);
  return home.path("state/x-watch.check.sh");
}

Deno.test("sweepChecks: a valid shim has the poll script run with the home, not itself", async () => {
  await using home = makeHome();
  const path = shim(home);
  home.write("bin/fm-x-poll.sh", 'echo "mention in $FM_HOME"\n');
  const outcome = await sweep(home);
  assertEquals(
    outcome.kind === "output" && outcome.reason,
    `check: ${path}: mention in ${home.root}`,
  );
});

/** What makes a shim invalid. */
const BAD_SHIMS: Readonly<Record<string, (home: TestHome) => void>> = {
  "another command": (home) => void shim(home, (text) => `${text}echo more\n`),
  "a command before": (home) => void shim(home, (text) => text.replace("export", "echo\nexport")),
  "another home": (home) => void shim(home, (text) => text.replace("FM_HOME=", "FM_HOME=/x")),
  "another script": (home) => void shim(home, (text) => text.replace("fm-x-poll", "fm-y-poll")),
  "a substitution": (home) => void shim(home, (text) => text.replace("exec ", "exec $(id)")),
  "another mode": (home) => Deno.chmodSync(shim(home), 0o755),
  "a second name": (home) => Deno.linkSync(shim(home), home.path("other")),
  "no poll script": (home) => void home.remove("bin/fm-x-poll.sh"),
  "a linked poll script": (home) => {
    Deno.renameSync(home.path("bin/fm-x-poll.sh"), home.path("real.sh"));
    Deno.symlinkSync(home.path("real.sh"), home.path("bin/fm-x-poll.sh"));
  },
};

Deno.test("sweepChecks: an invalid shim is rejected and runs nothing", async () => {
  for (const [row, spoil] of Object.entries(BAD_SHIMS)) {
    await using home = makeHome();
    home.write("bin/fm-x-poll.sh", "echo mention\n");
    const path = shim(home);
    spoil(home);
    const outcome = await sweep(home);
    assertEquals([row, outcome.kind === "rejected" && outcome.paths], [row, [path]]);
  }
});

Deno.test("isShimText: paths as printf %q writes them", () => {
  const text = (home: string, poll: string): string =>
    `#!/usr/bin/env bash\nexport FM_HOME=${home}\nexec ${poll}\n`;
  assert(isShimText(text("/a\\ b\\'c", "/r/p.sh"), "/a b'c", "/r/p.sh"));
  assert(isShimText(text("$'/h\\303\\244\\n'", "/r/p.sh"), "/hä\n", "/r/p.sh"));
  assert(isShimText(text("/hä", "/r/p.sh").trimEnd(), "/hä", "/r/p.sh"));
  assert(!isShimText(text("/a b", "/r/p.sh"), "/a b", "/r/p.sh"));
  assert(!isShimText(text("/a", "/r/p.sh; id"), "/a", "/r/p.sh; id"));
  assert(!isShimText(`\n${text("/a", "/p")}`, "/a", "/p"));
});

Deno.test("unquotedWord: undoes what bash's printf %q does", async () => {
  const paths = ["/plain-1.2_3", "/a b", "/q'\"\\", "/$x`y`", "/ä/€", "/t\tn\n", "/{a,b}*?[c]~#!^"];
  for (const LC_ALL of ["C", "C.UTF-8"]) {
    const { stdout } = await new Deno.Command("/bin/bash", {
      args: ["-c", 'printf "%q\\0" "$@"', "-", ...paths],
      clearEnv: true,
      env: { LC_ALL },
    }).output();
    const words = new TextDecoder().decode(stdout).split("\0").slice(0, -1);
    assertEquals(words.map(unquotedWord), paths, LC_ALL);
  }
});

Deno.test("outputText: what a shell would capture, made safe, within the limit", () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  assertEquals(outputText(encode("a\r\nb\n\n\n")), "a\nb");
  assertEquals(outputText(encode("\n\0\n")), "");
  assertEquals(outputText(encode(" \n")), " ");
  assertEquals(outputText(new Uint8Array(100_000).fill(0x1b)).length, 65_536);
  assertStringIncludes(outputText(encode("\u202eabc\u0007")), "\\u{202e}abc\\x07");
});

Deno.test("checkSettings: what is malformed counts as unset", () => {
  const settings = (interval: string, timeout: string): readonly number[] => {
    const environment = environmentOf({ FM_CHECK_INTERVAL: interval, FM_CHECK_TIMEOUT: timeout });
    const { intervalSeconds, timeoutSeconds } = checkSettings(environment);
    return [intervalSeconds, timeoutSeconds];
  };
  assertEquals(settings("", ""), [300, 30]);
  assertEquals(settings("0", "0"), [0, 30]);
  assertEquals(settings("30", "5"), [30, 5]);
  assertEquals(settings("-1", "1.5"), [300, 30]);
});

Deno.test("dueAgeSeconds: missing and future files are overdue", async () => {
  await using home = makeHome();
  const path = home.path("state/.last-check");
  const settings = { intervalSeconds: 300, timeoutSeconds: 1 };
  assertEquals([dueAgeSeconds(path), isSweepDue(home.state, settings)], [999_999, true]);
  touchLastCheck(home.state);
  assertEquals(isSweepDue(home.state, settings), false);
  assertEquals(isSweepDue(home.state, { ...settings, intervalSeconds: 0 }), true);
  const future = Date.now() / 1000 + 3_600;
  Deno.utimeSync(path, future, future);
  assertEquals(isSweepDue(home.state, settings), true);
  touchLastCheck(home.state);
  assertEquals(isSweepDue(home.state, settings), false);
});
