/*
 * abi.mjs - writes packaging/libmcp-MAJOR.MINOR.abi, the interface that a minor version keeps: what
 * the public headers say of the built library. For a new minor version, and no other occasion:
 * tests/packaging/abi.test.mjs holds the library to it.
 * usage: node packaging/abi.mjs LIBRARY
 */
import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const top = dirname(dirname(fileURLToPath(import.meta.url)));

/** The file of the version that CMakeLists.txt names. */
export function interfaceFile() {
  const [, version] = /^project\(\w+ VERSION (\d+\.\d+)\.\d+/m.exec(readFileSync(join(top, "CMakeLists.txt"), "utf8"));
  return join(top, "packaging", `libmcp-${version}.abi`);
}

function write(library) {
  const file = interfaceFile();
  execFileSync("abidw", ["--headers-dir", join(top, "include"), "--drop-private-types", "--exported-interfaces-only", "--drop-undefined-syms", "--no-elf-needed", "--no-corpus-path",
    "--no-comp-dir-path", "--no-show-locs", "--no-parameter-names", "--out-file", file, realpathSync(library)]);
  console.log(file);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href)
  write(process.argv[2]);
