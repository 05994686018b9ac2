import { assertEquals } from "@std/assert";
import { namesDaemon } from "../../src/decide/away_daemon.ts";

/** Command lines, and whether they are a daemon's. */
const COMMAND_LINES: readonly (readonly [commandLine: string, daemon: boolean])[] = [
  ["/bin/bash /h/bin/fm-supervise-daemon.sh", true],
  ["/opt/turnguard daemon --root /h", true],
  ["turnguard-0.1.0 daemon", true],
  ["/opt/turnguard afk on --quiet", true],
  ["/opt/turnguard away --root /h start", true],
  ["/opt/turnguard afk off", false],
  ["/opt/turnguard afk status --json", false],
  ["/opt/turnguard watch --root /h/daemon", false],
  ["/usr/bin/daemon", false],
  ["", false],
];

Deno.test("namesDaemon: only the words that become a daemon are a daemon's", () => {
  for (const [commandLine, daemon] of COMMAND_LINES) {
    assertEquals(namesDaemon(commandLine), daemon, commandLine);
  }
});
