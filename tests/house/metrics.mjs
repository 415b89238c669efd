/*
 * metrics.mjs - the families of /metrics have one name in the code, in docs/observability.md, in
 * the dashboard and in the alerts.
 */
import { files, finish, text } from "./tree.mjs";

const PAGE = "docs/observability.md";
const BOARD = "packaging/grafana/causeway.json";
const ALERTS = "packaging/alerts.yml";
const NAME = /\b(?:mcp|process|otel|cobre|universe|casparian|portarium)_[a-z0-9_]+\b/g;
const findings = [];
let looked = 0;

function check(holds, what) {
  looked++;
  if (!holds)
    findings.push(what);
}

/* The families that the code begins, by the functions that begin one. */
const sources = files(/^(lib|kit|servers)\/.*\.c$/).map(text).join("\n");
const begun = [...sources.matchAll(/\b(?:put|put_seconds|begin_family|serve_metric|serve_metric_begin|serve_metric_times)\(\s*&?\w+,\s*(?:"([a-z0-9_]+)"|(\w+))\s*,/g)]
  .map(([, literal, constant]) => literal ?? new RegExp(`static const char ${constant}\\[\\] = "([a-z0-9_]+)"`).exec(sources)?.[1]);
const known = new Set(begun.filter((name) => name && new RegExp(NAME.source).test(name)));
check(known.size > 30, `lib, kit, servers: ${known.size} families were found, that cannot be all`);

/* What the page has in its tables. */
const told = new Set(text(PAGE).split("\n").filter((line) => line.startsWith("| `")).flatMap((line) => line.split(" | ")[0].match(NAME) ?? []));
for (const name of known)
  check(told.has(name), `${PAGE}: ${name} is not there`);
for (const name of told)
  check(known.has(name), `${PAGE}: the code has no ${name}`);

/* A histogram is used by its parts. */
const family = (name) => known.has(name) ? name : name.replace(/_(bucket|count|sum)$/, "");
const used = (path, expressions) => {
  for (const name of expressions.flatMap((expression) => expression.match(NAME) ?? []))
    check(known.has(family(name)), `${path}: there is no family ${name}`);
};

const board = JSON.parse(text(BOARD));
const targets = board.panels.flatMap(({ targets: list }) => list ?? []);
check(targets.length > 0 && new Set(board.panels.map(({ id }) => id)).size === board.panels.length, `${BOARD}: a panel has the id of another`);
used(BOARD, targets.map(({ expr }) => expr));

const alerts = text(ALERTS).split(/^ {6}- alert: /m).slice(1);
check(alerts.length > 5, `${ALERTS}: the alerts were not found`);
for (const alert of alerts)
  check(/^ {8}expr:/m.test(alert) && /severity: (info|warning|critical) /.test(alert) && /summary:/.test(alert) && /description:/.test(alert), `${ALERTS}: ${alert.split("\n")[0]} lacks a part`);
used(ALERTS, alerts.map((alert) => /^ {8}expr:([\s\S]*?)^ {8}\w/m.exec(alert)[1]));

finish("metrics", looked, findings);
