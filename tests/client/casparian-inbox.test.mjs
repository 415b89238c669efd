/*
 * The routes behind the page for approvals, as a hostile client calls them: bodies that are none,
 * ids that are none, other origins, many decisions at once, requests whose time is over.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';

import { fixPlace, program, serve } from './casparian.mjs';

const REQUEST = { plugin_ref: { path: 'parsers/fix/fix_parser.py' }, input_dir: 'samples/fix', output: './output', force: true };
const JSON_TYPE = { 'Content-Type': 'application/json' };

let self, server, inbox, origin, key;

before(async () => {
    self = fixPlace();
    server = await serve(self, ['--allow-dev-plugins']);
    inbox = spawn(program, ['approvals', 'serve'], { cwd: self.dir, env: self.env, stdio: ['ignore', 'pipe', 'inherit'] });
    const address = new URL(await new Promise((resolve) => { inbox.stdout.once('data', (line) => resolve(String(line).trim())); }));
    origin = address.origin;
    key = new URLSearchParams(address.hash.slice(1)).get('key');
});
after(async () => {
    const ended = inbox && new Promise((resolve) => { inbox.on('exit', (status) => resolve(status)); });
    inbox?.kill('SIGTERM');
    assert.equal(await ended, 0, 'the page ends in order');
    await server?.close();
    self?.remove();
});

/** Not by fetch, which mends paths and leaves headers out. @return { status, text, json } */
function ask(method, target, { headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
        const request = http.request(origin, { method, path: target, headers: { Authorization: `Bearer ${key}`, ...headers } }, (reply) => {
            let text = '';
            reply.setEncoding('utf8').on('data', (piece) => { text += piece; }).on('end', () => {
                let json;
                try { json = JSON.parse(text); } catch { /* it is none */ }
                resolve({ status: reply.statusCode, text, json });
            });
        });
        request.on('error', reject);
        request.end(body);
    });
}

const decide = (id, body, headers = {}) => ask('POST', `/api/approvals/${id}/decision`,
    { headers: { ...JSON_TYPE, ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });

/** A request that is pending, and the hash of what is shown of it. */
async function pending(more = {}) {
    const { approval_id: id } = await server.ask('run_request', { ...REQUEST, ...more });
    const { json } = await ask('GET', `/api/approvals/${id}`);
    assert.equal(json.status, 'pending');
    return { id, hash: json.snapshot_sha256 };
}

const statusOf = async (id) => (await ask('GET', `/api/approvals/${id}`)).json.status;

function sql(statement) {
    const db = new DatabaseSync(path.join(self.home, 'state.sqlite'));
    try {
        db.exec('PRAGMA busy_timeout = 60000');
        return db.prepare(statement).all();
    } finally {
        db.close();
    }
}

test('a body that says no decision decides nothing', async () => {
    const { id, hash } = await pending();
    const approve = `"decision":"approve","snapshot_sha256":"${hash}"`;
    for (const body of [
        '', 'null', '[]', '"approve"', '{', `{${approve}`, `{${approve}}x`, '{}', `[{${approve}}]`, `{"body":{${approve}}}`,
        { decision: 'approve' }, { snapshot_sha256: hash }, { decision: 'Approve', snapshot_sha256: hash },
        { decision: 'approve\0', snapshot_sha256: hash }, { decision: ['approve'], snapshot_sha256: hash },
        { decision: true, snapshot_sha256: hash }, { decision: 'approve', snapshot_sha256: [hash] },
        `{"decision":"reject",${approve}}`, `{${approve},"snapshot_sha256":"${hash}"}`,
        { decision: 'reject', snapshot_sha256: hash, reason: 5 }, { decision: 'reject', snapshot_sha256: hash, reason: 'x'.repeat(100_000) },
        { decision: 'reject', snapshot_sha256: hash, reason: 'seen\0unseen' },
    ]) {
        const { status, json } = await decide(id, body);
        assert.equal(status, 400, `${JSON.stringify(body).slice(0, 200)}: ${JSON.stringify(json)}`);
        assert.ok(json.error.message);
    }
    assert.equal((await decide(id, `${'{"decision":'.repeat(1000)}1${'}'.repeat(1000)}`)).status, 413);
    for (const wrong of ['', '0'.repeat(64), hash.toUpperCase(), `${hash}\0`, `${hash} `])
        assert.ok([400, 409].includes((await decide(id, { decision: 'approve', snapshot_sha256: wrong })).status), wrong);
    assert.equal((await decide(id, { decision: 'approve', snapshot_sha256: hash }, { 'Content-Type': 'text/plain' })).status, 415);
    assert.equal(await statusOf(id), 'pending');
});

test('a path that names no request is 404', async () => {
    const { id, hash } = await pending();
    const body = JSON.stringify({ decision: 'approve', snapshot_sha256: hash });
    for (const other of ['00000000-0000-4000-8000-000000000000', 'x', '%00', '..', '%2e%2e', '..%2f..', id.toUpperCase(), `${id}%20`,
        `${id}%00`, `%20${id}`, `${id}'%20OR%20'1'='1`, 'a'.repeat(4000), '%ff', '-1'])
        for (const [method, target] of [['GET', `/api/approvals/${other}`], ['POST', `/api/approvals/${other}/decision`]]) {
            const { status } = await ask(method, target, { headers: JSON_TYPE, body: method === 'POST' ? body : undefined });
            assert.ok(status === 404 || status === 400, `${method} ${target}: ${status}`);
        }
    for (const job of ['0', '-1', '1e3', '99999999999999999999', '1%20', 'x', '%00'])
        assert.ok([400, 404].includes((await ask('GET', `/api/jobs/${job}`)).status), job);
    for (const status of ['x', '%00', "pending'--", ''])
        assert.ok([200, 400].includes((await ask('GET', `/api/approvals?status=${status}`)).status), status);
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'])
        assert.equal((await ask(method, `/api/approvals/${id}/decision`)).status, 405, method);
    assert.equal(await statusOf(id), 'pending');
});

test('other origins, other hosts and other keys decide nothing', async () => {
    const { id, hash } = await pending();
    const { host } = new URL(origin);
    for (const [wanted, headers] of [
        [403, { Origin: 'http://evil.example' }], [403, { Origin: 'null' }], [403, { Origin: `http://${host}.evil.example` }],
        [403, { Origin: `http://127.0.0.1:${Number(new URL(origin).port) + 1}` }], [403, { 'Sec-Fetch-Site': 'cross-site' }],
        [403, { Host: 'evil.example' }], [401, { Authorization: '' }], [401, { Authorization: `Bearer ${key}x` }],
        [401, { Authorization: `Bearer ${key.slice(1)}` }], [401, { Authorization: `Basic ${key}` }], [400, { Authorization: 'Bearer ', Cookie: `key=${key}` }],
    ]) {
        const { status, text } = await decide(id, { decision: 'approve', snapshot_sha256: hash }, headers);
        assert.ok(status === wanted || (wanted === 403 && headers.Host && status === 421), `${JSON.stringify(headers)}: ${status} ${text}`);
        assert.ok(!text.includes(key));
    }
    assert.equal((await ask('POST', `/api/approvals/${id}/decision?access_token=${key}`, { headers: { ...JSON_TYPE, Authorization: '' }, body: '{}' })).status, 401);
    assert.equal(await statusOf(id), 'pending');
});

test('of many decisions at once one counts, and there is one job at most', async () => {
    const { id, hash } = await pending();
    const all = await Promise.all(Array.from({ length: 24 }, (_, i) =>
        decide(id, { decision: i % 2 ? 'approve' : 'reject', snapshot_sha256: hash, reason: `number ${i}` })));
    assert.deepEqual(all.map(({ status }) => status).filter((status) => status !== 200), []);
    const outcomes = all.map(({ json }) => json.outcome);
    assert.equal(outcomes.filter((one) => !one.startsWith('already_')).length, 1, outcomes.join());
    assert.equal(new Set(all.map(({ json }) => json.status)).size, 1, 'all answers have the same end');
    const jobs = sql(`SELECT count(*) AS n FROM cf_api_jobs WHERE approval_id = '${id}'`)[0].n;
    assert.equal(jobs, outcomes.includes('approved') ? 1 : 0);
    assert.equal(self.audit().filter((line) => line.approval_id === id && ['approved', 'rejected'].includes(line.action)).length, 1);
});

test('a request whose time is over cannot be decided', async () => {
    const { id, hash } = await pending();
    sql(`UPDATE cf_api_approvals SET expires_at = created_at WHERE approval_id = '${id}'`);
    for (const decision of ['approve', 'reject', 'approve']) {
        const { status, json } = await decide(id, { decision, snapshot_sha256: hash });
        assert.deepEqual([status, json.outcome, json.status], [200, 'expired', 'expired']);
    }
    const { json } = await ask('GET', '/api/approvals');
    assert.ok(!json.approvals.some((one) => one.approval_id === id));
    assert.equal(sql(`SELECT count(*) AS n FROM cf_api_jobs WHERE approval_id = '${id}'`)[0].n, 0);
});
