/** What a deadman's schedulers are given to read, for paths that some of them would take apart. */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import type { Job } from "../../src/watch/deadman/backend.ts";
import { unregistrable } from "../../src/watch/deadman/backend.ts";
import {
  cronLines,
  linesFor,
  withLines,
  withoutLines,
} from "../../src/watch/deadman/crontab_text.ts";
import { agentFiles } from "../../src/watch/deadman/launchd.ts";
import { unitFiles } from "../../src/watch/deadman/systemd.ts";
import { HARD_NAMES } from "../support/install.ts";
import { isFile } from "../support/files.ts";

const ID = "0123456789abcdef";
const RECORD = `/u/.local/state/turnguard/deadman/${ID}.json`;

/** A blank, both quotes, a percent sign, a variable, a backslash, markup and a letter of two bytes. */
const HARD = `/h/a b's "q" 50% $HOME \\x <é&>`;

function jobFor(home: string, program = "/opt/50% $x/turnguard", intervalSeconds = 300): Job {
  const words = [program, "deadman", "run", "--root", home, "--record", RECORD] as const;
  return { id: ID, home, intervalSeconds, words };
}

function linesOf(job: Job): readonly [string, string] {
  const rendered = cronLines(job);
  if (rendered.kind === "refused") throw new Error(rendered.because);
  return rendered.lines;
}

Deno.test("deadman systemd: the unit files, with percent, quotes, dollar and backslash escaped", () => {
  assertEquals(unitFiles("/f", jobFor(HARD)), {
    [`/f/turnguard-deadman-${ID}.service`]: `[Unit]
Description=turnguard deadman of /h/a b's "q" 50%% $HOME \\x <é&> (looks only)

[Service]
Type=oneshot
WorkingDirectory=/
ExecStart="/opt/50%% $x/turnguard" "deadman" "run" "--root" "/h/a b's \\"q\\" 50%% $$HOME \\\\x <é&>" "--record" "${RECORD}"
TimeoutStartSec=120
`,
    [`/f/turnguard-deadman-${ID}.timer`]: `[Unit]
Description=turnguard deadman of /h/a b's "q" 50%% $HOME \\x <é&> (looks only)

[Timer]
OnActiveSec=60
OnUnitActiveSec=300
AccuracySec=15

[Install]
WantedBy=timers.target
`,
  });
});

Deno.test("deadman systemd: a program whose name systemd refuses is started by the shell", () => {
  const [text = ""] = Object.values(unitFiles("/f", jobFor("/h", `/it's/50% $x/turnguard`)));
  assertEquals(
    /^ExecStart=.*$/m.exec(text)?.[0],
    'ExecStart="/bin/sh" "-c" "exec \\"$$0\\" \\"$$@\\"" "/it\'s/50%% $$x/turnguard" "deadman" "run" ' +
      `"--root" "/h" "--record" "${RECORD}"`,
  );
});

const ANALYZE = "/usr/bin/systemd-analyze";

Deno.test({
  name: "deadman systemd: systemd itself finds the program and no fault in the units",
  ignore: !isFile(ANALYZE),
  fn: async () => {
    const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
    try {
      for (const name of [`50% $HOME é turnguard`, `'x' "é" \\ 50% turnguard`]) {
        const program = join(folder, name);
        Deno.writeTextFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
        const files = unitFiles(folder, jobFor(HARD, program));
        for (const [path, text] of Object.entries(files)) Deno.writeTextFileSync(path, text);
        const { stderr, success } = await new Deno.Command(ANALYZE, {
          args: ["--user", "verify", ...Object.keys(files)],
          clearEnv: true,
          env: { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin", HOME: folder, XDG_RUNTIME_DIR: folder },
        }).output();
        assertEquals([success, new TextDecoder().decode(stderr)], [true, ""]);
      }
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});

Deno.test("deadman launchd: the property list, with markup escaped", () => {
  assertEquals(agentFiles("/f", jobFor(HARD, "/opt/a&b/turnguard", 600)), {
    [`/f/turnguard.deadman.${ID}.plist`]: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>turnguard.deadman.${ID}</string>
  <key>ProgramArguments</key>
  <array>
    <string>/opt/a&amp;b/turnguard</string>
    <string>deadman</string>
    <string>run</string>
    <string>--root</string>
    <string>/h/a b's "q" 50% $HOME \\x &lt;é&amp;&gt;</string>
    <string>--record</string>
    <string>${RECORD}</string>
  </array>
  <key>WorkingDirectory</key>
  <string>/</string>
  <key>StartInterval</key>
  <integer>600</integer>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`,
  });
});

Deno.test("deadman cron: the two lines, with percent escaped and quotes for the shell", () => {
  assertEquals(linesOf(jobFor(HARD)), [
    `# turnguard deadman ${ID}: ${HARD}`,
    "*/5 * * * * cd / && exec '/opt/50\\% $x/turnguard' deadman run --root " +
    `'/h/a b'\\''s "q" 50\\% $HOME '\\\\'x <é&>' --record '${RECORD}'`,
  ]);
});

/** What cron hands to the shell: a percent sign keeps its meaning behind a backslash, else it ends it. */
function commandForShell(entry: string): string {
  const command = entry.split(" ").slice(5).join(" ");
  assertEquals(command.replaceAll("\\%", "").includes("%"), false);
  return command.replaceAll("\\%", "%");
}

Deno.test("deadman cron: the shell gets every word as it was", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    for (const name of [...HARD_NAMES, "50% \\% off", HARD.slice(3).replaceAll("/", "")]) {
      const program = join(folder, name);
      Deno.writeTextFileSync(program, '#!/bin/sh\nprintf "%s\\0" "$PWD" "$0" "$@"\n', {
        mode: 0o755,
      });
      const job = jobFor(`/homes/${name}`, program);
      const { stdout } = await new Deno.Command("/bin/sh", {
        args: ["-c", commandForShell(linesOf(job)[1])],
        clearEnv: true,
      }).output();
      assertEquals(new TextDecoder().decode(stdout).split("\0"), ["/", ...job.words, ""]);
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("deadman cron: an interval that cron cannot repeat, or a line too long, is refused", () => {
  for (const job of [jobFor("/h", "/t", 420), jobFor(`/${"h".repeat(1_000)}`)]) {
    assertEquals(cronLines(job).kind, "refused");
  }
});

/** Bytes of a crontab in Latin-1, a line without an end among them. */
function crontab(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...text].map((character) => character.charCodeAt(0)));
}

const OTHERS: readonly string[] = [
  "",
  "MAILTO=me\n",
  "# caf\xe9\r\n5 4 * * * echo 50\\% \xff\n\n",
  "@daily no newline at the end",
  `# turnguard deadman fedcba9876543210: /other\n0 * * * * x deadman run /turnguard/deadman/f.json\n`,
  `#*/5 * * * * cd / && exec x deadman run --record '${RECORD}'\n`,
];

Deno.test("deadman cron: other lines of a crontab stay byte for byte", () => {
  const lines = linesOf(jobFor(HARD));
  const ours = new TextEncoder().encode(`${lines.join("\n")}\n`);
  for (const text of OTHERS) {
    const before = crontab(text);
    const after = withLines(before, ID, lines);
    const end = text === "" || text.endsWith("\n") ? "" : "\n";
    assertEquals(after, new Uint8Array([...before, ...crontab(end), ...ours]));
    assertEquals(withLines(after, ID, lines), after);
    assertEquals(withoutLines(after, ID), crontab(text + end));
    assertEquals(linesFor(after, ID), lines);
    assertEquals(withoutLines(before, ID), before);
  }
});

Deno.test("deadman cron: an earlier line of the same home is replaced", () => {
  const old = withLines(crontab("a\n"), ID, linesOf(jobFor(HARD, "/old/turnguard", 60)));
  const lines = linesOf(jobFor(HARD));
  const after = withLines(new Uint8Array([...old, ...crontab("z\n")]), ID, lines);
  assertEquals(after, withLines(crontab("a\nz\n"), ID, lines));
});

Deno.test("deadman: nothing with a control character is registered", () => {
  assertEquals(unregistrable(["/a", "/b\nc"]), "/b\nc");
  assertEquals(unregistrable([HARD]), undefined);
});
