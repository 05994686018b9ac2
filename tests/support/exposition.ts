/**
 * A strict reader of the text exposition format, as far as gauges without timestamps go.
 *
 * @module
 */

import { assert } from "@std/assert";

/** One sample. */
export interface ExpositionSample {
  readonly name: string;
  /** Label values as they were before they were escaped. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (-?[0-9]+(?:\.[0-9]+)?)$/s;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"/;

/**
 * The samples of an exposition. Fails the test for anything that is not of the format: a metric that
 * is described twice or not at all, samples of one metric that do not stand together, a sample that
 * comes twice, a value that is no finite number, a last line without its end.
 */
export function parseExposition(text: string): readonly ExpositionSample[] {
  assert(text.endsWith("\n"), "the last line has no end");
  const samples: ExpositionSample[] = [];
  const helped = new Set<string>();
  const typed = new Set<string>();
  const seen = new Set<string>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, described = "", words = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") {
      assert(!helped.has(described), `helped twice: ${described}`);
      assert(/^(?:[^\\]|\\[\\n])*$/.test(words), `a bad escape: ${line}`);
      helped.add(described);
      continue;
    }
    if (kind === "TYPE") {
      assert(!typed.has(described), `typed twice: ${described}`);
      assert(helped.has(described), `typed before it is described: ${described}`);
      assert(words === "gauge", `not a gauge: ${line}`);
      typed.add(described);
      current = described;
      continue;
    }
    const sample = parseSample(line);
    assert(sample.name === current, `a sample outside of its group: ${line}`);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted()]);
    assert(!seen.has(key), `twice: ${line}`);
    seen.add(key);
    samples.push(sample);
  }
  for (const name of typed) {
    assert(samples.some((sample) => sample.name === name), `no sample of ${name}`);
  }
  return samples;
}

function parseSample(line: string): ExpositionSample {
  const [, name, list, value] = SAMPLE.exec(line) ?? [];
  assert(name !== undefined && list !== undefined, `not a sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = list; rest !== "";) {
    const [whole, label, text] = LABEL.exec(rest) ?? [];
    assert(whole !== undefined && label !== undefined && text !== undefined, `bad labels: ${line}`);
    assert(!(label in labels), `a label twice: ${line}`);
    labels[label] = text.replaceAll(/\\([\\"n])/g, (_, escape) => escape === "n" ? "\n" : escape);
    rest = rest.slice(whole.length);
    assert(rest === "" || rest.startsWith(","), `bad labels: ${line}`);
    rest = rest.slice(1);
  }
  const number = Number(value);
  assert(Number.isFinite(number), `not finite: ${line}`);
  return { name, labels, value: number };
}

/** The value of one sample; `undefined` when there is none. */
export function valueOf(
  samples: readonly ExpositionSample[],
  name: string,
  labels: Readonly<Record<string, string>>,
): number | undefined {
  const wanted = Object.entries(labels);
  return samples.find((sample) =>
    sample.name === name && Object.keys(sample.labels).length === wanted.length &&
    wanted.every(([label, text]) => sample.labels[label] === text)
  )?.value;
}
