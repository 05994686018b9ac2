/**
 * Draws README's picture: a real Codex session whose turn is blocked by the hook that
 * `turnguard install codex` writes. Only the model's words are scripted.
 *
 * @module
 */

import { join } from "@std/path";
import { TURNGUARD } from "../support/turnguard.ts";
import { turnguard } from "./live_home.ts";
import { startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";
import { startTerminal } from "./terminal.ts";
import { terminalSvg } from "./terminal_svg.ts";

const VERSION = "0.171.0";
const PICTURE = ".github/blocked-turn.svg";
const SIZE = [92, 30] as const;
const REQUEST = "Start the nightly crawl.";
const WORDS = [
  "The crawl runs in the background. I will tell you when it is done.",
  "Nothing watches the crawl, so this turn may not end yet. I run the checkpoint now.",
];

// A short path, so that the lines of the picture do not wrap.
const folder = await Deno.makeTempDir({ dir: "/tmp", prefix: "tg-" });
try {
  await using cli = await npmCli("@openai/codex", VERSION, "codex");
  if (cli.kind === "missing") throw new Error(cli.because);
  const home = join(folder, "crew");
  // The banner names the executable that was registered.
  const executable = join(folder, "turnguard");
  await Deno.copyFile(TURNGUARD, executable);
  await turnguard("init", home);
  await turnguard("task", "add", "crawl", "--root", home);
  await turnguard("install", "codex", "--root", home, "--executable", executable);
  await using model = startMockModel(undefined, (number) => WORDS[number - 1] ?? "All done.");
  await Deno.writeTextFile(join(folder, "config.toml"), configuration(home, model.baseUrl));
  const words = [cli.path, "--dangerously-bypass-hook-trust"];
  const options = { cwd: home, env: environment(), size: SIZE };
  await using terminal = await startTerminal(folder, words, options);
  await terminal.shows("Ask Codex");
  await terminal.enter(REQUEST);
  await terminal.shows("Worked for");
  const screen = (await terminal.colours()).replaceAll(folder, "~");
  // From the request to the last answer: no logo before it, no input line after it.
  const lines = screen.split("\n");
  const first = lines.findIndex((line) => line.includes(REQUEST));
  const last = lines.findIndex((line) => line.includes("Worked for"));
  const shown = lines.slice(first, last).join("\n");
  await Deno.writeTextFile(
    PICTURE,
    await terminalSvg(shown, SIZE[0], "A Codex turn that would have ended blind is blocked"),
  );
  console.log(`drawn     ${PICTURE}`);
} finally {
  await Deno.remove(folder, { recursive: true });
}

function configuration(home: string, baseUrl: string): string {
  return [
    'model = "scripted"',
    'model_provider = "scripted"',
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.scripted]",
    'name = "scripted"',
    `base_url = ${JSON.stringify(baseUrl)}`,
    'wire_api = "responses"',
    'env_key = "MODEL_KEY"',
    `[projects.${JSON.stringify(home)}]`,
    'trust_level = "trusted"',
    "",
  ].join("\n");
}

function environment(): Readonly<Record<string, string | undefined>> {
  return {
    PATH: Deno.env.get("PATH"),
    HOME: folder,
    CODEX_HOME: folder,
    SHELL: "/bin/sh",
    TERM: "xterm-256color",
    MODEL_KEY: "none",
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
  };
}
