/**
 * `completions`: what real shells offer with the scripts of the executable, and `man`: pages that
 * render without a warning.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname } from "@std/path";
import { MODES } from "../../src/modes/table.ts";
import { TOPICS } from "../../src/modes/topics/all.ts";
import { isFile } from "../support/files.ts";
import { underEachShell } from "../support/shells.ts";
import { runProgram, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

/** The executable's folder first, so that a shell finds it by its name. */
const PATH = `${dirname(TURNGUARD)}:/usr/bin:/bin`;

/** The words that a shell offers at the end of `line`. */
type Offer = (shell: string, line: string) => Promise<readonly string[]>;

async function bashOffer(bash: string, line: string): Promise<readonly string[]> {
  const script = [
    "source <(turnguard completions bash)",
    'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()',
    "compopt() { printf 'names: %s\\n' \"$2\"; }",
    "_turnguard",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join("\n");
  return await output([bash, "--norc", "-c", script, "bash", ...line.split(" ")]);
}

async function fishOffer(fish: string, line: string): Promise<readonly string[]> {
  const script = `turnguard completions fish | source; complete -C ${JSON.stringify(line)}`;
  const lines = await output([fish, "--no-config", "-c", script]);
  return lines.map((each) => each.split("\t")[0] ?? "");
}

/** Completion of zsh works in its line editor alone, so a second zsh gets a terminal of its own. */
async function zshOffer(zsh: string, line: string): Promise<readonly string[]> {
  const script = [
    "zmodload zsh/zpty",
    `zpty inner ${zsh} -f -i`,
    'zpty -w inner \'PS1=REA""DY; autoload -Uz compinit; compinit -u -D; setopt no_beep; ' +
    'LISTMAX=10000; zstyle ":completion:*" list-colors ""; eval "$(turnguard completions zsh)"; PS1=REA""DY\'',
    "zpty -r -m inner out '*READY*'",
    "zpty -w inner 'print'",
    "zpty -r -m inner out '*READY*'",
    `zpty -w -n inner $'${line}\\t\\t\\x15print -r -- EN""D\\n'`,
    "zpty -r -m inner out '*END*'",
    'print -r -- "$out"',
    "zpty -d inner",
  ].join("\n");
  const lines = await output([zsh, "-f", "-c", script], { TERM: "dumb", COLUMNS: "200" });
  return lines.flatMap((each) => each.split(/\s+/)).map((word) => word.replace(ESCAPES, ""));
}

/** What a line editor sends between the words. */
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[^a-zA-Z]*[a-zA-Z]`, "g");

async function output(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const { stdout, stderr } = await runProgram(command, { env: { PATH, ...env } });
  assertEquals(stderr, "");
  return stdout.split("\n").filter((line) => line !== "");
}

const OFFERS: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ["turnguard instr", ["instructions"]],
  ["turnguard lock ", ["acquire", "release", "status"]],
  ["turnguard help bloc", ["blocked"]],
  ["turnguard afk o", ["on", "off"]],
  ["turnguard deadman --backend ", ["systemd", "launchd", "cron", "none"]],
  ["turnguard version --j", ["--json"]],
];

const SHELLS: readonly (readonly [string, Offer])[] = [["bash", bashOffer], ["fish", fishOffer]];

for (const [name, offer] of SHELLS) {
  underEachShell(
    [name],
    (shell) => `completions ${shell}: offers modes, words, topics, values and flags`,
    async (path) => {
      for (const [line, offered] of OFFERS) {
        assertEquals([...await offer(path, line)].sort(), [...offered].sort(), line);
      }
    },
  );
}

underEachShell(
  ["zsh"],
  (shell) => `completions ${shell}: offers modes, words, topics, values and flags`,
  async (path) => {
    for (const [line, offered] of OFFERS) {
      const words = await zshOffer(path, line);
      for (const word of offered) {
        assert(words.includes(word), `${line}: ${word} in ${words.join(" ")}`);
      }
    }
  },
);

underEachShell(
  ["bash"],
  (shell) => `completions ${shell}: a directory, and what follows --, are names of files`,
  async (path) => {
    assertEquals(await bashOffer(path, "turnguard status --root "), ["names: dirnames"]);
    assertEquals(await bashOffer(path, "turnguard deadman install -- c"), ["names: default"]);
  },
);

Deno.test("completions: a shell that nobody knows is a usage error with its name", async () => {
  const { status, stderr } = await runTurnguard(["completions", "tcsh"]);
  assertEquals(status, 2);
  assertStringIncludes(stderr, 'there is none for "tcsh"; name bash, zsh or fish');
});

const LINT = ["/usr/bin/mandoc", "/usr/local/bin/mandoc"].find(isFile);
if (LINT === undefined) console.log("man: lint skipped, mandoc is not installed");

for (const name of ["", ...MODES.map((row) => row.name)]) {
  Deno.test({
    name: `man ${name}: the page renders without a warning`,
    ignore: LINT === undefined,
    fn: async () => {
      const page = await runTurnguard(name === "" ? ["man"] : ["man", name]);
      assertEquals(page.status, 0);
      const lint = await runProgram([LINT ?? "", "-T", "lint", "-W", "warning"], {
        stdin: page.stdout,
      });
      assertEquals(lint.stdout, "");
    },
  });
}

Deno.test("help: every topic is listed, shown, and fits 80 columns", async () => {
  const list = await runTurnguard(["help", "topics"]);
  for (const { name, summary } of TOPICS) {
    assertStringIncludes(list.stdout, `  ${name} `);
    const { status, stdout } = await runTurnguard(["help", name]);
    assertEquals(status, 0);
    assertStringIncludes(stdout, summary);
    for (const line of stdout.split("\n")) assert(Array.from(line).length <= 80, line);
  }
});

Deno.test("help: what it says of each mode fits 80 columns", async () => {
  for (const { name } of MODES) {
    const { status, stdout } = await runTurnguard(["help", name]);
    assertEquals(status, 0);
    for (const line of stdout.split("\n")) assert(Array.from(line).length <= 80, line);
  }
});

Deno.test("help: no topic takes the name of a mode", () => {
  const modes = MODES.flatMap((row) => [row.name, ...(row.aliases ?? [])]);
  for (const { name } of TOPICS) assert(!modes.includes(name), name);
});
