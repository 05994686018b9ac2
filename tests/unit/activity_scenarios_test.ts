/**
 * The activity record over whole stories: what is in flight, and what was counted.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  ActivitySession,
  done,
  harnessProcess,
  launched,
  type Payload,
  post,
  pre,
  SESSION,
  start,
  stop,
  task,
  turnEnd,
} from "../support/activity_session.ts";

type Step =
  | readonly [at: number, payload: Payload]
  /** What is in flight then. */
  | readonly [at: number, inFlight: number];

interface Story {
  readonly name: string;
  readonly steps: readonly Step[];
  /** What is true at the end. */
  readonly then?: (session: ActivitySession) => void;
  readonly host?: ConstructorParameters<typeof ActivitySession>[0];
}

const background = { tool_input: { run_in_background: true, subagent_type: "Explore" } };
const foreground = { tool_input: { run_in_background: false, subagent_type: "Explore" } };
const batch = { hook_event_name: "PostToolBatch" };

const STORIES: readonly Story[] = [
  {
    name: "four launches, only calls are told (1)",
    steps: [
      ...["a", "b", "c", "d"].map((id): Step => [0, pre(id)]),
      [2_089, 4],
      [2_090, post("a", done())],
      [2_093, post("b", done())],
      [2_096, post("c", done())],
      [2_099, 1],
      [2_100, post("d", done())],
      [2_100, 0],
    ],
  },
  {
    name: "a launch in the background counts until its agent stops (3)",
    steps: [
      [0, pre("t", "Agent", background)],
      [0.5, start("A")],
      [1, post("t", launched("A"))],
      [1_499, 1],
      [1_500, stop("A")],
      [1_500, 0],
    ],
  },
  {
    name: "the result of a background launch before its start (4)",
    steps: [
      [0, pre("t", "Agent", background)],
      [0, pre("u", "Agent", background)],
      [1, post("t", launched("A"))],
      [1, 2],
      [2, start("A")],
      [2, 2],
    ],
    then: (session) => assertEquals([...session.state.launches.keys()], ["u"]),
  },
  {
    name: "an agent that was faster than the result of its launch (5)",
    steps: [
      [0, pre("t", "Agent", background)],
      [0, start("A")],
      [0.5, stop("A")],
      [1, post("t", launched("A"))],
      [1, 0],
    ],
    then: (session) => assertEquals(session.state.tool_call_count, 1),
  },
  {
    name: "a refused launch, then the end of its batch (6)",
    steps: [[0, pre("t")], [0, 1], [1, batch], [1, 0]],
  },
  {
    name: "a refused launch, then the end of the turn (7)",
    steps: [[0, pre("t")], [5, turnEnd()], [5, 0]],
  },
  {
    name: "a refused launch of a harness that tells starts (8)",
    steps: [
      [0, start("A")],
      [0, stop("A")],
      [1, pre("t")],
      [900, 1],
      [901, 0],
    ],
  },
  {
    name: "a refused launch of a harness that tells no starts",
    steps: [[0, pre("t")], [10_799, 1], [10_800, 0]],
  },
  {
    name: "a denial takes its call out (9)",
    steps: [
      [0, pre("t")],
      [0, pre("u", "Bash")],
      [1, { hook_event_name: "PermissionDenied", tool_use_id: "t" }],
      [1, { hook_event_name: "PermissionDenied", tool_use_id: "u" }],
      [1, 0],
    ],
    then: (session) => assertEquals(session.state.tools.size, 0),
  },
  {
    name: "a beginning that comes twice (10)",
    steps: [[0, pre("t")], [0, pre("t")], [1, pre("u", "Bash")], [1, pre("u", "Bash")], [1, 1]],
    then: (session) => {
      assertEquals([session.counter("duplicates"), session.state.tool_call_count], [2, 2]);
    },
  },
  {
    name: "stops of nobody, and one that comes ten times (11)",
    steps: [
      [0, start("A")],
      ...Array.from({ length: 10 }, (): Step => [1, stop("A")]),
      [2, stop("Z", { agent_type: "" })],
      [2, 0],
    ],
    then: (session) => assertEquals(session.counter("orphan_stops"), 10),
  },
  {
    name: "a foreign stop leaves a background agent to the harness's list (12)",
    steps: [
      [0, pre("t", "Agent", background)],
      [0, start("A")],
      [1, post("t", launched("A"))],
      [100, stop("fresh", { agent_type: "" })],
      [100, 1],
      [200, turnEnd({ background_tasks: [] })],
      [200, 0],
    ],
  },
  {
    name: "a stopping tool that names an agent (13)",
    steps: [
      [0, start("A")],
      [1, pre("t", "TaskStop")],
      [2, post("t", {}, "TaskStop", { tool_input: { task_id: "A" } })],
      [2, 0],
    ],
  },
  {
    name: "a stop among agents whose calls are open, with an empty list (14)",
    steps: [
      ...["A", "B", "C", "D"].flatMap((agent): Step[] => [
        [0, pre(`t${agent}`, "Agent", foreground)],
        [0, start(agent)],
      ]),
      [60, stop("A", { background_tasks: [] })],
      [60, 3],
    ],
  },
  {
    name: "the harness's list ends what it leaves out (15)",
    steps: [
      ...["A", "B", "C"].flatMap((agent): Step[] => [
        [0, pre(`t${agent}`, "Agent", background)],
        [0, start(agent)],
        [0, post(`t${agent}`, launched(agent))],
      ]),
      [60, turnEnd({ background_tasks: [task("A"), task("B", "completed")] })],
      [60, 1],
    ],
    then: (session) => assertEquals([...session.state.agents.keys()], ["A"]),
  },
  {
    name: "a finished agent that stays listed is not added again (16)",
    steps: [
      [0, start("A")],
      [10, stop("A", { background_tasks: [task("A")] })],
      [10, 0],
      [60, turnEnd({ background_tasks: [task("A")] })],
      [60, 0],
    ],
  },
  {
    name: "a start after its stop resumes an agent (17)",
    steps: [[0, start("A")], [1, stop("A")], [2, start("A")], [2, 1]],
  },
  {
    name: "an agent whose stop was blocked goes on (18)",
    steps: [
      [0, start("A")],
      [1, stop("A")],
      [5, pre("t", "Bash", { agent_id: "A", agent_type: "Explore" })],
      [5, 1],
    ],
  },
  {
    name: "prompts and turn ends leave background agents alone (19)",
    steps: [
      ...["A", "B"].flatMap((agent): Step[] => [
        [0, pre(`t${agent}`, "Agent", background)],
        [0, start(agent)],
        [0, post(`t${agent}`, launched(agent))],
      ]),
      [10, turnEnd()],
      [11, { hook_event_name: "UserPromptSubmit" }],
      [12, turnEnd()],
      [12, 2],
    ],
  },
  {
    name: "a turn end without a list ends what was waited for (20)",
    steps: [
      [0, pre("t", "Agent", foreground)],
      [0, start("A")],
      [0, pre("u", "Agent", background)],
      [0, start("B")],
      [1, post("u", launched("B"))],
      [10, turnEnd()],
      [10, 1],
    ],
    then: (session) => assertEquals([...session.state.agents.keys()], ["B"]),
  },
  {
    name: "an agent that launches another (21)",
    steps: [
      [0, start("A")],
      [1, pre("t", "Agent", { agent_id: "A" })],
      [2, start("B")],
      [2, 2],
    ],
    then: (session) => assertEquals(session.state.agents.get("B")?.parent, "A"),
  },
  {
    name: "two launches that were bound the wrong way round (22)",
    steps: [
      [0, pre("t1", "Agent", foreground)],
      [0, pre("t2", "Agent", foreground)],
      [1, start("A2")],
      [1, start("A1")],
      [2, post("t2", done("A2"))],
      [2, 1],
      [3, post("t1", done("A1"))],
      [3, 0],
    ],
  },
  {
    name: "a launch that fails (23)",
    steps: [
      [0, pre("t")],
      [1, { ...post("t"), hook_event_name: "PostToolUseFailure" }],
      [1, 0],
    ],
  },
  {
    name: "a workflow and its children (24)",
    steps: [
      [0, pre("w", "Workflow")],
      [1, post("w", launched(), "Workflow")],
      ...Array.from({ length: 30 }, (_, index): Step => {
        return [2, start(`c${index}`, "workflow-subagent")];
      }),
      [2, 31],
      ...Array.from({ length: 27 }, (_, index): Step => [50, stop(`c${index}`)]),
      [60, turnEnd({ background_tasks: [task("wf", "running", "workflow")] })],
      [60, 4],
      [120, turnEnd({ background_tasks: [] })],
      [120, 0],
    ],
  },
  {
    name: "a workflow whose second child has not begun (92)",
    steps: [
      [0, pre("w", "Workflow")],
      [1, post("w", launched(), "Workflow")],
      [2, start("c1", "workflow-subagent")],
      [3, stop("c1", { background_tasks: [task("wf", "running", "workflow")] })],
      [3, 1],
    ],
  },
  {
    name: "Cursor: ids with line breaks, calls that come twice (29)",
    host: "auto",
    steps: [
      ...[0, 0.1].map((at): Step => [at, {
        cursor_version: "1",
        hook_event_name: "preToolUse",
        tool_name: "Task",
        tool_use_id: "call\n1",
      }]),
      [1, { cursor_version: "1", hook_event_name: "subagentStart", subagent_id: "call\n1" }],
      [1, 1],
      [2, { cursor_version: "1", hook_event_name: "subagentStop", subagent_id: "call\n1" }],
      [2, 0],
    ],
    then: (session) => {
      assertEquals(session.state.tool_call_count, 1);
      assert(session.state.ended_agents[0]?.[0].startsWith("h:"));
    },
  },
  {
    name: "Kimi: two agents of one name, one stop (31)",
    host: "kimi",
    steps: [
      [0, { hook_event_name: "SubagentStart", agent_name: "coder" }],
      [0, { hook_event_name: "SubagentStart", agent_name: "coder" }],
      [0, 2],
      [1, { hook_event_name: "SubagentStop", agent_name: "coder" }],
      [1, 1],
    ],
  },
  {
    name: "Codex: a child that works again after its stop (32)",
    host: "codex",
    steps: [
      [0, pre("t", "collaborationspawn_agent")],
      [0, { ...start("T"), hook_event_name: "SubagentStart" }],
      [1, post("t", {}, "collaborationspawn_agent")],
      [1, 1],
      [5, stop("T")],
      [5, 0],
      [9, pre("u", "shell", { agent_id: "T" })],
      [9, 1],
      [3_608, 1],
      [3_609, 0],
    ],
  },
  {
    name: "Codex: the result of a spawn before the start (90)",
    host: "codex",
    steps: [
      [0, pre("t", "spawn_agent")],
      [1, post("t", "started", "spawn_agent")],
      [1, 1],
      [2, start("T", "")],
      [2, 1],
      [9, stop("T")],
      [9, 0],
    ],
  },
  {
    name: "OpenCode: a failed task has no end of its own (33)",
    host: "opencode",
    steps: [
      [0, pre("t", "task")],
      [1, { ...start("child"), turnguard_host: "opencode" }],
      [1, 1],
      [9, { ...stop("child"), turnguard_host: "opencode" }],
      [9, 0],
    ],
  },
  {
    name: "ordinary calls cannot push an ended agent out of the memory (86)",
    steps: [
      [0, pre("t", "Agent", background)],
      [0, start("A")],
      [1, post("t", launched("A"))],
      [2, stop("A")],
      ...Array.from({ length: 300 }, (_, index): Step[] => [
        [3, pre(`c${index}`, "Bash")],
        [3, post(`c${index}`, {}, "Bash")],
      ]).flat(),
      [60, turnEnd({ background_tasks: [task("A")] })],
      [60, 0],
    ],
  },
  {
    name: "the calls of an agent end with it (87)",
    steps: [
      [0, start("A")],
      [1, pre("t", "Bash", { agent_id: "A" })],
      [1, pre("u", "Read", { agent_id: "A" })],
      [2, stop("A")],
    ],
    then: (session) => assertEquals(session.state.tools.size, 0),
  },
  {
    name: "events of unknown agents bind the launches there are (89)",
    steps: [
      ...["1", "2", "3", "4"].map((id): Step => [0, pre(`t${id}`, "Agent", foreground)]),
      ...["1", "2", "3", "4"].map((id): Step => {
        return [5, pre(`c${id}`, "Bash", { agent_id: `A${id}`, agent_type: "Explore" })];
      }),
      [5, 4],
      ...["1", "2", "3", "4"].map((id): Step => [60, post(`t${id}`, done(), "Agent", foreground)]),
      [60, 0],
    ],
  },
  {
    name: "a parent lives while its child works (91)",
    steps: [
      [0, pre("t", "Agent", foreground)],
      [0, start("P")],
      [1, pre("u", "Agent", { ...foreground, agent_id: "P" })],
      [1, start("N")],
      ...Array.from({ length: 22 }, (_, index): Step => {
        return [400 * (index + 1), pre(`c${index}`, "Bash", { agent_id: "N" })];
      }),
      [9_000, 2],
    ],
  },
];

for (const { name, steps, then, host } of STORIES) {
  Deno.test(`activity: ${name}`, async () => {
    const session = new ActivitySession(host ?? "claude");
    for (const [at, step] of steps) {
      if (typeof step === "number") assertEquals(session.inFlight(at), step, `at ${at}`);
      else await session.tell(at, step);
    }
    then?.(session);
  });
}

const compact: Payload = { hook_event_name: "SessionStart", source: "compact" };

Deno.test("activity: a compaction keeps what is in flight, under the old id or a new one (25)", async () => {
  for (const session_id of [SESSION, "S2"]) {
    const session = new ActivitySession();
    await session.tell(0, { hook_event_name: "SessionStart" }, harnessProcess(7));
    await session.tell(1, start("A"));
    await session.tell(1, start("B"));
    await session.tell(2, { ...compact, session_id }, harnessProcess(7));
    assertEquals(session.inFlight(3), 2);
    assertEquals(session.state.session_id, session_id);
    assertEquals(session.state.session_ids, session_id === SESSION ? [] : [SESSION]);
  }
});

Deno.test("activity: a session that goes on in another process starts empty (26)", async () => {
  const session = new ActivitySession();
  await session.tell(0, { hook_event_name: "SessionStart" }, harnessProcess(7));
  await session.tell(1, pre("t", "Agent", background));
  await session.tell(1, start("A"));
  await session.tell(9, { hook_event_name: "SessionStart", source: "resume" }, harnessProcess(8));
  assertEquals([session.inFlight(9), session.state.tool_call_count], [0, 1]);
});

Deno.test("activity: clearing a conversation ends nothing, in whatever order it is told (27)", async () => {
  const end: Payload = { hook_event_name: "SessionEnd", reason: "clear" };
  const begin: Payload = { hook_event_name: "SessionStart", source: "clear", session_id: "S2" };
  for (const events of [[end, begin], [begin, end], [end], [begin]]) {
    const session = new ActivitySession();
    await session.tell(0, { hook_event_name: "SessionStart" }, harnessProcess(7));
    await session.tell(1, start("A"));
    for (const event of events) await session.tell(2, event);
    assertEquals([session.inFlight(3), session.state.ended_at], [1, null]);
  }
});

Deno.test("activity: only the end of the session itself ends it (28)", async () => {
  const session = new ActivitySession();
  await session.tell(0, start("A"));
  await session.tell(1, { hook_event_name: "SessionEnd", reason: "other", session_id: "nested" });
  assertEquals([session.inFlight(1), session.state.ended_at], [1, null]);
  await session.tell(2, { hook_event_name: "SessionEnd", reason: "other" });
  assertEquals([session.inFlight(2), session.state.end_reason], [0, "other"]);
});

Deno.test("activity: a clock that is set back and forth lengthens nothing by more than a limit (34)", async () => {
  const session = new ActivitySession();
  await session.tell(7_200, start("A"));
  // Two hours back: what lies ahead counts as now.
  assertEquals(session.inFlight(0), 1);
  await session.tell(1, { hook_event_name: "PreCompact" });
  assertEquals(session.inFlight(3_599), 1);
  assertEquals(session.inFlight(3_602), 0);
  assert(session.counter("clock_backwards") >= 1);
});

Deno.test("activity: a transcript that grows is a sign of life (50)", async () => {
  const session = new ActivitySession();
  await session.tell(0, { hook_event_name: "SessionStart", transcript_path: "/t/S1.jsonl" });
  await session.tell(0, start("A"));
  const grows = (path: string): number | undefined =>
    path === "/t/S1/subagents/agent-A.jsonl" ? ActivitySession.start + 17_700 : undefined;
  assertEquals(session.inFlight(18_000, grows), 1);
  assertEquals(session.inFlight(18_000), 0);
});

Deno.test("activity: notifications wait and answer, and are no progress", async () => {
  const session = new ActivitySession();
  await session.tell(0, pre("t", "Bash"));
  const before = session.state.progress_seq;
  const kinds: string[] = [];
  for (
    const notification_type of [
      "permission_prompt",
      "elicitation_dialog",
      "idle_prompt",
      "elicitation_complete",
      "unheard_of",
    ]
  ) {
    await session.tell(1, { hook_event_name: "Notification", notification_type });
    kinds.push(session.state.waiting.get("main")?.kind ?? "-");
  }
  assertEquals(kinds, ["permission", "input", "idle", "-", "-"]);
  assertEquals(session.state.progress_seq, before);
});

Deno.test("activity: a call that asks a person waits until it is answered", async () => {
  const session = new ActivitySession();
  await session.tell(0, pre("q", "AskUserQuestion"));
  assertEquals(session.state.waiting.get("main")?.kind, "input");
  await session.tell(9, post("q", {}, "AskUserQuestion"));
  assertEquals(session.state.waiting.size, 0);
});

Deno.test("activity: nothing of any story goes below nothing or stays for ever (93)", async () => {
  const id = fc.constantFrom("a", "b", "c", undefined);
  const event = fc.record({
    hook_event_name: fc.constantFrom(
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "PostToolBatch",
      "SubagentStart",
      "SubagentStop",
      "Stop",
      "StopFailure",
      "PermissionDenied",
      "SessionStart",
      "UserPromptSubmit",
      "TeammateIdle",
    ),
    tool_name: fc.constantFrom("Agent", "Bash", "Workflow", "TaskStop"),
    tool_use_id: id,
    agent_id: id,
    agent_type: fc.constantFrom("Explore", "", "workflow-subagent"),
    source: fc.constantFrom("startup", "resume"),
    tool_input: fc.record({ run_in_background: fc.constantFrom(true, false, undefined) }),
    tool_response: fc.constantFrom({}, launched(), launched("a"), done(), done("b")),
    background_tasks: fc.constantFrom(undefined, [], [task("a")], [
      task("w", "running", "workflow"),
    ]),
  });
  const numRuns = Deno.env.get("TURNGUARD_FULL") === "1" ? 10_000 : 300;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
      const session = new ActivitySession();
      for (const [index, payload] of events.entries()) {
        await session.tell(index, payload);
        const { agents, launches } = session.state;
        const bound = [...agents.values()].flatMap(({ launch }) => launch ?? []);
        assertEquals(bound.filter((launch) => launches.has(launch)), []);
        assertEquals(new Set(bound).size, bound.length, "a launch is bound twice");
      }
      assertEquals(session.inFlight(events.length + 20_000), 0);
      assertEquals(session.state.tools.size, 0);
    }),
    { numRuns },
  );
});
