/** Hook files of ours as they ship. */

/** A hook file of ours. */
export interface HookTemplate {
  readonly hooks: Readonly<Record<string, readonly (GroupTemplate | EntryTemplate)[]>>;
}

/** One group of it. */
export interface GroupTemplate {
  readonly matcher?: string | undefined;
  readonly hooks: readonly EntryTemplate[];
}

/** One entry, `{TG}` and `{ROOT}` in its command standing for what is known at installation. */
export interface EntryTemplate {
  readonly type: string;
  readonly command: string;
  readonly timeout?: number | undefined;
  readonly asyncRewake?: boolean | undefined;
  readonly loop_limit?: number | undefined;
}
