#!/usr/bin/env node
/*
 * launch.mjs - starts the program of the platform's package with the words of the command line,
 * and ends as it ends. Standard streams are the program's own; signals are passed on.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
const about = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "package.json"), "utf8"));
const { program, start, platforms, library } = about.causeway;
const { resolve } = createRequire(import.meta.url);

/** The folder of an optional package; null: npm has left it out. */
function folder(name) {
  try {
    return dirname(resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

function environment() {
  const found = library === undefined ? null : folder(library);
  return process.env.CAUSEWAY_DUCKDB !== undefined || found === null ? process.env
    : { ...process.env, CAUSEWAY_DUCKDB: join(found, "libduckdb.so") };
}

const place = folder(platforms[`${process.platform}-${process.arch}`]);
if (place === null) {
  console.error(`${about.name}: there is no program for ${process.platform}-${process.arch}, or npm left its package out ` +
    `(--omit=optional); there is one for ${Object.keys(platforms).join(", ")} with glibc. Elsewhere: a container, ssh, or HTTP.`);
  process.exit(1);
}
/* The program may be signalled through this process at once, so the handlers precede it. */
let child = null;
for (const signal of SIGNALS)
  process.on(signal, () => child?.kill(signal));
child = spawn(join(place, "bin", program), [...start, ...process.argv.slice(2)], { stdio: "inherit", env: environment() });
child.on("error", (error) => {
  console.error(`${about.name}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
