/*
 * casparian-calls.mjs - how long clients of casparian wait, with the goals: for the first tool, for
 * small tools, for the status of a job while it runs, for queries of eight clients meanwhile, and
 * for the end of a job that they cancel. Also what a large job gains and needs: ten million rows to
 * Parquet, and how much of its rate a job keeps while the eight clients ask.
 *
 * Each client has a server of its own over one home, and asks once a second. Times are on the
 * clock, so they mean something only in Release and on a machine that does nothing else.
 *
 * usage: bench/casparian-calls.mjs [ROWS]
 */
import fs from 'node:fs';
import path from 'node:path';

import { ENDED, place, serve, until } from '../tests/client/casparian.mjs';
import { at, columns, fill, HEAD, median, millis, perSecond, print, run, runOf, timed, tradeOf } from './support/casparian.mjs';

/* few rows and one round, for figures that mean nothing */
const SMOKE = Boolean(process.env.BENCH_SMOKE);
const ROWS = Number(process.argv[2] ?? (SMOKE ? 2000 : 10000000)), QUERIED_ROWS = Math.min(ROWS, 1000000);
const CLIENTS = SMOKE ? 2 : 8, CALLS = SMOKE ? 3 : 100, ROUNDS = SMOKE ? 1 : 3;
const PAUSE_MS = 1000, POLL_MS = 20;

const schemas = { rows: { output_name: 'rows', mode: 'strict', columns } };
const STUCK = `import time
name, version = "stuck", "1.0.0"
outputs = {"stuck": {"columns": [{"name": "id", "type": "int64"}]}}
def parse(path):
    yield {"id": 1}
    while True:
        time.sleep(1)
`;

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** The processes that a process has started, and those that they have. */
function descendants(pid) {
    const found = [];
    try {
        for (const thread of fs.readdirSync(`/proc/${pid}/task`))
            for (const child of fs.readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean))
                found.push(child, ...descendants(child));
    } catch { /* it has ended */ }
    return found;
}

async function large(self) {
    fill(path.join(self.dir, 'large.csv'), ROWS, tradeOf, HEAD);
    const { ms, peak } = await run(self, runOf('csv_native', 'large.csv', '--schema', 'schema.json'));
    const bytes = fs.statSync(path.join(self.dir, 'large.csv')).size;
    print(`CSV of ${(bytes / 1e9).toFixed(2)} GB to Parquet`, perSecond(ROWS, ms), '>= 500,000 /s');
    print('  memory of all its processes', `${peak.toFixed(0)} MiB`, '< 250 MiB');
    fs.rmSync(path.join(self.dir, 'out'), { recursive: true });
}

/* initialize, tools/list and a tool. */
async function firstTools(self) {
    const times = [];
    for (let i = 0; i < (SMOKE ? 1 : 20); i++) {
        const [ms, server] = await timed(async () => {
            const made = await serve(self);
            await made.ask('plugins', {});
            return made;
        });
        times.push(ms);
        await server.close();
    }
    print('start to the answer of the first tool, median', millis(median(times)), '');
}

async function smallTools(self, server) {
    const job = await server.ask('backtest_start', { plugin_ref: { plugin: 'csv_native' }, input_dir: 'small' });
    await server.end(job.job_id);
    const asked = await server.ask('run_request', { plugin_ref: { plugin: 'csv_native' }, input_dir: 'small', output: './out-small' });
    const tools = [['plugins', {}], ['job_status', { job_id: job.job_id }], ['job_list', { status: 'all', limit: 10 }],
        ['approval_list', { status: 'pending' }], ['approval_status', { approval_id: asked.approval_id }], ['schema_propose', { schemas }]];
    for (const [name, args] of tools) {
        const times = [];
        for (let i = 0; i < CALLS; i++)
            times.push((await timed(() => server.ask(name, args)))[0]);
        print(`${name}, p95`, millis(at(times, 0.95)), '< 20 ms');
    }
    const rss = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
    print('resident memory of the server', `${rss.toFixed(0)} MiB`, '< 60 MiB');
}

/** A backtest of the large file, whose status is asked for all the time. @return its rate */
async function backtest(server, times) {
    const { job_id: id } = await server.ask('backtest_start', { plugin_ref: { plugin: 'csv_native' }, input_dir: 'large', schemas });
    for (;;) {
        const [ms, status] = await timed(() => server.ask('job_status', { job_id: id }));
        times.push(ms);
        if (ENDED.includes(status.status)) {
            if (status.status !== 'completed')
                throw new Error(`job ${id}: ${JSON.stringify(status.error)}`);
            return ROWS / status.result.elapsed_ms * 1000;
        }
        await sleep(POLL_MS);
    }
}

/** Queries until `isOver()`. */
async function askAlways(client, number, times, isOver) {
    for (let i = 0; !isOver(); i++) {
        const sql = `SELECT symbol, count(*), sum(quantity) FROM rows WHERE id >= ${i * CLIENTS + number} GROUP BY symbol`;
        const [ms] = await timed(() => client.ask('query', { sql }));
        times.push(ms);
        await sleep(Math.max(0, PAUSE_MS - ms));
    }
}

async function besides(self, server) {
    const clients = [], alone = [], together = [], calm = [], busy = [], queries = [];
    for (let i = 0; i < CLIENTS; i++)
        clients.push(await serve(self));
    for (const client of clients)
        await client.ask('query', { sql: 'SELECT count(*) FROM rows' });
    for (let round = 0; round < ROUNDS; round++) {
        alone.push(await backtest(server, calm));
        let isOver = false;
        const asking = clients.map((client, i) => askAlways(client, round * 1000000 + i, queries, () => isOver));
        together.push(await backtest(server, busy));
        isOver = true;
        await Promise.all(asking);
    }
    for (const client of clients)
        await client.close();
    const rate = (rates) => `${Math.round(median(rates)).toLocaleString('en')} /s`;
    print('backtest of the large file', rate(alone), '');
    print(`  while ${CLIENTS} clients ask`, rate(together), '');
    print('  of its rate it keeps', `${(median(together) / median(alone) * 100).toFixed(0)} %`, '>= 60 %');
    print(`query of a million rows meanwhile, p99 of ${queries.length}`, millis(at(queries, 0.99)), '<= 500 ms');
    print(`job_status while the job runs, p99 of ${calm.length}`, millis(at(calm, 0.99)), '');
    print(`  while they ask too, p99 of ${busy.length}`, millis(at(busy, 0.99)), '');
}

/* The process of the next query is no guest: it is there before. */
async function cancel(self, server, what, args) {
    const states = [], guests = [];
    for (let round = 0; round < ROUNDS; round++) {
        const before = new Set(descendants(server.pid));
        const isGuest = (pid) => !before.has(pid);
        const { job_id: id } = await server.ask('backtest_start', args);
        const status = async () => (await server.ask('job_status', { job_id: id })).status;
        await until(async () => descendants(server.pid).some(isGuest) || ENDED.includes(await status()), `a guest of job ${id}`);
        await sleep(SMOKE ? 0 : 300);
        const begin = performance.now();
        await server.call('job_cancel', { job_id: id }); /* a small job has ended */
        const isOver = async () => ENDED.includes((await server.ask('job_status', { job_id: id, wait_ms: 1000 })).status);
        const gone = until(() => !descendants(server.pid).some(isGuest), 'the end of the guest').then(() => guests.push(performance.now() - begin));
        await until(isOver, `the end of job ${id}`);
        states.push(performance.now() - begin);
        await gone;
    }
    print(`cancel of ${what} to its state, median`, millis(median(states)), '< 500 ms');
    print('  to the end of its processes', millis(median(guests)), '< 3,500 ms');
}

const self = place();
try {
    console.log(`casparian: ${ROWS.toLocaleString('en')} rows, ${CLIENTS} clients, ${ROUNDS} rounds`);
    fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(self.home, 'config.toml'), '[mcp]\nrate_limit_rpm = 0\nexpensive_rpm = 0\n');
    self.write('schema.json', JSON.stringify(schemas));
    self.write('stuck.py', STUCK);
    self.write('small/one.csv', HEAD + tradeOf(1));
    await large(self);
    fs.mkdirSync(path.join(self.dir, 'large'));
    fs.renameSync(path.join(self.dir, 'large.csv'), path.join(self.dir, 'large', 'large.csv'));
    fill(path.join(self.dir, 'trades.csv'), QUERIED_ROWS, tradeOf, HEAD);
    await run(self, runOf('csv_native', 'trades.csv', '--schema', 'schema.json'));
    await firstTools(self);
    const server = await serve(self, ['--allow-dev-plugins']);
    await smallTools(self, server);
    await besides(self, server);
    await cancel(self, server, 'a native job', { plugin_ref: { plugin: 'csv_native' }, input_dir: 'large', schemas });
    await cancel(self, server, 'a parser that sleeps', { plugin_ref: { path: 'stuck.py' }, input_dir: 'small' });
    await server.close();
} finally {
    self.remove();
}
