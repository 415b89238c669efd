/*
 * limits.mjs - docs/limits.md: each bound names tests that there are, and each option that is a
 * bound is named.
 */
import { finish, text } from "./tree.mjs";

const PAGE = "docs/limits.md";
const findings = [];
let looked = 0;

const page = text(PAGE) ?? "";
const rows = page.split("<!-- limits -->")[1]?.split("<!-- /limits -->")[0]?.trim().split("\n").slice(2) ?? [];
for (const row of rows) {
  const cells = row.split("|").slice(1, -1).map((cell) => cell.trim());
  const tests = [...(cells[4] ?? "").matchAll(/`([^`]+)` ([\w ]+)/g)];
  looked++;
  if (cells.length !== 5 || tests.length === 0)
    findings.push(`${PAGE}: "${cells[0]}" has not five cells with a test in the last`);
  for (const [, path, names] of tests)
    for (const name of names.trim().split(" "))
      if (![`(${name}`, `test(async function ${name}(`, `def ${name}(`].some((form) => text(path)?.includes(form)))
        findings.push(`${PAGE}: "${cells[0]}": ${path} does not run ${name}`);
}

/* Bounds that users set: the options whose names say so. */
const set = new Set(rows.flatMap((row) => [...(row.split("|")[3] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name)));
for (const header of ["include/mcp/server.h", "include/mcp/http.h", "include/mcp/schema.h"])
  for (const [, name] of (text(header) ?? "").matchAll(/^ {4}\w+ (\w*(?:_max|max_)\w*);/gm)) {
    looked++;
    if (!set.has(name))
      findings.push(`${PAGE}: no row is set by ${name} of ${header}`);
  }
finish("limits", looked, findings);
