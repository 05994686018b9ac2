// Watches a home for Pi: armed when a run ends, wakes told as prompts.

import process from "node:process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf, markForPi, pathOf, projectOf } from "../common/loaded_marker.js";
import { stateOf } from "../common/turnguard.js";
import { watchBridge } from "../common/watch_bridge.js";

const FILE = pathOf(import.meta.url, `${process.cwd()}/.pi/extensions/fm-primary-pi-watch.ts`);
const DIGEST = digestOf(FILE);
const ROOT = process.env.FM_ROOT_OVERRIDE || projectOf(FILE);
const MARKER = ".pi-watch-extension-loaded";

/** One more than the generation that the marker names: what is older hands over. */
function nextGeneration() {
  try {
    const text = readFileSync(join(stateOf(ROOT), MARKER), "utf8");
    return Number(/^generation=([0-9]+) /m.exec(text)?.[1] ?? 0) + 1;
  } catch {
    return 1;
  }
}

export default function watch(pi) {
  const generation = nextGeneration();
  const mark = (phase) =>
    markForPi(ROOT, MARKER, DIGEST, `generation=${generation} phase=${phase}`);
  const bridge = watchBridge({
    root: ROOT,
    harness: "pi",
    deliver: (text) => pi.sendUserMessage(text, { deliverAs: "followUp" }),
  });
  globalThis.__turnguardPiWatch = bridge;
  mark("active");
  pi.on("session_start", () => void mark("active"));
  pi.on("session_shutdown", async () => {
    mark("retired");
    await bridge.stop();
  });
  pi.registerTool?.({
    name: "fm_watch_arm_pi",
    label: "Arm the watcher",
    description: "Arms the watcher of this home and says how that stands.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({
      content: [{ type: "text", text: await bridge.ensureArmed() }],
      details: {},
    }),
  });
}
