/*
 * portarium-credentials.test.mjs - credentials that a workspace stores: they reach its own adapters
 * and nobody else, sealed by the key of the host.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { CONTENT, plane, planeOn, program } from './portarium-rest.mjs';
import { until } from './support/until.mjs';
import { DATABASES } from './universe.mjs';

const VALUE = 'stored-value-9d1f', OTHER = 'another-value-77';
const adapter = (base, portFamily, more) => ({
    schemaVersion: 1, adapterId: `ad-${portFamily}`, providerSlug: 'issue-tracker', portFamily, enabled: true,
    capabilityMatrix: [{ operation: 'ticket:write', requiresAuth: true }],
    binding: { kind: 'http', url: `${base}/${portFamily}`, headers: { Authorization: 'Bearer ${credential}' }, ...more },
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: ['127.0.0.0/8'], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
});
const workflow = (workspaceId, portFamily) => ({
    schemaVersion: 1, workflowId: `wf-${portFamily}`, workspaceId, name: portFamily, version: 1, active: true, executionTier: 'Auto',
    actions: [{ actionId: 'one', order: 1, portFamily, operation: 'ticket:write' }],
});

/** A plane whose two workspaces have adapters in front of a server that repeats what it hears. */
async function begin(context, url, environment = {}) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-credentials-'));
    const heard = [];
    const peer = http.createServer((request, answer) => {
        heard.push(request.headers.authorization);
        answer.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ said: request.headers.authorization }));
    }).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    const base = `http://127.0.0.1:${peer.address().port}`;
    const families = { CustomerSupport: { credential: 'OWN' }, DocumentsEsign: {} };
    const content = {
        workspaces: CONTENT.workspaces.map((one) => ({
            ...one, workflows: Object.keys(families).map((family) => workflow(one.workspaceId, family)),
            adapters: Object.entries(families).map(([family, more]) => adapter(base, family, more)),
        })),
    };
    Object.assign(process.env, environment);
    const server = await planeOn(url, content, '--key-file', path.join(dir, 'key'));
    for (const name of Object.keys(environment))
        delete process.env[name];
    context.after(async () => {
        await server.close();
        peer.close();
        fs.rmSync(dir, { recursive: true, force: true });
    });
    const self = { server, heard, dir };
    self.ask = (method, where, body, workspace = 'ws-1', role = 'admin') =>
        server.ask(method, `/v1/workspaces/${workspace}${where}`, { token: server.token(role, role, workspace), body });
    self.put = async (name, value, workspace) => (await self.ask('PUT', `/credentials/${name}`, { value }, workspace)).status;
    self.run = async (family, workspace) => {
        const made = await self.ask('POST', '/runs', { workflowId: `wf-${family}`, parameters: {} }, workspace, 'operator');
        assert.equal(made.status, 201, made.text);
        return until(async () => {
            const { json } = await self.ask('GET', `/runs/${made.json.runId}?view=full`, undefined, workspace, 'operator');
            return ['Succeeded', 'Failed', 'Paused'].includes(json.status) && json;
        }, 'the end of the run');
    };
    return self;
}

for (const makeDatabase of DATABASES) {
    test(`a workspace's credential is its own, on ${makeDatabase.name}`, async (context) => {
        const db = makeDatabase();
        context.after(() => db.close());
        const self = await begin(context, db.url);
        assert.deepEqual([await self.put('OWN', VALUE), await self.put('ISSUE_TRACKER', OTHER)], [201, 201]);
        assert.equal((await self.run('CustomerSupport')).status, 'Succeeded');
        assert.equal((await self.run('DocumentsEsign')).status, 'Succeeded');
        assert.deepEqual(self.heard.splice(0), [`Bearer ${VALUE}`, `Bearer ${OTHER}`]);

        const foreign = await self.run('CustomerSupport', 'ws-2');
        assert.notEqual(foreign.status, 'Succeeded');
        assert.match(foreign.actions[0].errorMessage, /this host has no credential OWN/);
        assert.deepEqual(self.heard, []);

        assert.equal(await self.put('OWN', OTHER), 200);
        assert.equal((await self.run('CustomerSupport')).status, 'Succeeded');
        assert.deepEqual(self.heard.splice(0), [`Bearer ${OTHER}`]);
        const listed = await self.ask('GET', '/credentials');
        assert.deepEqual(listed.json.items.map(({ name }) => name), ['ISSUE_TRACKER', 'OWN']);
        assert.deepEqual((await self.ask('GET', '/credentials', undefined, 'ws-2')).json.items, []);
        assert.equal((await self.ask('DELETE', '/credentials/OWN', undefined, 'ws-2')).status, 404);
        assert.equal((await self.ask('DELETE', '/credentials/OWN')).status, 204);
        assert.match((await self.run('CustomerSupport')).actions[0].errorMessage, /no credential OWN/);

        const evidence = await self.ask('GET', '/evidence?category=OperatorSurface&limit=200');
        for (const words of ['Credential OWN stored', 'Credential OWN deleted', 'Credential ISSUE_TRACKER stored'])
            assert.ok(evidence.json.items.some(({ summary }) => summary === words), words);
        const texts = [listed.text, evidence.text, (await self.ask('GET', '/runs')).text, self.server.log];
        if (db.sql)
            texts.push(JSON.stringify(db.sql('SELECT json FROM runs')), JSON.stringify(db.sql('SELECT json FROM run_actions')), JSON.stringify(db.sql('SELECT * FROM credentials')));
        for (const text of texts)
            assert.ok(!text.includes(VALUE) && !text.includes(OTHER));
    });
}

test('the command line stores, lists and deletes', async (context) => {
    const self = await begin(context);
    const { server, dir } = self;
    const command = (input, env, ...args) => {
        const done = spawnSync(program, ['credentials', ...args], { input, encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env } });
        assert.ok(!done.stdout.includes(VALUE) && !done.stderr.includes(VALUE));
        return done;
    };
    const here = { PORTARIUM_DATABASE_URL: server.db, PORTARIUM_WORKSPACE_ID: 'ws-1' };
    const there = { PORTARIUM_BASE_URL: server.base, PORTARIUM_TOKEN: server.token('admin', 'admin') };
    assert.equal(command(`${VALUE}\n`, there, 'put', 'OWN').status, 0);
    assert.equal((await self.run('CustomerSupport')).status, 'Succeeded');
    const keyless = command(`${OTHER}\n`, here, 'put', 'OWN');
    assert.notEqual(keyless.status, 0);
    assert.match(keyless.stderr, /key/);
    assert.equal(command(OTHER, here, 'put', 'OWN', '--key-file', path.join(dir, 'key')).status, 0);
    assert.equal((await self.run('CustomerSupport')).status, 'Succeeded');
    assert.deepEqual(self.heard, [`Bearer ${VALUE}`, `Bearer ${OTHER}`]);
    assert.match(command('', here, 'put', 'OWN', '--key-file', path.join(dir, 'key')).stderr, /the value is a line of standard input, which is empty/);
    for (const where of [here, there])
        assert.deepEqual(JSON.parse(command('', where, 'list', '--json').stdout).map(({ name }) => name), ['OWN']);
    assert.equal(command('', there, 'delete', 'OWN').status, 0);
    assert.match(command('', here, 'list').stdout, /^credential +stored\n$|^$/);
    assert.equal(command('', here, 'delete', 'OWN').status, 2);
});

test('a credential of the host comes first', async (context) => {
    const self = await begin(context, undefined, { PORTARIUM_CRED_OWN: 'of-the-host' });
    assert.equal(await self.put('OWN', VALUE), 201);
    assert.equal((await self.run('CustomerSupport')).status, 'Succeeded');
    assert.deepEqual(self.heard, ['Bearer of-the-host']);
});

test('what was sealed with another key is not used', async (context) => {
    const self = await begin(context);
    assert.equal(await self.put('OWN', VALUE), 201);
    await self.server.restart(() => fs.rmSync(path.join(self.dir, 'key')));
    const { status, actions } = await self.run('CustomerSupport');
    assert.notEqual(status, 'Succeeded');
    assert.match(actions[0].errorMessage, /the credential OWN of the workspace was sealed with another key: store it again/);
    assert.deepEqual(self.heard, []);
    assert.equal(await self.put('OWN', VALUE), 200);
    assert.equal((await self.run('CustomerSupport')).status, 'Succeeded');
});

test(async function a_workspace_stores_100_credentials(context) {
    const self = await begin(context);
    for (let i = 0; i < 100; i++)
        assert.equal(await self.put(`C${i}`, VALUE), 201);
    const more = await self.ask('PUT', '/credentials/MORE', { value: VALUE });
    assert.equal(more.status, 409);
    assert.match(more.json.detail, /100 credentials already/);
    assert.equal(await self.put('C7', OTHER), 200);
});

test('bad names and values are refused', async (context) => {
    const self = await begin(context);
    for (const name of ['own', '1A', 'A-B', '_A', 'A'.repeat(65), 'A%20B'])
        assert.equal(await self.put(name, VALUE), 422, name);
    for (const value of ['abc', 'line\nline', 7, undefined, 'x'.repeat(16385)])
        assert.equal(await self.put('OWN', value), 422, String(value));
    assert.equal((await self.ask('PUT', '/credentials/OWN', { value: VALUE }, 'ws-1', 'operator')).status, 403);

    const keyless = await plane(CONTENT);
    context.after(() => keyless.close());
    const refused = await keyless.ask('PUT', '/v1/workspaces/ws-1/credentials/OWN', { token: keyless.token('ada', 'admin'), body: { value: VALUE } });
    assert.equal(refused.status, 501);
    assert.match(refused.json.detail, /key/);
});
