/*
 * Several processes on one home: servers and workers share the jobs, and one that was frozen past
 * its lease writes nothing when it wakes.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';

import { place, program, serve, until } from './casparian.mjs';
import { freeze } from './support/freeze.mjs';

const ARGS = ['--allow-dev-plugins', '--allow-tool-approval'];
const LEASE_MS = 1000;
const FILES = 3, ROWS = 20;

/** A parser that takes its time: seconds a row. */
const parser = (seconds) => `import time
name = "slow"
version = "1.0.0"
OUTPUTS = {"rows": {"columns": [{"name": "a", "type": "int64"}]}}


def parse(path):
    with open(path) as file:
        for line in file:
            time.sleep(${seconds})
            yield {"a": int(line)}
`;

let self, running; /* running: functions that end what a test has started */
beforeEach(() => {
    self = place();
    running = [];
    for (let file = 0; file < FILES; file++)
        self.write(`in/${file}.txt`, Array.from({ length: ROWS }, (_, row) => `${file * ROWS + row}\n`).join(''));
});
/* Hooks of a test itself (t.after) run later than this one, so they would find no home. */
afterEach(async () => {
    for (const end of running)
        await end();
    self.remove();
});

/* A server that is closed in any case, and then what it wrote on stderr is shown. */
async function start(t) {
    const server = await serve(self, ARGS);
    running.push(async () => {
        await server.close();
        if (server.errors())
            t.diagnostic(server.errors().slice(-4000));
    });
    return server;
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

function worker() {
    const child = spawn(program, ['worker'], { cwd: self.dir, env: self.env, stdio: 'ignore' });
    child.ended = new Promise((resolve) => { child.on('exit', resolve); });
    running.push(() => { child.kill('SIGKILL'); return child.ended; });
    return child;
}

async function approve(server, output = './out') {
    const { approval_id: id } = await server.ask('run_request', { plugin_ref: { path: 'slow.py' }, input_dir: 'in', output, force: true });
    return (await server.ask('approval_decide', { approval_id: id, decision: 'approve' })).job_id;
}

function state(sql) {
    const db = new DatabaseSync(path.join(self.home, 'state.sqlite'), { readOnly: true });
    try {
        return db.prepare(sql).all();
    } finally {
        db.close();
    }
}

const SQLITE_BUSY = 5;

/* Whether nobody has SQLite's lock. */
function isFree(db) {
    try {
        db.exec('BEGIN IMMEDIATE; ROLLBACK');
        return true;
    } catch (error) {
        assert.equal(error.errcode, SQLITE_BUSY, error.message);
        return false;
    }
}

/* Stop a process outside of a transaction: one that holds SQLite's lock stops everybody. */
async function freezeIdle(pid) {
    const db = new DatabaseSync(path.join(self.home, 'state.sqlite'));
    db.exec('PRAGMA busy_timeout = 0');
    running.push(() => db.close());
    await freeze(pid, () => isFree(db), 'the process to be outside of a transaction');
    /* It is woken before it is closed. */
    running.unshift(() => fs.existsSync(`/proc/${pid}`) && process.kill(pid, 'SIGCONT'));
}

const outputs = (folder) => fs.readdirSync(path.join(self.dir, folder)).filter((name) => name.startsWith('rows_'));

test('two servers and two workers run each job once, and no more at once than the setting has', async (t) => {
    const JOBS = 16, AT_ONCE = 2;
    self.write('slow.py', parser(0.002));
    self.env.CASPARIAN_JOBS_MAX_CONCURRENT = String(AT_ONCE);
    const servers = [await start(t), await start(t)];
    const workers = [worker(), worker()];
    const jobs = [];
    for (let i = 0; i < JOBS; i++)
        jobs.push(await approve(servers[i % 2], i % 4 < 2 ? './out' : './other'));
    assert.equal(new Set(jobs).size, JOBS);
    let most = 0;
    await until(() => {
        most = Math.max(most, state("SELECT count(*) AS n FROM cf_api_jobs WHERE status = 'running'")[0].n);
        return state("SELECT count(*) AS n FROM cf_api_jobs WHERE status IN ('queued', 'running')")[0].n === 0;
    }, 'the end of all jobs', 200_000);
    assert.ok(most <= AT_ONCE, `${most} jobs ran at once`);
    for (const [i, job] of jobs.entries()) {
        const status = await servers[(i + 1) % 2].end(job); // of the other server
        assert.equal(status.status, 'completed', JSON.stringify(status));
        assert.equal(status.result.outputs.rows.rows_written, FILES * ROWS);
    }
    const count = async (view) => (await servers[0].ask('query', { sql: `SELECT count(*) FROM outputs."${view}"` })).rows[0][0];
    assert.equal(await count('rows'), FILES * ROWS);
    assert.equal(await count('rows__all'), JOBS * FILES * ROWS);
    for (const folder of ['out', 'other']) {
        assert.equal(outputs(folder).length, JOBS / 2);
        const verified = self.cli(['verify', folder]);
        assert.equal(verified.status, 0, verified.out + verified.err);
    }
    for (const one of workers)
        one.kill('SIGTERM');
    await Promise.all(workers.map((one) => one.ended));
});

test('a server that was frozen past its lease writes nothing when it wakes', async (t) => {
    self.write('slow.py', parser(0.03));
    self.env.CAUSEWAY_LEASE_MS = String(LEASE_MS);
    const frozen = await start(t);
    const job = await approve(frozen);
    await until(async () => (await frozen.ask('job_status', { job_id: job })).status === 'running', 'the job to run');
    await freezeIdle(frozen.pid);
    const other = await start(t);
    const taken = await other.end(job);
    assert.equal(taken.status, 'completed', JSON.stringify(taken));
    const events = state(`SELECT max(event_id) AS last, count(*) AS n FROM cf_api_events WHERE job_id = ${job}`)[0];
    const written = outputs('out');
    assert.equal(written.length, 1);
    process.kill(frozen.pid, 'SIGCONT');
    const seen = await frozen.end(job);
    assert.deepEqual(seen.result, taken.result);
    await pause(2 * LEASE_MS); // what the frozen one still does, it does now
    assert.deepEqual(outputs('out'), written);
    assert.deepEqual(state(`SELECT max(event_id) AS last, count(*) AS n FROM cf_api_events WHERE job_id = ${job}`)[0], events);
    assert.equal(self.cli(['verify', 'out']).status, 0);
    const again = await frozen.end(await approve(frozen)); // it works on
    assert.equal(again.status, 'completed', JSON.stringify(again));
    const { rows } = await other.ask('query', { sql: 'SELECT count(*) FROM outputs."rows"' });
    assert.equal(rows[0][0], FILES * ROWS);
});
