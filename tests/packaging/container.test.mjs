/*
 * container.test.mjs - the images, built of a bare Debian and the packages of `make deb` without
 * any registry: the same image when it is built again; labels; each speaks MCP on standard input
 * and output without words, without a network, a writable root or a capability, as its own user and
 * as another one on folders of the machine; SIGTERM and the end of input end it. compose.yaml names
 * options that the programs have.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { buildWords, imageName, labels } from "../../packaging/images.mjs";
import { release } from "../../packaging/project.mjs";
import { bareDebian, claim, dist, missing, packages, run, scratch, servers, test, top } from "./support.mjs";

const how = release(["owner=acme", "namespace=com.example", "images=localhost/causeway-test"]);
/* The default limits are refused to nested containers, and crun refuses hybrid cgroups. */
const RUN = ["run", "--interactive", "--rm", "--runtime", "runc", "--cgroup-manager", "cgroupfs", "--ulimit", "nofile=1024:20000", "--ulimit", "nproc=1000:1000",
  "--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
const OTHER = 1234;

/** podman with a storage of its own, which goes with the test. */
const podman = (args) => ["--root", join(scratch, "storage"), "--runroot", join(scratch, "run"), "--storage-driver", "vfs", ...args];

const line = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const initialize = { id: 1, method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "container-test", version: "1" } } };

/** Without words, an image answers initialize, the list of its tools, and a call, and ends with its
 *  input. */
function converse(server, options, [name, args] = []) {
  const input = [line(initialize), line({ method: "notifications/initialized" }), line({ id: 2, method: "tools/list" }),
    ...(name === undefined ? [] : [line({ id: 3, method: "tools/call", params: { name, arguments: args } })])].join("");
  const done = spawnSync("podman", podman([...RUN, ...options, imageName(server, how)]), { input, encoding: "utf8", timeout: 120000 });
  const answers = new Map(done.stdout.split("\n").filter((text) => text.startsWith('{"jsonrpc"')).map((text) => JSON.parse(text)).map((one) => [one.id, one.result]));
  const what = `${server.name} ${options.join(" ")}: ${done.status}: ${`${done.stdout}${done.stderr}`.slice(-1500)}`;
  claim(done.status === 0, what);
  claim(answers.get(2)?.tools?.length > 0, `no tools: ${what}`);
  if (name !== undefined)
    claim(answers.get(3) !== undefined && answers.get(3).isError !== true, `${name}: ${what}`);
}

/** A folder of another user, with files of the tree. */
function folder(name, from) {
  const made = join(scratch, name);
  mkdirSync(made);
  if (from !== undefined)
    cpSync(join(top, from), made, { recursive: true });
  run("chown", ["-R", `${OTHER}:${OTHER}`, made]);
  return made;
}

const bind = (from, to) => ["--mount", `type=bind,src=${from},dst=${to}`];
const asOther = ["--user", `${OTHER}:${OTHER}`];
const trials = {
  cobre() {
    return [...asOther, ...bind(folder("cases", "examples/cases/1dtoy"), "/cases"), () => {}, ["cobre_validate", { case_dir: "/cases" }]];
  },
  casparian() {
    return [...asOther, ...bind(folder("files"), "/files"), ...bind(folder("home"), "/data"), () => {}, ["casparian_plugins", {}]];
  },
  universe() {
    const data = folder("data");
    return [...asOther, ...bind(data, "/data"), () => {
      claim(statSync(join(data, "universe.db")).uid === OTHER, "universe's database is not the user's");
    }, undefined];
  },
  /* Its tools want a universe, those of portarium a workspace. */
  portarium() {
    return [...asOther, ...bind(folder("state"), "/data"), () => {}, undefined];
  },
};

/** SIGTERM to the process 1 of the container. */
async function terminate(server) {
  const name = `causeway-test-${process.pid}`;
  const child = spawn("podman", podman([...RUN, "--name", name, imageName(server, how)]), { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(line(initialize));
  await once(child.stdout, "data");
  run("podman", podman(["kill", "--signal", "TERM", name]));
  const [code] = await once(child, "exit");
  claim(code === 0 || code === 143, `${server.name} ended with ${code} after SIGTERM`);
}

/** Each server of compose.yaml: its program takes the words of its command. */
function claimCompose() {
  const text = readFileSync(join(top, "packaging", "container", "compose.yaml"), "utf8");
  for (const [, name, command] of text.matchAll(/image: \$\{IMAGES:\?\}\/(\S+):\$\{VERSION:\?\}\n {4}command: \[(.*)\]/g)) {
    const words = command.split(", ").map((word) => word.replaceAll('"', ""));
    const done = spawnSync("podman", podman([...RUN, `${how.images}/${name}:${imageName(servers[0], how).split(":").pop()}`, ...words, "--help"]), { encoding: "utf8" });
    claim(done.status === 0 && done.stdout.startsWith("Usage:"), `compose.yaml: ${name} ${words.join(" ")}: ${done.stderr}`);
  }
}

await test("container", async () => {
  if (missing("images", { root: true, commands: ["podman", "runc", "mmdebstrap", "tar", "git"] }))
    return;
  if (!claim(packages().has("causeway-universe"), "there are no packages in build/dist: make deb"))
    return;
  run("sh", ["-c", 'tar -C "$0" -c . | podman "$@"', bareDebian(), ...podman(["import", "--quiet", "-", "causeway-test-base"])]);
  const build = (server) => run("podman", podman([...buildWords(server, how, "podman"), "--quiet", "--isolation=chroot", "--layers=false",
    "--build-arg", "BASE=localhost/causeway-test-base", dist]), { stdio: ["ignore", "pipe", "pipe"] }).trim().split("\n").pop();
  for (const server of servers) {
    const id = build(server);
    if (server.name === "universe")
      claim(build(server) === id, "the image of universe is another one when it is built again");
    const [about] = JSON.parse(run("podman", podman(["inspect", imageName(server, how)])));
    for (const [name, value] of Object.entries(labels(server, how)))
      claim(about.Labels[name] === value, `${server.name}: the label ${name} is ${about.Labels[name]}`);
    claim(about.User === "65532:65532", `${server.name} runs as ${about.User}`);
    const volumes = server.image.mounts.filter((one) => one.volume !== undefined).map((one) => one.at);
    claim(volumes.every((at) => at in (about.Config.Volumes ?? {})), `${server.name}: volumes ${JSON.stringify(about.Config.Volumes)}`);
    converse(server, []);
    const trial = trials[server.name](), call = trial.pop(), after = trial.pop();
    converse(server, trial, call);
    after();
    await terminate(server);
  }
  claimCompose();
  claim(readdirSync(join(top, "packaging", "container")).length === 2, "packaging/container has further files");
});
