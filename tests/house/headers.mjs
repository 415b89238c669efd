/*
 * headers.mjs - each public header compiles alone, as strict C17 and as C++17, and so do a program
 * that uses all the initializers and examples/hello.c.
 * usage: node headers.mjs CC CXX
 */
import { spawnSync } from "node:child_process";
import { files, finish, text, top } from "./tree.mjs";

const [cc, cxx] = process.argv.slice(2);
const strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Iinclude"];
const headers = files(/^include\/.*\.h$/);
const findings = [];
const initializers = headers.flatMap((header) => [...text(header).matchAll(/^#define (MCP_(\w+)_INIT)\b/gm)])
  .filter(([, , type]) => type !== "ZERO")
  .map(([, macro, type]) => `mcp_${type.toLowerCase()} a_${type} = ${macro};\n`);
const programs = Object.fromEntries(headers.map((header) => [header, `#include "${header.slice("include/".length)}"\n`]));
programs["a program with every initializer"] = `#include "mcp/mcp.h"\n${initializers.join("")}`;
programs["examples/hello.c"] = text("examples/hello.c");
for (const [header, only] of Object.entries(programs)) {
  for (const [compiler, language, standard] of [[cc, "c", "c17"], [cxx, "c++", "c++17"]]) {
    const run = spawnSync(compiler, [`-std=${standard}`, ...strict, ...(language === "c++" ? ["-Wno-missing-field-initializers"] : []), "-x", language, "-"], { cwd: top, input: only });
    if (run.status !== 0)
      findings.push(`${header} as ${standard}:\n${run.stderr}`);
  }
}
finish("headers", headers.length, findings);
