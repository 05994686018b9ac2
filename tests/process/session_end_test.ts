/** The auto-arm when its session ends without a word to it. */

import { assertEquals } from "@std/assert";
import { openSession } from "../support/claude_session.ts";
import { makeHome } from "../support/home.ts";
import { until } from "../support/processes.ts";

Deno.test("autoarm: a session that ends in silence takes its park with it", async () => {
  await using home = makeHome();
  home.task();
  await using session = (await openSession(home)).hold();
  const { pid } = await session.autoarm();
  const read = (name: string): string => {
    try {
      return Deno.readTextFileSync(home.path("state", name));
    } catch {
      return "";
    }
  };
  const ledger = `epoch=1 owner_pid=${pid} outcome=arming `;
  await until(() => read(".watch.lock/pid").trim() === String(pid));
  assertEquals(read(".claude-autoarm-epoch").startsWith(ledger), true);
  await session.crash();
  await until(() => read(".turnguard-journal.jsonl").includes('"code":"session-end"'), 20_000);
  await until(() => read(".watch.lock/pid") === "");
  // The next session finds the claim of a dead owner, and no failure that nobody had.
  assertEquals(read(".claude-autoarm-epoch").startsWith(ledger), true);
  assertEquals(read(".claude-autoarm-failure-notified"), "");
});
