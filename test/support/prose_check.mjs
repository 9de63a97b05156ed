// Checks the Markdown files of the project against .prose.json: the length of sentences, phrases, and how sentences begin.
//
//   node test/support/prose_check.mjs [FILE ...]     without files: README.md and others in the root directory, and docs/
//
// Prints "file:line: reason" for each finding, and figures at the end. Files under "not_rewritten" count in the figures only.
// Inline code counts as one word. Code blocks, table cells, headings and lone links are not sentences.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "@textlint/markdown-to-ast";
import { split } from "sentence-splitter";

const rules = JSON.parse(readFileSync(".prose.json", "utf8"));
const NO_ABBREVIATION = /(?:\d|\bms)(?=\.\s)/g; // the splitter takes "It costs 2. Then" and "after 2 ms. Then" for one sentence
const phrases = patterns(rules.phrases, (words) => `(?<![\\w-])${words}(?![\\w-])`);
const starts = patterns(rules.sentence_starts, (words) => `^${words}(?![\\w-])`);

function patterns(reasons, wrap) {
  return Object.entries(reasons).map(([phrase, remedy]) => ({
    phrase, remedy, pattern: new RegExp(wrap(phrase.replace(/ /g, "\\s+")), "i"),
  }));
}

// The text of a block at its place in the file: inline code is one word, Markdown's own characters are spaces.
function textOf(block, source) {
  const text = [...source.slice(...block.range)].map((character) => (character === "\n" ? "\n" : " "));
  const put = (from, string) => [...string].forEach((character, index) => { text[from - block.range[0] + index] = character; });
  (function visit(node) {
    if (node.type === "Str") put(node.range[0], source.slice(...node.range));
    else if (node.type === "Code") put(node.range[0], "X".padEnd(node.range[1] - node.range[0], "x"));
    else node.children?.forEach(visit);
  })(block);
  return text.join("");
}

function linkRanges(node) {
  return node.type === "Link" ? [node.range] : (node.children ?? []).flatMap(linkRanges);
}

function blocksOf(node) {
  if (["Paragraph", "Header", "TableCell"].includes(node.type)) return [node];
  return (node.children ?? []).flatMap(blocksOf);
}

// The sentences of a block with their places in the file, and the places of their words.
function sentencesOf(block, source) {
  const text = textOf(block, source);
  return split(text.replace(NO_ABBREVIATION, (end) => "x".repeat(end.length))).map((part) => {
    const sentence = text.slice(...part.range).trimStart();
    const offset = block.range[0] + part.range[1] - sentence.length;
    const words = [...sentence.matchAll(/\S*[\p{L}\p{N}]\S*/gu)].map(({ index, 0: word }) => [offset + index, offset + index + word.length]);
    return { sentence: sentence.trimEnd(), offset, words };
  }).filter(({ words }) => words.length > 0);
}

function phrasesIn({ sentence, offset }) {
  return phrases.flatMap(({ pattern, phrase, remedy }) => {
    const match = pattern.exec(sentence);
    return match ? [{ offset: offset + match.index, reason: `"${phrase}": ${remedy}` }] : [];
  });
}

function excessIn({ offset, words }, source) {
  if (words.length <= rules.words_max) return [];
  const beginning = source.slice(offset, words[4][1]).replace(/\s+/g, " ");
  return [{ offset, reason: `a sentence of ${words.length} words (${rules.words_max} at most): "${beginning} ..."` }];
}

function startsIn({ sentence, offset }) {
  if (sentence.endsWith("?")) return [];
  return starts.filter(({ pattern }) => pattern.test(sentence))
    .map(({ phrase, remedy }) => ({ offset, reason: `a sentence begins with "${phrase}": ${remedy}` }));
}

function check(file) {
  const source = readFileSync(file, "utf8");
  const findings = [];
  const lengths = [];
  for (const block of blocksOf(parse(source))) {
    const links = linkRanges(block);
    const isLink = ({ words }) => words.every(([start]) => links.some(([from, to]) => start >= from && start < to));
    for (const sentence of sentencesOf(block, source)) {
      findings.push(...phrasesIn(sentence));
      if (block.type !== "Paragraph" || isLink(sentence)) continue;

      lengths.push(sentence.words.length);
      findings.push(...excessIn(sentence, source), ...startsIn(sentence));
    }
  }
  const lineAt = (offset) => source.slice(0, offset).split("\n").length;
  const lines = findings.sort((a, b) => a.offset - b.offset).map(({ offset, reason }) => `${file}:${lineAt(offset)}: ${reason}`);
  return { file, lengths, lines };
}

function figures(name, pages) {
  const lengths = pages.flatMap((page) => page.lengths);
  const mean = lengths.reduce((sum, words) => sum + words, 0) / Math.max(lengths.length, 1);
  const share = (100 * lengths.filter((words) => words > rules.words_max).length) / Math.max(lengths.length, 1);
  return `${name}: ${pages.length} files, ${lengths.length} sentences of ${mean.toFixed(1)} words on average, ${share.toFixed(1)} % over ${rules.words_max}`;
}

function markdownIn(directory, options) {
  return readdirSync(directory, options).filter((name) => name.endsWith(".md")).map((name) => join(directory, name));
}

const named = process.argv.slice(2);
const files = named.length > 0 ? named : [...markdownIn("."), ...markdownIn("docs", { recursive: true })].sort();
const pages = files.map(check);
const isRewritten = (page) => named.length > 0 || !rules.not_rewritten.includes(page.file);
const errors = pages.filter(isRewritten).flatMap(({ lines }) => lines);
errors.push(...rules.not_rewritten.filter((file) => !existsSync(file)).map((file) => `.prose.json: ${file} under not_rewritten does not exist`));

errors.forEach((error) => console.error(error));
if (named.length === 0) console.log(figures("prose, rewritten", pages.filter(isRewritten)));
console.log(figures("prose, all", pages));
process.exitCode = errors.length > 0 ? 1 : 0;
