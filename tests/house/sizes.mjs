/*
 * sizes.mjs - no source file over 800 lines, no function over 80, no folder of ours with more than
 * a dozen modules, and each file of ours opens by saying what it owns.
 *
 * A module is a .c or .cpp with its headers (x.h, x_int.h), or a header alone. In our layout a
 * function's body is what stands between a lone `{` and a lone `}` at the left edge. The functions
 * of tests are not measured: their tables of rows are inside them.
 */
import { basename, dirname } from "node:path";
import { files, finish, text } from "./tree.mjs";

const FILE_MAX = 800;
const FUNCTION_MAX = 80;
const MODULES_MAX = 12; /* in one folder */
const findings = [];

function longFunctions(path, lines) {
  let begin = -1;
  lines.forEach((line, index) => {
    if (line === "{")
      begin = index;
    if (line === "}" && begin >= 0 && index - begin + 1 > FUNCTION_MAX)
      findings.push(`${path}:${begin + 1}: a function of ${index - begin + 1} lines`);
    if (line.startsWith("}"))
      begin = -1;
  });
}

const sources = files(/^(include|lib|kit|servers|examples|bench|tests)\/.*\.(c|h|cpp|mjs|js)$/);
for (const path of sources) {
  const lines = (text(path) ?? "").split("\n");
  if (lines.length - 1 > FILE_MAX)
    findings.push(`${path}: ${lines.length - 1} lines`);
  if (/^(lib|kit|servers|examples)\/.*\.(c|h|cpp)$/.test(path))
    longFunctions(path, lines);
  if (/^(include|lib|kit|servers)\//.test(path) && !lines.slice(0, 3).some((line) => line.includes(`${basename(path)} - `)))
    findings.push(`${path}: does not open with what it owns ("/* ${basename(path)} - ...")`);
}
const modules = new Map();
for (const path of sources.filter((path) => /^(lib|kit|servers)\/.*\.(c|h|cpp)$/.test(path))) {
  const own = modules.get(dirname(path)) ?? modules.set(dirname(path), new Set()).get(dirname(path));
  own.add(path.replace(/(_int)?\.\w+$/, ""));
}
for (const [folder, { size }] of modules) {
  if (size > MODULES_MAX)
    findings.push(`${folder}/: ${size} modules; give those that belong together a folder`);
}
finish("sizes", sources.length, findings);
