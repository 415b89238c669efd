/*
 * bootstrap.mjs - what scripts/bootstrap installs: the library alone gets no Node.js and no needs
 * of servers, `make` gets no browser, no clang and no PostgreSQL server, the tests get all three,
 * and PostgreSQL starts no server on its port. The package tools are replaced by recorders.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finish, top } from "./tree.mjs";

const FOR_TESTS = ["postgresql", "chromium", "clang", "libcmocka-dev"];
const FOR_BUILDS = ["cmake", "g++", "libuv1-dev", "libpq-dev", "libzstd-dev", "libsnappy-dev"];
const FOR_SERVERS = ["coinor-libclp-dev", "libpq-dev", "libcjose-dev", "libzstd-dev", "nodejs", "npm"];
const CLUSTERS = "/etc/postgresql-common/createcluster.conf";
const scratch = mkdtempSync(join(tmpdir(), "mcp-bootstrap-"));
const log = join(scratch, "log");
const findings = [];
let looked = 0;

function claim(holds, words) {
  looked++;
  if (!holds)
    findings.push(words);
}

function replace(name, script) {
  writeFileSync(join(scratch, name), `#!/bin/bash\n${script}\n`);
  chmodSync(join(scratch, name), 0o755);
}

/** The words of each recorded command. Nothing is installed on this machine. */
function record(set) {
  writeFileSync(log, "");
  const done = spawnSync(join(top, "scripts", "bootstrap"), set ? [set] : [],
    { env: { ...process.env, PATH: `${scratch}:${process.env.PATH}` }, timeout: 120000 });
  claim(done.status === 0, `bootstrap ${set} ended with ${done.status}: ${done.stderr}`);
  return readFileSync(log, "utf8").split("\n").map((line) => line.split(" "));
}

try {
  for (const name of ["apt-get", "npm", "sh"])
    replace(name, `echo ${name} "$@" >> ${log}`);
  /* npm has installed nothing, so nothing may say that it has. */
  replace("cp", 'case "$2" in */.causeway-lock) ;; *) exec /bin/cp "$@" ;; esac');
  replace("dpkg-query", "exit 1");
  replace("sudo", 'exec "$@"');

  const installed = (commands) => commands.find((words) => words[0] === "apt-get" && words.includes("install")) ?? [];
  const build = installed(record("build"));
  const everything = record("");
  for (const name of FOR_BUILDS)
    claim(build.includes(name) && installed(everything).includes(name), `${name} is not installed for a build`);
  for (const name of FOR_TESTS) {
    claim(!build.includes(name), `${name} is installed for a build`);
    claim(installed(everything).includes(name), `${name} is not installed for the tests`);
  }
  const library = record("library");
  claim(installed(library).includes("libuv1-dev"), "libuv1-dev is not installed for the library");
  for (const name of FOR_SERVERS)
    claim(!installed(library).includes(name), `${name} is installed for the library`);
  claim(!library.some((words) => words[0] === "npm"), "npm packages are installed for the library");
  const forbids = everything.findIndex((words) => words[0] === "sh" && words.includes(CLUSTERS));
  const installs = everything.indexOf(installed(everything));
  claim(existsSync(CLUSTERS) || (forbids >= 0 && forbids < installs), "nothing keeps PostgreSQL from starting a server");
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
finish("bootstrap", looked, findings);
