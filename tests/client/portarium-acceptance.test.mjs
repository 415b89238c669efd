/*
 * portarium-acceptance.test.mjs - the acceptance path of a control plane, in its order: over each
 * transport and over REST, on both databases, against a system that counts what is done to it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';

import { planeOn } from './portarium-rest.mjs';
import { TRANSPORTS, connect } from './support/portarium-clients.mjs';
import { until } from './support/until.mjs';
import { DATABASES } from './universe.mjs';

const WS = '/v1/workspaces/ws-1';
const write = (order, more = {}) => ({ actionId: `a${order}`, order, portFamily: 'CustomerSupport', operation: 'ticket:write', input: { step: order, who: '${parameters.who}' }, ...more });

/* First an action that goes alone, then one for a person, then one that must not come too early. */
const WORKFLOW = {
    schemaVersion: 1, workflowId: 'wf-path', workspaceId: 'ws-1', name: 'Path', version: 1, active: true, executionTier: 'Auto',
    actions: [write(1), write(2, { executionTierOverride: 'HumanApprove' }), write(3)],
};
const MACHINE = {
    machineId: 'm-1', endpointUrl: 'https://m.example.com', active: true, displayName: 'm-1', capabilities: ['agent:task', 'notify'],
    executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' }, authConfig: { kind: 'bearer', secretRef: 'MACHINE' },
};
const adapter = (port) => ({
    schemaVersion: 1, adapterId: 'ad-1', providerSlug: 'desk', portFamily: 'CustomerSupport', enabled: true,
    capabilityMatrix: [{ operation: 'ticket:write', requiresAuth: false }],
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: ['127.0.0.0/8'], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
    binding: { kind: 'http', url: `http://127.0.0.1:${port}/tickets` },
});
const USERS = { otto: 'operator', anna: 'approver' };

/** A system that keeps the key of each request. */
async function openDesk() {
    const keys = [];
    const server = http.createServer((request, answer) => {
        request.resume();
        request.on('end', () => {
            keys.push(request.headers['idempotency-key']);
            answer.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { keys, of: (run) => keys.filter((key) => key.startsWith(`${run}:`)), port: server.address().port, close: () => { server.closeAllConnections(); server.close(); } };
}

/* ---- the two ways ---------------------------------------------------------------------------- */

/** Each way has the seven operations, by the names of the tools; a refusal is {refused: status}. */
async function toolsOf(kind, plane) {
    const clients = {};
    for (const [who, role] of Object.entries(USERS))
        clients[who] = await connect(kind, plane, plane.token(who, role));
    const ask = async (who, name, args) => {
        const { isError, content } = await clients[who].callTool({ name: `portarium_${name}`, arguments: { workspaceId: 'ws-1', ...args } });
        const json = JSON.parse(content[0].text);
        return isError ? { refused: json.status, detail: json.detail } : json;
    };
    return { ask, close: () => Promise.all(Object.values(clients).map((client) => client.close())) };
}

/* What the tools are in REST. */
const MCP_STATUS = { Open: 'pending', InProgress: 'in-progress', Resolved: 'completed', Closed: 'completed', Blocked: 'failed' };
const ROUTES = {
    run_start: ({ workflowId, input }) => ['POST', '/runs', { workflowId, parameters: input }],
    run_get: ({ runId }) => ['GET', `/runs/${runId}?view=full`],
    run_cancel: ({ runId, reason }) => ['POST', `/runs/${runId}/cancel`, { rationale: reason }],
    work_items_list: ({ runId }) => ['GET', `/work-items?runId=${runId}`],
    approval_submit: ({ approvalId, decision, comment }) => ['POST', `/approvals/${approvalId}/decide`, { decision, rationale: comment }],
    agent_register: ({ machineId, agentId, displayName, capabilities }) => ['POST', '/agents', { machineId, agentId, displayName, capabilities }],
    agent_heartbeat: ({ agentId, machineId }) => ['POST', `/agents/${agentId}/heartbeat`, { status: 'ok', machineId }],
};

async function routesOf(kind, plane) {
    const ask = async (who, name, args) => {
        const [method, where, body] = ROUTES[name](args);
        const { status, json } = await plane.ask(method, WS + where, { token: plane.token(who, USERS[who]), body });
        if (status >= 400)
            return { refused: status, detail: json.detail };
        const items = json.items?.map((item) => ({ ...item, mcpStatus: MCP_STATUS[item.status] })).filter((item) => !args.status || item.mcpStatus === args.status);
        return items ? { ...json, items } : json;
    };
    return { ask, close: () => {} };
}

const WAYS = [...TRANSPORTS.map((kind) => [kind, toolsOf]), ['REST', routesOf]];

/* ---- the path -------------------------------------------------------------------------------- */

/** A run that waits at its gate, by these hands. */
class Walk {
    constructor(way, plane, desk) {
        Object.assign(this, { way, plane, desk });
    }

    async start(who) {
        const run = await this.way.ask('otto', 'run_start', { workflowId: 'wf-path', input: { who } });
        assert.equal(run.status, 'Pending', JSON.stringify(run));
        return run.runId;
    }

    async until(runId, status) {
        let run;
        await until(async () => {
            run = await this.way.ask('otto', 'run_get', { runId });
            return run.status === status;
        }, `${runId} to be ${status}`);
        return run;
    }

    async items(runId, status) {
        return (await this.way.ask('otto', 'work_items_list', { runId, ...(status && { status }) })).items;
    }

    decide(who, approvalId, decision) {
        return this.way.ask(who, 'approval_submit', { approvalId, decision, comment: `${decision}, by ${who}` });
    }

    async rest(where, options) {
        const answer = await this.plane.ask(options?.body ? 'POST' : 'GET', WS + where, options);
        assert.ok(answer.status < 300, `${where}: ${answer.text}`);
        return answer.json;
    }

    async approval(id) {
        return this.rest(`/approvals/${id}`);
    }

    /** @return {runId, approvalId, workItemId} */
    async gate(who) {
        const runId = await this.start(who);
        const run = await this.until(runId, 'WaitingForApproval');
        assert.deepEqual(run.actions.map(({ state }) => state), ['Succeeded', 'WaitingForApproval', 'Pending']);
        assert.equal(run.pendingApprovals.length, 1);
        const [{ approvalId }] = run.pendingApprovals;
        const [item, ...more] = await this.items(runId, 'pending');
        assert.equal(more.length, 0);
        assert.deepEqual(this.desk.of(runId), [`${runId}:a1`]);
        return { runId, approvalId, workItemId: item.workItemId };
    }
}

async function anAgentComesOnline(walk, kind) {
    const agent = { machineId: 'm-1', agentId: `ag-${kind}` };
    const made = await walk.way.ask('otto', 'agent_register', { ...agent, displayName: 'Bot', capabilities: ['notify'] });
    assert.equal(made.agentId, agent.agentId);
    assert.equal((await walk.rest(`/agents/${agent.agentId}`)).liveness, 'never-seen');
    const beat = await walk.way.ask('otto', 'agent_heartbeat', { ...agent, status: 'healthy' });
    assert.equal(beat.agentId, agent.agentId);
}

async function anApprovedRunSucceeds(walk) {
    const { runId, approvalId, workItemId } = await walk.gate('first');
    const approval = await walk.approval(approvalId);
    assert.deepEqual([approval.status, approval.runId, approval.requestedByUserId], ['Pending', runId, 'otto']);
    assert.deepEqual(approval.subject.input, { step: 2, who: 'first' });
    assert.equal((await walk.rest(`/plans/${approval.planId}`)).planId, approval.planId);
    const item = await walk.rest(`/work-items/${workItemId}`);
    assert.deepEqual([item.links.runIds, item.links.approvalIds], [[runId], [approvalId]]);
    const { items } = await walk.rest(`/runs/${runId}/evidence`);
    assert.ok(items.some(({ category, summary }) => category === 'Action' && /a1/.test(summary)), JSON.stringify(items));

    /* who started it may not decide */
    const own = await walk.decide('otto', approvalId, 'Approved');
    assert.equal(own.refused, 403);
    assert.equal((await walk.approval(approvalId)).status, 'Pending');

    const decided = await walk.decide('anna', approvalId, 'Approved');
    assert.deepEqual([decided.approvalId, decided.status], [approvalId, 'Approved']);
    const run = await walk.until(runId, 'Succeeded');
    assert.deepEqual(run.actions.map(({ state }) => state), ['Succeeded', 'Succeeded', 'Succeeded']);
    assert.deepEqual(run.pendingApprovals, []);
    assert.deepEqual((await walk.items(runId)).map(({ mcpStatus }) => mcpStatus), ['completed']);
    assert.deepEqual(walk.desk.of(runId), ['a1', 'a2', 'a3'].map((action) => `${runId}:${action}`));
}

async function aDeniedRunFails(walk) {
    const { runId, approvalId } = await walk.gate('second');
    assert.equal((await walk.decide('anna', approvalId, 'Denied')).status, 'Denied');
    const run = await walk.until(runId, 'Failed');
    assert.equal(run.failure.class, 'approval-denied');
    assert.deepEqual(walk.desk.of(runId), [`${runId}:a1`]);
    assert.deepEqual((await walk.items(runId)).map(({ status }) => status), ['Closed']);
    const events = await walk.rest(`/runs/${runId}/evidence?limit=200`);
    assert.ok(!events.items.some(({ summary }) => /a3/.test(summary)));
}

async function changesAreResubmitted(walk) {
    const { runId, approvalId } = await walk.gate('third');
    assert.equal((await walk.decide('anna', approvalId, 'RequestChanges')).status, 'RequestChanges');
    const run = await walk.way.ask('otto', 'run_get', { runId });
    assert.deepEqual([run.status, run.controlState], ['WaitingForApproval', 'blocked']);
    assert.deepEqual((await walk.items(runId)).map(({ mcpStatus }) => mcpStatus), ['failed']);
    assert.equal((await walk.decide('anna', approvalId, 'Approved')).refused, 409);

    const token = walk.plane.token('otto', 'operator');
    const again = await walk.rest(`/approvals/${approvalId}/resubmit`, { token, body: { note: 'as you asked', input: { step: 2, who: 'third, again' } } });
    assert.equal(again.status, 'Pending');
    assert.equal((await walk.decide('otto', approvalId, 'Approved')).refused, 403);
    assert.equal((await walk.decide('anna', approvalId, 'Approved')).status, 'Approved');
    await walk.until(runId, 'Succeeded');
    assert.equal(walk.desk.of(runId).length, 3);
}

async function aCancelledRunIsOver(walk) {
    const { runId, approvalId } = await walk.gate('fourth');
    assert.equal((await walk.way.ask('otto', 'run_cancel', { runId, reason: 'not needed any more' })).status, 'Cancelled');
    assert.equal((await walk.decide('anna', approvalId, 'Approved')).refused, 409);
    assert.equal((await walk.way.ask('otto', 'run_cancel', { runId, reason: 'once more' })).status, 'Cancelled');
    assert.equal((await walk.approval(approvalId)).status, 'Expired');
    assert.deepEqual((await walk.items(runId)).map(({ status }) => status), ['Closed']);
    assert.deepEqual(walk.desk.of(runId), [`${runId}:a1`]);
}

async function verifies(walk) {
    const { ok } = await walk.rest('/evidence/verify', { token: walk.plane.token('ute', 'auditor') });
    assert.equal(ok, true);
}

for (const makeDatabase of DATABASES) {
    describe(`the acceptance path, on ${makeDatabase.name}`, () => {
        let db, plane, desk;

        before(async () => {
            db = makeDatabase();
            desk = await openDesk();
            const users = Object.entries(USERS).map(([userId, role]) => ({ userId, email: `${userId}@example.com`, roles: [role] }));
            plane = await planeOn(db.url, { workspaces: [{ workspaceId: 'ws-1', name: 'First', users, workflows: [WORKFLOW], adapters: [adapter(desk.port)] }] });
            const made = await plane.ask('POST', `${WS}/machines`, { body: MACHINE });
            assert.equal(made.status, 201, made.text);
        });
        after(async () => {
            await plane?.close();
            desk?.close();
            db.close();
        });

        for (const [kind, open] of WAYS) {
            test(`steps 2 to 6, over ${kind}`, async (context) => {
                const way = await open(kind, plane), walk = new Walk(way, plane, desk);
                context.after(() => way.close());
                await anAgentComesOnline(walk, kind);
                await anApprovedRunSucceeds(walk);
                await aDeniedRunFails(walk);
                await changesAreResubmitted(walk);
                await aCancelledRunIsOver(walk);
            });
        }

        test('step 2: each agent is online', async () => {
            const walk = new Walk(undefined, plane, desk);
            /* Over stdio another process has it, which stores it in some seconds. */
            for (const [kind] of WAYS)
                await until(async () => (await walk.rest(`/agents/ag-${kind}`)).liveness === 'online', `the agent over ${kind} to be online`);
        });

        test('step 7: killed while a run waits, it continues', async () => {
            const walk = new Walk(await routesOf('REST', plane), plane, desk);
            const { runId, approvalId } = await walk.gate('fifth');
            await plane.restart();
            assert.equal((await walk.decide('anna', approvalId, 'Approved')).status, 'Approved');
            await walk.until(runId, 'Succeeded');
            assert.equal(desk.of(runId).length, 3);
        });

        test('step 7: no key came twice, and the chain of evidence verifies', async () => {
            assert.deepEqual(desk.keys.filter((key, i) => desk.keys.indexOf(key) !== i), []);
            await verifies(new Walk(undefined, plane, desk));
        });
    });
}
