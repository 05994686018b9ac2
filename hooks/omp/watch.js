// Watches a home for omp: armed when a session settles, wakes told as prompts.

import process from "node:process";
import { digestOf, markForOmp, pathOf, projectOf } from "../common/loaded_marker.js";
import { watchBridge } from "../common/watch_bridge.js";

const FILE = pathOf(import.meta.url, `${process.cwd()}/.omp/extensions/fm-primary-omp-watch.ts`);
const DIGEST = digestOf(FILE);
const ROOT = process.env.FM_ROOT_OVERRIDE || projectOf(FILE);

/** omp binds extensions anew for subagents; the first binding of a process keeps the watcher. */
let bridge;

export default function watch(omp) {
  const mark = () => void markForOmp(ROOT, ".omp-watch-extension-loaded", DIGEST);
  mark();
  omp.on("session_start", mark);
  if (bridge) return;
  bridge = watchBridge({
    root: ROOT,
    harness: "omp",
    deliver: (text) => omp.sendUserMessage(text, { deliverAs: "followUp" }),
    steps: 16,
  });
  globalThis.__turnguardOmpWatch = bridge;
  omp.on("session_shutdown", () => bridge.stop());
  omp.registerTool?.({
    name: "fm_watch_arm_omp",
    label: "Arm the watcher",
    description: "Arms the watcher of this home and says how that stands.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({
      content: [{ type: "text", text: await bridge.ensureArmed() }],
      details: {},
    }),
  });
}
