/*
 * support.mjs - what the tests of packages share: claims, the reasons for which a part is skipped,
 * and a bare Debian, a fresh copy of it for each test, in which commands run with their own /proc.
 *
 * The tests are run by scripts/dist-test. One ends with 0, with 1, or with 77 where something was
 * skipped: each skipped part is a line `skipped: WHAT: WHY`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { top } from "../house/tree.mjs";

export { top };
export const dist = join(top, "build", "dist");
export const scratch = mkdtempSync(join(tmpdir(), "mcp-dist-"));
const RELEASE = "bookworm";
const findings = [], skipped = [];
let looked = 0;

export function claim(holds, words) {
  looked++;
  if (!holds)
    findings.push(words);
  return holds;
}

export function run(command, args, options = {}) {
  return execFileSync(command, args, { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28, ...options }).toString();
}

/** What stands in the way of a part, or null; it is then reported as skipped. */
export function missing(what, { root = false, commands = [] }) {
  const absent = commands.filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
  let why = null;
  if (root && process.getuid() !== 0)
    why = "not root";
  else if (absent.length > 0)
    why = `no ${absent.join(", ")} (scripts/bootstrap dist)`;
  else if (commands.includes("mmdebstrap") && !sources().some((line) => line.includes(` ${RELEASE} `)))
    why = `the machine has no source of Debian packages for ${RELEASE}`;
  if (why !== null)
    skipped.push(`${what}: ${why}`);
  return why;
}

/** The packages that scripts/make-deb left in a folder: name to path. */
export function packages(folder = dist) {
  const paths = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".deb")) : [];
  return new Map(paths.map((name) => [name.split("_")[0], join(folder, name)]));
}

/** Where this machine has its Debian packages from: lines of a sources.list, none on another
 *  system. */
function sources() {
  const listed = spawnSync("apt-get", ["indextargets", "--format", "$(ORIGIN) deb $(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]);
  return `${listed.stdout}`.split("\n").filter((line) => line.startsWith("Debian ")).map((line) => line.slice("Debian ".length));
}

/** A fresh bare Debian, made once from the machine's own sources: systemd and Python, and no
 *  package of ours. */
export function bareDebian() {
  const image = join(dist, "bare.tar");
  if (!existsSync(image)) {
    mkdirSync(dist, { recursive: true });
    run("mmdebstrap", ["--quiet", "--mode=root", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,libpam-systemd,python3", RELEASE, `${image}.part.tar`, "-"],
      { input: `${sources().join("\n")}\n`, stdio: ["pipe", "pipe", "pipe"] });
    renameSync(`${image}.part.tar`, image);
  }
  const root = mkdtempSync(join(scratch, "root-"));
  run("tar", ["-xf", image, "-C", root]);
  run("cp", ["--remove-destination", "-L", "/etc/resolv.conf", join(root, "etc", "resolv.conf")]);
  return root;
}

const INSIDE = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"`;

/** A command in that Debian: its result, with `words` for what it said. */
export function inside(root, command, options = {}) {
  const environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LANG: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive", ...options.env };
  const done = spawnSync("unshare", ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", INSIDE, root, ...command],
    { maxBuffer: 1 << 28, timeout: 1200000, ...options, env: environment });
  return { status: done.status, words: `${done.stdout}${done.stderr}`, stdout: `${done.stdout}` };
}

/** The same, claimed to succeed. */
export function insideClaim(root, command, what, options = {}) {
  const done = inside(root, command, options);
  claim(done.status === 0, `${what}: ${command.join(" ").slice(0, 200)} ended with ${done.status}: ${done.words.slice(-3000)}`);
  return done;
}

/** Installs files of packages, which stay in /packages, and what they depend on, without what they
 *  recommend. */
export function install(root, paths, what) {
  mkdirSync(join(root, "packages"), { recursive: true });
  for (const path of paths)
    run("cp", [path, join(root, "packages")]);
  insideClaim(root, ["apt-get", "-qq", "update"], what);
  insideClaim(root, ["sh", "-c", "apt-get -qq install -y --no-install-recommends /packages/*.deb"], what);
}

/** Runs the test, says what it found and what was skipped, and ends. */
export async function test(name, body) {
  try {
    await body();
  } catch (error) {
    findings.push(`${error.stack}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  for (const finding of findings)
    console.error(finding);
  for (const line of skipped)
    console.log(`skipped: ${line}`);
  console.log(`${name}: ${looked} looked at, ${findings.length} found wrong, ${skipped.length} skipped`);
  process.exit(findings.length > 0 ? 1 : skipped.length > 0 ? 77 : looked === 0 ? 1 : 0);
}

export const servers = JSON.parse(readFileSync(join(top, "packaging", "servers.json"), "utf8")).servers;
