/**
 * The pointer to a parent's record, and the record itself.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { readBusyPointer, writeBusyRecord } from "../../src/act/busy_record.ts";

async function inFolder(work: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("readBusyPointer: a pointer that is not whole and safe is none", async () => {
  await inFolder((home) => {
    const pointer = { folder: home, id: "sm-1", generation: "g1" };
    const whole = `state=${home}\nid=sm-1\ngen=g1\n`;
    const rows: ReadonlyArray<readonly [text: string, found: typeof pointer | undefined]> = [
      [whole, pointer],
      [`# note\n${whole}later=x\n`, pointer],
      [`id=sm-1\ngen=g1\n`, undefined],
      [`state=${home}\ngen=g1\n`, undefined],
      [`state=${home}\nid=sm-1\n`, undefined],
      [`state=relative\nid=sm-1\ngen=g1\n`, undefined],
      [`state=${home}/missing\nid=sm-1\ngen=g1\n`, undefined],
      [`state=${home}\nid=../up\ngen=g1\n`, undefined],
      [`state=${home}\nid=sm-1\ngen=a b\n`, undefined],
      ["", undefined],
    ];
    const seen = rows.map(([text]) => {
      Deno.writeTextFileSync(`${home}/.fm-busy-stop`, text);
      return readBusyPointer(home);
    });
    assertEquals(seen, rows.map(([, found]) => found));
    Deno.writeTextFileSync(`${home}/target`, whole);
    Deno.removeSync(`${home}/.fm-busy-stop`);
    assertEquals(readBusyPointer(home), undefined);
    Deno.symlinkSync("target", `${home}/.fm-busy-stop`);
    assertEquals(readBusyPointer(home), undefined);
  });
});

Deno.test("writeBusyRecord: counts on within a launch, and starts over in the next", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/sm-1.busy-state`;
    const launch = (generation: string) => {
      Deno.writeTextFileSync(`${folder}/sm-1.busy-gen`, `${generation}\n`);
      return { folder, id: "sm-1", generation };
    };
    const first = launch("g1");
    await writeBusyRecord(first, "idle");
    await writeBusyRecord(first, "busy");
    assertMatch(
      Deno.readTextFileSync(path),
      /^v1 gen=g1 seq=2 state=busy source=claude-hook event=stop-blocked ts=[0-9]+\n$/,
    );
    await writeBusyRecord(launch("g2"), "idle");
    const next = Deno.readTextFileSync(path);
    assertMatch(next, /^v1 gen=g2 seq=1 state=idle source=claude-hook event=stop ts=[0-9]+\n$/);
    await writeBusyRecord(first, "busy");
    assertEquals(Deno.readTextFileSync(path), next);
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assertEquals(names, ["sm-1.busy-gen", "sm-1.busy-state"]);
  });
});

Deno.test("writeBusyRecord: without a record of the launch it writes nothing", async () => {
  await inFolder(async (folder) => {
    await writeBusyRecord({ folder, id: "sm-1", generation: "g1" }, "idle");
    assertEquals([...Deno.readDirSync(folder)], []);
  });
});
