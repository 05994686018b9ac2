/** Completion for fish. */

import type { Command, Expected } from "../command_line.ts";

/** The script to be put into fish's completions folder as `turnguard.fish`, or to be sourced. */
export function fishCompletion(commands: readonly Command[]): string {
  return [
    "# fish completion for turnguard",
    "#   turnguard completions fish > ~/.config/fish/completions/turnguard.fish",
    "",
    "function __turnguard_mode",
    "    set -l words (commandline -opc)",
    "    if contains -- -- $words",
    "        return 1",
    "    end",
    "    test (count $words) -ge 2; and contains -- $words[2] $argv",
    "end",
    "",
    "function __turnguard_no_mode",
    "    test (count (commandline -opc)) -eq 1",
    "end",
    "",
    "function __turnguard_command",
    "    contains -- -- (commandline -opc)",
    "end",
    "",
    "complete -c turnguard -f",
    "complete -c turnguard -n __turnguard_command -F -a '(__fish_complete_command)'",
    ...commands.flatMap(({ words, spec }) =>
      words.map((word) =>
        `complete -c turnguard -n __turnguard_no_mode -a ${word} -d ${quoted(spec.summary)}`
      )
    ),
    ...commands.flatMap(lines),
    "",
  ].join("\n");
}

function lines({ words, flags, operands }: Command): readonly string[] {
  const start = `complete -c turnguard -n '__turnguard_mode ${words.join(" ")}'`;
  const operand = operands.kind === "free" ? "" : arguments_(operands);
  return [
    "",
    ...flags.map(({ name, summary, expects }) =>
      [start, "-l", name, expects === undefined ? "" : arguments_(expects), "-d", quoted(summary)]
        .filter((part) => part !== "").join(" ")
    ),
    `${start} -l help -d 'Explain this mode.'`,
    ...(operand === "" ? [] : [`${start} ${operand.replace(/^-x /, "")}`]),
  ];
}

function arguments_(expected: Expected): string {
  switch (expected.kind) {
    case "words":
      return expected.words.length === 0 ? "" : `-x -a ${quoted(expected.words.join(" "))}`;
    case "directory":
      return "-x -a '(__fish_complete_directories)'";
    case "file":
      return "-r -F";
    case "free":
      return "-x";
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
