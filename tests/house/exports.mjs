/*
 * exports.mjs - the shared library exports public names only, and every function that a public
 * header declares; the symbols file of its Debian package has the same names.
 * usage: node exports.mjs NM LIBRARY
 */
import { execFileSync } from "node:child_process";
import { files, finish, text } from "./tree.mjs";

const [nm, library] = process.argv.slice(2);
const exported = execFileSync(nm, ["-D", "--defined-only", "-P", library]).toString()
  .split("\n").map((line) => line.split(" ")[0]).filter(Boolean);
const names = new Set(exported);

/** Functions declared: a name before a parenthesis at brace depth 0, comments and preprocessor
 *  lines removed. */
function declared(header) {
  const code = header.replace(/\/\*[^]*?\*\//g, "").replace(/\\\n/g, "").replace(/^\s*#.*$/gm, "")
    .replace(/extern "C" \{/g, "").replace(/\{[^{}]*\}/g, ";").replace(/\{[^{}]*\}/g, ";");
  return [...code.matchAll(/^(?!typedef|static)[a-z][\w\s*]*?\b(mcp_\w+)\(/gm)].map((match) => match[1]);
}

const headers = files(/^include\/mcp\/.*\.h$/);
const wanted = headers.flatMap((path) => declared(text(path) ?? "").map((name) => [name, path]));
const symbols = "packaging/debian/libmcp0.1.symbols";
const packaged = new Set([...text(symbols).matchAll(/^ (\w+)@Base /gm)].map((match) => match[1]));
finish("exports", exported.length + wanted.length + packaged.size, [
  ...exported.filter((name) => !/^mcp_[a-z]/.test(name)).map((name) => `exported, and not public: ${name}`),
  ...wanted.filter(([name]) => !names.has(name)).map(([name, path]) => `${path} declares ${name}, which is not exported`),
  ...exported.filter((name) => !packaged.has(name)).map((name) => `${symbols} lacks ${name}: a line \` ${name}@Base VERSION\``),
  ...[...packaged].filter((name) => !names.has(name)).map((name) => `${symbols} has ${name}, which is not exported`),
]);
