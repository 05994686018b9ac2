import { assertEquals } from "@std/assert";
import { armOutputPath, removeAbandonedFiles } from "../../src/state/abandoned_files.ts";
import { deadPid } from "../support/processes.ts";

Deno.test("removeAbandonedFiles: takes what dead processes left, and nothing that is in doubt", async () => {
  const state = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    const dead = await deadPid();
    const twoHoursAgo = Date.now() / 1000 - 7_200;
    const left = [`.watch-arm-output.${dead}.aB3dE6`, ".x.tmp.aB3dE6"];
    const kept = [
      armOutputPath(state).slice(state.length + 1),
      // By another program, which does not say whose it is.
      ".watch-arm-output.aB3dE6",
      `.watch-arm-output.${dead}.other`,
      ".watch-arm-output.99999999999.aB3dE6",
      `watch-arm-output.${dead}.aB3dE6`,
    ];
    for (const name of [...left, ...kept]) {
      Deno.writeTextFileSync(`${state}/${name}`, "");
      Deno.utimeSync(`${state}/${name}`, twoHoursAgo, twoHoursAgo);
    }
    Deno.writeTextFileSync(`${state}/.y.tmp.aB3dE6`, "");
    Deno.mkdirSync(`${state}/.watch-arm-output.${dead}.aB3dE7`);
    removeAbandonedFiles(state);
    assertEquals(
      [...Deno.readDirSync(state)].map(({ name }) => name).toSorted(),
      [...kept, ".y.tmp.aB3dE6", `.watch-arm-output.${dead}.aB3dE7`].toSorted(),
    );
  } finally {
    Deno.removeSync(state, { recursive: true });
  }
});
