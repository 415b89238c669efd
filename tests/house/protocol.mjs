/*
 * protocol.mjs - docs/protocol.md tells what the library's tables say.
 *
 * What stands between <!-- methods --> and <!-- /methods -->, and likewise for members, is
 * generated from lib/mcp/method.c and lib/mcp/core/version.c; "node tests/house/protocol.mjs
 * --write" writes it again. Of the rest it is checked that every revision, path and error code of
 * the library is named, none that it has not, and that the transcripts that rows name as their
 * proof are there.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { files, finish, text, top } from "./tree.mjs";

const PAGE = "docs/protocol.md";
const findings = [];
let looked = 0;

function check(holds, what) {
  looked++;
  if (!holds)
    findings.push(`${PAGE}: ${what}`);
}

/* ---- the library's tables -------------------------------------------------------------------- */

const source = (path) => text(path).replace(/\/\*[\s\S]*?\*\//g, "");

/** The name of each revision by its constant, in their order. */
const revisions = new Map([...source("lib/mcp/core/version.c").matchAll(/\[(MCP_\d\w+)\] = "([\d-]+)"/g)]
  .map(([, constant, name]) => [constant, name]));
const order = [...revisions.keys()];
const header = text("include/mcp/version.h");
for (const [, alias, constant] of header.matchAll(/(MCP_REVISION_NEWEST\w*) ?=? ?(MCP_\d\w+)/g))
  revisions.set(alias, revisions.get(constant));

/** "A, B" of each macro that stands for two columns. */
function macros(code) {
  return new Map([...code.matchAll(/^#define (\w+) (MCP_\w+), (MCP_\w+)$/gm)].map(([, name, from, to]) => [name, `${from}, ${to}`]));
}

/** The rows of a table of structs, each a list of its columns. */
function rows(code, opening) {
  const start = code.indexOf(opening);
  const body = code.slice(start, code.indexOf("\n};", start));
  const known = macros(code);
  return start < 0 ? [] : [...body.matchAll(/^\s*\{ (.*?) \},?$/gm)].map(([, row]) =>
    row.replace(/\w+/g, (word) => known.get(word) ?? word).split(/,\s*/));
}

const unquoted = (column) => column.startsWith('"') ? column.slice(1, -1) : "";

/** "yes" or "-" for every revision. */
function spread(from, to) {
  const names = order.map((constant) => revisions.get(constant));
  const last = to === "0" ? names.at(-1) : revisions.get(to);
  check(revisions.has(from) && last, `what are ${from} and ${to}?`);
  return names.map((name) => revisions.get(from) <= name && name <= last ? "yes" : "-");
}

const line = (cells) => `| ${cells.join(" | ")} |`;

function table(heads, body) {
  return [line(heads), `|${heads.map(() => "---|").join("")}`, ...body.map(line)].join("\n");
}

const years = order.map((constant) => revisions.get(constant));

function methodTable() {
  const methods = rows(source("lib/mcp/method.c"), "} methods[] = {");
  check(methods.length > 15, "the table of methods was not found in lib/mcp/method.c");
  return table(["method", ...years, "requires the capability", "`Mcp-Name` is", "may request input"],
    methods.map(([name, from, to, capability, flags, subject]) => [
      `\`${unquoted(name)}\``, ...spread(from, to),
      capability.replaceAll("MCP__CAN_", "").toLowerCase().replaceAll(" | ", ", ").replace("always", "-"),
      unquoted(subject) ? `\`${unquoted(subject)}\`` : "-", flags.includes("MAY_ASK") ? "yes" : "-"]));
}

function memberTable() {
  const members = rows(source("lib/mcp/core/version.c"), "} fields[] = {");
  check(members.length > 15, "the table of members was not found in lib/mcp/core/version.c");
  return table(["member", ...years], members.map(([type, member, from, to]) =>
    [`\`${unquoted(type)}.${unquoted(member).replace(" of any type", "`, of any type")}${/ /.test(member) ? "" : "`"}`,
      ...spread(from, to)]));
}

/* ---- the page -------------------------------------------------------------------------------- */

let page = Buffer.from(text(PAGE), "latin1").toString("utf8");

for (const [name, generated] of [["methods", methodTable()], ["members", memberTable()]]) {
  const block = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(\n<!-- /${name} -->)`);
  const fresh = page.replace(block, (_, open, close) => open + generated + close);
  check(block.test(page), `there is no <!-- ${name} -->`);
  if (process.argv.includes("--write"))
    page = fresh;
  else
    check(fresh === page, `the ${name} are not those of the library: node tests/house/protocol.mjs --write`);
}
if (process.argv.includes("--write"))
  writeFileSync(join(top, PAGE), page);

for (const name of years)
  check(page.slice(0, page.indexOf("##")).includes(name), `the introduction does not name ${name}`);

/* Paths: those of the doors, of probes and of metadata. */
const web = text("lib/mcp/transport/http.c") + files(/^lib\/mcp\/transport\/.*\.[ch]$/).map(text).join("");
const paths = [...web.matchAll(/^#define MCP__\w+_PATH "([^"]+)"/gm)].map(([, path]) => path)
  .concat([...web.matchAll(/is_path\(exchange, "([^"]+)"\)/g)].map(([, path]) => path), ["/mcp"]);
check(paths.length >= 6, "the paths were not found in lib/mcp/transport/");
for (const path of paths)
  check(page.includes(`${path}\``), `nothing is said of ${path}`);

/* Error codes: both ways. */
const codes = (code) => new Set([...code.matchAll(/-32\d{3}\b/g)].map(([found]) => found));
const ours = codes(files(/^(lib\/mcp|include)\/.*\.[ch]$/).map(source).join("\n"));
const told = codes(page);
check(ours.size > 8, "no error codes were found in the library");
for (const code of ours)
  check(told.has(code), `nothing is said of ${code}`);
for (const code of told)
  check(ours.has(code), `${code} is not in the library`);

/* Proofs. */
const proofs = [...page.matchAll(/`([\w/.-]+\.txt)`/g)].map(([, name]) => name);
check(proofs.length > 10, "no row names its proof");
for (const name of proofs)
  check(text(`tests/wire/${name}`) !== null, `there is no tests/wire/${name}`);

finish("protocol", looked, findings);
