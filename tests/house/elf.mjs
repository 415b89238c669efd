/*
 * elf.mjs - what must be true of a program or shared library that ships: it is loaded anywhere,
 * its relocations are read-only before it runs, its stack holds no code, its libc calls are the
 * checked ones, and nothing in it tells where it was built.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The strings of a file that name one of the places. */
export function stringsWith(path, places) {
  const words = readFileSync(path, "latin1");
  return places.some((place) => words.includes(place))
    ? words.split("\0").filter((string) => places.some((place) => string.includes(place))).slice(0, 5)
    : [];
}

/** What is wrong with the file, a line each. A file without calls that libc checks has none. */
export function weaknesses(readelf, path, { isChecked = true } = {}) {
  const read = (flags) => execFileSync(readelf, ["-W", flags, path], { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 }).toString();
  const dynamic = read("-hdl");
  const symbols = read("--dyn-syms");
  const wants = [
    [/Type:\s+DYN/.test(dynamic), "is no position-independent program"],
    [/GNU_RELRO/.test(dynamic), "has no read-only relocations"],
    [/\bBIND_NOW\b|FLAGS_1.*\bNOW\b/.test(dynamic), "is not bound at its start"],
    [/GNU_STACK\s+(0x\w+\s+){5}RW\s/.test(dynamic), "has a stack that may hold code"],
    [!/\bTEXTREL\b/.test(dynamic), "has relocations in its code"],
    [!/R(UN)?PATH/.test(dynamic), "carries a run path"],
    [!isChecked || /__\w+_chk\b/.test(symbols), "calls libc unchecked (_FORTIFY_SOURCE)"],
    [!isChecked || /__stack_chk_fail/.test(symbols), "has no stack protector"],
  ];
  return wants.filter(([holds]) => !holds).map(([, words]) => words);
}
