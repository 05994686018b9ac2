import { assertEquals } from "@std/assert";
import { EXIT, type ModeSpec } from "../../src/modes/mode.ts";
import { guarded } from "../../src/modes/run.ts";

/** Runs a hook whose time is over at the first turn of the event loop. */
async function runHook(run: ModeSpec["run"]): Promise<number> {
  return await guarded({
    name: "probe",
    kind: "hook",
    summary: "",
    flags: [],
    startsPrograms: true,
    deadlineMs: () => 0,
    run,
  }, {
    modes: [],
    // No home is found there, so that nothing is journalled anywhere.
    flags: new Map([["root", "/dev/null/none"]]),
    operands: [],
    rest: [],
    environment: { get: () => undefined },
    startedAtMs: 0,
  });
}

/** Comes back after every timer that was due when it was called. */
async function timersRun(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("deadline: a verdict that was settled in time keeps its status, told late or not", async () => {
  const status = await runHook(async (call) => {
    const settled = call.deadline.settle();
    await timersRun();
    return settled ? EXIT.block : EXIT.ok;
  });
  assertEquals(status, EXIT.block);
});

Deno.test("deadline: a verdict that comes too late is told that nothing is left to say", async () => {
  const { promise: told, resolve: tell } = Promise.withResolvers<boolean>();
  const status = await runHook(async (call) => {
    await timersRun();
    tell(call.deadline.settle());
    return EXIT.block;
  });
  assertEquals([status, await told], [EXIT.ok, false]);
});

Deno.test("deadline: a hook that fails after its verdict was settled does not hang", async () => {
  const status = await runHook((call) => {
    call.deadline.settle();
    return Promise.reject(new Error("no room"));
  });
  assertEquals(status, EXIT.ok);
});
