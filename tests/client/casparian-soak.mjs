/*
 * casparian-soak.mjs - one casparian over stdio with parallel jobs for a long time: does what it
 * holds stay the same?
 *
 *     node tests/client/casparian-soak.mjs [SECONDS]  600 at first
 *
 * Backtests and runs of parsers in Python and of programs, previews, queries, cancelled jobs, and
 * parsers that raise, end or print without end. A line every ten seconds says what the server
 * holds: resident memory, threads, descriptors, processes below it. After each eighth of the time
 * all calls pause, and the memory is taken then. It ends with 1 if a call went wrong, if the
 * descriptors, the processes or the scratch folders are not those before the first call once
 * everything has ended, or if the memory of the last pauses is more than GROWTH_MIB above that of
 * the middle ones.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { ENDED, place, serve, until } from './casparian.mjs';
import { below } from './support/processes.mjs';

const GROWTH_MIB = 8;
const ROUNDS = 8;
const CALM_MS = 180_000; // guests of previews stay for a minute
const FILES = 6;
/* Descriptors of the state: a pool of eight and a listener, each with its log, and an index. */
const STATE_MAX = 2 * 9 + 1;
const RUN_EVERY_MS = 5000; // each adds files that queries look at
const CONFIG = `[mcp]
rate_limit_rpm = 0
expensive_rpm = 0
[query]
cache_ttl_s = 1
[jobs]
max_concurrent = 4
`;
const PARSER = `import os
import subprocess
import sys

name = "mixed"
version = "1.0.0"
topics = ["soak"]
outputs = {"numbers": {"columns": [{"name": "n", "type": "int64"}, {"name": "text", "type": "string"}]}}


def parse(file_path):
    with open(file_path) as lines:
        for number, line in enumerate(lines):
            word = line.strip()
            if word == "raise":
                raise ValueError("as the file says")
            if word == "end":
                os._exit(7)
            if word == "print":
                for _ in range(2000):
                    print("x" * 1000)
            if word == "start":
                subprocess.run(["true"])
            if word == "write":
                with open("scratch", "w") as scratch:
                    scratch.write("x" * 100000)
            yield {"n": number, "text": word}
`;
const WORDS = ['raise', 'end', 'print', 'start', 'write'];
const PYTHON = { plugin_ref: { path: 'mixed.py' }, input_dir: 'numbers' };
const BACKTESTS = [
    PYTHON,
    { plugin_ref: { path: 'mixed.py' }, input_dir: 'bad' },
    { plugin_ref: 'weblog_native', input_dir: 'samples/weblog' },
    { plugin_ref: 'jsonl_native', input_dir: 'samples/jsonl' },
    { plugin_ref: 'csv_native', input_dir: 'samples/csv' },
    { plugin_ref: 'fix_parser', input_dir: 'samples/fix' },
    { plugin_ref: 'csv_native', input_dir: 'samples/jsonl' },
];
const RUNS = [
    { ...PYTHON, output: 'parquet://./tables' },
    { plugin_ref: 'weblog_native', input_dir: 'samples/weblog', output: 'csv://./texts' },
    { plugin_ref: 'fix_parser', input_dir: 'samples/fix', output: 'duckdb://./fix.duckdb' },
];
const PREVIEWS = [
    { plugin_ref: { path: 'mixed.py' }, files: ['numbers/0.txt', 'numbers/1.txt'] },
    { plugin_ref: { path: 'mixed.py' }, files: ['bad/1.txt'] },
    { plugin_ref: 'fix_parser', files: ['samples/fix/order_lifecycle.fix'] },
    { plugin_ref: 'weblog_native', files: ['samples/weblog/access.log'] },
];
const QUERIES = [
    'SELECT 1 AS health_check',
    'SELECT count(*), sum(n) FROM numbers',
    'SELECT text, count(*) FROM outputs."numbers__all" GROUP BY 1 ORDER BY 2 DESC LIMIT 20',
    'SELECT status, count(*) FROM http_requests GROUP BY 1',
    'SELECT * FROM fix_order_lifecycle LIMIT 5',
];

const pick = (list) => list[Math.floor(Math.random() * list.length)];
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/* ---- what the server holds ------------------------------------------------------------------- */

function look({ home }, { pid }) {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
    const links = fs.readdirSync(`/proc/${pid}/fd`).map((fd) => {
        try {
            return fs.readlinkSync(`/proc/${pid}/fd/${fd}`);
        } catch {
            return ''; // it was closed meanwhile
        }
    });
    const state = links.filter((link) => link.startsWith(path.join(home, 'state.sqlite'))).length;
    return {
        mib: number('VmRSS') / 1024, threads: number('Threads'), fds: links.length - state, state,
        processes: below(pid).length, folders: fs.readdirSync(path.join(home, 'tmp')).length,
    };
}

const words = ({ mib, threads, fds, state, processes, folders }) =>
    `${mib.toFixed(1)} MiB, ${threads} threads, ${fds} descriptors and ${state} of the state, ${processes} processes, ${folders} scratch folders`;

/** What must be the same before and after. A query's next process is always ready. */
const held = ({ fds, processes, folders }) => `${fds} ${processes} ${folders}`;

/** Let a server drop the results that it keeps, but that of this query. */
async function forgetResults(server) {
    await pause(1500);
    await server.ask('query', { sql: QUERIES[0] });
}

/** What a server holds when that has not changed for two seconds. */
async function lookCalm(self, server) {
    let before, since;
    await forgetResults(server);
    return until(() => {
        const now = look(self, server);
        if (!before || held(now) !== held(before))
            [before, since] = [now, Date.now()];
        return Date.now() - since > 2000 && now;
    }, 'what the server holds to stay the same', CALM_MS);
}

/* ---- what the client does -------------------------------------------------------------------- */

function workshop() {
    const self = place();
    for (const name of ['weblog', 'jsonl', 'csv', 'fix'])
        self.copy(`samples/${name}`, `samples/${name}`);
    self.write('mixed.py', PARSER);
    for (let file = 0; file < FILES; file++)
        self.write(`numbers/${file}.txt`, Array.from({ length: 2000 }, (_, row) => `word ${file * row}\n`).join(''));
    WORDS.forEach((word, file) => self.write(`bad/${file}.txt`, `one\n${word}\n`));
    self.write('bad/good.txt', 'one\ntwo\n');
    fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(self.home, 'config.toml'), CONFIG);
    return self;
}

/** Start a backtest, and wait for its end, or cancel it some time before. */
async function backtest(server) {
    const { job_id: job } = await server.ask('backtest_start', pick(BACKTESTS));
    if (Math.random() < 0.25) {
        await pause(Math.random() * 300);
        await server.call('job_cancel', { job_id: job });
    }
    assert.ok(ENDED.includes((await server.end(job)).status));
}

/** Do a run that writes. */
async function run(server, request) {
    const { approval_id: id } = await server.ask('run_request', { ...request, force: true });
    const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
    const ended = await server.end(job);
    assert.equal(ended.status, 'completed', JSON.stringify(ended));
}

async function query(server) {
    const sql = pick(QUERIES);
    const reply = await server.ask('query', { sql });
    assert.ok(reply.rows.length > 0, `${sql}: ${JSON.stringify(reply)}`);
    const refused = await server.refuse('query', { sql: pick(['SELECT nope', "SELECT * FROM '/etc/passwd'", 'DROP TABLE x']) });
    assert.match(refused.code, /^sql_/);
}

/** Keep a server busy until a moment. */
async function work(server, deadline, nextRun, counts, failures) {
    const repeat = async (what, once) => {
        while (Date.now() < deadline) {
            await once().then(() => { counts[what] = (counts[what] ?? 0) + 1; }, (error) => failures.push(`${what}: ${error.stack ?? error}`));
            await pause(10);
        }
    };
    await Promise.all([
        ...Array.from({ length: 6 }, () => repeat('backtest', () => backtest(server))),
        ...Array.from({ length: 2 }, () => repeat('preview', () => server.ask('preview', pick(PREVIEWS)))),
        ...Array.from({ length: 2 }, () => repeat('query', () => query(server))),
        repeat('run', async () => {
            await run(server, nextRun());
            await pause(Math.min(RUN_EVERY_MS, Math.max(0, deadline - Date.now())));
        }),
    ]);
}

/* ---- the run --------------------------------------------------------------------------------- */

/**
 * Keep a server busy for some time.
 *
 * @returns { failures, problems, counts }: texts of calls that went wrong and of what has grown,
 *          and how often each thing was done
 */
export async function soak(seconds, { growthMib = GROWTH_MIB, print = () => {} } = {}) {
    const self = workshop();
    const server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']);
    const counts = {}, failures = [], rows = [], pauses = [];
    for (const request of RUNS)
        await run(server, request);
    for (let i = 0; i < 3; i++)
        await query(server);
    const before = await lookCalm(self, server);
    print(`    0 s  ${words(before)}`);

    const began = Date.now();
    const measure = () => {
        const row = { at: (Date.now() - began) / 1000, ...look(self, server) };
        if (rows.length === 0 || Math.floor(row.at / 10) > Math.floor(rows.at(-1).at / 10))
            print(`${row.at.toFixed(0).padStart(5)} s  ${words(row)}`);
        rows.push(row);
    };
    const timer = setInterval(measure, 500);
    let turn = 0;
    for (let round = 1; round <= ROUNDS; round++) {
        await work(server, began + round * seconds * 1000 / ROUNDS, () => RUNS[turn++ % RUNS.length], counts, failures);
        await forgetResults(server);
        pauses.push(look(self, server));
        print(`pause ${round}: ${words(pauses.at(-1))}`);
    }
    clearInterval(timer);

    const problems = [];
    await forgetResults(server);
    await until(() => held(look(self, server)) === held(before), 'what it held before', CALM_MS).catch(() => {});
    const after = look(self, server);
    print(`before the first call ${words(before)}; after the last ${words(after)}`);
    if (held(after) !== held(before))
        problems.push(`what it holds has changed: ${words(before)} before, ${words(after)} after`);
    if (after.state > STATE_MAX)
        problems.push(`${after.state} descriptors of the state, more than ${STATE_MAX}`);
    const least = (from, to) => Math.min(...pauses.slice(from, to).map(({ mib }) => mib));
    const [middle, last] = [least(ROUNDS / 2 - 1, ROUNDS / 2 + 1), least(ROUNDS - 2, ROUNDS)];
    print(`${middle.toFixed(1)} MiB in the middle pauses, ${last.toFixed(1)} MiB in the last; at most ${Math.max(...rows.map(({ fds }) => fds))} descriptors, `
        + `${Math.max(...rows.map(({ processes }) => processes))} processes`);
    if (last - middle > growthMib)
        problems.push(`memory grew from ${middle.toFixed(1)} to ${last.toFixed(1)} MiB, by more than ${growthMib}`);
    await server.close();
    const complaints = server.errors().split('\n').filter((line) => !/ level=warning (job \d+ runs the unsigned|the client may approve)/.test(line));
    print(`complaints: ${complaints.slice(0, 20).join('\n') || 'none'}`);
    self.remove();
    return { failures, problems, counts };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const { failures, problems, counts } = await soak(Number(process.argv[2] ?? 600), { print: console.log });
    console.log(counts);
    for (const text of [...problems, ...failures.slice(0, 10)])
        console.log(text);
    process.exit(problems.length + failures.length > 0 ? 1 : 0);
}
