/** Every environment variable that is read, by what it is for. */

import type { HelpTable } from "../mode.ts";
import type { Topic } from "./topic.ts";

const PLACES: HelpTable = {
  heading: "Where the home is (--root DIR comes first; none of it is validated):",
  rows: [
    ["FM_ROOT_OVERRIDE", "root of the tree, for everything that depends on it"],
    ["FM_HOME", "the home, when it is another folder than the root"],
    ["FM_STATE_OVERRIDE", "the state directory (HOME/state)"],
    ["FM_CONFIG_OVERRIDE", "the configuration (HOME/config)"],
    ["FM_DATA_OVERRIDE", "of another home: hidden from what a park starts"],
    ["FM_PROJECTS_OVERRIDE", "as the one before"],
    ["FM_WAKE_QUEUE", "the wake queue (STATE/.wake-queue)"],
    ["FM_WAKE_QUEUE_LOCK", "its lock (STATE/.wake-queue.lock)"],
    ["FM_PROCEVENT_CLAIM_ROOT", "claims of event sources, one folder a machine"],
    ["FM_PROC_ROOT_OVERRIDE", "read instead of /proc, directly (containers, tests)"],
    ["TURNGUARD_HOMES", "homes of status --all, separated by colons"],
    ["TURNGUARD_WATCH_PATH", "watcher path to record and compare, for a child that watches"],
    ["XDG_CONFIG_HOME", "where the list of homes is (~/.config)"],
    ["CODEX_HOME", "where Codex keeps its configuration (~/.codex; doctor)"],
    ["XDG_RUNTIME_DIR", "how the user's services are reached (deadman)"],
    ["XDG_STATE_HOME", "for claims, and what install has to remember (~/.local/state)"],
    ["HOME", "your home folder, for the places above"],
    ["USER", "your name, for a service of the machine"],
    ["TMPDIR", "folder for temporary files; it must exist or be unset"],
  ],
};

const FRESHNESS: HelpTable = {
  heading: "When a beat is too old (seconds):",
  rows: [
    ["FM_GUARD_GRACE", "age from which a beat is stale (300)"],
    ["FM_POLL", "between two looks of a watcher (15)"],
    ["FM_WATCHER_STALE_GRACE", "age from which a live holder of the lock is stale"],
    ["FM_WATCHER_STALL_BOUND", "age at which it is replaced (3 times that)"],
    ["FM_WATCHER_CLEANUP_LOCK_BOUND", "wait for a lock on the way out (2)"],
    ["FM_LOCK_STALE_AFTER", "age at which a lock without a pid is stale (2)"],
  ],
};

const CLAUDE: HelpTable = {
  heading: "Claude Code:",
  rows: [
    ["FM_CLAUDE_AUTOARM_SYNC_WAIT_MS", "ms the guard waits for the auto-arm (800)"],
    ["FM_CLAUDE_AUTOARM_EPOCH_FRESH", "seconds for which a claim counts as new (15)"],
    ["FM_CLAUDE_TURNEND_BLOCK_BUDGET", "blocked stops in a row before one alarm (3)"],
    ["FM_CLAUDE_AUTOARM_ATTEMPTS", "attempts to arm: 1, 2 or 3 (2)"],
    ["TURNGUARD_AUTOARM_MAX_SECONDS", "the auto-arm's registered timeout (28800)"],
    ["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "blocks after which the host goes on by itself"],
    ["CLAUDE_CONFIG_DIR", "Claude Code's folder of the user (~/.claude)"],
    ["KIMI_CODE_HOME", "Kimi's own folder; told by install, never used"],
    ["CLAUDE_CODE_SESSION_ID", "the conversation, set by the host"],
    ["CLAUDE_PID", "the host's process, set by the host"],
    ["CLAUDE_PROJECT_DIR", "the project, set by the host"],
    ["CLAUDECODE", "1 inside of Claude Code, set by the host"],
  ],
};

const ACTIVITY: HelpTable = {
  heading: "The activity record (durations: seconds, or with s, m, h, d; 0 is never):",
  rows: [
    ["TURNGUARD_ACTIVITY_FILE", "the file to use; set by a watchdog for its command"],
    ["TURNGUARD_ACTIVITY_DIR", "folder of activity files (~/.local/state/turnguard/activity)"],
    ["TURNGUARD_ACTIVITY_DEBUG", "1: a line an event in activity-debug.log"],
    ["TURNGUARD_LAUNCH_TOOLS", "further tools that launch subagents, with commas"],
    ["TURNGUARD_LAUNCH_TTL", "age at which a launch without an agent is over (900)"],
    ["TURNGUARD_SUBAGENT_MAX_SILENCE", "silence at which an agent is over (3600)"],
    ["TURNGUARD_SUBAGENT_MAX_AGE", "age at which a silent agent is over (10800)"],
    ["TURNGUARD_TOOL_MAX", "age at which another call is over (1200)"],
    ["TURNGUARD_IDLE_TIMEOUT", "watchdog: time without progress before the end (600)"],
    ["TURNGUARD_POLL", "watchdog: longest time between two looks (30)"],
    ["TURNGUARD_WALL_TIMEOUT", "watchdog: time after which it ends anything (14400)"],
    ["TURNGUARD_GRACE", "watchdog: from the first signal to KILL (10)"],
    ["TURNGUARD_STARTUP_GRACE", "watchdog: added until the first progress (120)"],
    ["TURNGUARD_WATCHDOG_LOG", "watchdog: file for a line a decision"],
    ["TURNGUARD_RUN_ID", "the run, set by a watchdog for its command"],
    ["TURNGUARD_WATCHDOG_PID", "its process, set with it"],
    ["TURNGUARD_WATCHDOG_IDENTITY", "that process's start, set with it"],
  ],
};

const CURSOR: HelpTable = {
  heading: "Cursor:",
  rows: [
    ["FM_CURSOR_TURNEND_LOOP_CEILING", "follow-ups in a row after which a park rests (180)"],
    ["FM_CURSOR_TURNEND_BLOCK_BUDGET", "repair follow-ups in a row (3)"],
    ["FM_CURSOR_PARK_ATTEMPTS", "attempts to arm: 1, 2 or 3 (2)"],
    ["FM_CURSOR_PARK_POLL", "seconds between looks at whether a park may stay (2)"],
    ["FM_CURSOR_LOCK_ATTEMPTS", "tries at the lock of the parks, 0.1 s apart (50)"],
    ["TURNGUARD_PARK_MAX_SECONDS", "the stop hook's registered timeout (28800)"],
    ["CURSOR_AGENT", "inside of Cursor"],
    ["CURSOR_INVOKED_AS", "inside of Cursor's command"],
    ["CURSOR_PROJECT_DIR", "the project, set by Cursor for its hooks"],
  ],
};

const OTHERS: HelpTable = {
  heading: "Other harnesses (most are set by them, to be recognised):",
  rows: [
    ["FM_CODEX_WATCH_CHECKPOINT", "seconds of a foreground checkpoint (180)"],
    ["GROK_AGENT", "inside of Grok"],
    ["GROK_HOOK_EVENT", "in a hook of Grok"],
    ["GROK_HOME", "Grok's folder of the user, for a session that is resumed (~/.grok)"],
    ["GROK_TURNEND_GUARD_ACTIVE", "set by us in a session that we resumed"],
    ["GROK_WORKSPACE_ROOT", "the tree of a Grok session"],
    ["PI_CODING_AGENT", "true inside of Pi"],
    ["FM_PI_HARNESS", "pi-signed: that form of Pi"],
    ["FM_OMP_HARNESS", "omp, with a process of that name above"],
    ["GEMINI_CLI", "inside of that harness"],
    ["ATLASSIAN_AGENT_TYPE", "inside of that harness"],
    ["ROVODEV_CLI", "inside of that harness"],
    ["FM_SUPERVISION_MODEL", "autoarm, extension or persistent, instead of what is detected"],
  ],
};

const WARNING: HelpTable = {
  heading: "The pull warning (warn, instructions):",
  rows: [
    ["FM_GUARD_READ_ONLY", "1: the session may only look"],
    ["FM_GUARD_CONTINUE_LINE", "the warning's last line"],
    ["TURNGUARD_TANGLE", "1: warn about a root on a feature branch"],
  ],
};

const WATCHING: HelpTable = {
  heading: "Watcher, arm and checks:",
  rows: [
    ["FM_ARM_CONFIRM_TIMEOUT", "seconds a watcher may take until it beats (10)"],
    ["FM_ARM_ATTACH_POLL", "seconds between looks at a watcher attached to (0.5)"],
    ["FM_SIGNAL_GRACE", "seconds a first signal waits for others (30)"],
    ["FM_HEARTBEAT", "seconds until a heartbeat (600)"],
    ["FM_HEARTBEAT_MAX", "the longest that this grows to (7200)"],
    ["FM_CHECK_INTERVAL", "seconds between runs of the checks (300)"],
    ["FM_CHECK_TIMEOUT", "seconds that a check may take (30)"],
    ["FM_CAPTAIN_RE", "which reports need a person, as a regular expression"],
    ["FM_CLASSIFY_PAUSED_VERB", "the word of a paused task (paused)"],
    ["FM_CREW_STATE_BIN", "program that tells a task's state"],
    ["TURNGUARD_EVENT_WAIT", "program that waits for events of the home's own"],
    ["FM_WATCH_HANDLING_SUCCESSOR", "1: this watcher follows one whose wake is on its way"],
    ["FM_WATCH_PREDECESSOR_ARM_PID", "the arm that this one follows"],
    ["FM_WATCH_TRIAGE_LOG_MAX_BYTES", "size of the log of absorbed wakes"],
    ["FM_WATCH_DELIVERY_MAX_BYTES", "size of the log of deliveries (65536)"],
    ["FM_WATCH_DELIVERY_KEEP_LINES", "its lines after a cut (64)"],
    ["FM_WATCH_CYCLE_LOG_MAX_BYTES", "size of the log of watches (262144)"],
    ["FM_WATCH_CYCLE_LOG_KEEP_LINES", "its lines after a cut (1000)"],
    ["FM_WATCH_CYCLE_LINK_HORIZON_S", "seconds for which watches are linked"],
    ["FM_PROCEVENT_MAX_OUTPUT_BYTES", "output of a source that is kept (1048576)"],
    ["FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS", "seconds for a source to start (3)"],
    ["TURNGUARD_PROCEVENT_COPY", "set by procevent for its own copy"],
    ["FM_GATE_REFUSE_BYPASS", "1: arm in a checkout made for validation too"],
  ],
};

const AWAY: HelpTable = {
  heading: "Away and quiet mode (seconds, unless it says otherwise):",
  rows: [
    ["FM_ESCALATE_BATCH_SECS", "for which items are gathered into a digest (90)"],
    ["FM_MAX_DEFER_SECS", "after which an undelivered one is alarmed (300)"],
    ["FM_HEARTBEAT_SCAN_SECS", "between two looks at all tasks (300)"],
    ["FM_HOUSEKEEPING_TICK", "between two rounds of tidying (15)"],
    ["FM_INJECT_SKIP", "beginnings of wakes to leave out, separated by |"],
    ["FM_CRASH_WINDOW", "in which ends of the watcher are counted (60)"],
    ["FM_CRASH_THRESHOLD", "how many of them are too many (10)"],
    ["FM_CRASH_NORMAL_SLEEP", "to wait after one (5)"],
    ["FM_CRASH_BACKOFF", "to wait after too many (60)"],
    ["FM_LOG_MAX_BYTES", "size of the daemon's log (1048576)"],
    ["FM_LOG_KEEP_LINES", "its lines after a cut (2000)"],
    ["FM_WEDGE_ALARM_CHANNEL", "how to alarm when a digest is stuck"],
    ["FM_WEDGE_ALARM_EXEC", "program that replaces every way of alarming"],
    ["FM_WEDGE_ALARM_TIMEOUT_SECS", "that an alarm may take (10)"],
    ["FM_AFK_STATE_PREPARED", "1: the caller has set the mode already"],
    ["TURNGUARD_DELIVER", "program that hands a digest to the session"],
  ],
};

const SCREEN: HelpTable = {
  heading: "The screen:",
  rows: [
    ["NO_COLOR", "no colour, ever"],
    ["FORCE_COLOR", "colour in a pipe too"],
    ["TERM", "dumb: no colour"],
  ],
};

/** The topic. */
export const ENVIRONMENT: Topic = {
  name: "environment",
  summary: "Every environment variable that is read.",
  blocks: [
    "Unset and empty are the same. A malformed number counts as unset, and the banner, explain " +
    "and doctor say so. What is not listed here cannot be read by the executable.",
    PLACES,
    FRESHNESS,
    CLAUDE,
    ACTIVITY,
    CURSOR,
    OTHERS,
    WARNING,
    WATCHING,
    AWAY,
    SCREEN,
  ],
};
