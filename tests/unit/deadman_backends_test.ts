/** A deadman's schedulers, driven through stand-ins for the programs of the host. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { environmentOf } from "../../src/platform/environment.ts";
import type { Backend, Job } from "../../src/watch/deadman/backend.ts";
import { chooseScheduler, schedulers } from "../../src/watch/deadman/backends.ts";
import { cronBackend } from "../../src/watch/deadman/cron.ts";
import { linesFor } from "../../src/watch/deadman/crontab_text.ts";
import {
  type Change,
  type Installation,
  installDeadman,
  uninstallDeadman,
} from "../../src/watch/deadman/installation.ts";
import {
  type BackendName,
  type DeadmanRecord,
  readRecord,
  writeRecord,
} from "../../src/watch/deadman/record.ts";
import { NO_MEMORY } from "../../src/decide/deadman.ts";
import { launchdBackend } from "../../src/watch/deadman/launchd.ts";
import { hostPrograms, type Programs } from "../../src/watch/deadman/programs.ts";
import { systemdBackend } from "../../src/watch/deadman/systemd.ts";
import { snapshot } from "../support/snapshot.ts";

const ID = "0123456789abcdef";

const JOB: Job = {
  id: ID,
  home: "/h",
  intervalSeconds: 300,
  words: ["/t", "deadman", "run", "--record", `/u/turnguard/deadman/${ID}.json`],
};

/** Keeps its table beside itself; a file `broken` beside it makes it fail with that text. */
const CRONTAB = `#!/bin/sh
[ -f "$0.broken" ] && { cat "$0.broken" >&2; exit 1; }
case "$1" in
-l) [ -f "$0.table" ] || { echo "no crontab for tester" >&2; exit 1; }; cat "$0.table" ;;
-) cat > "$0.table" ;;
esac
`;

/** Knows one unit that is on or off; fails at the verb in the file \`broken\` beside it. */
const SERVICE_MANAGER = `#!/bin/sh
echo "$*" >> "$0.log"
[ "$1" = --user ] && shift
[ "$(cat "$0.broken" 2> /dev/null)" = "$1" ] && { echo "refused: $1" >&2; exit 4; }
case "$1" in
restart | bootstrap) : > "$0.on" ;;
disable | bootout) [ -f "$0.on" ] || exit 3; rm "$0.on" ;;
is-enabled | is-active | print) [ -f "$0.on" ] || exit 3 ;;
esac
exit 0
`;

/** A folder with the stand-ins, which goes with the test. */
class Host implements Disposable {
  readonly folder: string = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  readonly files: string = join(this.folder, "files");

  constructor() {
    Deno.mkdirSync(this.files);
    this.write("crontab", CRONTAB);
    this.write("systemctl", SERVICE_MANAGER);
    this.write("launchctl", SERVICE_MANAGER);
  }

  write(name: string, text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    Deno.writeFileSync(join(this.folder, name), bytes, { mode: 0o755 });
  }

  read(name: string): string {
    return Deno.readTextFileSync(join(this.folder, name));
  }

  programs(): Programs {
    const at = (name: string) => [join(this.folder, name)];
    return hostPrograms(environmentOf({ HOME: this.folder }), {
      systemctl: at("systemctl"),
      crontab: at("crontab"),
      launchctl: at("launchctl"),
    });
  }

  systemd(lingers = true): Backend {
    return systemdBackend(this.programs(), { folder: this.files, lingers: () => lingers });
  }

  launchd(system = "darwin"): Backend {
    return launchdBackend(this.programs(), { folder: this.files, system, userId: 501 });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

function because(outcome: Change): string {
  assert(outcome.kind === "failed", outcome.kind);
  return outcome.because;
}

const MANAGED: ReadonlyArray<readonly [name: string, make: (host: Host) => Backend]> = [
  ["systemd", (host) => host.systemd()],
  ["launchd", (host) => host.launchd()],
  ["cron", (host) => cronBackend(host.programs())],
];

for (const [name, make] of MANAGED) {
  Deno.test(`deadman ${name}: added once, seen, and removed without a trace`, async () => {
    const host = new Host();
    using _host = host;
    host.write("crontab.table", "MAILTO=me\n");
    const backend = make(host);
    assertEquals(await backend.unavailable(JOB), undefined);
    const before = snapshot(host.files);
    assertEquals(await backend.look(JOB), { kind: "missing" });
    assertEquals((await backend.remove(ID)).kind, "unchanged");
    assertEquals((await backend.add(JOB)).kind, "done");
    assertEquals(await backend.look(JOB), { kind: "registered" });
    const added = snapshot(host.files);
    assertEquals((await backend.add(JOB)).kind, "unchanged");
    assertEquals(snapshot(host.files), added);
    assertEquals((await backend.look({ ...JOB, intervalSeconds: 600 })).kind, "differs");
    assertEquals((await backend.add({ ...JOB, intervalSeconds: 600 })).kind, "done");
    assertEquals(await backend.look({ ...JOB, intervalSeconds: 600 }), { kind: "registered" });
    assertEquals((await backend.remove(ID)).kind, "done");
    assertEquals(await backend.look(JOB), { kind: "missing" });
    assertEquals(snapshot(host.files), before);
    assertEquals(host.read("crontab.table"), "MAILTO=me\n");
  });
}

Deno.test("deadman systemd: the timer is enabled for every boot and started at once", async () => {
  const host = new Host();
  using _host = host;
  await host.systemd().add(JOB);
  const timer = `turnguard-deadman-${ID}.timer`;
  assertEquals(host.read("systemctl.log").trimEnd().split("\n"), [
    "--user daemon-reload",
    `--user enable ${timer}`,
    `--user restart ${timer}`,
  ]);
});

Deno.test("deadman systemd: who is not allowed to linger is told that it ends with the session", async () => {
  const host = new Host();
  using _host = host;
  const outcome = await host.systemd(false).add(JOB);
  assert(outcome.kind === "done");
  assertMatch(outcome.report.join("\n"), /loginctl enable-linger/);
});

for (const verb of ["daemon-reload", "enable", "restart"]) {
  Deno.test(`deadman systemd: when ${verb} fails nothing is left behind`, async () => {
    const host = new Host();
    using _host = host;
    host.write("systemctl.broken", verb);
    assertStringIncludes(because(await host.systemd().add(JOB)), `refused: ${verb}`);
    assertEquals([...Deno.readDirSync(host.files)], []);
  });
}

Deno.test("deadman systemd: a timer that was stopped by hand is not called registered", async () => {
  const host = new Host();
  using _host = host;
  await host.systemd().add(JOB);
  Deno.removeSync(join(host.folder, "systemctl.on"));
  assertEquals((await host.systemd().look(JOB)).kind, "differs");
  assertEquals((await host.systemd().add(JOB)).kind, "done");
  assertEquals(await host.systemd().look(JOB), { kind: "registered" });
});

Deno.test("deadman systemd: without a manager it is unavailable, and its state is not known", async () => {
  const host = new Host();
  using _host = host;
  await host.systemd().add(JOB);
  Deno.removeSync(join(host.folder, "systemctl"));
  assertMatch(await host.systemd().unavailable(JOB) ?? "", /no systemctl/);
  assertEquals((await host.systemd().look(JOB)).kind, "unknown");
  assertEquals((await host.systemd().remove(ID)).kind, "done");
  assertEquals([...Deno.readDirSync(host.files)], []);
});

Deno.test("deadman launchd: an agent that cannot be loaded leaves no file", async () => {
  const host = new Host();
  using _host = host;
  host.write("launchctl.broken", "bootstrap");
  assertStringIncludes(because(await host.launchd().add(JOB)), "refused: bootstrap");
  assertEquals([...Deno.readDirSync(host.files)], []);
});

Deno.test("deadman launchd: only on macOS, and in the user's own session", async () => {
  const host = new Host();
  using _host = host;
  assertMatch(await host.launchd("linux").unavailable(JOB) ?? "", /not macOS/);
  await host.launchd().add(JOB);
  assertMatch(host.read("launchctl.log"), /^bootstrap gui\/501 .*\.plist$/m);
});

Deno.test("deadman cron: a crontab that cannot be read is never replaced", async () => {
  const host = new Host();
  using _host = host;
  host.write("crontab.table", "precious\n");
  host.write("crontab.broken", "tester is not allowed to use this program");
  const backend = cronBackend(host.programs());
  assertMatch(await backend.unavailable(JOB) ?? "", /not allowed/);
  assertMatch(because(await backend.add(JOB)), /not allowed/);
  assertMatch(because(await backend.remove(ID)), /not allowed/);
  assertEquals(host.read("crontab.table"), "precious\n");
});

Deno.test("deadman cron: whoever has no crontab gets one", async () => {
  const host = new Host();
  using _host = host;
  await cronBackend(host.programs()).add(JOB);
  assertEquals(linesFor(Deno.readFileSync(join(host.folder, "crontab.table")), ID).length, 2);
});

/** An installation by one of the stand-ins, its record beside them. */
function installationBy(host: Host, backend: Backend): Installation {
  const recordPath = join(host.folder, "records", `${ID}.json`);
  const record: DeadmanRecord = {
    format: 1,
    root: "/h",
    home: "/h",
    backend: backend.name,
    executable: "/t",
    intervalSeconds: JOB.intervalSeconds,
    cooldownSeconds: 3_600,
    bootGraceSeconds: 600,
    notify: ["/n"],
    settings: {},
    memory: NO_MEMORY,
  };
  const backends = [host.systemd(), host.launchd(), cronBackend(host.programs())];
  return { id: ID, recordPath, backends, backend, record, job: JOB };
}

/** What is in force: the recorded scheduler, and every one that has the job. */
async function inForce({ recordPath, backends }: Installation): Promise<readonly string[]> {
  const reading = readRecord(recordPath);
  const standings = await Promise.all(backends.map(async (backend) => {
    const { kind } = await backend.look(JOB);
    return kind === "missing" ? [] : [backend.name];
  }));
  return [reading.kind === "record" ? reading.record.backend : reading.kind, ...standings.flat()];
}

Deno.test("deadman install: another scheduler takes the place of the earlier one", async () => {
  const host = new Host();
  using _host = host;
  const first = installationBy(host, host.systemd());
  assertEquals((await installDeadman(first)).kind, "done");
  assertEquals(await inForce(first), ["systemd", "systemd"]);
  const second = installationBy(host, cronBackend(host.programs()));
  assertEquals((await installDeadman(second)).kind, "done");
  assertEquals(await inForce(second), ["cron", "cron"]);
  assertEquals((await installDeadman(second)).kind, "unchanged");
  assertEquals((await uninstallDeadman(second)).kind, "done");
  assertEquals(await inForce(second), ["absent"]);
  assertEquals((await uninstallDeadman(second)).kind, "unchanged");
});

Deno.test("deadman install: what is remembered survives it", async () => {
  const host = new Host();
  using _host = host;
  const installation = installationBy(host, host.systemd());
  await installDeadman(installation);
  const memory = { ...NO_MEMORY, streak: 1, toldAtSeconds: 9 };
  writeRecord(installation.recordPath, { ...installation.record, memory });
  await installDeadman(installation);
  const reading = readRecord(installation.recordPath);
  assertEquals(reading.kind === "record" && reading.record.memory, memory);
});

Deno.test("deadman install: when the schedule cannot be made, the record is as it was", async () => {
  const host = new Host();
  using _host = host;
  host.write("crontab.broken", "not allowed");
  const failing = installationBy(host, cronBackend(host.programs()));
  assertMatch(because(await installDeadman(failing)), /not allowed/);
  assertEquals([...Deno.readDirSync(join(host.folder, "records"))], []);
  await installDeadman(installationBy(host, host.systemd()));
  assertMatch(because(await installDeadman(failing)), /not allowed/);
  const reading = readRecord(failing.recordPath);
  assertEquals(reading.kind === "record" && reading.record.backend, "systemd");
});

Deno.test("deadman install: an earlier schedule that stays is told of", async () => {
  const host = new Host();
  using _host = host;
  await installDeadman(installationBy(host, cronBackend(host.programs())));
  host.write("crontab.broken", "not allowed");
  const change = await installDeadman(installationBy(host, host.systemd()));
  assertEquals(change.kind, "doubled");
});

Deno.test("deadman uninstall: a schedule is found without the record", async () => {
  const host = new Host();
  using _host = host;
  const installation = installationBy(host, cronBackend(host.programs()));
  await installDeadman(installation);
  Deno.removeSync(installation.recordPath);
  assertEquals((await uninstallDeadman(installation)).kind, "done");
  assertEquals(await inForce(installation), ["absent"]);
});

Deno.test("deadman uninstall: the record stays while its schedule does, whatever others say", async () => {
  const host = new Host();
  using _host = host;
  const cron = installationBy(host, cronBackend(host.programs()));
  await installDeadman(cron);
  host.write("crontab.broken", "not allowed");
  assertMatch(because(await uninstallDeadman(cron)), /not allowed/);
  assertEquals(readRecord(cron.recordPath).kind, "record");
  await installDeadman(installationBy(host, host.systemd()));
  assertEquals((await uninstallDeadman(cron)).kind, "done");
  assertEquals(readRecord(cron.recordPath).kind, "absent");
});

Deno.test("deadman: the first scheduler that the host has is taken, and never a guess", async () => {
  const host = new Host();
  using _host = host;
  const all = schedulers(environmentOf({}), host.folder, host.programs());
  const chosen = async (name?: BackendName) => {
    const choice = await chooseScheduler(all, JOB, name);
    return choice.kind === "chosen" ? choice.backend.name : choice.reasons.length;
  };
  assertEquals([await chosen(), await chosen("cron"), await chosen("none")], [
    "systemd",
    "cron",
    "none",
  ]);
  host.write("systemctl.broken", "show");
  host.write("launchctl.broken", "bootstrap");
  assertEquals(await chosen("systemd"), 1);
  if (Deno.build.os === "linux") assertEquals(await chosen(), "cron");
  Deno.removeSync(join(host.folder, "crontab"));
  if (Deno.build.os === "linux") assertEquals(await chosen(), 3);
});

Deno.test("deadman: programs get no environment but their own", async () => {
  const host = new Host();
  using _host = host;
  host.write("crontab", "#!/bin/sh\nexec /usr/bin/env\n");
  const answer = await host.programs().run("crontab", []);
  assert(answer.kind === "ended");
  const names = new TextDecoder().decode(answer.stdout).trim().split("\n")
    .map((line) => line.split("=")[0] ?? "").filter((name) => name !== "PWD" && name !== "_");
  assertEquals(names.toSorted(), ["HOME", "LC_ALL", "PATH", "XDG_RUNTIME_DIR"]);
});

Deno.test("deadman: the operator's own scheduler comes last and is always there", async () => {
  const host = new Host();
  using _host = host;
  const all = schedulers(environmentOf({}), host.folder, host.programs());
  assertEquals(all.map(({ name }) => name), ["systemd", "launchd", "cron", "none"]);
  assertEquals(await all.at(-1)?.unavailable(JOB), undefined);
});
