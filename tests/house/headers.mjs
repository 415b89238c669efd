/*
 * headers.mjs - each public header compiles alone, as strict C17 and as C++17.
 * usage: node headers.mjs CC CXX
 */
import { spawnSync } from "node:child_process";
import { files, finish, top } from "./tree.mjs";

const [cc, cxx] = process.argv.slice(2);
const strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Iinclude"];
const headers = files(/^include\/mcp\/.*\.h$/);
const findings = [];
for (const header of headers) {
  const only = `#include "${header.slice("include/".length)}"\n`;
  for (const [compiler, language, standard] of [[cc, "c", "c17"], [cxx, "c++", "c++17"]]) {
    const run = spawnSync(compiler, [`-std=${standard}`, ...strict, "-x", language, "-"], { cwd: top, input: only });
    if (run.status !== 0)
      findings.push(`${header} as ${standard}:\n${run.stderr}`);
  }
}
finish("headers", headers.length, findings);
