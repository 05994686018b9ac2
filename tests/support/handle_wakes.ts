/** What a session does with its wakes: shows them, handles them, acknowledges them. */

import { assertEquals } from "@std/assert";
import type { TestHome } from "./home.ts";
import { runTurnguard } from "./turnguard.ts";

/** Drains the queue of a home and acknowledges what was shown; returns the shown rows. */
export async function handleWakes(home: Pick<TestHome, "args" | "env">): Promise<string> {
  const shown = await runTurnguard(["wake", "drain", ...home.args], { env: home.env });
  const command = /--ack-through ([0-9]+) --recovery-generation (\S+)/.exec(shown.stderr);
  if (command === null) return shown.stdout;
  const [, through = "", generation = ""] = command;
  const words = ["--ack-through", through, "--recovery-generation", generation];
  const done = await runTurnguard(["wake", "drain", ...home.args, ...words], { env: home.env });
  assertEquals(done.status, 0, done.stderr);
  return shown.stdout;
}
