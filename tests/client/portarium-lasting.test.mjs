/*
 * portarium-lasting.test.mjs - runs outlive the processes that move them: after a server is killed
 * under load, and with several servers on one database. What was acknowledged is there, nothing
 * happens twice, the chain of evidence verifies, events have no gap.
 *
 * PORTARIUM_KILLS says how often a server is killed on each database (20).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';

import { DATABASES, folder, kill, postgres, root, until } from './universe.mjs';

const KILLS = Number(process.env.PORTARIUM_KILLS ?? 20);
const WRITERS = 8;
const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'portarium');

/* ---- the server ------------------------------------------------------------------------------ */

const action = (order, operation, more = {}) =>
    ({ actionId: `a${order}`, order, portFamily: 'SoftwareDev', operation, ...more });

const workflow = (id, executionTier, actions) =>
    ({ schemaVersion: 1, workflowId: id, workspaceId: 'ws-1', name: id, version: 1, active: true, executionTier, actions });

const SEED = {
    workspaces: [{
        workspaceId: 'ws-1', name: 'First',
        users: [{ userId: 'otto', email: 'otto@example.com', roles: ['operator'] }],
        workflows: [
            workflow('wf-mix', 'Auto', [
                action(1, 'event:emit', { input: { n: '${parameters.n}' } }),
                action(2, 'control:wait', { input: { durationMs: 30 } }),
                action(3, 'workitem:create', { input: { title: 'Look at ${run.id}' } }),
                action(4, 'control:noop', { input: { n: '${parameters.n}' } }),
            ]),
            workflow('wf-gate', 'HumanApprove', [action(1, 'control:noop')]),
        ],
    }],
};

function run(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

/** A database with a workspace, and an operator's token. */
function seed(db) {
    const dir = folder(), file = path.join(dir, 'seed.json');
    fs.writeFileSync(file, JSON.stringify(SEED));
    run('admin', 'apply', file, '--db', db.url);
    fs.rmSync(dir, { recursive: true, force: true });
    return run('tokens', 'create', '--db', db.url, '--workspace', 'ws-1', '--subject', 'otto', '--roles', 'operator');
}

const servers = [];
after(() => Promise.all(servers.map(kill)));

async function start(db, token) {
    const child = spawn(program, ['serve', '--port', '0', '--db', db.url, '--log-level', 'warning'],
        { stdio: ['ignore', 'ignore', 'pipe'] });
    const server = { child, token, base: null, log: '' };
    servers.push(server);
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { server.log += text; });
    while (!/serving http:\S+\n/.test(server.log))
        await Promise.race([once(child.stderr, 'data'),
            once(child, 'exit').then(([code, signal]) => assert.fail(`ended with ${code ?? signal}: ${server.log}`))]);
    server.base = new URL(/serving (http:\S+)\n/.exec(server.log)[1]).origin;
    return server;
}

async function stop(server) {
    const gone = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    assert.deepEqual(await gone, [0, null], server.log);
}

async function rest(server, method, where, body, headers = {}) {
    const answer = await fetch(`${server.base}/v1/workspaces/ws-1${where}`, {
        method,
        headers: { Authorization: `Bearer ${server.token}`, ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
        body: body && JSON.stringify(body),
    });
    return { status: answer.status, json: JSON.parse(await answer.text() || 'null') };
}

/* ---- what is in the database ----------------------------------------------------------------- */

/** JSON with sorted names, as RFC 8785 has it for the texts and integers of evidence. */
function canonical(value) {
    if (Array.isArray(value))
        return `[${value.map(canonical).join(',')}]`;
    if (value === null || typeof value !== 'object')
        return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** The rows of a table that is numbered by `seq`, which has no gap. */
function rowsOf(db, columns, table) {
    const rows = [];
    for (let page; page === undefined || page.length > 0; rows.push(...page))
        page = db.sql(`SELECT seq, ${columns} FROM ${table} WHERE workspace = 'ws-1' AND seq > ${rows.length} ORDER BY seq LIMIT 500`);
    rows.forEach(({ seq }, i) => assert.equal(Number(seq), i + 1));
    return rows;
}

/** Each entry has the hash of its text, and names the one before. */
function verifyEvidence(db) {
    let previous;
    for (const { hash, json } of rowsOf(db, 'hash, json', 'evidence')) {
        const { hashSha256, ...entry } = JSON.parse(json);
        assert.equal(hashSha256, hash);
        assert.equal(entry.previousHash, previous);
        assert.equal(crypto.createHash('sha256').update(canonical(entry)).digest('hex'), hash);
        previous = hash;
    }
}

/** What happened to each run, in order. */
function histories(db) {
    const runs = new Map();
    for (const { type, run_id: id } of rowsOf(db, 'type, run_id', 'outbox')) {
        if (id)
            runs.set(id, [...(runs.get(id) ?? []), type]);
    }
    return runs;
}

const ENDED = "status IN ('Succeeded', 'Failed', 'Cancelled')";

/** Every run has ended as the first one, which nobody disturbed; of each number there is one. */
async function verify(db, acknowledged, pattern) {
    await until(() => Number(db.sql(`SELECT COUNT(*) AS n FROM runs WHERE NOT ${ENDED} AND workflow_id = 'wf-mix'`)[0].n) === 0,
        'all runs to end');
    verifyEvidence(db);
    const happened = histories(db), numbers = new Set();
    const stored = new Map();
    for (let page; page === undefined || page.length > 0; page.forEach((row) => stored.set(row.id, row)))
        page = db.sql(`SELECT id, workflow_id, status, json FROM runs ORDER BY id LIMIT 500 OFFSET ${stored.size}`);
    for (const { id, workflow_id: of, status, json } of stored.values()) {
        if (of !== 'wf-mix')
            continue;
        const { n } = JSON.parse(json).parameters;
        assert.ok(!numbers.has(n), `${n} was started twice`);
        numbers.add(n);
        assert.equal(status, 'Succeeded');
        assert.deepEqual(happened.get(id), pattern, id);
        assert.equal(JSON.parse(json).output.n, n);
    }
    for (const id of acknowledged.started)
        assert.ok(stored.has(id), `run ${id} is lost`);
    for (const id of acknowledged.cancelled)
        assert.equal(stored.get(id).status, 'Cancelled');
    const doubled = db.sql("SELECT ref FROM work_item_links WHERE kind = 'run' GROUP BY ref HAVING COUNT(*) <> 1");
    assert.deepEqual(doubled, []);
}

/* ---- load ------------------------------------------------------------------------------------ */

let number = 0;

/** Start runs, and cancel some of them; a start that was not answered is repeated with its key. */
async function write(server, over, acknowledged) {
    while (!over()) {
        const n = ++number, isGate = n % 5 === 0;
        const body = { workflowId: isGate ? 'wf-gate' : 'wf-mix', parameters: { n } };
        const started = await rest(server(), 'POST', '/runs', body, { 'Idempotency-Key': `key-${n}` }).catch(() => null);
        if (started?.status !== 201) {
            acknowledged.again.push([n, body]);
            continue;
        }
        acknowledged.started.push(started.json.runId);
        if (!isGate)
            continue;
        const cancelled = await rest(server(), 'POST', `/runs/${started.json.runId}/cancel`, { rationale: 'enough' }).catch(() => null);
        if (cancelled?.status === 200)
            acknowledged.cancelled.push(started.json.runId);
    }
}

async function repeat(server, acknowledged) {
    for (const [n, body] of acknowledged.again.splice(0)) {
        const { status, json } = await rest(server, 'POST', '/runs', body, { 'Idempotency-Key': `key-${n}` });
        assert.equal(status, 201);
        acknowledged.started.push(json.runId);
    }
}

async function undisturbed(db, server) {
    const { json } = await rest(server, 'POST', '/runs', { workflowId: 'wf-mix', parameters: { n: ++number } });
    await until(async () => (await rest(server, 'GET', `/runs/${json.runId}`)).json.status === 'Succeeded', 'the first run');
    return histories(db).get(json.runId);
}

/* ---- tests ----------------------------------------------------------------------------------- */

for (const makeDatabase of DATABASES) {
    test(`${KILLS} times killed under load, on ${makeDatabase.name}: nothing is lost, nothing happens twice`, async () => {
        const db = makeDatabase();
        const token = seed(db);
        let server = await start(db, token);
        const pattern = await undisturbed(db, server);
        const acknowledged = { started: [], cancelled: [], again: [] };
        for (let round = 1; round <= KILLS; round++) {
            let over = false;
            const enough = acknowledged.started.length + 1 + Math.floor(Math.random() * 40);
            const writers = Array.from({ length: WRITERS }, () => write(() => server, () => over, acknowledged));
            await until(() => acknowledged.started.length >= enough, 'some answers');
            over = true;
            await kill(server);
            await Promise.all(writers);
            server = await start(db, token);
            await repeat(server, acknowledged);
        }
        await verify(db, acknowledged, pattern);
        console.log(`# ${makeDatabase.name}: ${KILLS} kills, ${acknowledged.started.length} runs`);
        await stop(server);
        db.close();
    });
}

test('two servers on one PostgreSQL, one is killed: the other ends its runs, once', async () => {
    const db = postgres();
    const token = seed(db);
    const pair = [await start(db, token), await start(db, token)];
    const pattern = await undisturbed(db, pair[0]);
    const acknowledged = { started: [], cancelled: [], again: [] };
    let over = false;
    const writers = Array.from({ length: WRITERS }, (_, i) => write(() => pair[i % 2], () => over, acknowledged));
    await until(() => acknowledged.started.length >= 60, 'some answers');
    over = true;
    await kill(pair[0]);
    await Promise.all(writers);
    await repeat(pair[1], acknowledged);
    await verify(db, acknowledged, pattern);
    await stop(pair[1]);
    db.close();
});
