/*
 * portarium.test.mjs - the seven tools: the six expectations of the contract by their numbers, with
 * the official client over each transport and on each database, in the revision of the contract;
 * the exposure of tools; the client of a remote plane.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { plane, planeOn, program } from './portarium-rest.mjs';
import { TRANSPORTS, call, connect, failure } from './support/portarium-clients.mjs';
import { until } from './support/until.mjs';
import { DATABASES } from './universe.mjs';

const NAMES = ['portarium_run_start', 'portarium_run_get', 'portarium_run_cancel', 'portarium_work_items_list',
    'portarium_approval_submit', 'portarium_agent_register', 'portarium_agent_heartbeat'];
const WS = { workspaceId: 'ws-1' };
const MACHINE = {
    machineId: 'm-1', endpointUrl: 'https://m.example.com', active: true, displayName: 'm-1', capabilities: ['agent:task', 'notify'],
    executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' },
    authConfig: { kind: 'bearer', secretRef: 'CANARY_SECRET' },
};
const SEED = ['--revision', '2024-11-05'];

/** The six expectations, over one transport. @param self() the plane */
function contract(kind, self) {
    describe(`the contract, 2024-11-05, over ${kind}`, () => {
        let client, approver;

        before(async () => {
            client = await connect(kind, self(), self().token('otto', 'operator'), ...SEED);
            approver = await connect(kind, self(), self().token('anna', 'approver'), ...SEED);
        });
        after(async () => {
            await client?.close();
            await approver?.close();
        });

        test('1: initialize returns server info', () => {
            assert.deepEqual(client.getServerVersion(), { name: 'portarium-mcp-server', version: '1.0.0' });
            assert.deepEqual(client.getServerCapabilities(), { tools: {} });
        });

        test('2: tools/list returns all seven tools', async () => {
            const { tools } = await client.listTools();
            assert.deepEqual(tools.map(({ name }) => name), NAMES);
            for (const tool of tools)
                assert.deepEqual(Object.keys(tool).sort(), ['description', 'inputSchema', 'name']);
        });

        test('3: each tool dispatches to its operation', async () => {
            const run = await call(client, 'portarium_run_start', { ...WS, workflowId: 'wf-gate', input: { target: 'x' } });
            assert.equal(run.initiatedByUserId, 'otto');
            let seen;
            await until(async () => {
                seen = await call(client, 'portarium_run_get', { ...WS, runId: run.runId, waitSeconds: 1 });
                return seen.status === 'WaitingForApproval';
            });
            assert.equal(seen.actions.length, 1);
            assert.equal(seen.pendingApprovals.length, 1);
            const { approvalId } = seen.pendingApprovals[0];
            const { items } = await call(client, 'portarium_work_items_list', { ...WS, runId: run.runId, status: 'pending' });
            assert.deepEqual(items.map(({ mcpStatus }) => mcpStatus), ['pending']);
            assert.equal((await failure(client, 'portarium_approval_submit', { ...WS, approvalId, decision: 'Approved' })).code, -32603);

            const decided = await call(approver, 'portarium_approval_submit', { ...WS, approvalId, decision: 'Approved', comment: 'fine' });
            assert.equal(decided.approvalId, approvalId);
            await until(async () => (await call(client, 'portarium_run_get', { ...WS, runId: run.runId, waitSeconds: 1 })).status === 'Succeeded');
            const other = await call(client, 'portarium_run_start', { ...WS, workflowId: 'wf-wait', input: { ms: 60000 } });
            const cancelled = await call(client, 'portarium_run_cancel', { ...WS, runId: other.runId, reason: 'enough' });
            assert.equal(cancelled.status, 'Cancelled');

            const agent = { ...WS, machineId: 'm-1', agentId: `ag-${kind}` };
            const registered = await call(client, 'portarium_agent_register', { ...agent, displayName: 'Bot', capabilities: ['notify'] });
            assert.deepEqual([registered.agentId, registered.heartbeatIntervalSeconds, registered.expiresAfterSeconds], [agent.agentId, 30, 300]);
            const beat = await call(client, 'portarium_agent_heartbeat', { ...agent, status: 'degraded' });
            assert.deepEqual([beat.agentId, beat.machineId, beat.status], [agent.agentId, 'm-1', 'degraded']);
        });

        test('4: missing params produce structured errors', async () => {
            const error = await failure(client, 'portarium_run_start', { workspaceId: 'ws-1' });
            assert.equal(error.code, -32603);
            assert.match(error.message, /Missing required string parameter: workflowId/);
        });

        test('5: client failures produce internal errors', async () => {
            const error = await failure(client, 'portarium_run_get', { ...WS, runId: 'r-9' });
            assert.equal(error.code, -32603);
            assert.deepEqual({ ...error.data, correlationId: 'any' },
                { error: 'not-found', status: 404, title: 'Not Found', detail: 'Run r-9 not found.', correlationId: 'any', retryable: false });
            assert.equal((await failure(client, 'portarium_run_get', { workspaceId: 'ws-2', runId: 'r-9' })).data.status, 403);
        });

        test('one key starts one run', async () => {
            const meta = { 'portarium/idempotencyKey': `key-${kind}` };
            const args = { ...WS, workflowId: 'wf-noop', input: { n: 1 } };
            const first = await call(client, 'portarium_run_start', args, meta);
            assert.equal((await call(client, 'portarium_run_start', args, meta)).runId, first.runId);
            assert.notEqual((await call(client, 'portarium_run_start', args)).runId, first.runId);
        });
    });
}

for (const makeDatabase of DATABASES) {
    describe(`on ${makeDatabase.name}`, () => {
        let db, self;

        before(async () => {
            db = makeDatabase();
            self = await planeOn(db.url, undefined, ...SEED);
            const made = await self.ask('POST', '/v1/workspaces/ws-1/machines', { body: MACHINE });
            assert.equal(made.status, 201, made.text);
        });
        after(async () => {
            await self?.close();
            db.close();
        });

        for (const kind of TRANSPORTS)
            contract(kind, () => self);
    });
}

describe('the contract, 2024-11-05, with four tools', () => {
    const FOUR = ['--allowed-tools', NAMES.slice(0, 4).join(',')];
    let self;

    before(async () => { self = await plane(undefined, ...SEED, ...FOUR); });
    after(() => self.close());

    for (const kind of TRANSPORTS) {
        test(`6: filtered tools are not callable, over ${kind}`, async () => {
            const client = await connect(kind, self, self.token('otto', 'operator'), ...SEED, ...FOUR);
            assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), NAMES.slice(0, 4));
            for (const name of NAMES.slice(4)) {
                /* like a name that no server has, to the letter: nobody learns that it exists */
                const other = name.replace('portarium', 'qortarium');
                const args = { ...WS, machineId: 'm-1', agentId: 'ag-1', displayName: 'Bot', approvalId: 'a', decision: 'Approved' };
                for (const given of [args, {}, { workspaceId: 7 }]) {
                    const hidden = await failure(client, name, given), unknown = await failure(client, other, given);
                    assert.equal(hidden.code, -32602);
                    assert.deepEqual([hidden.message, hidden.data], [unknown.message.replace('qortarium', 'portarium'), unknown.data]);
                }
            }
            await client.close();
        });
    }
});

describe('the exposure of tools', () => {
    let self, client;

    before(async () => {
        self = await plane(undefined, '--allowed-tools', NAMES.slice(0, 4).join(','));
        client = await connect('http', self, self.token('otto', 'operator'));
    });
    after(async () => {
        await client.close();
        await self.close();
    });

    test('a policy hides tools from roles, and a call of one is evidence', async () => {
        const admin = self.token('ada', 'admin');
        const rules = [{ toolPattern: 'portarium_run_*', allowedRoles: ['admin'] }];
        const put = await self.ask('PUT', '/v1/workspaces/ws-1/tool-exposure', { token: admin, body: { schemaVersion: 1, rules, defaultEffect: 'Allow' } });
        assert.ok(put.status < 300, put.text);
        await until(async () => (await client.listTools()).tools.length === 1);
        const error = await failure(client, 'portarium_run_start', { ...WS, workflowId: 'wf-noop', input: { n: 1 } });
        assert.equal(error.code, -32602);
        const other = await connect('http', self, admin);
        assert.equal((await other.listTools()).tools.length, 4);
        await other.close();
        await until(async () => {
            const { json } = await self.ask('GET', '/v1/workspaces/ws-1/evidence?category=PolicyViolation', { token: admin });
            return json.items.length === 1 && /otto called portarium_run_start/.test(json.items[0].summary);
        });
    });
});

const EXTENSIONS = ['portarium_run_list', 'portarium_approval_get', 'portarium_approvals_list', 'portarium_work_item_update'];
const ALLOWED = ['--allowed-tools', [...NAMES, ...EXTENSIONS].join(',')];

/* What the extensions do. The client holds each result against the output schema. */
async function extended(client, approver) {
    assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), [...NAMES, ...EXTENSIONS]);
    const started = [];
    for (let i = 0; i < 3; i++)
        started.push((await call(client, 'portarium_run_start', { ...WS, workflowId: 'wf-gate', input: { target: `t-${i}` } })).runId);
    let seen;
    await until(async () => (seen = await call(client, 'portarium_run_list', { ...WS, workflowId: 'wf-gate', status: 'WaitingForApproval' })).items.length === 3);
    assert.deepEqual(seen.items.map(({ runId }) => runId), started.toReversed());
    const first = await call(client, 'portarium_run_list', { ...WS, workflowId: 'wf-gate', limit: 2 });
    const rest = await call(client, 'portarium_run_list', { ...WS, workflowId: 'wf-gate', limit: 2, cursor: first.nextCursor });
    assert.deepEqual([...first.items, ...rest.items].map(({ runId }) => runId), started.toReversed());
    assert.equal(rest.nextCursor, undefined);

    const waiting = await call(approver, 'portarium_approvals_list', { ...WS, status: 'Pending', runId: started[0] });
    assert.deepEqual(waiting.items.map(({ runId }) => runId), [started[0]]);
    const { approvalId } = waiting.items[0];
    const approval = await call(approver, 'portarium_approval_get', { ...WS, approvalId });
    assert.deepEqual([approval.status, approval.subject.input], ['Pending', { target: 't-0' }]);
    await call(approver, 'portarium_approval_submit', { ...WS, approvalId, decision: 'Denied', comment: 'no' });
    const decided = await call(approver, 'portarium_approval_get', { ...WS, approvalId });
    assert.deepEqual([decided.status, decided.rationale], ['Denied', 'no']);
    assert.equal((await call(approver, 'portarium_approvals_list', { ...WS, status: 'Pending' })).items.length, 2);

    const { items: [item] } = await call(client, 'portarium_work_items_list', { ...WS, runId: started[1], status: 'pending' });
    const due = '2031-01-01T00:00:00.000Z';
    const changed = await call(client, 'portarium_work_item_update', { ...WS, workItemId: item.workItemId, status: 'InProgress', title: 'Look at it', ownerUserId: 'otto', dueAtIso: due });
    assert.deepEqual([changed.status, changed.mcpStatus, changed.title, changed.ownerUserId, changed.sla.dueAtIso],
        ['InProgress', 'in-progress', 'Look at it', 'otto', due]);

    const refused = async (name, args) => JSON.parse((await client.callTool({ name, arguments: { ...WS, ...args } })).content[0].text);
    assert.equal((await refused('portarium_work_item_update', { workItemId: item.workItemId })).status, 422);
    assert.equal((await refused('portarium_work_item_update', { workItemId: 'wi-9', title: 'x' })).detail, 'Work item wi-9 not found.');
    assert.equal((await refused('portarium_approval_get', { approvalId: 'apr-9' })).detail, 'Approval apr-9 not found.');
    assert.equal((await refused('portarium_run_list', { cursor: 'x' })).status, 422);
    assert.equal((await refused('portarium_approvals_list', { workspaceId: 'ws-2' })).status, 403);
}

describe('the extensions', () => {
    let self;

    before(async () => { self = await plane(undefined, ...ALLOWED); });
    after(() => self.close());

    test('are not there unless they are named', async () => {
        const client = await connect('stdio', self, self.token('otto', 'operator'));
        assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), NAMES);
        assert.equal((await failure(client, 'portarium_run_list', WS)).message, 'MCP error -32602: there is no tool portarium_run_list');
        await client.close();
    });

    test('list and show runs and approvals, and change a work item', async () => {
        const client = await connect('http', self, self.token('otto', 'operator'));
        const approver = await connect('http', self, self.token('anna', 'approver'));
        await extended(client, approver);
        await client.close();
        await approver.close();
    });
});

describe('a remote plane', () => {
    let self;

    const remote = (url, token, ...args) => new StdioClientTransport({
        command: program, args: ['mcp', 'serve', '--base-url', url, ...args], stderr: 'ignore', env: { ...process.env, PORTARIUM_TOKEN: token },
    });

    before(async () => { self = await plane(); });
    after(() => self.close());

    test('has the same tools', async () => {
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(remote(self.base, self.token('otto', 'operator')));
        const run = await call(client, 'portarium_run_start', { ...WS, workflowId: 'wf-noop', input: { n: 1 } });
        await until(async () => (await call(client, 'portarium_run_get', { ...WS, runId: run.runId, waitSeconds: 1 })).status === 'Succeeded');
        const refused = await client.callTool({ name: 'portarium_run_get', arguments: { ...WS, runId: 'r-9' } });
        assert.equal(refused.isError, true);
        assert.equal(JSON.parse(refused.content[0].text).detail, 'Run r-9 not found.');
        await client.close();
    });

    test('has the same extensions', async () => {
        const clients = [];
        for (const token of [self.token('otto', 'operator'), self.token('anna', 'approver')]) {
            clients.push(new Client({ name: 'test', version: '1' }));
            await clients.at(-1).connect(remote(self.base, token, ...ALLOWED));
        }
        await extended(...clients);
        for (const client of clients)
            await client.close();
    });

    test('is asked again with one key, and what it says is not passed on unless it is a problem of ours', async () => {
        const seen = [];
        const busy = http.createServer((request, answer) => {
            seen.push([request.method, request.headers['idempotency-key'], request.headers.authorization]);
            const text = 'CANARY: password=hunter2';
            answer.writeHead(request.method === 'GET' ? 500 : 503, { 'Content-Type': 'text/plain', 'Retry-After': '0' });
            answer.end(text);
        });
        busy.listen(0, '127.0.0.1');
        await once(busy, 'listening');
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(remote(`http://127.0.0.1:${busy.address().port}/`, 'CANARY-token'));
        const started = await client.callTool({ name: 'portarium_run_start', arguments: { ...WS, workflowId: 'w' } });
        assert.deepEqual(seen.map(([method]) => method), ['POST', 'POST', 'POST', 'POST']);
        assert.equal(new Set(seen.map(([, key]) => key)).size, 1);
        assert.ok(seen[0][1]);
        assert.equal(seen[0][2], 'Bearer CANARY-token');
        assert.equal(JSON.parse(started.content[0].text).retryable, true);
        seen.length = 0;
        const cancelled = await client.callTool({ name: 'portarium_run_cancel', arguments: { ...WS, runId: 'r' } });
        assert.equal(seen.length, 1);
        const looked = await client.callTool({ name: 'portarium_run_get', arguments: { ...WS, runId: 'r' } });
        for (const result of [started, cancelled, looked]) {
            assert.equal(result.isError, true);
            assert.doesNotMatch(JSON.stringify(result), /CANARY|hunter2/);
        }
        await client.close();
        busy.close();
    });
});
