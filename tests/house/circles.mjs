/*
 * circles.mjs - no circle of includes among more than two modules, and none among folders, in lib,
 * kit and servers.
 *
 * A module is a .c (or .cpp) with the header of its name; an arrow leads from it to each module
 * whose header one of them includes. Two modules may know each other (a struct and its one helper);
 * three or more that reach each other cannot be tested alone. A folder leads to the folders that
 * its modules include from; a folder inside another is a part of that one, so the two may use each
 * other. Each finding shows one way around.
 */
import { dirname } from "node:path";
import { files, finish, text } from "./tree.mjs";

const sources = files(/^(include\/mcp|lib|kit|servers)\/.*\.(c|h|cpp)$/);
const known = new Set(sources);
const moduleOf = (path) => path.replace(/\.(c|h|cpp)$/, "");
const isWithin = (one, other) => one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/** Where a quoted include leads, the way the compiler would look. */
function resolve(from, name) {
  const top = from.split("/").slice(0, 2).join("/");
  const roots = [dirname(from), "include", "lib", "kit", top];
  return roots.map((root) => `${root}/${name}`).find((path) => known.has(path));
}

/** The graph of a naming of files: a map from each name to the set of names that it reaches at
 *  once. */
function graph(nameOf) {
  const arrows = new Map();
  for (const from of sources) {
    const name = nameOf(from);
    const to = arrows.get(name) ?? arrows.set(name, new Set()).get(name);
    for (const [, header] of (text(from) ?? "").matchAll(/^\s*#\s*include\s*"([^"]+)"/gm)) {
      const path = resolve(from, header);
      if (path && nameOf(path) !== name && !(nameOf === dirname && isWithin(nameOf(path), name)))
        to.add(nameOf(path));
    }
  }
  return arrows;
}

/** The strongly connected parts of a graph (Tarjan). */
function parts(arrows) {
  const order = new Map(), low = new Map(), stack = [], found = [];
  function visit(node) {
    order.set(node, order.size);
    low.set(node, order.get(node));
    stack.push(node);
    for (const next of arrows.get(node) ?? []) {
      if (!order.has(next))
        visit(next);
      if (stack.includes(next))
        low.set(node, Math.min(low.get(node), low.get(next)));
    }
    if (low.get(node) === order.get(node))
      found.push(stack.splice(stack.indexOf(node)));
  }
  for (const node of arrows.keys())
    if (!order.has(node))
      visit(node);
  return found;
}

/** The shortest way from a node of a part back to it. */
function around(arrows, part) {
  const inside = new Set(part), queue = [[part[0]]], seen = new Set();
  for (const way of queue) {
    for (const next of arrows.get(way.at(-1)) ?? []) {
      if (next === part[0])
        return [...way, next].join(" -> ");
      if (inside.has(next) && !seen.has(next)) {
        seen.add(next);
        queue.push([...way, next]);
      }
    }
  }
  return part.join(", ");
}

const findings = [];
for (const [what, nameOf, most] of [["modules", moduleOf, 2], ["folders", dirname, 1]]) {
  const arrows = graph(nameOf);
  for (const part of parts(arrows).filter(({ length }) => length > most))
    findings.push(`${part.length} ${what} include each other: ${part.sort().join(", ")}\n    ${around(arrows, part)}`);
}
finish("circles", sources.length, findings);
