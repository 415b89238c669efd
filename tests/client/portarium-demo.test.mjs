/*
 * portarium-demo.test.mjs - `portarium demo`: what a newcomer finds.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { program } from './portarium-rest.mjs';

async function freePort() {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

/* A demo that serves: { child, get(path) }. */
async function begin(t, port, db) {
    const child = spawn(program, ['demo', '--port', port, '--db', db], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    let out = '', log = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { log += text; });
    while (!/serving http/.test(log))
        await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(() => assert.fail(log))]);
    const [, base, token] = /(http:\S+)\/#token=(\S+)/.exec(out);
    return { child, get: async (where) => (await fetch(`${base}/v1/workspaces/demo${where}`, { headers: { Authorization: `Bearer ${token}` } })).json() };
}

async function end({ child }) {
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
}

test('the demo prints addresses, and two approvals wait in it', async (t) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-')), db = `sqlite:${path.join(dir, 'p.db')}`, port = String(await freePort());
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    const demo = await begin(t, port, db), { get } = demo;
    let waiting = [];
    while (waiting.length < 2) {
        await sleep(50);
        waiting = (await get('/approvals?status=Pending')).items;
    }
    const gate = waiting.find(({ actionId }) => actionId === 'release');
    assert.equal(gate.raisedBy.ruleId, 'target-is-production');
    assert.equal((await get('/workflows')).items.length, 3);
    assert.equal((await get('/users')).items.length, 2);
    assert.equal((await get('/agents')).items.length, 1);

    const other = spawnSync(program, ['demo', '--port', port], { encoding: 'utf8', timeout: 60_000 });
    assert.deepEqual([other.status, other.stdout], [2, ''], other.stderr);
    assert.match(other.stderr, /is in use.*--port names another/);
    const runs = (await get('/runs')).items.length;
    await end(demo);
    const again = await begin(t, String(await freePort()), db);
    assert.equal((await again.get('/runs')).items.length, runs);
    await end(again);
});
