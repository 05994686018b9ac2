/**
 * Every mode by the words that call it, in the order in which help lists them.
 *
 * A mode's code is loaded when it is called: a hook runs at every turn's end, and what it does not
 * need must not cost it anything, not even being parsed.
 */

import type { ModeRow } from "./mode.ts";

/** The table that parsing, help and everything generated from the command line share. */
export const MODES: readonly ModeRow[] = [
  { name: "stop", load: async () => (await import("./stop.ts")).stopMode },
  { name: "autoarm", load: async () => (await import("./autoarm.ts")).autoarmMode },
  { name: "park", load: async () => (await import("./park.ts")).parkMode },
  { name: "activity", load: async () => (await import("./activity.ts")).activityMode },
  { name: "record", load: async () => (await import("./record.ts")).recordMode },
  { name: "stop-hold", load: async () => (await import("./stop_hold.ts")).stopHoldMode },
  { name: "watchdog", load: async () => (await import("./watchdog.ts")).watchdogMode },
  { name: "watch", load: async () => (await import("./watch.ts")).watchMode },
  { name: "arm", load: async () => (await import("./arm.ts")).armMode },
  { name: "checkpoint", load: async () => (await import("./checkpoint.ts")).checkpointMode },
  { name: "daemon", load: async () => (await import("./daemon_mode.ts")).daemonMode },
  {
    name: "afk",
    aliases: ["away"],
    load: async () => (await import("./afk.ts")).afkMode,
  },
  { name: "lock", load: async () => (await import("./lock.ts")).lockMode },
  { name: "task", load: async () => (await import("./task.ts")).taskMode },
  { name: "check", load: async () => (await import("./check.ts")).checkMode },
  { name: "check-register", load: async () => (await import("./check.ts")).checkRegisterMode },
  { name: "procevent", load: async () => (await import("./procevent.ts")).proceventMode },
  { name: "wake", load: async () => (await import("./wake.ts")).wakeMode },
  { name: "drain", load: async () => (await import("./wake.ts")).drainMode },
  { name: "warn", load: async () => (await import("./warn.ts")).warnMode },
  { name: "init", load: async () => (await import("./init.ts")).initMode },
  { name: "install", load: async () => (await import("./install.ts")).installMode },
  { name: "uninstall", load: async () => (await import("./uninstall.ts")).uninstallMode },
  { name: "kimi", load: async () => (await import("./kimi.ts")).kimiMode },
  { name: "kimi-wake", load: async () => (await import("./kimi.ts")).kimiWakeMode },
  { name: "migrate", load: async () => (await import("./migrate.ts")).migrateMode },
  { name: "deadman", load: async () => (await import("./deadman.ts")).deadmanMode },
  { name: "demo", load: async () => (await import("./demo.ts")).demoMode },
  { name: "status", load: async () => (await import("./status.ts")).statusMode },
  { name: "explain", load: async () => (await import("./explain.ts")).explainMode },
  {
    name: "instructions",
    load: async () => (await import("./instructions.ts")).instructionsMode,
  },
  { name: "log", load: async () => (await import("./log.ts")).logMode },
  { name: "doctor", load: async () => (await import("./doctor.ts")).doctorMode },
  { name: "completions", load: async () => (await import("./completions.ts")).completionsMode },
  { name: "man", load: async () => (await import("./man.ts")).manMode },
  {
    name: "help",
    aliases: ["--help", "-h"],
    load: async () => (await import("./help.ts")).helpMode,
  },
  {
    name: "version",
    aliases: ["--version", "-V"],
    load: async () => (await import("./version.ts")).versionMode,
  },
];
