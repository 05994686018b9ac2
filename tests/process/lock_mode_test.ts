/**
 * `lock`: who gets the session lock, who keeps it, and what is said about it.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { SessionOptions } from "../support/claude_session.ts";
import { exists, isFile, textOf } from "../support/files.ts";
import { makeHome } from "../support/home.ts";
import {
  asOtherUser,
  deadPid,
  isSuperuser,
  OTHER_USER,
  startZombie,
} from "../support/processes.ts";
import { expectedOf } from "../support/rows.ts";
import {
  ACQUIRE,
  LOCK,
  type LockHome,
  type LockRow,
  makeLockHome,
  playLockRows,
  SIDECAR,
} from "../support/session_lock.ts";
import { snapshot } from "../support/snapshot.ts";
import { inBatches, runTurnguard } from "../support/turnguard.ts";

function table(criterion: string, rows: readonly LockRow[], options: SessionOptions = {}): void {
  Deno.test(`lock ${criterion}`, async () => {
    assertEquals(await playLockRows(rows, options), expectedOf(rows));
  });
}

/** Acquires; what was said, and the lock and sidecar then. */
async function acquire(
  home: LockHome,
  ...call: readonly [options?: Parameters<LockHome["start"]>[1], programs?: readonly string[]]
): Promise<string> {
  return `${await home.told("acquire", ...call)}: ${home.left()}`;
}

/** Says something, and whether anything in the state folder changed by it. */
async function unchanged(home: LockHome, say: () => Promise<string>): Promise<string> {
  const before = snapshot(home.home.state);
  const said = await say();
  assertEquals(snapshot(home.home.state), before, said);
  return said;
}

/** More shells than the walk looks at, so that nothing above them can be found. */
const NOBODY: SessionOptions = { name: "shell", outer: 17 };

const TAKEN = 'acquired for ours: "ours\\n" -';

table("acquire: what nobody alive holds is taken", [
  ["no lock", TAKEN, (home) => acquire(home)],
  ["no state folder", TAKEN, (home) => {
    home.home.remove("state");
    return acquire(home);
  }],
  ["a dead holder", TAKEN, async (home) => await acquire(home.holds(await deadPid()))],
  [
    "a pid that another program has now",
    TAKEN,
    async (home) => await acquire(home.holds(await home.other("editor"))),
  ],
  [
    "a dead holder's conversation",
    TAKEN,
    async (home) => await acquire(home.holds(await deadPid()).conversation("old")),
  ],
  [
    "the same conversation of a dead holder",
    'acquired for ours: "ours\\n" "c1\\n"',
    async (home) =>
      await acquire(home.holds(await deadPid()).conversation("c1"), home.claude("c1")),
  ],
  ["a torn-off acquisition", TAKEN, async (home) => {
    holdAcquisition(home, await deadPid());
    return await acquire(home);
  }],
]);

table("acquire: what other builds keep beside the lock stays", [
  ["a binding and a move", `${TAKEN} .lock-reanchor .lock.session`, async (home) => {
    home.home.write("state/.lock.session", "format=1\nkind=claude\npid=1\nsession=x\n");
    home.home.write("state/.lock-reanchor", `${await home.other()} 1\n`);
    return await acquire(home);
  }],
]);

table(
  "acquire: a lock that names nobody is taken",
  [
    ...[
      ["empty", () => ""],
      ["only line ends", () => "\n\n"],
      ["only NULs", () => "\0".repeat(4096)],
      ["a word", () => "claude\n"],
      ["a blank behind the pid", (pid: number) => `${pid} `],
      ["a carriage return behind the pid", (pid: number) => `${pid}\r\n`],
      ["a second line", (pid: number) => `${pid}\nharness=claude\n`],
      ["a sign", (pid: number) => `-${pid}\n`],
      ["another system's pid", () => "win:123\n"],
      ["zero", () => "0\n"],
      ["more than a pid can be", () => "4294967297\n"],
      ["bytes that are no text", () => "\xff\xfe"],
    ] as const,
  ].map(([name, text]): LockRow => [name, TAKEN, async (home) => {
    home.home.write(LOCK, text(await home.other()));
    return await acquire(home);
  }]),
);

const CONFIRMED = "acquired for ours";

table("acquire: a lock that is this session's is confirmed and not rewritten", [
  ["the second time", CONFIRMED, async (home) => {
    await acquire(home);
    return await unchanged(home, () => home.told("acquire"));
  }],
  ["the second time with a conversation", CONFIRMED, async (home) => {
    await acquire(home, home.claude("c1"));
    return await unchanged(home, () => home.told("acquire", home.claude("c1")));
  }],
  ["without a line end", CONFIRMED, (home) => {
    home.home.write(LOCK, String(home.session.pid));
    return unchanged(home, () => home.told("acquire"));
  }],
  ["a further line in the sidecar", CONFIRMED, (home) => {
    home.holds(home.session.pid).conversation("c1\nmore");
    return unchanged(home, () => home.told("acquire", home.claude("c1")));
  }],
  ["the same conversation in another process", "acquired for other", async (home) => {
    home.holds(await home.other()).conversation("c1");
    return await unchanged(home, () => home.told("acquire", home.claude("c1")));
  }],
]);

table("acquire: another live session's lock is never taken", [
  ["claude", "held by other", async (home) => await refused(home.holds(await home.other()))],
  ["codex", "held by other", async (home) => await refused(home.holds(await home.other("codex")))],
  ["pi", "held by other", async (home) => await refused(home.holds(await home.other("pi")))],
  ["NULs in its pid", "held by other", async (home) => {
    home.home.write(LOCK, `\0${String(await home.other()).split("").join("\0")}\0\n\n`);
    return await refused(home);
  }],
  [
    "its conversation is named",
    "held by other, session c2",
    async (home) =>
      await refused(home.holds(await home.other()).conversation("c2"), home.claude("c1")),
  ],
  [
    "what steers a terminal is escaped",
    "held by other, session a\\x1b[2Jb\\x9b",
    async (home) => await refused(home.holds(await home.other()).conversation("a\x1b[2Jb\x9b")),
  ],
  [
    "the conversation is not to be trusted",
    "held by other, session c1",
    async (home) =>
      await refused(home.holds(await home.other()).conversation("c1"), home.claude("c1", 1)),
  ],
  ["the sidecar is a link", "held by other", async (home) => {
    home.holds(await home.other()).home.write("elsewhere", "c1\n");
    Deno.symlinkSync(home.path("elsewhere"), home.path(SIDECAR));
    return await refused(home, home.claude("c1"));
  }],
  [
    "the sidecar has a carriage return",
    "held by other",
    async (home) =>
      await refused(home.holds(await home.other()).conversation("c1\r"), home.claude("c1")),
  ],
  ["while an acquisition is at work", "held by other", async (home) => {
    holdAcquisition(home.holds(await home.other()), home.home.sleeper().pid);
    return await refused(home);
  }],
]);

async function refused(
  home: LockHome,
  options: Parameters<LockHome["start"]>[1] = {},
): Promise<string> {
  return await unchanged(home, () => home.told("acquire", options));
}

/** Records a process as being in the middle of an acquisition. */
function holdAcquisition(home: LockHome, pid: number): void {
  home.home.write(`${ACQUIRE}.owner.Te5tEr/pid`, `${pid}\n`);
  Deno.symlinkSync(home.path(`${ACQUIRE}.owner.Te5tEr`), home.path(ACQUIRE));
}

Deno.test("lock acquire: a holder that was not asked for its status counts as alive", async () => {
  await using home = await makeLockHome();
  const claude = `${Deno.makeTempDirSync({ dir: home.home.folder })}/claude`;
  Deno.symlinkSync("/bin/sh", claude);
  await using zombie = await startZombie(claude);
  home.holds(home.name(zombie.pid, "zombie"));
  assertEquals(await refused(home), "held by zombie");
});

const NO_FILE = "unable: the session lock is not a plain file";

table("acquire: what is no lock file is left alone", [
  ["a directory", NO_FILE, (home) => {
    Deno.mkdirSync(home.path(LOCK));
    return refused(home);
  }],
  ["a link to a dead session's lock", NO_FILE, async (home) => {
    home.home.write("elsewhere", `${await deadPid()}\n`);
    return await linked(home, home.path("elsewhere"));
  }],
  ["a link to this session's own lock", NO_FILE, async (home) => {
    home.home.write("elsewhere", `${home.session.pid}\n`);
    return await linked(home, home.path("elsewhere"));
  }],
  ["a link to itself", NO_FILE, (home) => linked(home, home.path(LOCK))],
  ["a link to nowhere", NO_FILE, (home) => linked(home, "/nowhere/lock")],
  ["a pipe", NO_FILE, async (home) => {
    await new Deno.Command("mkfifo", { args: [home.path(LOCK)] }).output();
    return await refused(home);
  }],
  [
    "ten megabytes",
    "unable: the session lock cannot be read (larger than 1048576 bytes)",
    (home) => {
      home.home.write(LOCK, new Uint8Array(10_000_000));
      return refused(home);
    },
  ],
]);

/** A link in the place of the lock, to a file that names `pid`. */
function linkTo(home: LockHome, pid: number): LockHome {
  home.home.write("elsewhere", `${pid}\n`);
  Deno.symlinkSync(home.path("elsewhere"), home.path(LOCK));
  return home;
}

async function linked(home: LockHome, target: string): Promise<string> {
  Deno.symlinkSync(target, home.path(LOCK));
  const said = await refused(home);
  if (exists(home.path("elsewhere"))) assertMatch(textOf(home.path("elsewhere")), /^[0-9]+\n$/);
  return said;
}

/** A session that the modes of files mean something to. */
const ORDINARY: SessionOptions = {
  through: (command) => asOtherUser(command) ?? command,
};

/** Makes the state folder and the lock the session's own. */
function give(home: LockHome, lockMode: number): LockHome {
  Deno.chmodSync(home.path(LOCK), lockMode);
  if (isSuperuser()) {
    for (const path of [home.home.state, home.path(LOCK)]) {
      Deno.chownSync(path, OTHER_USER, OTHER_USER);
    }
  }
  return home;
}

Deno.test({
  name: "lock acquire: what may not be read, written or replaced is left alone",
  ignore: isSuperuser() && asOtherUser([]) === undefined,
  fn: async () => {
    const dead = await deadPid();
    const rows: readonly LockRow[] = [
      [
        "unreadable",
        "unable: the session lock cannot be read (permission denied)",
        (home) => refused(give(home.holds(dead), 0o200), home.claude("c1")),
      ],
      [
        "unwritable; no conversation is tied to the old holder",
        `unable: the session lock could not be written (REASON): "${dead}\\n" -`,
        (home) => acquire(give(home.holds(dead).conversation("old"), 0o444), home.claude("c1")),
      ],
      ["a folder that may not be written", "unable: REASON", (home) => {
        give(home.holds(dead), 0o644);
        Deno.chmodSync(home.home.state, 0o555);
        return refused(home);
      }],
    ];
    const told = await playLockRows(rows, ORDINARY);
    const plain = Object.entries(told).map(([name, outcome]) => [
      name,
      outcome.replace(/Permission denied \(os error 13\): [a-z]+ '[^']+'/, "REASON"),
    ]);
    assertEquals(plain, rows.map(([name, outcome]) => [name, outcome]));
  },
});

table(
  "acquire: the lock names the outermost process of the run of harnesses",
  [
    ["one claude", TAKEN, (home) => acquire(home)],
    ["claude that claude started", TAKEN, (home) => acquire(home, {}, ["claude"])],
    [
      "claude that claude started through another program",
      'acquired for inner: "inner\\n" -',
      async (home) => {
        const said = await acquire(home, {}, ["make", "claude"]);
        return said.replaceAll(textOf(home.path(LOCK)).trim(), "inner");
      },
    ],
    [
      "codex below claude",
      'acquired for first: "first\\n" -',
      (home) => acquire(home, {}, ["codex"]),
    ],
    [
      "shells between the session and the call",
      TAKEN,
      (home) => acquire(home, {}, ["bash", "make", "sh"]),
    ],
  ],
);

table("acquire: nested processes of one session", [
  ["the outermost is named", 'acquired for outer2: "outer2\\n" -', (home) => acquire(home)],
  [
    "the one that runs the conversation is",
    'acquired for ours: "ours\\n" "c1\\n"',
    (home) => acquire(home, home.claude("c1")),
  ],
  [
    "also one in the middle",
    'acquired for outer1: "outer1\\n" "c1\\n"',
    (home) => acquire(home, home.claude("c1", home.session.pids[1])),
  ],
  ["whichever holds it confirms it", "acquired for outer1", (home) => {
    home.holds(home.session.pids[1] ?? 0);
    return unchanged(home, () => home.told("acquire"));
  }],
], { outer: 2 });

table("acquire: nobody is named who is not there", [
  ["no lock", "no harness", (home) => refused(home)],
  ["a dead holder", "no harness", async (home) => await refused(home.holds(await deadPid()))],
  ["a live holder", "no harness", async (home) => await refused(home.holds(await home.other()))],
  ["a pid and an id in the environment", "no harness", (home) => refused(home, home.claude("c1"))],
], NOBODY);

/** Acquires a lock that is ours already and has an old sidecar; the sidecar then. */
async function sidecar(
  home: LockHome,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  home.holds(home.session.pid).conversation("old");
  assertEquals(await home.told("acquire", { env }), "acquired for ours");
  return exists(home.path(SIDECAR)) ? textOf(home.path(SIDECAR)) : "none";
}

table("acquire: a conversation is recorded if this session runs it, and else forgotten", [
  ["its own", "c1\n", (home) => sidecar(home, idAndPid("c1", home.session.pid))],
  ["blanks in the id", "a b\n", (home) => sidecar(home, idAndPid("a b", home.session.pid))],
  [
    "leading zeros of the pid",
    "c1\n",
    (home) => sidecar(home, idAndPid("c1", `00${home.session.pid}`)),
  ],
  ["neither id nor pid", "none", (home) => sidecar(home, {})],
  ["no id", "none", (home) => sidecar(home, { CLAUDE_PID: String(home.session.pid) })],
  ["an empty id", "none", (home) => sidecar(home, idAndPid("", home.session.pid))],
  ["a line break in the id", "none", (home) => sidecar(home, idAndPid("c\n1", home.session.pid))],
  [
    "a carriage return in the id",
    "none",
    (home) => sidecar(home, idAndPid("c1\r", home.session.pid)),
  ],
  ["no pid", "none", (home) => sidecar(home, { CLAUDE_CODE_SESSION_ID: "c1" })],
  ["a pid that is no number", "none", (home) => sidecar(home, idAndPid("c1", "12x"))],
  [
    "a blank before the pid",
    "none",
    (home) => sidecar(home, idAndPid("c1", ` ${home.session.pid}`)),
  ],
  ["pid zero", "none", (home) => sidecar(home, idAndPid("c1", 0))],
  ["a dead pid", "none", async (home) => await sidecar(home, idAndPid("c1", await deadPid()))],
  [
    "another live claude",
    "none",
    async (home) => await sidecar(home, idAndPid("c1", await home.other())),
  ],
  ["an ancestor that is no harness", "none", (home) => sidecar(home, idAndPid("c1", Deno.pid))],
]);

function idAndPid(id: string, pid: number | string): Readonly<Record<string, string>> {
  return { CLAUDE_CODE_SESSION_ID: id, CLAUDE_PID: String(pid) };
}

table("acquire: an inherited conversation is not that of a harness further in", [
  [
    "codex",
    'acquired for first: "first\\n" -',
    (home) => acquire(home, home.claude("c1"), ["codex"]),
  ],
  ["pi", 'acquired for first: "first\\n" -', (home) => acquire(home, home.claude("c1"), ["pi"])],
  [
    "a gap",
    'acquired for ours: "ours\\n" "c1\\n"',
    (home) => acquire(home, home.claude("c1"), ["make"]),
  ],
]);

table("acquire: a harness other than claude has no conversation", [
  ["its own pid", TAKEN, (home) => acquire(home, home.claude("c1"))],
], { name: "codex" });

Deno.test("lock acquire: the sidecar is written for its user alone, as a file of its own", async () => {
  await using home = await makeLockHome();
  home.home.write("elsewhere", "old\n");
  Deno.symlinkSync(home.path("elsewhere"), home.path(SIDECAR));
  assertEquals(await acquire(home, home.claude("c1")), 'acquired for ours: "ours\\n" "c1\\n"');
  const { isSymlink, mode } = Deno.lstatSync(home.path(SIDECAR));
  assertEquals([isSymlink, (mode ?? 0) & 0o777], [false, 0o600]);
  assertEquals(textOf(home.path("elsewhere")), "old\n");
});

Deno.test("lock acquire: a directory in the place of the sidecar keeps the lock as it is", async () => {
  await using home = await makeLockHome();
  home.holds(await deadPid()).home.write(`${SIDECAR}/file`);
  assertMatch(await refused(home, home.claude("c1")), /^unable: .*\.lock-session/);
});

table("acquire: waits for another acquisition, but not for a session start", [
  ["which names itself", "unable: pid other is still starting this session", async (home) => {
    const { pid } = home.home.sleeper();
    holdAcquisition(home, home.name(pid, "other"));
    home.home.write("state/.startup-network.status", `pid=1\nstate=up\npid=${pid}\nhost=x\n`);
    return await refused(home);
  }],
  ["one that ends", TAKEN, async (home) => {
    const sleeper = home.home.sleeper();
    holdAcquisition(home, sleeper.pid);
    const names = Deno.watchFs(home.home.state, { recursive: false });
    const waiting = await home.start("acquire");
    for await (const { paths } of names) {
      if (paths.some((path) => path.startsWith(home.path(`${ACQUIRE}.owner.`)))) break;
    }
    await sleeper.end();
    return `${home.inWords(await waiting.ended())}: ${home.left()}`;
  }],
]);

table("waits no longer than it must for an acquisition that does not end", [
  ...(["acquire", "release"] as const).map((verb): LockRow => [
    verb,
    "unable: another acquisition does not end",
    async (home) => {
      holdAcquisition(home.holds(home.session.pid), home.home.sleeper().pid);
      return await unchanged(home, () => home.told(verb));
    },
  ]),
  ["a file in its place", "unable: another acquisition does not end", async (home) => {
    home.home.write(ACQUIRE);
    return await unchanged(home, () => home.told("acquire"));
  }],
]);

/** Releases; what was said, and the lock and sidecar then. */
async function release(home: LockHome, options = {}): Promise<string> {
  return `${await home.told("release", options)}: ${home.left()}`;
}

async function notReleased(home: LockHome, options = {}): Promise<string> {
  return await unchanged(home, () => home.told("release", options));
}

table("release: this session's lock and its conversation go", [
  ["its own", "released: - -", (home) => release(home.holds(home.session.pid))],
  [
    "with a conversation",
    "released: - -",
    (home) => release(home.holds(home.session.pid).conversation("c1")),
  ],
  ["what it acquired", "released: - -", async (home) => {
    await acquire(home, home.claude("c1"));
    return await release(home);
  }],
  [
    "the same conversation's in another process",
    "released: - -",
    async (home) =>
      await release(home.holds(await home.other()).conversation("c1"), home.claude("c1")),
  ],
  ["through a link, which alone goes", "released: - -", async (home) => {
    linkTo(home, home.session.pid);
    const said = await release(home);
    assertEquals(textOf(home.path("elsewhere")), `${home.session.pid}\n`);
    return said;
  }],
  ["and can be acquired again", TAKEN, async (home) => {
    await release(home.holds(home.session.pid));
    return await acquire(home);
  }],
]);

table("release: what is not this session's stays", [
  [
    "another live session's",
    "not ours",
    async (home) =>
      await notReleased(home.holds(await home.other()).conversation("c2"), home.claude("c1")),
  ],
  ["the second time", "not ours", async (home) => {
    await release(home.holds(home.session.pid));
    return await notReleased(home);
  }],
  ["a dead holder's", "not ours", async (home) => await notReleased(home.holds(await deadPid()))],
  ["nobody's", "not ours", (home) => notReleased(home)],
  ["malformed", "not ours", (home) => {
    home.home.write(LOCK, `${home.session.pid}\nmore\n`);
    return notReleased(home);
  }],
  ["a directory", "not ours", (home) => {
    Deno.mkdirSync(home.path(LOCK));
    return notReleased(home);
  }],
  ["while another acquisition is at work", "not ours", async (home) => {
    holdAcquisition(home.holds(await home.other()), home.home.sleeper().pid);
    return await notReleased(home);
  }],
  ["no state folder", "not ours, no state", async (home) => {
    home.home.remove("state");
    const said = await home.told("release");
    return `${said}, ${exists(home.home.state) ? "state" : "no state"}`;
  }],
]);

table("release: somebody without a harness releases nothing", [
  [
    "a live session's lock",
    "not ours",
    async (home) => await notReleased(home.holds(await home.other())),
  ],
  [
    "its conversation's by the environment alone",
    "not ours",
    async (home) =>
      await notReleased(home.holds(await home.other()).conversation("c1"), home.claude("c1")),
  ],
], NOBODY);

/** What status says in words; the JSON must agree, and nothing may change by either. */
async function status(home: LockHome, options = {}): Promise<string> {
  return await unchanged(home, async () => {
    const words = await home.told("status", options);
    const { status, stdout, stderr } = await home.run("status", options, [], ["--json"]);
    assertEquals([status, stderr], [0, ""]);
    const report: unknown = JSON.parse(stdout);
    if (typeof report !== "object" || report === null) return stdout;
    const facts = new Map<string, unknown>(Object.entries(report));
    assertEquals([...facts.keys()], [
      "lock",
      "pid",
      "holderIsLiveHarness",
      "owner",
      "session",
      "saw",
    ]);
    const text = isFile(home.path(LOCK)) ? textOf(home.path(LOCK)) : "";
    const holder = text.replaceAll("\0", "").replace(/\n+$/, "");
    const numeric = /^[0-9]+$/.test(holder) && Number(holder) > 0;
    assertEquals(facts.get("pid"), numeric ? Number(holder) : null);
    const saw = String(facts.get("saw")).replace(/ ?\(?pid [0-9]+.*$/, "").trim();
    if (words.includes(" - ")) assertStringIncludes(words, saw);
    const live = facts.get("holderIsLiveHarness") === true ? "live" : "not live";
    return `${words.replace(/ (?:- |\(pid ).*$/s, "")}; ${facts.get("owner")}, ${live}, ` +
      `${facts.get("lock")}, ${facts.get("session")}`;
  });
}

const OURS = "held by this session; ours, live";
const FOREIGN = "held by another live session; foreign, live";
const UNKNOWN = "cannot be told; undetermined";

table("status: says whose the lock is, in words and in JSON, and changes nothing", [
  ["its own", `${OURS}, file, null`, (home) => status(home.holds(home.session.pid))],
  ["what it acquired", `${OURS}, file, c1`, async (home) => {
    await acquire(home, home.claude("c1"));
    return await status(home);
  }],
  [
    "the same conversation's",
    `${OURS}, file, c1`,
    async (home) =>
      await status(home.holds(await home.other()).conversation("c1"), home.claude("c1")),
  ],
  ["its own behind a link", `${OURS}, link, null`, async (home) => {
    linkTo(home, home.session.pid);
    return await status(home);
  }],
  [
    "another's",
    `${FOREIGN}, file, c2`,
    async (home) =>
      await status(home.holds(await home.other()).conversation("c2"), home.claude("c1")),
  ],
  ["another's with NULs", `${FOREIGN}, file, null`, async (home) => {
    home.home.write(LOCK, `\0\0${await home.other()}\0\n`);
    return await status(home);
  }],
  [
    "a dead one's",
    "stale; stale, not live, file, null",
    async (home) => await status(home.holds(await deadPid())),
  ],
  [
    "a pid that another program has now",
    "stale; stale, not live, file, null",
    async (home) => await status(home.holds(await home.other("editor"))),
  ],
  ["nobody's in a home without a session start", "free; free, not live, absent, null", (home) => {
    home.home.write("state/.turnguard-home");
    return status(home);
  }],
  ["nobody's elsewhere", "free; free, not live, absent, null", (home) => status(home)],
  ["another's behind a link", `${UNKNOWN}, live, link, null`, async (home) => {
    linkTo(home, await home.other());
    return await status(home);
  }],
  ["a link to itself", `${UNKNOWN}, not live, link, null`, (home) => {
    Deno.symlinkSync(home.path(LOCK), home.path(LOCK));
    return status(home);
  }],
  ["a second line", `${UNKNOWN}, not live, file, null`, async (home) => {
    home.home.write(LOCK, `${await home.other()}\nharness=claude\n`);
    return await status(home);
  }],
  ["a directory", `${UNKNOWN}, not live, other, null`, (home) => {
    Deno.mkdirSync(home.path(LOCK));
    return status(home);
  }],
]);

table("status: somebody without a harness cannot be told, except of the dead", [
  [
    "a live session's",
    `${UNKNOWN}, live, file, null`,
    async (home) => await status(home.holds(await home.other())),
  ],
  [
    "a dead one's",
    "stale; stale, not live, file, null",
    async (home) => await status(home.holds(await deadPid())),
  ],
  ["nobody's in a home without a session start", "free; free, not live, absent, null", (home) => {
    home.home.write("state/.turnguard-home");
    return status(home);
  }],
], NOBODY);

Deno.test("lock: a call that is wrong ends with 2 and does nothing", async () => {
  await using home = makeHome();
  const before = snapshot(home.root);
  const calls = [
    [],
    ["take"],
    ["ACQUIRE"],
    ["acquire", "now"],
    ["acquire", "--force"],
    ["status", "--jsn"],
    ["acquire", "--root"],
  ];
  const ends = await inBatches(calls, async (words) => {
    const root = words.includes("--root") ? [] : home.args;
    return await runTurnguard(["lock", ...root, ...words], { env: home.env });
  });
  for (const [index, { status, stdout, stderr }] of ends.entries()) {
    const call = calls[index]?.join(" ");
    assertEquals([status, stdout], [2, ""], call);
    assertMatch(stderr, /^turnguard lock: [^\n]+ nothing was done[^\n]*\n$/, call);
  }
  assertStringIncludes(ends[0]?.stderr ?? "", "name one of: acquire, release, status");
  assertStringIncludes(ends[5]?.stderr ?? "", "did you mean --json?");
  assertEquals(snapshot(home.root), before);
});
