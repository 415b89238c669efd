/*
 * units.test.mjs - the units of systemd: what each may do when its program is taken over, measured
 * by systemd-analyze; that systemd has no complaint about them, nor about the examples of drop-ins,
 * in a bare Debian with our packages; and that every variable in them and in /etc/default is one
 * that the program knows.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bareDebian, claim, inside, install, missing, packages, test, top } from "./support.mjs";

const units = join(top, "packaging", "systemd");
const services = ["universe.service", "portarium.service", "cobre-mcp.service", "user/casparian-worker.service"];
const THRESHOLD = 12; /* tenths */

function measure(path) {
  const done = spawnSync("systemd-analyze", ["security", "--offline=yes", "--no-pager", `--threshold=${THRESHOLD}`, path]);
  const said = done.stdout.toString();
  claim(done.status === 0 && /Overall exposure/.test(said), `${path}: more than ${THRESHOLD / 10}: ${said.split("\n").filter((line) => line.startsWith("✗")).join("\n")}${done.stderr}`);
}

function verify(root, what, words) {
  const done = inside(root, ["systemd-analyze", "verify", "--man=no", ...words]);
  claim(done.status === 0 && done.words === "", `${what}: systemd-analyze verify: ${done.words}`);
}

/** The help of the program that a unit starts. */
function helpOf(root, unit) {
  const [, program, verb] = /^ExecStart=\/usr\/bin\/(\S+) (serve)?/m.exec(unit);
  return inside(root, [program, ...(verb ? [verb] : []), "--help"]).stdout.replace(/\s+/g, " ");
}

function checkVariables(root, what, unit, words) {
  const help = helpOf(root, unit);
  const names = [...words.matchAll(/^(?:Environment=|#)?(.*)$/gm)].flatMap(([, line]) => [...line.matchAll(/(?:^|\s)([A-Z][A-Z0-9_]+)=/g)].map((match) => match[1]));
  for (const name of names.filter((name) => name !== "PGPASSFILE"))
    claim(help.includes(`environment ${name})`), `${what} sets ${name}, which the program does not name`);
  return names.length;
}

function examine(root) {
  verify(root, "units", ["universe.service", "universe.socket", "portarium.service", "portarium.socket", "cobre-mcp.service", "cobre-mcp.socket"]);
  const worker = inside(root, ["systemd-analyze", "verify", "--user", "--man=no", "/usr/lib/systemd/user/casparian-worker.service"], { env: { XDG_RUNTIME_DIR: "/run" } });
  claim(worker.status === 0 && worker.words === "", `casparian-worker: systemd-analyze verify: ${worker.words}`);

  for (const name of ["universe", "portarium", "cobre-mcp"]) {
    const unit = readFileSync(join(units, `${name}.service`), "utf8");
    checkVariables(root, `${name}.service`, unit, unit.match(/^Environment=.*$/gm)?.join("\n") ?? "");
    const file = readFileSync(join(root, "etc", "default", name), "utf8");
    claim(checkVariables(root, `/etc/default/${name}`, unit, file.match(/^#\w+=$/gm).join("\n")) > 10, `/etc/default/${name} has few variables`);
  }
  for (const example of readdirSync(join(units, "examples"))) {
    const [, name] = /^(.*?)-[^-]*\.conf$/.exec(example);
    const words = readFileSync(join(units, "examples", example), "utf8");
    const place = join(root, "etc", "systemd", "system", `${name}.service.d`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, example), words);
    checkVariables(root, example, readFileSync(join(units, `${name}.service`), "utf8"), words.match(/^Environment=.*$/gm)?.join("\n") ?? "");
  }
  verify(root, "drop-ins", ["universe.service", "portarium.service"]);
}

await test("units", () => {
  if (!missing("the measure of units", { commands: ["systemd-analyze"] }))
    services.forEach((service) => measure(join(units, service)));
  if (!missing("the verification of units", { root: true, commands: ["mmdebstrap", "unshare"] })) {
    const root = bareDebian();
    install(root, [...packages()].filter(([name]) => /^causeway-(?!.*-dbgsym)/.test(name)).map(([, path]) => path), "installing");
    examine(root);
  }
});
