/*
 * portarium-abuse-secrets.test.mjs - canaries in everything that is secret: the environment,
 * files, the configuration, credentials, tokens, parameters with writeOnly, the authentication of
 * machines. They reach the system that they are for, and are in no answer, event, log, entry,
 * metric or page, nor in the files of the database.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { CONTENT, events, plane } from './portarium-rest.mjs';
import { until } from './support/until.mjs';

const CANARY = {
    credential: 'kanari-credential-81f3c0', file: 'kanari-file-5d20ab', config: 'kanari-config-77e1d9', environment: 'kanari-environment-09b2f4',
    parameter: 'kanari-parameter-2c61e8', wrong: 'kanari-wrong-kind-e412', header: 'kanari-header-d94a10', machine: 'KANARI_MACHINE_6B1',
    stored: 'kanari-stored-30be57',
};
const WS = '/v1/workspaces/ws-1';
const adapter = (adapterId, portFamily, binding) => ({
    schemaVersion: 1, adapterId, providerSlug: 'tracker', portFamily, enabled: true,
    capabilityMatrix: [{ operation: 'ticket:write', requiresAuth: true }], binding,
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: ['127.0.0.0/8'], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
});
const SCHEMA = {
    type: 'object', properties: { token: { type: 'string', maxLength: 64, writeOnly: true }, kind: { type: 'string' } },
};
const step = (order, portFamily, operation, input) => ({ actionId: `a${order}`, order, portFamily, operation, input });
const SECRET = {
    schemaVersion: 1, workflowId: 'wf-secret', workspaceId: 'ws-1', name: 'Secrets', version: 1, active: true, executionTier: 'Auto', parametersSchema: SCHEMA,
    actions: [
        step(1, 'SoftwareDev', 'event:emit', { token: '${parameters.token}' }),
        step(2, 'SoftwareDev', 'workitem:create', { title: 'Look at ${parameters.token}' }),
        step(3, 'CustomerSupport', 'ticket:write', { token: '${parameters.token}' }),
        step(4, 'DocumentsEsign', 'document:write', { token: '${parameters.token}' }),
        step(5, 'ProjectsWorkMgmt', 'task:write', { token: '${parameters.token}' }),
        step(6, 'SoftwareDev', 'control:noop', { said: '${actions.a3.output}', token: '${parameters.token}' }),
    ],
};
const GATED = { ...SECRET, workflowId: 'wf-secret-gate', name: 'Secrets behind a gate', executionTier: 'HumanApprove', actions: [{ ...SECRET.actions[2], order: 1 }] };
const GATED_FAILING = { ...GATED, workflowId: 'wf-secret-fail', name: 'Secrets that fail', executionTier: 'Auto', actions: [step(1, 'CommsCollaboration', 'message:write', { token: '${parameters.token}' })] };

let server, peer, dir, heard = [], client;
const replies = [];

/* What a request brought is the answer, as values and as names. */
function echo(request, answer) {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
        heard.push({ url: request.url, authorization: request.headers.authorization, body });
        const said = { headers: request.headers, body, [body]: body, [`of ${request.headers.authorization}`]: 1 };
        answer.writeHead(request.url === '/fail' ? 400 : 200, { 'Content-Type': 'application/json' });
        answer.end(JSON.stringify(said));
    });
}

before(async () => {
    peer = http.createServer(echo).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    const base = `http://127.0.0.1:${peer.address().port}`;
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-'));
    fs.writeFileSync(path.join(dir, 'secret'), `${CANARY.file}\n`, { mode: 0o600 });
    fs.writeFileSync(path.join(dir, 'config.toml'), `
[exec.leak]
command = ["/bin/sh", "-c", "printf '{\\"said\\":\\"%s %s\\",\\"in\\":%s}' \\"$HIDDEN\\" \\"$(env | tr -d '\\"\\\\\\\\' | tr '\\\\n' ' ')\\" \\"$(cat)\\"; exit 1"]
environment = ["HIDDEN=${CANARY.config}"]

[exec.cut]
command = ["/bin/sh", "-c", 'read -r line; line=\${line#*token???}; printf "%0108d%s" 0 "\${line%%[!a-z0-9-]*}" >&2; exit 64']

[credentials.FILED]
file = "${path.join(dir, 'secret')}"
`, { mode: 0o600 });
    process.env.PORTARIUM_CRED_TRACKER = CANARY.credential;
    process.env.KANARI = CANARY.environment;
    const headers = { Authorization: 'Bearer ${credential}' };
    const content = {
        workspaces: [{
            ...CONTENT.workspaces[0], workflows: [...CONTENT.workspaces[0].workflows, SECRET, GATED, GATED_FAILING],
            adapters: [
                adapter('ad-1', 'CustomerSupport', { kind: 'http', url: `${base}/ok`, headers }),
                adapter('ad-2', 'DocumentsEsign', { kind: 'http', url: `${base}/filed`, headers, credential: 'FILED' }),
                adapter('ad-3', 'CommsCollaboration', { kind: 'http', url: `${base}/fail`, headers }),
                adapter('ad-4', 'CrmSales', { kind: 'exec', command: 'leak', credential: 'FILED' }),
                adapter('ad-6', 'ProjectsWorkMgmt', { kind: 'http', url: `${base}/stored`, headers, credential: 'STORED' }),
                adapter('ad-5', 'ItsmItOps', { kind: 'exec', command: 'cut' }),
            ],
        }],
    };
    server = await plane(content, '--key-file', path.join(dir, 'key'), '--config', path.join(dir, 'config.toml'), '--webhook-host', 'hooks.example.com', '--webhook-host', '127.0.0.1', '--log-level', 'debug');
    client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${server.token('otto', 'operator')}` } } }));
});
after(async () => {
    await client?.close();
    await server?.close();
    peer?.close();
    fs.rmSync(dir, { recursive: true, force: true });
});

async function ask(method, where, body, user = ['ada', 'admin,operator'], headers = {}) {
    const answer = await server.ask(method, WS + where, { token: server.token(...user), body, headers });
    replies.push(`${method} ${where}: ${answer.text} ${JSON.stringify([...answer.headers])}`);
    return answer;
}

async function ended(runId) {
    return until(async () => {
        const { json } = await ask('GET', `/runs/${runId}?view=full&wait=5`);
        return ['Succeeded', 'Failed', 'Paused'].includes(json.status) && json;
    }, `run ${runId}`);
}

const start = async (workflowId, parameters) => (await ask('POST', '/runs', { workflowId, parameters }, undefined, { 'x-correlation-id': 'c-1', 'Idempotency-Key': `key-${workflowId}`, 'X-Secret': CANARY.header })).json;

/** No canary is in the texts; `but` may be. */
function expectNone(texts, where, but = []) {
    for (const [kind, canary] of Object.entries(CANARY).filter(([name]) => !but.includes(name))) {
        for (const text of texts) {
            const at = text.indexOf(canary);
            assert.ok(at < 0, `${where}: the canary of ${kind} in ${at < 0 ? '' : text.slice(Math.max(0, at - 300), at + 60)}`);
        }
    }
}

test('secrets reach the system that they are for, and nothing else', async () => {
    /* The secret of a webhook is shown once, by an answer that is not searched. */
    const hook = () => server.ask('POST', `${WS}/webhooks`, { token: server.token('ada', 'admin,operator'), body: { url: 'https://hooks.example.com/x' }, headers: { 'Idempotency-Key': 'hook' } });
    const made = await hook(), again = await hook();
    assert.deepEqual([made.status, again.status, again.json.webhookId, again.json.secret], [201, 201, made.json.webhookId, undefined], made.text);
    CANARY.webhook = made.json.secret;
    assert.equal((await ask('PUT', '/credentials/STORED', { value: CANARY.stored })).status, 201);
    const token = CANARY.parameter;
    const run = await start('wf-secret', { token, kind: 'x' });
    const done = await ended(run.runId);
    assert.equal(done.status, 'Succeeded', JSON.stringify(done.failure));
    assert.ok(heard.some(({ url, authorization, body }) => url === '/ok' && authorization === `Bearer ${CANARY.credential}` && body.includes(token)));
    assert.ok(heard.some(({ url, authorization }) => url === '/filed' && authorization === `Bearer ${CANARY.file}`));
    assert.ok(heard.some(({ url, authorization }) => url === '/stored' && authorization === `Bearer ${CANARY.stored}`));

    const gated = await start('wf-secret-gate', { token });
    const approval = await until(async () => (await ask('GET', `/approvals?runId=${gated.runId}`)).json.items[0], 'an approval');
    await ask('GET', `/plans/${approval.planId}`);
    assert.equal((await ask('POST', `/approvals/${approval.approvalId}/decide`, { decision: 'Approved', rationale: 'fine' }, ['anna', 'approver'])).status, 200);
    assert.equal((await ended(gated.runId)).status, 'Succeeded');
    assert.equal((await ended((await start('wf-secret-fail', { token })).runId)).status, 'Failed');
});

test('a refusal of a secret does not repeat it', async () => {
    for (const token of [[CANARY.wrong], { a: CANARY.wrong }, CANARY.wrong.repeat(9)]) {
        const { status } = await ask('POST', '/runs', { workflowId: 'wf-secret', parameters: { token } });
        assert.equal(status, 422);
        await client.callTool({ name: 'portarium_run_start', arguments: { workspaceId: 'ws-1', workflowId: 'wf-secret', input: { token } } })
            .then((result) => { replies.push(JSON.stringify(result)); assert.equal(result.isError, true); });
        await ask('POST', '/runs:plan', { workflowId: 'wf-secret', parameters: { token } });
    }
    await server.ask('GET', `${WS}/runs`, { token: CANARY.wrong }).then(({ text }) => replies.push(text));
});

test('a command that tells its environment tells no secret of the server', async () => {
    const made = await ask('POST', '/workflows', { ...SECRET, workflowId: 'wf-leak', name: 'Leak', actions: [step(1, 'CrmSales', 'note:write', { token: '${parameters.token}' })] });
    assert.equal(made.status, 201, made.text);
    const run = await ended((await start('wf-leak', { token: CANARY.parameter })).runId);
    assert.notEqual(run.status, 'Succeeded');
    expectNone([JSON.stringify(run)], 'the run', ['config']);
});

test('a secret that the cut of a message has shortened is not shown', async () => {
    const made = await ask('POST', '/workflows', { ...SECRET, workflowId: 'wf-cut', name: 'Cut', actions: [step(1, 'ItsmItOps', 'incident:write', { token: '${parameters.token}' })] });
    assert.equal(made.status, 201, made.text);
    const run = await ended((await start('wf-cut', { token: CANARY.parameter })).runId);
    assert.equal(run.status, 'Failed');
    const said = JSON.stringify(run);
    assert.ok(!said.includes(CANARY.parameter.slice(0, 8)), said);
    assert.ok(!said.includes('00000000'), `the message is replaced as a whole: ${said}`);
});

/* By the names of members, headers and arguments that hold secrets, and by their places: at the
 * level of debug, with requests that are refused, and with deliveries that fail. */
test('what requests hold is not in the log', async () => {
    const LOGGED = Object.fromEntries(['password', 'api-key', 'authorization', 'query', 'body', 'path', 'hook', 'key', 'basic', 'cookie', 'tool'].map((name) => [name, `kanari-logged-${name.slice(0, 3)}-a71c`]));
    const plain = { ...CONTENT.workspaces[0].workflows[0], workflowId: 'wf-plain', name: 'Plain', actions: [step(1, 'SoftwareDev', 'control:noop', '${parameters}'), step(2, 'CommsCollaboration', 'message:write', '${parameters}')] };
    assert.equal((await ask('POST', '/workflows', plain)).status, 201);
    const run = await start('wf-plain', { password: LOGGED.password, deep: [{ 'Api-Key': LOGGED['api-key'], headers: { Authorization: LOGGED.authorization } }] });
    assert.equal((await ended(run.runId)).status, 'Failed');
    const raw = (where, init) => fetch(server.base + where, init).then(({ status }) => status);
    const headers = { Authorization: `Bearer ${server.token('ada', 'admin,operator')}`, 'Content-Type': 'application/json', 'Idempotency-Key': LOGGED.key, Cookie: `session=${LOGGED.cookie}` };
    assert.equal(await raw(`${WS}/runs?token=${LOGGED.query}`, { headers }), 200);
    assert.equal(await raw(`${WS}/runs`, { method: 'POST', headers, body: `{"password":"${LOGGED.body}",}` }), 400);
    assert.equal(await raw(`${WS}/runs`, { method: 'POST', headers, body: `{"password":"${LOGGED.body}"}` }), 422);
    assert.equal(await raw(`${WS}/approvals/${LOGGED.path}/decide`, { method: 'POST', headers, body: `{"decision":"${LOGGED.body}","rationale":"x"}` }), 404);
    assert.equal(await raw(`${WS}/runs`, { headers: { ...headers, Authorization: `Basic ${LOGGED.basic}` } }), 401);
    await client.callTool({ name: 'portarium_run_get', arguments: { workspaceId: 'ws-1', runId: LOGGED.tool, password: LOGGED.tool } });
    /* The port of nobody: deliveries are refused at once. */
    const made = await ask('POST', '/webhooks', { url: `https://127.0.0.1:1/${LOGGED.hook}?token=${LOGGED.hook}` });
    assert.equal(made.status, 201, made.text);
    CANARY.second = made.json.secret;
    replies.pop(); /* it shows the secret, once */
    assert.equal((await ask('POST', '/work-items', { title: 'Look' })).status, 201);
    const { items } = await until(async () => {
        const { json } = await ask('GET', '/webhooks');
        return json.items.some(({ webhookId, lastFailure }) => webhookId === made.json.webhookId && lastFailure) && json;
    }, 'a failed delivery');
    assert.deepEqual(items.filter(({ lastFailure }) => JSON.stringify(lastFailure ?? {}).includes('kanari')), []);
    for (const [kind, canary] of Object.entries(LOGGED))
        assert.ok(!server.log.includes(canary), `the canary of ${kind} in the log: ${server.log.split('\n').find((line) => line.includes(canary))}`);
    assert.match(server.log, /event \d+ was not taken/);
});

test('no canary is in any answer, event, log, page, nor in the database', async () => {
    await ask('POST', '/machines', {
        machineId: 'm-1', endpointUrl: 'https://m.example.com', active: true, displayName: 'm', capabilities: ['agent:task'],
        executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' },
        authConfig: { kind: 'bearer', secretRef: CANARY.machine },
    });
    const { json: document } = await server.ask('GET', '/v1/openapi.json', { token: null });
    for (const [where, { get }] of Object.entries(document.paths)) {
        if (get && /^\/v1\/workspaces\/\{workspaceId\}\/[^{}]*$/.test(where) && get.operationId !== 'streamEvents')
            await ask('GET', where.slice('/v1/workspaces/{workspaceId}'.length));
    }
    await ask('GET', '/machines/m-1');
    for (const { runId } of (await ask('GET', '/runs')).json.items) {
        await ask('GET', `/runs/${runId}/evidence:bundle`);
        const { json } = await ask('GET', `/runs/${runId}/evidence`);
        for (const { uri } of json.items.flatMap(({ payloadRefs = [] }) => payloadRefs))
            await ask('GET', `/payloads/${uri.split('/').at(-1)}`);
        for (const [name, args] of [['portarium_run_get', { runId }], ['portarium_work_items_list', { runId }]])
            replies.push(JSON.stringify(await client.callTool({ name, arguments: { workspaceId: 'ws-1', ...args } })));
    }
    const { json } = await ask('GET', '/evidence/head');
    replies.push(JSON.stringify(await events(server, `${WS}/events:stream?after=0`, Math.min(40, json.seq))));
    for (const where of ['/metrics', '/', '/health', '/ready'])
        replies.push((await server.ask('GET', where, { token: null })).text);
    expectNone(replies, 'an answer', ['config']);
    expectNone([server.log], 'the log');

    const files = fs.readdirSync(server.dir).filter((name) => name.startsWith('p.db')).map((name) => fs.readFileSync(path.join(server.dir, name)).toString('latin1'));
    expectNone(files, 'the database', ['config', 'machine']);
    for (const text of files) {
        for (const token of Object.values(server.tokens))
            assert.ok(!text.includes(token), 'a token is in the database');
    }
});
