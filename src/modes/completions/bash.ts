/** Completion for bash, 3.2 (the one of macOS) and later. */

import type { Command, CommandFlag, Expected } from "../command_line.ts";

/** The script to be read by bash. */
export function bashCompletion(commands: readonly Command[]): string {
  return [
    "# bash completion for turnguard",
    '# In ~/.bashrc:  eval "$(turnguard completions bash)"',
    "",
    "_turnguard_words() {",
    "  local IFS=$'\\n'",
    '  COMPREPLY=($(IFS=" "; compgen -W "$1" -- "$2"))',
    "}",
    "",
    "# Readline quotes and marks names as it always does; only bash 3 has no compopt.",
    "_turnguard_names() {",
    "  if type compopt >/dev/null 2>&1; then",
    '    compopt -o "$1"',
    "  else",
    "    local IFS=$'\\n' action=-f",
    '    [ "$1" = dirnames ] && action=-d',
    '    COMPREPLY=($(compgen $action -- "$2"))',
    "  fi",
    "}",
    "",
    "_turnguard() {",
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
    "  local mode=${COMP_WORDS[1]} index",
    "  COMPREPLY=()",
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    _turnguard_words '${commands.flatMap(({ words }) => words).join(" ")}' "$word"`,
    "    return",
    "  fi",
    "  # What follows -- is a command of its own.",
    "  for ((index = 2; index < COMP_CWORD; index++)); do",
    '    if [ "${COMP_WORDS[index]}" = -- ]; then _turnguard_names default "$word"; return; fi',
    "  done",
    "  # Bash makes a word of its own of the = in --flag=value.",
    '  if [ "$word" = = ]; then word=; elif [ "$before" = = ]; then',
    "    before=${COMP_WORDS[COMP_CWORD-2]}",
    "  fi",
    "  case $mode in",
    ...commands.flatMap(branch),
    "  esac",
    "}",
    "",
    "complete -F _turnguard turnguard",
    "",
  ].join("\n");
}

function branch({ words, flags, operands }: Command): readonly string[] {
  const valued = flags.filter(({ expects }) => expects !== undefined);
  const names = [...flags.map(({ name }) => `--${name}`), "--help"].join(" ");
  return [
    `  ${words.join(" | ")})`,
    ...(valued.length === 0 ? [] : [
      "    case $before in",
      ...valued.map((flag) => `    --${flag.name}) ${offer(flag)}; return ;;`),
      "    esac",
    ]),
    `    case $word in -*) _turnguard_words '${names}' "$word"; return ;; esac`,
    `    ${offered(operands)}`,
    "    ;;",
  ];
}

function offer({ expects }: CommandFlag): string {
  return offered(expects ?? { kind: "free" });
}

function offered(expected: Expected): string {
  switch (expected.kind) {
    case "words":
      return `_turnguard_words '${expected.words.join(" ")}' "$word"`;
    case "directory":
      return '_turnguard_names dirnames "$word"';
    case "file":
      return '_turnguard_names default "$word"';
    case "free":
      return ":";
  }
}
