/**
 * Blanks out comments, texts and regular expressions of a source, so that a
 * search finds names in code only.
 *
 * This is no parser. It errs where a division follows a closing brace directly,
 * which the formatter's style and the linter leave no reason to write.
 *
 * @module
 */

const LINE_COMMENT = /\/\/[^\n]*/y;
const BLOCK_COMMENT = /\/\*[^]*?\*\//y;
const QUOTED = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const REGULAR_EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const WORD = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const TEMPLATE_PART = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/** Words after which a slash starts a regular expression, unlike after a name. */
const WORDS_BEFORE_EXPRESSION = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "void",
  "yield",
  "await",
  "throw",
  "else",
  "do",
]);

/** The source with blanks for everything that is no code; lines stay where they are. */
export function plainCode(source: string): string {
  let at = 0;
  let code = "";
  /** The last token: decides between a division and a regular expression. */
  let previous = "";
  /** For each open template its depth of braces. */
  const templates: number[] = [];
  let depth = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const blank = (text: string): void => {
    code += text.replaceAll(/[^\n]/g, " ");
    at += text.length;
  };
  const templatePart = (): void => {
    blank(match(TEMPLATE_PART) ?? "");
    if (source.startsWith("${", at)) {
      templates.push(depth);
      blank("${");
      previous = "(";
    } else {
      blank("`");
      previous = "text";
    }
  };

  while (at < source.length) {
    const comment = match(LINE_COMMENT) ?? match(BLOCK_COMMENT);
    const quoted = comment ?? match(QUOTED);
    const char = source.charAt(at);
    const word = match(WORD);
    if (quoted !== undefined) {
      blank(quoted);
      if (comment === undefined) previous = "text";
    } else if (char === "`") {
      blank(char);
      templatePart();
    } else if (char === "}" && templates.at(-1) === depth) {
      templates.pop();
      blank(char);
      templatePart();
    } else if (char === "/" && expressionMayStart(previous) && match(REGULAR_EXPRESSION)) {
      blank(match(REGULAR_EXPRESSION) ?? "");
      previous = "text";
    } else {
      const token = word ?? char;
      if (token === "{") depth++;
      if (token === "}") depth--;
      if (token.trim() !== "") previous = token;
      code += token;
      at += token.length;
    }
  }
  return code;
}

function expressionMayStart(previous: string): boolean {
  if (WORDS_BEFORE_EXPRESSION.has(previous)) return true;
  return previous === "" || /^[([{,;:=!&|?+\-*%<>~^}]$/.test(previous);
}
