/** Settings for the arm, read from shell text without a shell. */

import { assertEquals } from "@std/assert";
import { relaySettings } from "../../src/watch/relay_settings.ts";

function settingsOf(text: string): Readonly<Record<string, string>> {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/x-mode.env`, text);
    return relaySettings(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("relaySettings: assignments of FM_ names, exported or not, the last one wins", () => {
  assertEquals(
    settingsOf(
      "export FM_CHECK_INTERVAL=30\nFM_A=1\n  export  FM_B=\"two words\"\nFM_A='2'\nFM_C=\n",
    ),
    { FM_CHECK_INTERVAL: "30", FM_A: "2", FM_B: "two words", FM_C: "" },
  );
});

Deno.test("relaySettings: nothing else of the file is taken, and nothing is run", () => {
  const lines = [
    "PATH=/tmp",
    "export LD_PRELOAD=x",
    "# FM_A=1",
    "FM_=1",
    "FM-A=1",
    "xFM_A=1",
    "FM_A = 1",
    "echo FM_A=1",
    "FM_A",
  ];
  assertEquals(settingsOf(lines.join("\n")), {});
  assertEquals(settingsOf("FM_A=$(touch /tmp/x)"), { FM_A: "$(touch /tmp/x)" });
});

Deno.test("relaySettings: only a plain file is read", () => {
  const folder = Deno.makeTempDirSync();
  try {
    assertEquals(relaySettings(folder), {});
    assertEquals(relaySettings(`${folder}/missing`), {});
    Deno.mkdirSync(`${folder}/x-mode.env`);
    assertEquals(relaySettings(folder), {});
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
