/** Which processes are taken for harnesses, and above all which are not. */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { recogniseHarness } from "../../src/harness/recognise.ts";

/** A process by its kernel name and its arguments, told in one line: `claude`, `codex`, `-`. */
function told(command: string, ...args: readonly string[]): string {
  const harness = recogniseHarness({ command, args: args.join(" "), argv0: args[0] ?? "" });
  if (harness === undefined) return "-";
  return harness.claudeShaped ? `${harness.name}, claude-shaped` : harness.name;
}

Deno.test("recogniseHarness: a part of the program's name", () => {
  assertEquals(
    ["claude", "claude-code", "my-codex", "opencode", "grok-cli", "kimi", "CLAUDE"].map((name) =>
      told(name, name)
    ),
    [
      "claude, claude-shaped",
      "claude, claude-shaped",
      "codex",
      "opencode",
      "grok",
      "kimi",
      "-",
    ],
  );
  assertEquals(told("/opt/tools/codex-cli", "codex-cli"), "codex");
});

Deno.test("recogniseHarness: a name that says two things is shaped by what it contains", () => {
  assertEquals(told("codex-claude", "x"), "claude, claude-shaped");
});

Deno.test("recogniseHarness: short names only as a whole", () => {
  assertEquals(
    ["pi", "pi-signed", "omp", "ompd", "comp", "pip", "pipeline", "api"].map((name) =>
      told(name, name)
    ),
    ["pi", "pi-signed", "omp", "-", "-", "-", "-", "-"],
  );
});

Deno.test("recogniseHarness: a whole component of the program's path", () => {
  assertEquals(told("2.1.278", "/home/u/claude/versions/2.1.278"), "claude, claude-shaped");
  assertEquals(told("/u/claude/versions/2.1.278", "x"), "claude, claude-shaped");
  assertEquals(told("main", "/usr/lib/pi/main"), "pi");
  assertEquals(told("main", "/usr/lib/pi-signed/main"), "pi-signed");
  assertEquals(told("main", "/usr/lib/.claude/main"), "-");
  assertEquals(told("main", "/usr/lib/claude-hooks/main"), "-");
  assertEquals(told("main", "/opt/pipeline/bin/runner"), "-");
  assertEquals(told("runner", "claude"), "claude, claude-shaped");
});

Deno.test("recogniseHarness: an interpreter by what it runs", () => {
  assertEquals(told("node", "node", "/usr/lib/claude/cli.js"), "claude, claude-shaped");
  assertEquals(told("node", "node", "/usr/lib/codex/cli.js"), "codex");
  assertEquals(told("python3.12", "python3.12", "-m", "kimi"), "kimi");
  assertEquals(told("node", "node", "server.js"), "-");
  assertEquals(told("node", "node", "grok.js", "--for", "claude"), "claude, claude-shaped");
  assertEquals(recogniseHarness({ command: "node", args: "x\npi\ny", argv0: "node" }), {
    name: "pi",
    claudeShaped: false,
  });
});

Deno.test("recogniseHarness: what any other program is told says nothing", () => {
  const programs: readonly (readonly [string, ...string[]])[] = [
    ["bash", "bash", "bin/fm-claude-stop-autoarm.sh"],
    ["sh", "/bin/sh", "/home/u/.claude/hooks/notify.sh"],
    ["runner", "/srv/pipeline/bin/runner", "pi"],
    ["turnguard", "/usr/local/bin/turnguard", "stop", "--claude"],
    ["turnguard", "/usr/local/bin/turnguard", "stop", "--cursor"],
    ["turnguard", "turnguard", "autoarm", "--root", "/home/u/claude/home"],
    ["turnguard", "turnguard", "stop", "--grok", "--root", "/srv/codex"],
    ["vim", "vim", "claude.md"],
    ["sleep", "sleep", "600"],
    ["", ""],
  ];
  assertEquals(programs.map(([command, ...args]) => told(command, ...args)), [
    ...programs.map(() => "-"),
  ]);
});

Deno.test("recogniseHarness: harnesses that only detection knows own no lock", () => {
  assertEquals(
    ["gemini", "muse", "rovo", "devin"].map((name) => told(name, name)),
    ["-", "-", "-", "-"],
  );
});

Deno.test("recogniseHarness: the Cursor agent by its own name", () => {
  assertEquals(told("cursor-agent", "cursor-agent"), "cursor");
  assertEquals(told("-cursor-agent", "x"), "cursor");
  assertEquals(told("cursor", "cursor"), "-");
  assertEquals(told("Cursor Helper", "/opt/cursor/helper"), "-");
});

Deno.test("recogniseHarness: the Cursor agent's runtimes by what they were started as", () => {
  for (const runtime of ["agent", "MainThread", "node", "node-22", "node22", "python3"]) {
    assertEquals(told(runtime, "cursor-agent"), "cursor", runtime);
    assertEquals(
      told(runtime, "/u/.local/share/cursor-agent/versions/1.2/index.js"),
      "cursor",
      runtime,
    );
    assertEquals(told(runtime, "/u/agent/index.js"), "-", runtime);
    assertEquals(told(runtime, "/u/cursor-agent/notes.js"), "-", runtime);
  }
  assertEquals(told("nodejs-like", "cursor-agent"), "-");
  assertEquals(told("MainThread", "MainThread"), "-");
  assertEquals(told("bash", "cursor-agent"), "-");
});

Deno.test("recogniseHarness: the Cursor agent behind links, up to a limit", () => {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    const program = join(folder, "cursor-agent", "versions", "1.2", "run");
    Deno.mkdirSync(join(folder, "cursor-agent", "versions", "1.2"), { recursive: true });
    Deno.writeTextFileSync(program, "");
    Deno.symlinkSync(program, join(folder, "agent"));
    assertEquals(told("agent", join(folder, "agent")), "cursor");
    assertEquals(told(join(folder, "agent"), "x"), "cursor");
    Deno.symlinkSync(join(folder, "loop"), join(folder, "loop"));
    assertEquals(told("agent", join(folder, "loop")), "-");
    assertEquals(told(join(folder, "nowhere"), "x"), "-");
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
