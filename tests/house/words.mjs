/*
 * words.mjs - no committed file names a place on somebody's machine or the host of a package
 * registry.
 *
 * The words are put together here from halves, so that this file does not find itself.
 */
import { files, finish, text } from "./tree.mjs";

const edge = "(^|[\\s\"'`=(:,<])";
const PLACES = new RegExp(
  edge + "(" + ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/(?!me/)[a-z]", "/Us" + "ers/[a-z]", "/fa" + "rm/"].join("|") + ")", "m");
const HOSTS = new RegExp(
  ["registry\\.npm" + "js", "registry\\.yarn" + "pkg", "deb\\.deb" + "ian\\.org", "py" + "pi\\.org", "crates" + "\\.io",
    "proxy\\.go" + "lang"].join("|"));

const looked = files(/^(?!tests\/fuzz\/corpus\/|LICENSE$)/);
const findings = [];
for (const path of looked) {
  (text(path) ?? "").split("\n").forEach((line, index) => {
    const found = PLACES.exec(line)?.[2] ?? HOSTS.exec(line)?.[0];
    if (found)
      findings.push(`${path}:${index + 1}: names ${found}`);
  });
}
finish("words", looked.length, findings);
