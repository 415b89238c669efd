/*
 * prose.mjs - the plain English of manuals in code, comments, docs and texts: none of the words
 * below.
 *
 * Each stands here with its parts apart, so that this file does not find itself. A word may be part
 * of a name (with underscores), and two words may be parted by the end of a comment's line.
 *
 * usage: node prose.mjs [--count]     with --count: the number of findings by folder
 */
import { dirname } from "node:path";
import { files, finish, text } from "./tree.mjs";
import { lineAt } from "./source.mjs";

const WORDS = [
  "an" + "ew", "who" + "ever", "(is|are) to" + "ld", "stands? tw" + "ice", "sta" + "nds? behind",
  "none of o" + "urs", "he" + "ed(s|ed|ing)?", "hea" + "rken", "there" + "by", "in va" + "in", "sees to " + "it",
  "be" + "side", "goes o" + "n", "gent" + "lest", "is he" + "ard of",
];
const BANNED = new RegExp(
  `(?<![A-Za-z])(${WORDS.map((word) => word.replaceAll(" ", "[\\s*#/_]+")).join("|")})(?![A-Za-z])`, "gi");

const looked = files(/^(?!tests\/fuzz\/corpus\/|LICENSE$|package-lock\.json$|.*\.(png|der|pem|bin|snap)$)/);
const findings = [], folders = new Map();
for (const path of looked) {
  const source = text(path) ?? "";
  for (const { index, 0: word } of source.matchAll(BANNED)) {
    const line = lineAt(source, index);
    findings.push(`${path}:${line}: "${word.replace(/[\s*#/]+/g, " ")}": ${source.split("\n")[line - 1].trim()}`);
    const folder = dirname(path).split("/").slice(0, 3).join("/");
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
}
if (process.argv[2] === "--count") {
  for (const [folder, count] of [...folders].sort(([, a], [, b]) => b - a))
    console.log(`${String(count).padStart(5)}  ${folder}`);
  findings.length = 0;
}
finish("prose", looked.length, findings);
