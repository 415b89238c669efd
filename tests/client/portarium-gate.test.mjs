/*
 * portarium-gate.test.mjs - `portarium gate`: the tools of another MCP server with policies,
 * approvals and evidence in front, by the official client. The control plane is in the gate's
 * process, on the database of a served one (SQLite or PostgreSQL), or remote.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { planeOn, program, root } from './portarium-rest.mjs';
import { until } from './support/until.mjs';
import { create as createUniverse, postgres, rest, start as startUniverse, stop as stopUniverse } from './universe.mjs';

const WS = '/v1/workspaces/ws-1';
const MACHINE = {
    machineId: 'm-1', endpointUrl: 'https://m.example.com', active: true, displayName: 'm-1', capabilities: ['agent:task'],
    executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' },
    authConfig: { kind: 'bearer', secretRef: 'M' },
};
const EXPOSURE = {
    schemaVersion: 1, workspaceId: 'ws-1', defaultEffect: 'Allow',
    rules: [{ toolPattern: 'hidden_*', allowedRoles: ['auditor'], minimumTier: 'Auto' }],
    toolClasses: [
        { toolPattern: 'read_*', toolClass: 'ReadOnly' },
        { toolPattern: 'delete_*', toolClass: 'Dangerous' },
        { toolPattern: 'write_*', toolClass: 'Mutation' },
    ],
};

/* A served plane with an agent, and what a gate in front of the upstream needs. @param url of its
 * database; null: a file */
async function setUp(url = null) {
    const self = await planeOn(url);
    const admin = self.token('ada', 'admin');
    self.anna = self.token('anna', 'approver');
    self.effects = path.join(self.dir, 'effects');
    fs.writeFileSync(self.effects, '');
    self.config = path.join(self.dir, 'host.toml');
    fs.writeFileSync(self.config, `[mcp.notes]
command = [${JSON.stringify(process.execPath)}, ${JSON.stringify(path.join(root, 'tests/client/support/gated-server.mjs'))}]
environment = ["EFFECTS=${self.effects}"]
readable = ["/"]
writable = ["${self.dir}"]
network = true
memory_mb = 0
`, { mode: 0o600 });
    const done = async (method, where, body) => {
        const answer = await self.ask(method, WS + where, { token: admin, body });
        assert.ok(answer.status < 300, `${where}: ${answer.text}`);
    };
    await done('POST', '/machines', MACHINE);
    await done('POST', '/agents', {
        schemaVersion: 1, agentId: 'agent-1', machineId: 'm-1', displayName: 'Agent', capabilities: ['agent:task'], policyTier: 'HumanApprove',
        allowedTools: [], workspaceId: 'ws-1', registeredAtIso: '2026-01-01T00:00:00.000Z',
    });
    await done('PUT', '/tool-exposure', EXPOSURE);
    const made = spawnSync(program, ['tokens', 'create', '--db', self.db, '--workspace', 'ws-1', '--subject', 'agent-1', '--roles', 'operator',
        '--agent', 'agent-1', '--owner', 'otto'], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    self.agent = made.stdout.trim();
    self.count = (tool) => fs.readFileSync(self.effects, 'utf8').split('\n').filter((line) => line.startsWith(`${tool} `)).length;
    self.approvals = async (status) => {
        const answer = await self.ask('GET', `${WS}/approvals?status=${status}`, { token: admin });
        assert.equal(answer.status, 200, answer.text);
        return answer.json.items;
    };
    self.decide = async (id, decision = 'Approved') => {
        const answer = await self.ask('POST', `${WS}/approvals/${id}/decide`, { token: self.anna, body: { decision, rationale: 'looked at it' } });
        assert.equal(answer.status, 200, answer.text);
    };
    /* The one approval that waits; it is decided. */
    self.decideNext = async (decision) => {
        let waiting = [];
        await until(async () => (waiting = await self.approvals('Pending')).length === 1, 'an approval');
        await self.decide(waiting[0].approvalId, decision);
        return waiting[0];
    };
    self.admin = admin;
    /* What a failed test left open would keep the process of the tests. */
    self.opened = [];
    const close = self.close;
    self.close = async () => {
        for (const one of self.opened)
            await one.close();
        await close();
    };
    return self;
}

async function gate(self, where, ...args) {
    const client = new Client({ name: 'test', version: '1' });
    const to = where === 'here' ? ['--db', self.db] : ['--base-url', self.base, '--agent', 'agent-1'];
    const transport = new StdioClientTransport({
        command: program, args: ['gate', '--workspace', 'ws-1', '--config', self.config, '--upstream', 'notes', ...to, ...args], stderr: 'pipe',
        env: { ...process.env, PORTARIUM_TOKEN: self.agent },
    });
    self.opened.push(client);
    client.log = '';
    transport.stderr.on('data', (text) => { client.log += text; });
    client.changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => { client.changes++; });
    await client.connect(transport);
    assert.ok((await client.listTools()).tools.length > 0, `the first list has the tools of the upstream; ${client.log}`);
    client.pid = transport.pid;
    return client;
}

/* A line to the plane that can be cut, that passes each answer `delay` milliseconds late, and that
 * breaks instead of passing the answer of a request that `loses` matches. */
async function switched({ base, opened }) {
    const self = { refused: 0, lost: 0, is_cut: false, delay: 0, loses: null, sockets: new Set() };
    const server = net.createServer((socket) => {
        if (self.is_cut) {
            self.refused++;
            socket.destroy();
            return;
        }
        const there = net.connect(Number(new URL(base).port), '127.0.0.1');
        let isLast = false;
        for (const one of [socket, there]) {
            self.sockets.add(one);
            one.on('error', () => {});
            one.on('close', () => setTimeout(() => { socket.destroy(); there.destroy(); }, self.delay));
        }
        socket.on('data', (text) => {
            isLast ||= self.loses?.test(text) ?? false;
            there.write(text);
        });
        there.on('data', (text) => {
            if (!isLast) {
                setTimeout(() => socket.writable && socket.write(text), self.delay);
                return;
            }
            self.lost++;
            self.onLost();
            socket.destroy();
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    self.base = `http://127.0.0.1:${server.address().port}`;
    self.cut = () => { self.is_cut = true; self.sockets.forEach((socket) => socket.destroy()); };
    self.mend = () => { self.is_cut = false; };
    self.close = () => { self.cut(); server.close(); };
    opened.push(self);
    return self;
}

const call = (client, name, args = {}) => client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
const record = (result) => {
    assert.equal(result.isError, true, JSON.stringify(result));
    return JSON.parse(result.content[0].text);
};

for (const [where, makeDatabase] of [['here'], ['remote'], ['here', postgres]]) {
    describe(`the plane is ${where}${makeDatabase ? ', on PostgreSQL' : ''}`, () => {
        let self, client, db;
        before(async () => {
            db = makeDatabase?.();
            self = await setUp(db?.url);
            client = await gate(self, where);
        });
        after(async () => {
            await client?.close();
            await self?.close();
            db?.close();
        });

        test('tools are listed as the upstream has them; one that no server can serve is left out', async () => {
            const { tools } = await client.listTools();
            const read = tools.find(({ name }) => name === 'read_note');
            assert.deepEqual([read.title, read.description, read.annotations], ['Read', 'Reads.', { readOnlyHint: true }]);
            const names = tools.map(({ name }) => name);
            for (const [name, why] of [['read_broken', /no such type|type/], ['read-note', /safe name/], ['read_as_task', /as a task/]]) {
                assert.ok(!names.includes(name), name);
                assert.match(client.log, new RegExp(`the tool ${name} is left out: .*${why.source}`));
            }
            assert.deepEqual(tools.find(({ name }) => name === 'read_progress')._meta, { own: 1 });
            const bare = tools.find(({ name }) => name === 'read_null'); /* with null members */
            assert.deepEqual(Object.keys(bare).filter(member => bare[member] === null), []);
            assert.deepEqual(bare.annotations, { readOnlyHint: true });
        });

        test('what policies allow is performed at once, each time, with evidence of arguments and result', async () => {
            for (let i = 0; i < 2; i++) {
                const result = await call(client, 'read_note', { text: 'a' });
                assert.deepEqual(result.content, [{ type: 'text', text: 'read_note: a' }, { type: 'image', data: 'iVBORw==', mimeType: 'image/png' }]);
            }
            assert.equal(self.count('read_note'), 2);
            const { json } = await self.ask('GET', `${WS}/evidence?category=Action&limit=200`, { token: self.admin });
            const entries = json.items.filter(({ summary }) => /^Call of read_note by agent agent-1: executed/.test(summary));
            assert.equal(entries.length, 2);
            assert.equal(entries[0].payloadRefs.length, 2);
            for (const { sha256 } of entries[0].payloadRefs)
                assert.match(sha256, /^[0-9a-f]{64}$/);
        });

        test('a structured result is handed on; one against its schema is an unknown outcome', async () => {
            assert.deepEqual((await call(client, 'read_sum')).structuredContent, { sum: 3 });
            assert.equal(record(await call(client, 'read_wrong')).error, 'unknown-outcome');
        });

        test('the upstream gets the trace of the call, with the span of the gate', async () => {
            const trace = '0af7651916cd43dd8448eb211c80319c', parent = 'b7ad6b7169203331';
            await client.callTool({ name: 'read_sum', arguments: {}, _meta: { traceparent: `00-${trace}-${parent}-01` } });
            const line = fs.readFileSync(self.effects, 'utf8').trimEnd().split('\n').at(-1);
            assert.match(line, new RegExp(`^read_sum .* 00-${trace}-(?!${parent})[0-9a-f]{16}-01$`));
        });

        test('a block of content without its text is an unknown outcome', async () => {
            const refused = record(await call(client, 'read_untyped'));
            assert.deepEqual([refused.error, refused.detail], ['unknown-outcome', 'content block 0 of its result is invalid']);
        });

        test('an error of the tool stays one', async () => {
            const result = await call(client, 'read_failing');
            assert.deepEqual([result.isError, result.content[0].text], [true, 'no such note']);
        });

        test('what is denied is refused with the reason, and nothing happens', async () => {
            const refused = record(await call(client, 'delete_all'));
            assert.equal(refused.error, 'denied');
            assert.match(refused.rationale, /Dangerous/);
            assert.equal(self.count('delete_all'), 0);
        });

        test('a call waits for a person, is performed once, and its result is given again', async () => {
            const waiting = call(client, 'write_note', { text: 'b' });
            const { approvalId, subject } = await self.decideNext();
            assert.deepEqual(subject.input, { text: 'b' });
            assert.equal((await waiting).content[0].text, 'write_note: b');
            assert.equal((await call(client, 'write_note', { text: 'b' })).content[0].text, 'write_note: b');
            assert.equal(self.count('write_note'), 1);
            assert.equal((await self.ask('GET', `${WS}/approvals/${approvalId}`, { token: self.admin })).json.status, 'Executed');
        });

        test('the same arguments in another order are the same call; others are another one', async () => {
            const first = call(client, 'write_note', { text: 'c', n: 1 });
            await self.decideNext();
            await first;
            assert.equal((await call(client, 'write_note', { n: 1, text: 'c' })).content[0].text, 'write_note: c');
            const other = call(client, 'write_note', { text: 'c', n: 2 });
            await self.decideNext('Denied');
            const refused = record(await other);
            assert.deepEqual([refused.error, refused.status, refused.rationale], ['not-approved', 'Denied', 'looked at it']);
            assert.equal(record(await call(client, 'write_note', { text: 'c', n: 2 })).status, 'Denied');
        });

        test('changes that are asked for are a refusal with the rationale', async () => {
            const waiting = call(client, 'write_note', { text: 'd' });
            await self.decideNext('RequestChanges');
            assert.equal(record(await waiting).status, 'RequestChanges');
        });

        test('a call that waits for a decision is answered when the gate is stopped', async () => {
            const other = await gate(self, where, '--wait', '600');
            const waiting = call(other, 'write_note', { text: 'stopped' });
            await until(async () => (await self.approvals('Pending')).length === 1, 'an approval');
            process.kill(other.pid, 'SIGTERM');
            assert.equal(record(await waiting).status, 'Pending');
            await other.close();
            const again = call(client, 'write_note', { text: 'stopped' });
            await self.decideNext();
            assert.equal((await again).content[0].text, 'write_note: stopped');
        });

        test('two gates with the same call at once execute it once', async () => {
            const other = await gate(self, where);
            const both = [call(client, 'write_note', { text: 'twice' }), call(other, 'write_note', { text: 'twice' })];
            await self.decideNext();
            for (const result of await Promise.all(both))
                assert.equal(result.content[0].text, 'write_note: twice');
            assert.equal(fs.readFileSync(self.effects, 'utf8').split('\n').filter((line) => line.includes('"twice"')).length, 1);
            await other.close();
        });

        test(async function a_message_of_an_upstream_has_16_mib() {
            assert.equal(record(await call(client, 'read_huge')).error, 'unknown-outcome');
        });

        test(async function a_text_of_more_than_64_kib_is_not_kept() {
            const waiting = call(client, 'write_large');
            await self.decideNext();
            assert.equal((await waiting).content[0].text.length, 64 * 2 ** 10 + 1);
            const again = record(await call(client, 'write_large'));
            assert.deepEqual([again.error, again.status], ['result-not-kept', 'Executed']);
            assert.equal(self.count('write_large'), 1);
        });

        test('exposure hides tools of the upstream, which cannot be called then', async () => {
            const names = async () => (await client.listTools()).tools.map(({ name }) => name);
            const put = (rules) => self.ask('PUT', `${WS}/tool-exposure`, { token: self.admin, body: { ...EXPOSURE, rules } });
            assert.ok((await names()).includes('read_rich'));
            let changes = client.changes;
            assert.equal((await put([{ toolPattern: 'read_rich', allowedRoles: ['auditor'], minimumTier: 'Auto' }])).status, 200);
            await until(() => client.changes > changes, 'the notification that a tool is hidden');
            assert.ok(!(await names()).includes('read_rich'));
            await assert.rejects(call(client, 'read_rich'), { code: -32602 });
            assert.equal(self.count('read_rich'), 0);
            changes = client.changes;
            assert.equal((await put(EXPOSURE.rules)).status, 200);
            await until(() => client.changes > changes, 'the notification that a tool is shown');
            assert.ok((await names()).includes('read_rich'));
        });

        test('a result arrives as the upstream gave it, an error too', async () => {
            const rich = {
                content: [{ type: 'text', text: 'three' }, { type: 'resource', resource: { uri: 'x://1', text: 'one' } }],
                structuredContent: { n: 3, list: [null, 1.5] }, _meta: { 'example.com/trace': 't-1' },
            };
            assert.deepEqual(await call(client, 'read_rich'), rich);
            assert.deepEqual(await call(client, 'read_rich_failing'), { ...rich, isError: true });
        });

        test('progress is passed on, also without a total', async () => {
            const seen = [];
            const called = client.callTool({ name: 'read_progress', arguments: {} }, undefined, { timeout: 120_000, onprogress: (report) => seen.push(report) });
            await until(() => seen.at(-1)?.progress === 2, 'both reports');
            fs.writeFileSync(`${self.effects}.seen`, '');
            assert.equal((await called).content[0].text, 'progressed');
            assert.deepEqual(seen.at(-1), { progress: 2 });
        });

        test('secret arguments reach the upstream, and nothing that the plane stores', async () => {
            const secret = `canary-${where}-5b1f`;
            const given = { user: 'otto', login: { pin: secret } };
            const waiting = call(client, 'write_secret', given);
            const { subject } = await self.decideNext();
            assert.deepEqual(subject.input, { user: 'otto', login: { pin: '[REDACTED]' } });
            assert.equal((await waiting).content[0].text, `otto ${secret}`);
            assert.equal((await call(client, 'write_secret', given)).content[0].text, 'otto [REDACTED]');
            assert.equal(self.count('write_secret'), 1);
            /* Another secret is another call. */
            const other = call(client, 'write_secret', { user: 'otto', login: { pin: 'another one' } });
            await self.decideNext('Denied');
            assert.equal(record(await other).status, 'Denied');
            for (const file of fs.readdirSync(self.dir).filter((name) => name.startsWith('p.db')))
                assert.ok(!fs.readFileSync(path.join(self.dir, file)).includes(secret), file);
            const tables = db?.sql("SELECT tablename, query_to_xml(format('SELECT * FROM %I', tablename), true, false, '')::text AS rows FROM pg_tables WHERE schemaname = 'public'");
            assert.ok(!db || tables.some(({ rows }) => rows.includes('write_secret')));
            for (const { tablename, rows } of tables ?? [])
                assert.ok(!rows.includes(secret), tablename);
            assert.ok(!self.log.includes(secret) && !client.log.includes(secret));
        });

        test('a client that cancels a call that is being performed finds its result', async () => {
            const stop = new AbortController();
            const given = { text: where };
            const cancelled = client.callTool({ name: 'write_slow', arguments: given }, undefined, { timeout: 120_000, signal: stop.signal });
            const { approvalId } = await self.decideNext();
            await until(() => self.count('write_slow') === 1, 'the call to arrive');
            stop.abort();
            await assert.rejects(cancelled);
            fs.writeFileSync(`${self.effects}.go`, '');
            await until(async () => (await self.ask('GET', `${WS}/approvals/${approvalId}`, { token: self.admin })).json.status === 'Executed', 'the end');
            assert.equal((await call(client, 'write_slow', given)).content[0].text, 'slow');
            assert.equal(self.count('write_slow'), 1);
        });

        test('a call that its client has cancelled before a person approves is not performed', async () => {
            const stop = new AbortController();
            const given = { text: 'cancelled' };
            const cancelled = client.callTool({ name: 'write_note', arguments: given }, undefined, { timeout: 120_000, signal: stop.signal });
            let waiting = [];
            await until(async () => (waiting = await self.approvals('Pending')).length === 1, 'an approval');
            stop.abort();
            await assert.rejects(cancelled);
            await call(client, 'read_note', { text: 'after' });
            await self.decide(waiting[0].approvalId);
            const before = self.count('write_note');
            assert.equal((await call(client, 'write_note', given)).content[0].text, 'write_note: cancelled');
            assert.equal(self.count('write_note'), before + 1);
        });

        test('an upstream that dies leaves the approval Executing, until a person says how it ended', async () => {
            const waiting = call(client, 'write_dying');
            const { approvalId } = await self.decideNext();
            const refused = record(await waiting);
            assert.deepEqual([refused.error, refused.status], ['unknown-outcome', 'Executing']);
            assert.equal((await self.ask('GET', `${WS}/approvals/${approvalId}`, { token: self.admin })).json.status, 'Executing');
            const claim = await self.ask('POST', `${WS}/agent-actions/${approvalId}/execute`, { token: self.admin, body: { flowRef: 'write_dying' } });
            assert.deepEqual([claim.status, claim.json.claimed], [200, false]);
            const ended = await self.ask('POST', `${WS}/agent-actions/${approvalId}/complete`,
                { token: self.admin, body: { executionId: claim.json.executionId, outcome: 'failed', errorMessage: 'it never arrived' } });
            assert.equal(ended.status, 200, ended.text);
            assert.equal(record(await call(client, 'write_dying')).detail, 'it never arrived');
            assert.equal(self.count('write_dying'), 1);
            /* The upstream is started again. */
            assert.equal((await call(client, 'read_note', { text: 'again' })).content[0].text, 'read_note: again');
        });

        test('changes of the upstream’s tools are passed on', async () => {
            await call(client, 'read_more');
            await until(async () => (await client.listTools()).tools.some(({ name }) => name === 'read_new'), 'the new tool');
            await until(() => client.changes > 0, 'the notification');
            assert.equal((await call(client, 'read_new', { text: 'n' })).content[0].text, 'read_new: n');
        });
    });
}

describe('a gate of its own', () => {
    let self;
    before(async () => { self = await setUp(); });
    after(() => self.close());

    test('without a decision in time the call says so; later the same call executes', async () => {
        const client = await gate(self, 'here', '--wait', '0');
        const refused = record(await call(client, 'write_note', { text: 'late' }));
        assert.deepEqual([refused.status, refused.retry], ['Pending', 'the same call']);
        assert.equal(record(await call(client, 'write_note', { text: 'late' })).approvalId, refused.approvalId);
        await self.decide(refused.approvalId);
        assert.equal((await call(client, 'write_note', { text: 'late' })).content[0].text, 'write_note: late');
        await client.close();
    });

    test('a plane that judges slowly hides no tool that it has shown', async () => {
        const line = await switched(self);
        line.delay = 1200;
        const client = await gate({ ...self, base: line.base }, 'remote');
        const { tools } = await client.listTools();
        for (const end = Date.now() + 4000; Date.now() < end; await new Promise((resolve) => { setTimeout(resolve, 20); }))
            assert.deepEqual((await client.listTools()).tools, tools);
        await client.close();
        line.close();
    });

    test('the end of a call is reported when the plane answers again', async () => {
        const line = await switched(self);
        const client = await gate({ ...self, base: line.base }, 'remote');
        const waiting = call(client, 'write_slow', { text: 'cut' });
        const { approvalId } = await self.decideNext();
        await until(() => self.count('write_slow') === 1, 'the call to arrive');
        line.cut();
        fs.writeFileSync(`${self.effects}.go`, '');
        await until(() => line.refused > 0, 'a report that fails');
        line.mend();
        assert.equal((await waiting).content[0].text, 'slow');
        assert.equal((await self.ask('GET', `${WS}/approvals/${approvalId}`, { token: self.admin })).json.status, 'Executed');
        await client.close();
        line.close();
    });

    test('an answer to the claim that is lost is asked for again, and the call performed once', async () => {
        const line = await switched(self);
        const client = await gate({ ...self, base: line.base }, 'remote');
        const before = self.count('write_note');
        line.loses = /^POST \S+\/execute HTTP/;
        line.onLost = () => { line.loses = null; };
        const waiting = call(client, 'write_note', { text: 'lost' });
        const { approvalId } = await self.decideNext();
        assert.equal((await waiting).content[0].text, 'write_note: lost');
        assert.deepEqual([line.lost, self.count('write_note') - before], [1, 1]);
        assert.equal((await self.ask('GET', `${WS}/approvals/${approvalId}`, { token: self.admin })).json.status, 'Executed');
        await client.close();
        line.close();
    });

    /* A person sees what nobody ended, and says how it ended. */
    const endExecuting = async (approvalId, outcome) => {
        assert.deepEqual((await self.approvals('Executing')).map((one) => one.approvalId), [approvalId]);
        const claim = await self.ask('POST', `${WS}/agent-actions/${approvalId}/execute`, { token: self.admin, body: { flowRef: 'write_slow' } });
        assert.deepEqual([claim.status, claim.json.claimed], [200, false], claim.text);
        const ended = await self.ask('POST', `${WS}/agent-actions/${approvalId}/complete`, { token: self.admin, body: { executionId: claim.json.executionId, outcome } });
        assert.equal(ended.status, 200, ended.text);
    };

    test('a claim whose answer never comes performs nothing; a person releases it', async () => {
        const line = await switched(self);
        const client = await gate({ ...self, base: line.base }, 'remote', '--wait', '2');
        const before = self.count('write_slow'), given = { text: 'unclaimed' };
        line.loses = /^POST \S+\/execute HTTP/;
        line.onLost = () => line.cut();
        const waiting = call(client, 'write_slow', given);
        const { approvalId } = await self.decideNext();
        assert.equal(record(await waiting).error, 'dependency-failure');
        line.mend();
        line.loses = null;
        const refused = record(await call(client, 'write_slow', given));
        assert.deepEqual([refused.approvalId, refused.status], [approvalId, 'Executing']);
        assert.equal(self.count('write_slow'), before);
        await endExecuting(approvalId, 'released');
        fs.writeFileSync(`${self.effects}.go`, '');
        assert.equal((await call(client, 'write_slow', given)).content[0].text, 'slow');
        assert.equal(self.count('write_slow'), before + 1);
        await client.close();
        line.close();
    });

    test('a plane that is away for longer than the report leaves an approval for a person; the call is not repeated', async () => {
        const line = await switched(self);
        const client = await gate({ ...self, base: line.base }, 'remote', '--wait', '2');
        const before = self.count('write_slow'), given = { text: 'away' };
        fs.rmSync(`${self.effects}.go`, { force: true });
        const waiting = call(client, 'write_slow', given);
        const { approvalId } = await self.decideNext();
        await until(() => self.count('write_slow') === before + 1, 'the call to arrive');
        line.cut();
        fs.writeFileSync(`${self.effects}.go`, '');
        assert.equal((await waiting).content[0].text, 'slow');
        assert.match(client.log, /the end of a call of write_slow is not recorded/);
        line.mend();
        const refused = record(await call(client, 'write_slow', given));
        assert.deepEqual([refused.approvalId, refused.status], [approvalId, 'Executing']);
        await endExecuting(approvalId, 'executed');
        assert.equal(record(await call(client, 'write_slow', given)).error, 'result-not-kept');
        assert.equal(self.count('write_slow'), before + 1);
        await client.close();
        line.close();
    });

    test('a token that is revoked while the gate runs calls nothing', async () => {
        const tokens = (...args) => {
            const done = spawnSync(program, ['tokens', ...args, '--db', self.db, '--workspace', 'ws-1', '--json'], { encoding: 'utf8' });
            assert.equal(done.status, 0, done.stderr);
            return done.stdout;
        };
        const made = JSON.parse(tokens('create', '--subject', 'agent-1', '--roles', 'operator', '--agent', 'agent-1', '--owner', 'otto'));
        const client = await gate({ ...self, agent: made.token }, 'here');
        assert.ok(!(await call(client, 'read_note', { text: 'valid' })).isError);
        tokens('revoke', made.id);
        assert.equal(record(await call(client, 'read_note', { text: 'revoked' })).error, 'unauthorized');
        assert.ok(!fs.readFileSync(self.effects, 'utf8').includes('"revoked"'));
        await client.close();
    });

    test('an upstream that hangs ends the call in time', async () => {
        const client = await gate(self, 'here', '--call-timeout', '1');
        assert.equal(record(await call(client, 'read_hanging')).error, 'unknown-outcome');
        await client.close();
    });

    test('a gate that is killed while it executes leaves the approval Executing; no other gate repeats the call', async () => {
        const client = await gate(self, 'here');
        await self.ask('PUT', `${WS}/tool-exposure`, { token: self.admin, body: { ...EXPOSURE, toolClasses: [{ toolPattern: 'read_hanging', toolClass: 'Mutation' }] } });
        const waiting = call(client, 'read_hanging', { text: 'kill' }).catch(() => null);
        const { approvalId } = await self.decideNext();
        await until(() => fs.readFileSync(self.effects, 'utf8').includes('"kill"'), 'the call to arrive');
        process.kill(client.pid, 'SIGKILL');
        await waiting;
        const next = await gate(self, 'here', '--wait', '1');
        const refused = record(await call(next, 'read_hanging', { text: 'kill' }));
        assert.deepEqual([refused.approvalId, refused.status], [approvalId, 'Executing']);
        assert.equal(fs.readFileSync(self.effects, 'utf8').split('\n').filter((line) => line.includes('"kill"')).length, 1);
        await next.close();
        await self.ask('PUT', `${WS}/tool-exposure`, { token: self.admin, body: EXPOSURE });
    });

    test('a frozen workspace executes nothing, and policies of the exposure hide tools', async () => {
        const client = await gate(self, 'here', '--wait', '0');
        const refused = record(await call(client, 'write_note', { text: 'frozen' }));
        await self.decide(refused.approvalId);
        const freeze = (how) => self.ask('POST', `${WS}/${how}`, { token: self.admin, body: { rationale: 'for the test' } });
        assert.equal((await freeze('freeze')).status, 200);
        assert.match(record(await call(client, 'write_note', { text: 'frozen' })).detail, /frozen/);
        assert.equal((await freeze('unfreeze')).status, 200);
        assert.equal((await call(client, 'write_note', { text: 'frozen' })).content[0].text, 'write_note: frozen');
        const rules = [{ toolPattern: 'write_*', allowedRoles: ['auditor'], minimumTier: 'Auto' }];
        await self.ask('PUT', `${WS}/tool-exposure`, { token: self.admin, body: { ...EXPOSURE, rules } });
        await until(async () => !(await client.listTools()).tools.some(({ name }) => name === 'write_note'), 'the tool to be hidden');
        await assert.rejects(call(client, 'write_note', { text: 'hidden' }), { code: -32602 });
        assert.ok(!fs.readFileSync(self.effects, 'utf8').includes('"hidden"'));
        await client.close();
    });

    test('several upstreams, one by its URL, have prefixes; a tool may be called as a task', async () => {
        const sdk = spawn(process.execPath, [path.join(root, 'tests/client/support/sdk-server.mjs'), 'http'], { stdio: ['pipe', 'pipe', 'inherit'] });
        const [port] = await once(sdk.stdout, 'data');
        fs.appendFileSync(self.config, `[mcp.sdk]\nurl = "http://127.0.0.1:${String(port).trim()}/mcp"\n`);
        const client = await gate(self, 'here', '--upstream', 'sdk', '--wait', '0');
        let names = [];
        await until(async () => (names = (await client.listTools()).tools.map(({ name }) => name)).includes('sdk__greet'), 'the tools of both');
        assert.ok(names.includes('notes__read_note'));
        const refused = record(await call(client, 'sdk__greet', { text: 'you' }));
        await self.decide(refused.approvalId);
        const results = [];
        for await (const message of client.experimental.tasks.callToolStream({ name: 'sdk__greet', arguments: { text: 'you' } }, CallToolResultSchema, { task: { ttl: 60_000 } }))
            if (message.type === 'result')
                results.push(message.result.content[0].text);
        assert.deepEqual(results, ['hello you']);
        await client.close();
        sdk.kill();
    });

    test('an upstream that repeats the token of its connection shows it to nobody', async () => {
        const secret = 'upstream-token-4711';
        const upstream = http.createServer(async (request, answer) => {
            let text = '';
            for await (const part of request)
                text += part;
            const message = text ? JSON.parse(text) : {};
            const results = {
                initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'echoing', version: '1' } },
                'tools/list': { tools: ['read_echo', 'read_headers'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
            };
            if (message.params?.name === 'read_headers')
                results['tools/call'] = { content: [{ type: 'text', text: JSON.stringify(request.headers) }], structuredContent: { got: request.headers.authorization } };
            if (request.method !== 'POST' || message.id === undefined) {
                answer.writeHead(request.method === 'POST' ? 202 : 405).end();
                return;
            }
            const end = results[message.method] ? { result: results[message.method] }
                : { error: { code: -32602, message: `bad header ${request.headers.authorization}` } };
            answer.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...end }));
        }).listen(0, '127.0.0.1');
        await once(upstream, 'listening');
        fs.appendFileSync(self.config, `[mcp.echoing]\nurl = "http://127.0.0.1:${upstream.address().port}/mcp"\ncredential = "ECHO"\n`);
        process.env.PORTARIUM_CRED_ECHO = secret;
        const client = await gate(self, 'here', '--upstream', 'echoing', '--wait', '0');
        delete process.env.PORTARIUM_CRED_ECHO;
        await until(async () => (await client.listTools()).tools.some(({ name }) => name === 'echoing__read_echo'), 'its tool');
        await self.decide(record(await call(client, 'echoing__read_echo', {})).approvalId);
        const refused = JSON.stringify(await call(client, 'echoing__read_echo', {}));
        assert.match(refused, /bad header Bearer \[REDACTED\]/);
        const evidence = await self.ask('GET', `${WS}/evidence?limit=200`, { token: self.admin });
        assert.equal(evidence.status, 200);
        await self.decide(record(await call(client, 'echoing__read_headers', {})).approvalId);
        const results = [await call(client, 'echoing__read_headers', {}), await call(client, 'echoing__read_headers', {})];
        assert.deepEqual(results.map(({ structuredContent }) => structuredContent.got), ['Bearer [REDACTED]', 'Bearer [REDACTED]']);
        assert.ok(![refused, JSON.stringify(results), evidence.text, client.log].some((text) => text.includes(secret)));
        await client.close();
        upstream.close();
        upstream.closeAllConnections();
    });

    test('the example: stars of a running universe, behind the gate', async (t) => {
        const example = path.join(root, 'examples', 'portarium');
        const db = `sqlite:${path.join(self.dir, 'example.db')}`;
        const config = path.join(self.dir, 'example.toml');
        const cli = (...args) => {
            const done = spawnSync(program, [...args, '--db', db], { encoding: 'utf8' });
            assert.equal(done.status, 0, done.stderr);
            return done.stdout.trim();
        };
        const stars = await startUniverse('memory');
        t.after(() => stars.child.kill('SIGKILL'));
        await createUniverse(stars, 'sky');
        fs.writeFileSync(config, fs.readFileSync(path.join(example, 'host.toml'), 'utf8').replace('http://127.0.0.1:3001/mcp', `${stars.base}/mcp`), { mode: 0o600 });
        cli('admin', 'apply', path.join(example, 'gate.json'));
        /* Once more: all is as it was. */
        assert.match(cli('admin', 'apply', path.join(example, 'gate.json')), /^0 created, 0 changed, 4 unchanged/);
        const token = cli('tokens', 'create', '--workspace', 'ws-stars', '--subject', 'astronomer', '--agent', 'astronomer', '--owner', 'otto');
        const transport = new StdioClientTransport({
            command: program, args: ['gate', '--db', db, '--config', config, '--upstream', 'stars', '--wait', '0'], stderr: 'inherit',
            env: { ...process.env, PORTARIUM_TOKEN: token },
        });
        const client = new Client({ name: 'test', version: '1' });
        t.after(() => client.close());
        await client.connect(transport);
        assert.deepEqual((await client.listTools()).tools.map(({ name }) => name).sort(), ['get_universe_state', 'list_universe_commands', 'send_universe_command']);
        assert.ok(!(await call(client, 'get_universe_state', { universeId: 'sky' })).isError);
        const replace = { universeId: 'sky', command: { type: 'replaceSnapshot', state: {} } };
        const denied = record(await call(client, 'send_universe_command', replace));
        assert.deepEqual([denied.policyId, denied.ruleId], ['keep-the-stars', 'replace-snapshot']);
        const tick = { universeId: 'sky', command: { type: 'tick' } };
        const { approvalId } = record(await call(client, 'send_universe_command', tick));
        const served = spawn(program, ['serve', '--db', db, '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
        t.after(() => served.kill('SIGKILL'));
        let log = '';
        served.stderr.setEncoding('utf8').on('data', (text) => { log += text; });
        await until(() => /serving (http:\S+)\n/.test(log), 'the cockpit');
        const anna = cli('tokens', 'create', '--workspace', 'ws-stars', '--subject', 'anna', '--roles', 'approver');
        const decided = await fetch(`${new URL(/serving (http:\S+)\n/.exec(log)[1]).origin}/v1/workspaces/ws-stars/approvals/${approvalId}/decide`, {
            method: 'POST', headers: { Authorization: `Bearer ${anna}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ decision: 'Approved', rationale: 'time passes' }),
        });
        assert.equal(decided.status, 200);
        for (let i = 0; i < 2; i++)
            assert.ok(!(await call(client, 'send_universe_command', tick)).isError);
        assert.equal((await rest(stars, 'GET', '/universes/sky')).json.version, 1);
        await client.close();
        const gone = once(served, 'exit');
        served.kill('SIGTERM');
        await gone;
        await stopUniverse(stars);
    });

    test(async function a_gate_has_32_upstreams() {
        const many = Array.from({ length: 33 }, (_, i) => ['--upstream', `u${i}`]).flat();
        const done = spawnSync(program, ['gate', '--db', self.db, '--config', self.config, ...many], { encoding: 'utf8', input: '', env: { ...process.env, PORTARIUM_TOKEN: self.agent } });
        assert.notEqual(done.status, 0);
        assert.match(done.stderr, /at most 32/);
    });

    test('what is missing is named', () => {
        const refused = (env, ...args) => {
            const done = spawnSync(program, ['gate', '--db', self.db, ...args], { encoding: 'utf8', input: '', env: { ...process.env, ...env } });
            assert.notEqual(done.status, 0);
            return done.stderr;
        };
        const token = { PORTARIUM_TOKEN: self.agent };
        assert.match(refused(token), /--upstream/);
        assert.match(refused(token, '--upstream', 'notes'), /no upstream notes: the file of --config/);
        assert.match(refused(token, '--config', self.config, '--upstream', 'other'), /\[mcp\.other\]/);
        assert.match(refused({}, '--config', self.config, '--upstream', 'notes'), /--agent/);
        assert.match(refused(token, '--config', self.config, '--upstream', 'notes', '--upstream', 'notes'), /twice/);
        fs.appendFileSync(self.config, '[mcp.far]\nurl = "http://far.example/mcp"\ncredential = "FAR"\n[mcp."no-tes"]\ncommand = ["x"]\n[mcp."no.tes"]\ncommand = ["x"]\n[mcp.no__tes]\ncommand = ["x"]\n');
        assert.match(refused({ ...token, PORTARIUM_CRED_FAR: 'a token' }, '--config', self.config, '--upstream', 'far'), /https only/);
        assert.match(refused(token, '--config', self.config, '--upstream', 'far'), /credential FAR/);
        assert.match(refused(token, '--config', self.config, '--upstream', 'no-tes', '--upstream', 'no.tes'), /same prefix/);
        assert.match(refused(token, '--config', self.config, '--upstream', 'notes', '--upstream', 'no__tes'), /__/);
    });
});
