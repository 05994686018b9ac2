/** Completion for zsh. */

import type { Command, CommandFlag, Expected } from "../command_line.ts";

/** The script to be put into zsh's function path as `_turnguard`, or to be evaluated. */
export function zshCompletion(commands: readonly Command[]): string {
  return [
    "#compdef turnguard",
    "# A file _turnguard in a folder of $fpath, or, after compinit, in ~/.zshrc:",
    '#   eval "$(turnguard completions zsh)"',
    "",
    "_turnguard() {",
    "  local curcontext=$curcontext state line",
    "  typeset -A opt_args",
    "  if (( CURRENT == 2 )); then",
    "    local -a modes",
    "    modes=(",
    ...commands.flatMap(({ words, spec }) =>
      words.map((word) => `      ${quoted(`${word}:${spec.summary}`)}`)
    ),
    "    )",
    "    _describe -t modes mode modes",
    "    return",
    "  fi",
    "  local mode=$words[2]",
    "  shift words",
    "  (( CURRENT-- ))",
    "  case $mode in",
    ...commands.flatMap(branch),
    "  esac",
    "}",
    "",
    'if [ "$funcstack[1]" = _turnguard ]; then',
    '  _turnguard "$@"',
    "else",
    "  compdef _turnguard turnguard",
    "fi",
    "",
  ].join("\n");
}

function branch({ words, flags, operands }: Command): readonly string[] {
  const specs = [
    ...flags.map(flagSpec),
    quoted("--help[Explain this mode.]"),
    quoted(`*:word:${action(operands)}`),
  ];
  return [
    `  (${words.join("|")})`,
    "    _arguments -S \\",
    ...specs.map((spec, index) => `      ${spec}${index < specs.length - 1 ? " \\" : ""}`),
    "    ;;",
  ];
}

function flagSpec({ name, summary, value, expects }: CommandFlag): string {
  const described = `[${summary.replaceAll(/[\\[\]:]/g, "\\$&")}]`;
  if (expects === undefined) return quoted(`--${name}${described}`);
  return quoted(`--${name}=${described}:${value ?? ""}:${action(expects)}`);
}

function action(expected: Expected): string {
  switch (expected.kind) {
    case "words":
      return expected.words.length === 0 ? "_default" : `(${expected.words.join(" ")})`;
    case "directory":
      return "_files -/";
    case "file":
      return "_files";
    case "free":
      return " ";
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
