/*
 * dialect.mjs - one way to write what can be written in several ways.
 *
 *   - a line is no longer than 100 columns where a comment reaches beyond (clang-format sees to
 *     code)
 *   - a comment is written with the star, and opens with two stars only in a header, over a
 *     declaration
 *   - a condition of if, while and for assigns nothing
 *   - a function that keeps a status in a variable calls it `st`
 *   - sizeof stands before an expression without parentheses, before a type with them
 */
import { files, finish, text } from "./tree.mjs";
import { closing, family, lineAt, takeApart } from "./source.mjs";

const COLUMNS = 100;
const findings = [];

const decode = (source) => Buffer.from(source, "latin1").toString("utf8");

function longComments(path, source, comments) {
  const lines = source.split("\n");
  for (const { text: comment, index } of comments) {
    const first = lineAt(source, index);
    comment.split("\n").forEach((part, at) => {
      const line = first + at, width = [...lines[line - 1]].length;
      if (width > COLUMNS && !/\S {3,}\S/.test(part) && (at > 0 || !lines[line - 1].endsWith("\\")))
        findings.push(`${path}:${line}: a comment of ${width} columns`);
    });
  }
}

/** In C: `//` never, and two stars only over a declaration of a header. */
function commentForms(path, source, comments) {
  for (const { text: comment, index } of comments) {
    if (comment.startsWith("//"))
      findings.push(`${path}:${lineAt(source, index)}: a comment by //`);
    else if (/^\/\*\*[^*]/.test(comment) && !path.endsWith(".h"))
      findings.push(`${path}:${lineAt(source, index)}: /** outside a header`);
  }
}

function assignments(path, code) {
  for (const { 0: head, index } of code.matchAll(/\b(if|while|for|switch) \(/g)) {
    const begin = index + head.length, inside = code.slice(begin, closing(code, begin) - 1);
    const condition = head.startsWith("for") ? inside.split(";")[1] ?? "" : inside;
    /* What is left of "=" once comparisons and the members of compound literals are gone. */
    if (/=/.test(condition.replace(/\{[^}]*\}/g, "").replace(/[=!]=|(?<!<)<=|(?<!>)>=/g, "")))
      findings.push(`${path}:${lineAt(code, index)}: a condition that assigns`);
  }
}

/* In our layout a function's body is what stands between a lone `{` and a lone `}` at the left
 * edge. */
function statusNames(path, code) {
  for (const { 0: body, index } of code.matchAll(/^\{\n[^]*?^\}/gm)) {
    const own = body.replace(/\b(struct|union)( \w+)? \{[^{}]*\}/g, (members) => members.replace(/[^\n]/g, " "));
    const names = [...own.matchAll(/^\s+mcp_status (\w+)(?: =|;)/gm)];
    if (names.length > 0 && !names.some(([, name]) => name === "st") && !/\bst\b/.test(code.slice(code.lastIndexOf("\n\n", index), index)))
      findings.push(`${path}:${lineAt(code, index + names[0].index) + 1}: the status \`${names[0][1]}\` is not called st`);
  }
}

/** Names of types: of C, and those that a typedef of ours makes. */
const types = new Set(["char", "int", "long", "short", "float", "double", "void", "unsigned", "signed", "bool", "_Bool"]);

function isType(words) {
  const [first] = words.match(/\w+/) ?? [];
  return /^(struct|enum|union|const|volatile)$/.test(first) || types.has(first) || /_t$/.test(first);
}

function sizes(path, code) {
  for (const { 0: head, index } of code.matchAll(/\bsizeof ?\(/g)) {
    const end = closing(code, index + head.length), inside = code.slice(index + head.length, end - 1);
    if (/^\*{0,2}[A-Za-z_]\w*((->|\.)\w+|\[[^\][]*\])*$|^"/.test(inside) && !isType(inside) && !/^\s*(\[|\.|->|\()/.test(code.slice(end)))
      findings.push(`${path}:${lineAt(code, index)}: sizeof(${inside}) with parentheses`);
  }
}

const looked = files(/^(?!tests\/fuzz\/corpus\/)(.*\.(c|h|cpp|m?js|cmake)|(.*\/)?CMakeLists\.txt|scripts\/.*|Makefile)$/)
  .filter((path) => !/(^|\/)(vendor|node_modules)\//.test(path));
const taken = looked.map((path) => [path, decode(text(path) ?? "")])
  .map(([path, source]) => [path, source, takeApart(source, family(path))]);
for (const [path, , { code }] of taken) {
  if (/\.[ch]$/.test(path))
    for (const [, name, other] of code.matchAll(/^\} (\w+);|^typedef [^;{]*?\b\*?(\w+)(?:\[\w*\]|\([^;]*\))?;/gm))
      types.add(name ?? other);
}
for (const [path, source, { code, comments }] of taken) {
  longComments(path, source, comments);
  if (!/\.(c|h|cpp)$/.test(path))
    continue;
  commentForms(path, source, comments);
  assignments(path, code);
  statusNames(path, code);
  if (!path.endsWith(".cpp"))
    sizes(path, code);
}
finish("dialect", looked.length, findings);
