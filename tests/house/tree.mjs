/*
 * tree.mjs - the files that the house tests look at, and how a test says what it found.
 *
 * The files are those that git knows, or would know (not ignored), so that a half-finished build
 * folder or node_modules is no concern; a source tree without git is walked.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const top = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

function walk(folder) {
  return readdirSync(join(top, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory())
      return [".git", ".deps", "build", "node_modules"].includes(entry.name) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Paths relative to the top, those that `wanted` matches. */
export function files(wanted) {
  let all;
  try {
    const git = ["-C", top, "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard", "--deduplicate"];
    all = execFileSync("git", git, { maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "ignore"] })
      .toString().split("\0").filter(Boolean);
  } catch {
    all = walk("");
  }
  return all.filter((path) => wanted.test(path)).sort();
}

/** The bytes as text, or null when the file is gone (deleted, not yet committed). */
export function text(path) {
  try {
    return readFileSync(join(top, path), "latin1");
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "EISDIR")
      return null;
    throw error;
  }
}

/** Ends the test: each finding on a line of its own, exit 1 when there is one or when nothing was
 *  looked at. */
export function finish(what, looked, findings) {
  for (const finding of findings)
    console.error(finding);
  console.log(`${what}: ${looked} looked at, ${findings.length} found wrong`);
  process.exit(findings.length > 0 || looked === 0 ? 1 : 0);
}
