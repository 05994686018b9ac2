/**
 * A home in a temporary folder, built the way the fleet builds one, with real processes behind its
 * locks.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import { identityOf, type Sleeper, startSleeper } from "./processes.ts";

/** What a home is to Git. */
export type GitShape = "primary" | "linked-worktree" | "none";

/** How a home starts out. */
export interface HomeOptions {
  /** Name of its folder. */
  readonly name?: string;
  readonly git?: GitShape;
}

/** What a recorded process says about itself; what is absent is recorded as it truly is. */
export interface LockOverrides {
  /** Text of the `pid` file, instead of the real pid and a newline. */
  readonly pid?: string;
  readonly home?: string;
  readonly watcherPath?: string;
  /** Text of the identity file; `null` records none. */
  readonly identity?: string | null;
  /** `link` is what the lock primitive makes, `directory` what older builds made. */
  readonly layout?: "link" | "directory";
}

/** Makes a home. Bind it with `await using`: its processes end and its folder goes. */
export function makeHome(options: HomeOptions = {}): TestHome {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  // Other users must be able to look into it where a test runs as one.
  Deno.chmodSync(folder, 0o755);
  const root = join(folder, options.name ?? "home");
  for (const part of ["", "bin", "state"]) Deno.mkdirSync(join(root, part));
  Deno.writeTextFileSync(join(root, "AGENTS.md"), "# Home\n");
  const home = new TestHome(folder, root);
  makeGit(home, options.git ?? "primary");
  return home;
}

function makeGit(home: TestHome, shape: GitShape): void {
  if (shape === "primary") home.gitDirectory(".git");
  if (shape === "linked-worktree") {
    const main = join(home.folder, "main", ".git");
    const own = join(main, "worktrees", "home");
    home.gitDirectory(main);
    Deno.mkdirSync(own, { recursive: true });
    Deno.writeTextFileSync(join(own, "HEAD"), "ref: refs/heads/task\n");
    Deno.writeTextFileSync(join(own, "commondir"), "../..\n");
    Deno.writeTextFileSync(join(own, "gitdir"), `${home.path(".git")}\n`);
    Deno.writeTextFileSync(home.path(".git"), `gitdir: ${own}\n`);
  }
}

/** One home. */
export class TestHome implements AsyncDisposable {
  /** A temporary folder around the home; free for whatever else a test needs. */
  readonly folder: string;
  readonly root: string;
  readonly #sleepers: Sleeper[] = [];
  #written = 0;

  constructor(folder: string, root: string) {
    this.folder = folder;
    this.root = root;
  }

  /** Its state folder. */
  get state(): string {
    return join(this.root, "state");
  }

  /** The watcher path that a watcher of this home records. */
  get watcherPath(): string {
    return `${this.root}/bin/fm-watch.sh`;
  }

  /** Arguments and variables by which a harness names this home. */
  get args(): readonly string[] {
    return ["--root", this.root];
  }

  /** The variables by which a harness names this home; its watchers do not linger over a report. */
  get env(): Readonly<Record<string, string>> {
    return { FM_HOME: this.root, FM_SIGNAL_GRACE: "0" };
  }

  /** A path inside the home. */
  path(...names: readonly string[]): string {
    return join(this.root, ...names);
  }

  /** Writes a file inside the home, its folders included. */
  write(name: string, text: string | Uint8Array = ""): this {
    const path = this.path(name);
    Deno.mkdirSync(dirname(path), { recursive: true });
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    // A watcher may look between the making of a report and its text, and tell of both.
    const isReport = /\.(?:status|turn-ended)$/.test(name);
    const written = isReport ? join(this.folder, `${this.#written++}.written`) : path;
    Deno.writeFileSync(written, bytes);
    if (isReport) Deno.renameSync(written, path);
    return this;
  }

  /** Removes something inside the home. */
  remove(name: string): this {
    Deno.removeSync(this.path(name), { recursive: true });
    return this;
  }

  /** Makes a Git directory; a relative path is inside the home. */
  gitDirectory(path: string): this {
    const directory = path.startsWith("/") ? path : this.path(path);
    for (const part of ["objects", "refs"]) {
      Deno.mkdirSync(join(directory, part), { recursive: true });
    }
    Deno.writeTextFileSync(join(directory, "HEAD"), "ref: refs/heads/main\n");
    return this;
  }

  /** A task in flight. */
  task(id = "task1"): this {
    return this.write(`state/${id}.meta`);
  }

  /** A process-event source. */
  source(id = "a"): this {
    return this.write(`state/procevent/${id}.source`, "adapter=shell\nargc=0\nargv:\n");
  }

  /** A custom check; registered when it is trusted. */
  check(id = "c1", trust: "trusted" | "untrusted" = "trusted"): this {
    this.write(`state/${id}.check.sh`, "#!/bin/sh\n");
    if (trust === "trusted") {
      this.write(`state/${id}.check-trust`, `fm-custom-check-v1\n${"0".repeat(64)}\n`);
    }
    return this;
  }

  /** The relay's poll script. */
  relay(): this {
    return this.write("state/x-watch.check.sh", "#!/bin/sh\n");
  }

  /** The secondmate marker. */
  marker(text = "sm-1\n"): this {
    return this.write(".fm-secondmate-home", text);
  }

  /** A beat of the watcher, `ageSeconds` ago; negative in the future. */
  beat(ageSeconds: number): this {
    return this.beatAt(Math.floor(Date.now() / 1000) - ageSeconds);
  }

  /** A beat at a second since the epoch. */
  beatAt(second: number): this {
    this.write("state/.last-watcher-beat");
    Deno.utimeSync(this.path("state/.last-watcher-beat"), second, second);
    return this;
  }

  /** Away or quiet mode, by the first line of its file. */
  away(text = "away\n"): this {
    return this.write("state/.afk", text);
  }

  /** A living process that ends with the home. */
  sleeper(command?: string, args?: readonly string[]): Sleeper {
    const sleeper = startSleeper(command, args);
    this.#sleepers.push(sleeper);
    return sleeper;
  }

  /** A living process, recorded as the watcher, with a beat of this age. */
  async watcher(ageSeconds = 5, overrides: LockOverrides = {}): Promise<Sleeper> {
    const sleeper = this.sleeper();
    await this.recordWatcher(sleeper.pid, overrides);
    this.beat(ageSeconds);
    return sleeper;
  }

  /** Records a process as the watcher. */
  async recordWatcher(pid: number, overrides: LockOverrides = {}): Promise<void> {
    await this.#lock(".watch.lock", pid, overrides, {
      "fm-home": `${overrides.home ?? this.root}\n`,
      "watcher-path": `${overrides.watcherPath ?? this.watcherPath}\n`,
    });
  }

  /** A living process, recorded as the daemon of away or quiet mode. */
  async daemon(overrides: LockOverrides = {}): Promise<Sleeper> {
    const sleeper = this.sleeper();
    await this.recordDaemon(sleeper.pid, overrides);
    return sleeper;
  }

  /** Records a process as the daemon. */
  async recordDaemon(pid: number, overrides: LockOverrides = {}): Promise<void> {
    await this.#lock(".supervise-daemon.lock", pid, overrides, {});
  }

  async #lock(
    name: string,
    pid: number,
    overrides: LockOverrides,
    files: Readonly<Record<string, string>>,
  ): Promise<void> {
    const linked = overrides.layout !== "directory";
    const folder = linked ? `state/${name}.owner.k3Qz9B` : `state/${name}`;
    const identity = overrides.identity === undefined
      ? `${await identityOf(pid)}\n`
      : overrides.identity;
    this.write(`${folder}/pid`, overrides.pid ?? `${pid}\n`);
    for (const [file, text] of Object.entries(files)) this.write(`${folder}/${file}`, text);
    if (identity !== null) this.write(`${folder}/pid-identity`, identity);
    if (linked) Deno.symlinkSync(this.path(folder), this.path("state", name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#sleepers.map((sleeper) => sleeper.end()));
    Deno.removeSync(this.folder, { recursive: true });
  }
}
