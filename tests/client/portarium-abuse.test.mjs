/*
 * portarium-abuse.test.mjs - who may do what, and to whose things: every route of the OpenAPI
 * document by every role, by an agent, and with the ids of another workspace; odd ids, cursors,
 * filters and keys.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { CONTENT, plane, program } from './portarium-rest.mjs';
import { until } from './support/until.mjs';

const TIME = '2030-01-02T03:04:05.000Z';
const [, , GATE] = CONTENT.workspaces[0].workflows;
const MANUAL = { ...GATE, workflowId: 'wf-manual', name: 'By hand', executionTier: 'ManualOnly' };
const WORKFLOWS = [...CONTENT.workspaces[0].workflows, MANUAL];
const inside = (workspaceId) => ({ workspaceId, name: workspaceId, workflows: WORKFLOWS.map((one) => ({ ...one, workspaceId })) });
const MACHINE = {
    endpointUrl: 'https://m.example.com', active: true, displayName: 'm', capabilities: ['agent:task'],
    executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' },
    authConfig: { kind: 'bearer', secretRef: 'MACHINE' },
};
const ADAPTER = {
    schemaVersion: 1, providerSlug: 'tracker', portFamily: 'CustomerSupport', enabled: true,
    capabilityMatrix: [{ operation: 'ticket:write', requiresAuth: false }],
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: [], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
    binding: { kind: 'builtin' },
};
const EFFECT = { effectId: 'e', operation: 'Create', target: { sorName: 's', portFamily: 'CustomerSupport', externalId: 'x', externalType: 'ticket' }, summary: 'one' };
const PROPOSAL = { agentId: 'ag', actionKind: 'write', toolName: 'write_file', executionTier: 'HumanApprove', policyIds: ['p'], rationale: 'needed' };
const SIGNAL = { schemaVersion: 1, runId: '{runId}', actionId: '{actionId}', completionToken: 'x'.repeat(22), outcome: 'Succeeded', completedAtIso: TIME };
const LEASE = { leaseId: 'l' };

/*
 * Who may, by the tables of the reference (A admin, O operator, P approver, U auditor; - nobody but
 * an agent), and a body that is in order. A cancellation is judged on the run, too.
 */
const OPERATIONS = {
    listWorkspaces: 'AOPU', getWorkspace: 'AOPU', getStatus: 'A',
    listUsers: 'AOPU', getUser: 'AOPU', createUser: ['A', { email: 'x@example.com', roles: ['auditor'] }], updateUser: ['A', { displayName: 'x' }], deleteUser: 'A',
    listRuns: 'AOPU', getRun: 'AOPU', startRun: ['AO', { workflowId: 'wf-none' }], planRun: ['AO', { workflowId: 'wf-none' }],
    cancelRun: ['AO', {}], interveneInRun: ['AOPU', { interventionType: 'annotate', rationale: 'long enough' }],
    completeAction: ['AOP', SIGNAL], resolveAction: ['AO', { outcome: 'retry', rationale: 'long enough' }],
    freezeWorkspace: ['A', { rationale: 'long enough' }], unfreezeWorkspace: ['A', { rationale: 'long enough' }],
    listWorkflows: 'AOPU', getWorkflow: 'AOPU', createWorkflow: ['AO', MANUAL], updateWorkflow: ['AO', { description: 'x' }], archiveWorkflow: 'AO',
    listWorkforce: 'AOPU', listWorkforceQueues: 'AOPU', getWorkforceMember: 'AOPU', setWorkforceAvailability: ['AO', {}],
    listApprovals: 'AOPU', getApproval: 'AOPU', createApproval: ['AO', { runId: 'r', planId: 'p', prompt: 'May it?' }],
    decideApproval: ['AP', { decision: 'Approved', rationale: 'fine' }], resubmitApproval: ['AO', { note: 'again' }],
    createPlan: ['AO', { plannedEffects: [EFFECT] }], getPlan: 'AOPU',
    listPolicies: 'AOPU', getPolicy: 'AOPU', createPolicy: ['A', { name: 'p' }], updatePolicy: ['A', { description: 'x' }], simulatePolicy: ['AU', { policy: { name: 'p' } }],
    getToolExposure: 'AOPU', setToolExposure: ['A', { schemaVersion: 1, rules: [], defaultEffect: 'Allow' }], judgeTools: ['AOPU', { tools: [] }],
    proposeAction: ['AO', PROPOSAL], executeAction: ['AO', { flowRef: 'write_file' }], recordAction: ['AO', { outcome: 'executed' }], completeExecution: ['AO', { executionId: 'e', outcome: 'executed' }],
    listAdapters: 'AOPU', getAdapter: 'AOPU', createAdapter: ['A', ADAPTER], updateAdapter: ['A', { enabled: true }],
    listMachines: 'AOU', getMachine: 'AOU', createMachine: ['AO', MACHINE], deleteMachine: 'AO', testMachine: 'AO', machineHeartbeat: ['AO', { status: 'ok' }],
    listAgents: 'AOU', getAgent: 'AOU', createAgent: ['AO', { agentId: 'ag', machineId: 'm', displayName: 'a' }], updateAgent: ['AO', { displayName: 'x' }], testAgent: 'AO',
    agentHeartbeat: ['AO', { status: 'ok' }], listAgentWork: 'AO',
    claimWork: ['-', {}], renewWork: ['-', LEASE], completeWork: ['-', LEASE], failWork: ['-', { ...LEASE, errorClass: 'unknown', message: 'no' }],
    listHumanTasks: 'AOPU', getHumanTask: 'AOPU', assignHumanTask: ['AO', { workforceMemberId: 'anna' }], completeHumanTask: ['AOP', SIGNAL], escalateHumanTask: ['AO', { rationale: 'long enough' }],
    listWorkItems: 'AOPU', getWorkItem: 'AOPU', createWorkItem: ['AO', { title: 'x' }], updateWorkItem: ['AO', { title: 'x' }],
    getAssignment: 'AOPU', putAssignment: ['AO', { workforceMemberId: null }], updateAssignment: ['AO', { workforceMemberId: null }],
    listEvidence: 'AOPU', listRunEvidence: 'AOPU', getRunBundle: 'AOPU', getPayload: 'AOPU',
    getEvidenceHead: 'AU', verifyEvidence: 'AU', getCheckpoint: 'AU', getConsistency: 'AU',
    listLegalHolds: 'AOPU', getLegalHold: 'AOPU', placeLegalHold: ['A', { rationale: 'long enough' }], releaseLegalHold: 'A',
    listWebhooks: 'A', createWebhook: ['A', { url: 'https://hooks.example.com/x' }], deleteWebhook: 'A',
    listCredentials: 'A', putCredential: ['A', { value: 'abcd-1234' }], deleteCredential: 'A',
    streamEvents: 'AOPU',
};
const ROLES = { A: 'admin', O: 'operator', P: 'approver', U: 'auditor' };
const of = (name) => (Array.isArray(OPERATIONS[name]) ? OPERATIONS[name] : [OPERATIONS[name]]);

let server, routes, things;
const admin = (workspace) => server.token('root', 'admin', workspace);

function cli(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

before(async () => {
    server = await plane({ workspaces: [inside('ws-1'), inside('ws-2')] });
    const { json } = await server.ask('GET', '/v1/openapi.json', { token: null });
    routes = Object.entries(json.paths).flatMap(([where, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), where, name: operation.operationId })));
});
after(() => server.close());

/** Ask an operation. @param values of the variables of its path; `none` for one without value */
async function call(route, values, { token, none = 'none' }) {
    const fill = (text) => text.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? none);
    const [, body] = of(route.name);
    const filled = body && JSON.parse(fill(JSON.stringify(body)));
    const ask = async () => {
        if (route.name !== 'streamEvents')
            return server.ask(route.method, fill(route.where), { token, body: filled });
        const stop = new AbortController(); /* it does not end */
        const answer = await fetch(server.base + fill(route.where), { headers: { Authorization: `Bearer ${token}` }, signal: stop.signal });
        stop.abort();
        return { status: answer.status, json: {} };
    };
    for (;;) {
        const answer = await ask();
        if (answer.status !== 429)
            return answer;
        await new Promise((resolve) => { setTimeout(resolve, 200); });
    }
}

/* ---- roles ----------------------------------------------------------------------------------- */

test('each operation of the document is in the table of this test', () => {
    assert.deepEqual(routes.map(({ name }) => name).sort(), Object.keys(OPERATIONS).sort());
});

test('each role may do what the tables say, and nothing else', async () => {
    const wrong = [];
    for (const route of routes) {
        for (const [letter, role] of Object.entries(ROLES)) {
            const token = server.token(`one-${role}`, role);
            const run = await server.ask('POST', '/v1/workspaces/ws-1/runs', { token: admin('ws-1'), body: { workflowId: 'wf-manual' } });
            const answer = await call(route, { workspaceId: 'ws-1', ...(route.name === 'cancelRun' && { runId: run.json.runId }) }, { token });
            const may = answer.status !== 403;
            if (may !== of(route.name)[0].includes(letter))
                wrong.push(`${route.name} by ${role}: ${answer.status} ${answer.json?.detail}`);
        }
    }
    assert.deepEqual(wrong, []);
});

test('an agent decides and administers nothing, whatever roles its token has', async () => {
    const token = cli('tokens', 'create', '--db', server.db, '--workspace', 'ws-1', '--subject', 'bot', '--roles', 'admin,operator,approver,auditor', '--agent', 'ag-1', '--owner', 'ada');
    const never = routes.filter(({ name }) => of(name)[0] === 'A' || ['decideApproval', 'interveneInRun', 'resolveAction', 'completeAction', 'completeHumanTask'].includes(name));
    assert.ok(never.length > 15);
    for (const route of never) {
        const { status } = await call(route, { workspaceId: 'ws-1' }, { token });
        assert.equal(status, 403, route.name);
    }
});

/* ---- workspaces ------------------------------------------------------------------------------ */

test('another workspace is refused alike whether it exists or not, on every route', async () => {
    for (const route of routes.filter(({ where }) => where.includes('{workspaceId}'))) {
        const [real, none] = [await call(route, { workspaceId: 'ws-2' }, { token: admin('ws-1') }), await call(route, { workspaceId: 'ws-9' }, { token: admin('ws-1') })];
        assert.deepEqual([real.status, none.status], [403, 403], route.name);
        assert.equal(JSON.stringify(real.json).replaceAll('ws-2', 'ws-9'), JSON.stringify(none.json), route.name);
    }
    const { json } = await server.ask('GET', '/v1/workspaces', { token: admin('ws-1') });
    assert.deepEqual(json.items.map(({ workspaceId }) => workspaceId), ['ws-1']);
});

/** One thing of each kind in ws-2: the values of all variables of paths. */
async function make() {
    const token = server.token('olga', 'admin,operator', 'ws-2');
    const ask = async (method, where, body) => {
        const answer = await server.ask(method, `/v1/workspaces/ws-2${where}`, { token, body });
        assert.ok(answer.status < 300, `${where}: ${answer.text}`);
        return answer.json;
    };
    const found = async (where) => until(async () => (await ask('GET', where)).items[0], where);
    const gate = await ask('POST', '/runs', { workflowId: 'wf-gate', parameters: { target: 'x' } });
    const manual = await ask('POST', '/runs', { workflowId: 'wf-manual', parameters: { target: 'x' } });
    const approval = await found(`/approvals?runId=${gate.runId}`);
    const task = await found('/human-tasks');
    const machine = await ask('POST', '/machines', { ...MACHINE, machineId: 'm-two' });
    const agent = await ask('POST', '/agents', { agentId: 'ag-two', machineId: 'm-two', displayName: 'two' });
    const proposal = await ask('POST', '/agent-actions:propose', { ...PROPOSAL, agentId: 'ag-two' });
    const adapter = await ask('POST', '/adapter-registrations', { ...ADAPTER, adapterId: 'ad-two' });
    const hold = await ask('POST', '/legal-holds', { rationale: 'long enough' });
    const policy = await ask('POST', '/policies', { policyId: 'pol-two', name: 'two' });
    const user = await ask('POST', '/users', { userId: 'u-two', email: 'u@example.com', roles: ['auditor'] });
    const workflow = await ask('POST', '/workflows', { ...MANUAL, workflowId: 'wf-two', name: 'Two', workspaceId: 'ws-2' });
    const done = await ask('POST', '/runs', { workflowId: 'wf-noop', parameters: { n: 1 } });
    const payload = await until(async () => {
        const { items } = await ask('GET', `/runs/${done.runId}/evidence`);
        return items.flatMap(({ payloadRefs = [] }) => payloadRefs)[0];
    }, 'a payload');
    return {
        runId: manual.runId, actionId: 'deploy', approvalId: approval.approvalId, planId: approval.planId, workItemId: approval.workItemId, humanTaskId: task.humanTaskId,
        machineId: machine.machineId, agentId: agent.agentId, adapterId: adapter.adapterId, proposalId: proposal.proposalId, policyId: policy.policyId, userId: user.userId,
        workflowId: workflow.workflowId, payloadId: payload.uri.split('/').at(-1), legalHoldId: hold.legalHoldId, webhookId: 'wh-two', credentialName: 'TWO', workforceMemberId: user.userId,
    };
}

test('ids of another workspace are not found, on every route, as ids of nothing', async () => {
    const values = await (things ??= make()), seen = new Set();
    /* The name of a credential is chosen by who stores it. */
    for (const route of routes.filter(({ where, name }) => /workspaceId\}.*\{/.test(where) && name !== 'putCredential')) {
        for (const [, name] of route.where.matchAll(/\{(\w+)\}/g))
            assert.ok(name === 'workspaceId' || values[name], `${route.name}: no value of ${name}`);
        const foreign = await call(route, { ...values, workspaceId: 'ws-1' }, { token: admin('ws-1') });
        const none = await call(route, { workspaceId: 'ws-1' }, { token: admin('ws-1') });
        const expected = /Workforce/.test(route.name) ? 501 : of(route.name)[0] === '-' ? 403 : 404;
        assert.deepEqual([foreign.status, none.status], [expected, expected], `${route.name}: ${foreign.text} ${none.text}`);
        const plain = (json) => Object.values(values).reduce((text, id) => text.replaceAll(id, 'none'), JSON.stringify(json));
        assert.equal(plain(foreign.json), plain(none.json), route.name);
        seen.add(route.name);
    }
    assert.ok(seen.size > 35);
    for (const filter of ['runId', 'planId', 'workItemId']) {
        const { json } = await server.ask('GET', `/v1/workspaces/ws-1/evidence?${filter}=${values[filter]}`);
        assert.deepEqual(json.items, [], filter);
    }
    const { json } = await server.ask('GET', `/v1/workspaces/ws-1/approvals?runId=${values.runId}`);
    assert.deepEqual(json.items, []);
    const made = await server.ask('POST', '/v1/workspaces/ws-1/approvals', { body: { runId: values.runId, planId: values.planId, prompt: 'May it?' } });
    assert.equal(made.status, 404);
});

test('ids of another workspace are not found by any tool', async () => {
    const values = await (things ??= make());
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${admin('ws-1')}` } } }));
    const calls = {
        portarium_run_start: { workflowId: values.workflowId }, portarium_run_get: { runId: values.runId }, portarium_run_cancel: { runId: values.runId },
        portarium_approval_submit: { approvalId: values.approvalId, decision: 'Approved' },
        portarium_agent_register: { machineId: values.machineId, agentId: 'ag-x', displayName: 'x' },
        portarium_agent_heartbeat: { machineId: values.machineId, agentId: values.agentId, status: 'healthy' },
    };
    const status = async (name, args) => {
        const result = await client.callTool({ name, arguments: args });
        return result.isError ? JSON.parse(result.content[0].text).status : JSON.parse(result.content[0].text);
    };
    for (const [name, args] of Object.entries(calls)) {
        assert.equal(await status(name, { workspaceId: 'ws-1', ...args }), 404, name);
        assert.equal(await status(name, { workspaceId: 'ws-2', ...args }), 403, name);
        assert.equal(await status(name, { workspaceId: 'ws-9', ...args }), 403, name);
    }
    assert.deepEqual((await status('portarium_work_items_list', { workspaceId: 'ws-1', runId: values.runId })).items, []);
    await client.close();
    const run = await server.ask('GET', `/v1/workspaces/ws-2/runs/${values.runId}`, { token: server.token('olga', 'admin,operator', 'ws-2') });
    assert.equal(run.json.status, 'Paused');
});

/* ---- odd requests ---------------------------------------------------------------------------- */

const RUNS = '/v1/workspaces/ws-1/runs';

test('odd ids are ids of nothing', async () => {
    const { json } = await server.ask('POST', RUNS, { body: { workflowId: 'wf-noop', parameters: { n: 1 } } });
    const id = json.runId;
    const odd = [`${id}%00`, `%00${id}`, `${id}%0a`, `${id}%20`, `${id}%2f..%2f${id}`, `..%2fruns%2f${id}`, `${id.toUpperCase()}`, id.replace(/[a-f]/, '%d0%b0'), `${id}%e2%80%8b`,
        `${id}'%20OR%20'1'='1`, `${id}%25`, '%ff%fe', '%c0%ae', 'x'.repeat(4000), `${id}%u0041`, '%', `${id};x=1`, `*`, '%25', '_'.repeat(id.length)];
    for (const one of odd.filter((text) => text !== id)) {
        const { status, text } = await server.ask('GET', `${RUNS}/${one}`);
        assert.ok([400, 404, 414, 422].includes(status), `${one}: ${status} ${text}`);
        /* eslint-disable-next-line no-control-regex */
        assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f]/);
    }
    /* an escape of a letter is the letter */
    assert.equal((await server.ask('GET', `${RUNS}/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`)).status, 200);
});

test('odd ids in bodies make nothing', async () => {
    for (const workflowId of ['wf-one\u0000', 'wf\nx', 'w\u007f', '', 'x'.repeat(201)]) {
        const { status } = await server.ask('POST', '/v1/workspaces/ws-1/workflows', { body: { ...MANUAL, workflowId, name: `odd ${JSON.stringify(workflowId)}`.slice(0, 100) } });
        assert.ok([400, 422].includes(status), `${JSON.stringify(workflowId)}: ${status}`);
    }
});

test('a text with a NUL character is refused, and not cut there', async () => {
    const bodies = [{ ...MANUAL, workflowId: 'wf-nul', name: 'a\u0000b' }, { ...MANUAL, workflowId: 'wf-nul', name: 'a', ['description\u0000x']: 'b' }];
    for (const body of bodies) {
        const { status, text } = await server.ask('POST', '/v1/workspaces/ws-1/workflows', { body });
        assert.equal(status, 422, text);
        assert.match(text, /with a NUL character/);
    }
    const { status, json } = await server.ask('POST', RUNS, { body: { workflowId: 'wf-noop', parameters: { deep: [{ text: 'x\u0000' }] } } });
    assert.equal(status, 422);
    assert.deepEqual(json.errors.map(({ field }) => field), ['/parameters/deep/0/text']);
});

test('cursors, orders and filters are taken as they are, or refused', async () => {
    const b64 = (text) => Buffer.from(text).toString('base64url');
    for (const cursor of ['x'.repeat(8000), b64('[]'), b64('{"a":1}'), b64("' OR 1=1 --"), '%00', '....', b64('\u0000\u0001'), b64('x'.repeat(3000)), 'run-none', `${b64('a')}==`]) {
        const { status, text } = await server.ask('GET', `${RUNS}?limit=1&cursor=${cursor}`);
        assert.ok([200, 400, 414, 422].includes(status), `${cursor.slice(0, 40)}: ${status} ${text}`);
    }
    for (const sort of ['status;DROP TABLE runs', "runId:asc'", 'json:asc', 'hidden:desc', 'workspace:asc', 'runId:up', 'runId asc', 'runId:asc,status:asc', '(SELECT 1)', ''])
        assert.equal((await server.ask('GET', `${RUNS}?sort=${encodeURIComponent(sort)}`)).status, 422, sort);
    for (const value of ["' OR '1'='1", '%25', '_', '\u0000', 'Succeeded\u0000']) {
        const { status, json } = await server.ask('GET', `${RUNS}?workflowId=${encodeURIComponent(value)}`);
        assert.ok(status === 400 || status === 422 || (status === 200 && json.items.length === 0), `${value}: ${status}`);
    }
    const { json } = await server.ask('GET', `${RUNS}?q=${encodeURIComponent('%')}`);
    assert.deepEqual(json.items, []);
    assert.ok((await server.ask('GET', RUNS)).json.items.length > 0);
});

test('a key is of one principal, one request and one workspace', async () => {
    const headers = { 'Idempotency-Key': 'shared' }, body = { workflowId: 'wf-noop', parameters: { n: 7 } };
    const first = await server.ask('POST', RUNS, { body, headers });
    const other = await server.ask('POST', RUNS, { body, headers, token: admin('ws-1') });
    assert.deepEqual([first.status, other.status], [201, 409]);
    assert.doesNotMatch(other.text, new RegExp(first.json.runId));
    const abroad = await server.ask('POST', '/v1/workspaces/ws-2/runs', { body, headers, token: admin('ws-2') });
    assert.equal(abroad.status, 201);
    assert.notEqual(abroad.json.runId, first.json.runId);
    /* who may no longer start one does not get the answer again */
    const auditor = await server.ask('POST', RUNS, { body, headers, token: server.token('otto-2', 'auditor') });
    assert.equal(auditor.status, 403);
});

test('entity tags that do not fit change nothing', async () => {
    const made = await server.ask('POST', '/v1/workspaces/ws-1/work-items', { body: { title: 'first' } });
    const where = `/v1/workspaces/ws-1/work-items/${made.json.workItemId}`;
    const { headers } = await server.ask('GET', where);
    const etag = headers.get('etag');
    for (const tag of ['"000000000000"', 'x', '""', '"', `W/${etag}x`, `${etag}x`, etag.slice(0, -1), `"a", "b"`]) {
        const { status } = await server.ask('PATCH', where, { body: { title: 'second' }, headers: { 'If-Match': tag } });
        assert.ok([400, 412].includes(status), `${tag}: ${status}`);
    }
    assert.equal((await server.ask('GET', where)).json.title, 'first');
    assert.equal((await server.ask('PATCH', where, { body: { title: 'second' }, headers: { 'If-Match': etag } })).status, 200);
    assert.equal((await server.ask('PATCH', where, { body: { title: 'third' }, headers: { 'If-Match': etag } })).status, 412);
});
