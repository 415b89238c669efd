/*
 * portarium-rest.test.mjs - the REST interface of portarium over a socket.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { events, plane } from './portarium-rest.mjs';

const RUNS = '/v1/workspaces/ws-1/runs';
let server;

before(async () => { server = await plane(); });
after(() => server.close());

const start = (workflowId, parameters = {}, headers = {}) => server.ask('POST', RUNS, { body: { workflowId, parameters }, headers });

test('health and readiness need no token', async () => {
    for (const where of ['/health', '/healthz', '/livez']) {
        const { status, json } = await server.ask('GET', where, { token: null });
        assert.deepEqual([status, json.service, json.status, Number.isNaN(Date.parse(json.startedAt))], [200, 'portarium', 'ok', false]);
    }
    for (const where of ['/ready', '/readyz']) {
        const { status, json } = await server.ask('GET', where, { token: null });
        assert.deepEqual([status, json.checks], [200, { database: 'ok' }]);
    }
});

test('every answer carries a correlation id and a trace, its own or the request’s', async () => {
    const own = await server.ask('GET', RUNS);
    assert.match(own.headers.get('x-correlation-id'), /^[0-9a-f-]{36}$/);
    assert.match(own.headers.get('traceparent'), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const given = await server.ask('GET', RUNS, { headers: { 'x-correlation-id': 'c-77', traceparent } });
    assert.deepEqual([given.headers.get('x-correlation-id'), given.headers.get('traceparent')], ['c-77', traceparent]);
    assert.equal(given.headers.get('content-security-policy'), "default-src 'none'");
    const latin = await server.ask('POST', RUNS, { body: { workflowId: 'wf-noop', parameters: { n: 1 } }, headers: { 'x-correlation-id': 'caf\u00e9' } });
    assert.equal(latin.status, 201, latin.text); /* sent as Latin-1 */
    assert.match(latin.headers.get('x-correlation-id'), /^[0-9a-f-]{36}$/);
});

test('so do streams, health and the OpenAPI document, each field once', async () => {
    const token = server.token('otto', 'operator'), stop = new AbortController();
    for (const where of ['/v1/workspaces/ws-1/events:stream', '/healthz', '/readyz', '/v1/openapi.json']) {
        const { headers } = await fetch(server.base + where, { headers: { Authorization: `Bearer ${token}`, 'x-correlation-id': 'c-78' }, signal: stop.signal });
        assert.deepEqual([headers.get('x-correlation-id'), headers.get('x-content-type-options'), headers.get('x-frame-options')], ['c-78', 'nosniff', 'DENY'], where);
        assert.match(headers.get('traceparent'), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
        if (/stream/.test(where))
            assert.equal(headers.get('x-accel-buffering'), 'no');
    }
    stop.abort();
});

test('outside dev and test an answer asks browsers to use https', async () => {
    for (const [environment, expected] of [['prod', 'max-age=31536000; includeSubDomains'], ['dev', null]]) {
        const other = await plane(undefined, '--environment', environment);
        for (const where of ['/v1/workspaces/ws-1', '/', '/healthz'])
            assert.equal((await other.ask('GET', where)).headers.get('strict-transport-security'), expected, `${environment} ${where}`);
        await other.close();
    }
});

function assertGuarded({ headers }, id = /^[0-9a-f-]{36}$/) {
    assert.match(headers.get('x-correlation-id'), id);
    assert.deepEqual(['content-security-policy', 'x-content-type-options', 'x-frame-options'].map((name) => headers.get(name)),
        ["default-src 'none'", 'nosniff', 'DENY']);
}

test('refusals are problem documents, those of the library too', async () => {
    const cases = [
        [401, 'unauthorized', { token: null }, RUNS],
        [401, 'unauthorized', { token: 'pt_nobody' }, RUNS],
        [403, 'forbidden', {}, '/v1/workspaces/ws-2/runs'],
        [403, 'forbidden', {}, '/v1/workspaces/ws-none/runs'],
        [404, 'not-found', {}, `${RUNS}/run-none`],
        [404, 'not-found', {}, '/v1/nothing'],
        [422, 'validation-failed', {}, `${RUNS}?limit=201`],
        [501, 'not-implemented', {}, '/v1/workspaces/ws-1/workforce'],
        [501, 'not-implemented', {}, '/v1/workspaces/ws-1/workforce/queues'],
        [501, 'not-implemented', {}, '/v1/workspaces/ws-1/workforce/ada'],
    ];
    for (const [status, slug, options, where] of cases) {
        const answer = await server.ask('GET', where, options);
        assert.equal(answer.status, status, where);
        assert.equal(answer.headers.get('content-type').split(';')[0], 'application/problem+json');
        assert.equal(answer.json.type, `https://portarium.dev/problems/${slug}`);
        assert.equal(answer.json.status, status);
        assert.equal(answer.json.instance, where.split('?')[0]);
        assertGuarded(answer);
    }
    const wrong = await server.ask('POST', RUNS, { body: { workflowId: 7 } });
    assert.equal(wrong.status, 422);
    assert.match(wrong.json.errors[0].field, /workflowId/);
    assert.doesNotMatch(wrong.json.errors[0].message, /workflowId:/); /* the field says it once */
    const long = await server.ask('POST', RUNS, { body: { workflowId: 'wf-noop', parameters: { n: 1, deep: [{ text: 'x'.repeat(65537) }] } } });
    assert.deepEqual([long.status, long.json.errors], [422, [{ field: '/parameters/deep/0/text', message: 'a text of more than 65536 bytes' }]]);
    const other = await server.ask('POST', RUNS, { body: {}, headers: { 'Content-Type': 'text/plain' } });
    assert.equal(other.status, 415);
    assertGuarded(other);
    const method = await server.ask('PUT', RUNS, { body: {}, headers: { 'x-correlation-id': 'c-79' } });
    assert.deepEqual([method.status, method.headers.get('allow'), method.headers.get('x-correlation-id')], [405, 'GET, HEAD, POST', 'c-79']);
    assertGuarded(method, /^c-79$/);
});

test('a run of another workspace is not found', async () => {
    const { json } = await start('wf-noop', { n: 1 });
    const token = server.token('olga', 'operator', 'ws-2');
    assert.equal((await server.ask('GET', `/v1/workspaces/ws-2/runs/${json.runId}`, { token })).status, 404);
});

test('a key repeats the answer and starts nothing', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await start('wf-noop', { n: 1 }, headers), second = await start('wf-noop', { n: 1 }, headers);
    assert.deepEqual([first.status, second.status, second.json.runId], [201, 201, first.json.runId]);
    assert.equal(second.headers.get('location'), `${RUNS}/${first.json.runId}`);
    assert.equal((await start('wf-noop', { n: 2 }, headers)).status, 409);
});

test('an entity tag saves the body of what has not changed', async () => {
    const where = '/v1/workspaces/ws-1/workflows/wf-noop';
    const first = await server.ask('GET', where);
    const again = await server.ask('GET', where, { headers: { 'If-None-Match': first.headers.get('etag') } });
    assert.deepEqual([first.status, again.status, again.text], [200, 304, '']);
});

test('a change that names another state of its document is refused, whatever the method', async () => {
    const token = server.token('ada', 'admin');
    const ask = (method, where, body, tag) => server.ask(method, `/v1/workspaces/ws-1${where}`, { token, body, headers: tag ? { 'If-Match': tag } : {} });
    const machine = { schemaVersion: 1, machineId: 'm-tag', endpointUrl: 'https://m.example', active: false, displayName: 'M', capabilities: ['a:b'], executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' } };
    const user = await ask('POST', '/users', { userId: 'tagged', email: 'tagged@example.com', roles: ['auditor'] });
    const hold = await ask('POST', '/legal-holds', { rationale: 'a claim' });
    await ask('POST', '/machines', machine);
    const { json } = await start('wf-wait', { ms: 600_000 });
    const run = `/runs/${json.runId}`, exposure = { schemaVersion: 1, rules: [], defaultEffect: 'Allow' };
    const changes = [
        ['POST', `${run}/interventions`, { interventionType: 'annotate', rationale: 'seen by me' }, run],
        ['POST', `${run}/cancel`, {}, run],
        ['PUT', '/tool-exposure', exposure, '/tool-exposure'],
        ['DELETE', '/users/tagged', undefined, '/users/tagged'],
        ['DELETE', '/machines/m-tag', undefined, '/machines/m-tag'],
        ['DELETE', `/legal-holds/${hold.json.legalHoldId}`, undefined, `/legal-holds/${hold.json.legalHoldId}`],
    ];
    assert.equal(user.headers.get('location'), '/v1/workspaces/ws-1/users/tagged');
    for (const [method, where, body, document] of changes) {
        const stale = await ask(method, where, body, '"000000000000"');
        assert.deepEqual([where, stale.status, stale.json?.type], [where, 412, 'https://portarium.dev/problems/precondition-failed']);
        const now = (await ask('GET', document)).headers.get('etag');
        if (!now) /* RFC 9110 section 13.1.1: no document, so not even any */
            assert.equal((await ask(method, where, body, '*')).status, 412);
        const done = await ask(method, where, body, now);
        assert.ok([200, 204].includes(done.status), `${method} ${where}: ${done.text}`);
    }
    assert.equal((await ask('GET', '/tool-exposure')).status, 200);
});

test('a decision is refused for what comes first: no approval, one that is decided, the body, the person', async () => {
    const { json } = await start('wf-gate', { target: 'x' });
    let found = [];
    for (let i = 0; i < 600 && found.length === 0; i++, await new Promise((resolve) => setTimeout(resolve, 50)))
        found = (await server.ask('GET', `/v1/workspaces/ws-1/approvals?runId=${json.runId}`)).json.items;
    const [{ approvalId }] = found;
    const decide = async (id, body, who = 'anna') => (await server.ask('POST', `/v1/workspaces/ws-1/approvals/${id}/decide`, { token: server.token(who, 'approver'), body })).status;
    const blank = { decision: 'Approved', rationale: ' ' }, whole = { ...blank, rationale: 'fine' };
    assert.deepEqual([await decide('none', blank), await decide(approvalId, blank, 'otto-approver'), await decide(approvalId, {})], [404, 422, 422]);
    assert.equal(await decide(approvalId, whole), 200);
    assert.deepEqual([await decide(approvalId, blank), await decide(approvalId, {})], [409, 409]);
});

test('a run has a revision, which each change raises', async () => {
    const { json } = await start('wf-wait', { ms: 600_000 });
    const where = `${RUNS}/${json.runId}`;
    assert.equal(json.revision, 1);
    const note = await server.ask('POST', `${where}/interventions`, { body: { interventionType: 'handoff', rationale: 'mine from here', target: 'otto' } });
    assert.ok(note.json.revision > 1, note.text);
    const done = await server.ask('POST', `${where}/cancel`, { body: {} });
    assert.ok(done.json.revision > note.json.revision, done.text);
    const run = await server.ask('GET', where), full = await server.ask('GET', `${where}?view=full`);
    const [listed] = (await server.ask('GET', `${RUNS}?limit=1`)).json.items;
    assert.deepEqual([run.json.revision, full.json.revision, listed], [done.json.revision, done.json.revision, run.json]);
});

test('a page of a listed origin may send what the interface reads, and read what it answers', async () => {
    const origin = 'https://app.example', other = await plane(undefined, '--allow-origin', origin);
    const asked = ['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match', 'x-correlation-id', 'traceparent', 'tracestate', 'last-event-id'];
    const { status, headers } = await other.ask('OPTIONS', RUNS, { token: null, headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': asked.join() } });
    const allowed = headers.get('access-control-allow-headers').toLowerCase().split(', ');
    assert.deepEqual([status, asked.filter((name) => !allowed.includes(name))], [204, []]);
    const answer = await other.ask('GET', RUNS, { headers: { Origin: origin } });
    const shown = answer.headers.get('access-control-expose-headers').toLowerCase().split(', ');
    assert.deepEqual(['etag', 'location', 'retry-after', 'x-correlation-id'].filter((name) => !shown.includes(name)), []);
    await other.close();
});

test('evidence from behind its end to before it is no question', async () => {
    const verify = async (query) => (await server.ask('GET', `/v1/workspaces/ws-1/evidence/verify?${query}`, { token: server.token('ada', 'admin') })).json;
    assert.deepEqual((await verify('from=2&to=1')).errors, [{ field: 'to', message: 'must not be before from' }]);
    assert.deepEqual(await verify('from=1&to=1'), { ok: true, from: 1, to: 1 });
});

test('a Location leads to what was created, whatever its id', async () => {
    const token = server.token('ada', 'admin'), userId = 'ü 1/2?x#y';
    const made = await server.ask('POST', '/v1/workspaces/ws-1/users', { token, body: { userId, email: 'odd@example.com', roles: ['auditor'] } });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('location'), `/v1/workspaces/ws-1/users/${encodeURIComponent(userId)}`);
    assert.equal((await server.ask('GET', made.headers.get('location'), { token })).json.userId, userId);
});

test('a change of a user touches what a user has, and nothing else', async () => {
    const token = server.token('ada', 'admin'), where = '/v1/workspaces/ws-1/users/victim';
    const made = await server.ask('POST', '/v1/workspaces/ws-1/users', { token, body: { userId: 'victim', email: 'victim@example.com', roles: ['auditor'] } });
    const changed = await server.ask('PATCH', where, { token, body: { displayName: 'V', userId: 'ada', workspaceId: 'ws-2', createdAtIso: 'never', more: 1 } });
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.json, { ...made.json, displayName: 'V' });
    assert.deepEqual((await server.ask('GET', where, { token })).json, changed.json);
});

test('a long poll answers when the run changes, and at its end', async () => {
    const { json } = await start('wf-wait', { ms: 400 });
    let run = (await server.ask('GET', `${RUNS}/${json.runId}`)).json;
    while (!['Succeeded', 'Failed'].includes(run.status))
        run = (await server.ask('GET', `${RUNS}/${json.runId}?wait=60`)).json;
    assert.equal(run.status, 'Succeeded');
    assert.equal((await server.ask('GET', `${RUNS}/${json.runId}?wait=60`)).json.status, 'Succeeded');

    const later = await start('wf-wait', { ms: 60_000 });
    const waits = await Promise.all(Array.from({ length: 20 }, () => server.ask('GET', `${RUNS}/${later.json.runId}?wait=1`)));
    assert.deepEqual([...new Set(waits.map(({ status }) => status))], [200]);
    for (const wrong of ['-1', '61', 'x', '1.5'])
        assert.equal((await server.ask('GET', `${RUNS}/${json.runId}?wait=${wrong}`)).status, 422);
});

test('a reader that knows an older state is answered at once', async () => {
    const { json } = await start('wf-wait', { ms: 60_000 });
    const answer = await server.ask('GET', `${RUNS}/${json.runId}?wait=60`, { headers: { 'If-None-Match': '"000000000000"' }, signal: AbortSignal.timeout(50_000) });
    assert.equal(answer.status, 200);
});

test('events are dense, and a reader continues where it was', async () => {
    const where = '/v1/workspaces/ws-1/events:stream';
    const { json } = await start('wf-noop', { n: 1 });
    await server.ask('GET', `${RUNS}/${json.runId}?wait=60`);
    const all = await events(server, `${where}?after=0`, 6);
    assert.deepEqual(all.map(({ id }) => id), [1, 2, 3, 4, 5, 6]);
    assert.equal(all[0].data.specversion, '1.0');
    const rest = await events(server, where, 2, { 'Last-Event-ID': '2' });
    assert.deepEqual(rest, all.slice(2, 4));
    const fresh = events(server, where, 1);
    let seen = false;
    fresh.then(() => { seen = true; });
    while (!seen)
        await start('wf-noop', { n: 1 });
    assert.ok((await fresh)[0].id > 6);
    assert.equal((await server.ask('GET', `${where}?after=x`)).status, 422);
    assert.equal((await server.ask('GET', '/v1/workspaces/ws-2/events:stream')).status, 403);
});

test('a reader whose event is none of the workspace receives resync', async () => {
    const where = '/v1/workspaces/ws-1/events:stream';
    await start('wf-noop', { n: 1 });
    const [{ id }] = await events(server, `${where}?after=0`, 1);
    assert.equal(id, 1);
    for (const [query, headers] of [['?after=1000000', {}], ['', { 'Last-Event-ID': '1000000' }]]) {
        const reading = events(server, where + query, 2, headers);
        let seen = false;
        reading.then(() => { seen = true; });
        for (const end = Date.now() + 60_000; !seen; await start('wf-noop', { n: 1 }))
            assert.ok(Date.now() < end, 'nothing arrives');
        const [first, second] = await reading;
        assert.deepEqual([first.event, first.data], ['resync', {}]);
        assert.ok(second.id < 1_000_000);
    }
});

test('a time is stored as UTC, whatever its offset', async () => {
    const ITEMS = '/v1/workspaces/ws-1/work-items';
    const made = await server.ask('POST', ITEMS, { body: { title: 'Due', sla: { dueAtIso: '2031-02-03T04:05:06+02:00' } } });
    assert.deepEqual([made.status, made.json.sla], [201, { dueAtIso: '2031-02-03T02:05:06.000Z' }]);
    const item = `${ITEMS}/${made.json.workItemId}`;
    const changed = await server.ask('PATCH', item, { body: { sla: { dueAtIso: '2031-02-03T04:05:06.5-01:00' } } });
    assert.deepEqual([changed.status, changed.json.sla], [200, { dueAtIso: '2031-02-03T05:05:06.500Z' }]);
    const { json: { runId } } = await start('wf-gate', { target: 'x' });
    const plan = await server.ask('POST', '/v1/workspaces/ws-1/plans', { body: { plannedEffects: [
        { effectId: 'e', operation: 'Create', target: { sorName: 's', portFamily: 'CustomerSupport', externalId: 'x', externalType: 'ticket' }, summary: 'one' }] } });
    const asked = await server.ask('POST', '/v1/workspaces/ws-1/approvals', { body: { runId, planId: plan.json.planId, prompt: 'May it?', dueAtIso: '2031-02-03T04:05:06+02:00' } });
    assert.deepEqual([asked.status, asked.json.dueAtIso], [201, '2031-02-03T02:05:06.000Z']);
});

test('the OpenAPI document has every route, and its references hold', async () => {
    const { json, headers } = await server.ask('GET', '/v1/openapi.json', { token: null });
    assert.equal(json.openapi, '3.1.0');
    const again = await server.ask('GET', '/v1/openapi.json', { token: null, headers: { 'If-None-Match': headers.get('etag') } });
    assert.equal(again.status, 304);
    const names = [];
    for (const [where, methods] of Object.entries(json.paths)) {
        for (const [method, operation] of Object.entries(methods)) {
            names.push(operation.operationId);
            const variables = [...where.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
            assert.deepEqual(operation.parameters.filter((one) => one.in === 'path').map((one) => one.name), variables);
            /* the route exists: without a token it is refused, not unknown */
            const answer = await server.ask(method.toUpperCase(), where.replaceAll(/[{}]/g, ''), { token: null });
            assert.equal(answer.status, 401, where);
        }
    }
    assert.equal(new Set(names).size, names.length);
    for (const [, name] of JSON.stringify(json).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
        assert.ok(json.components.schemas[name], name);
});

test('the token of a user who is not active does nothing', async () => {
    const admin = server.token('ada', 'admin'), token = server.token('hugo', 'operator,approver'), USERS = '/v1/workspaces/ws-1/users';
    const asked = async () => [(await server.ask('GET', RUNS, { token })).status, (await server.ask('POST', RUNS, { token, body: { workflowId: 'wf-noop', parameters: { n: 1 } } })).status];
    const set = async (active) => assert.equal((await server.ask('PATCH', `${USERS}/hugo`, { token: admin, body: { active } })).status, 200);
    assert.deepEqual(await asked(), [200, 201]); /* a subject need not be a user */
    assert.equal((await server.ask('POST', USERS, { token: admin, body: { userId: 'hugo', email: 'hugo@example.com', roles: ['approver'] } })).status, 201);
    assert.deepEqual(await asked(), [200, 201]);
    await set(false);
    assert.deepEqual(await asked(), [403, 403]);
    assert.equal((await server.ask('GET', RUNS, { token })).json.detail, 'The user of the token is not active.');
    assert.equal((await server.ask('GET', '/v1/workspaces/ws-1/events:stream', { token })).status, 403);
    await set(true);
    assert.deepEqual(await asked(), [200, 201]);
});

test('the OpenAPI document has what a problem has, and which bodies may be absent', async () => {
    const { json } = await server.ask('GET', '/v1/openapi.json', { token: null });
    const { properties, required } = json.components.schemas.Problem;
    assert.equal(json.components.responses.Problem.content['application/problem+json'].schema.$ref, '#/components/schemas/Problem');
    const problems = [
        await server.ask('GET', RUNS, { token: null }), await server.ask('POST', RUNS, { body: { workflow: 'x', parameters: 1 } }), await server.ask('GET', `${RUNS}/none`),
        await server.ask('PUT', RUNS, { body: {} }), await server.ask('GET', '/v1/nothing'), await server.ask('POST', RUNS),
        ...await Promise.all(Array.from({ length: 400 }, () => server.ask('GET', `${RUNS}?limit=0`, { token: server.token('flo', 'auditor') }))),
    ];
    for (const { json: problem, headers } of problems) {
        assert.equal(headers.get('content-type'), 'application/problem+json');
        assert.deepEqual(Object.keys(problem).filter((name) => !properties[name]), [], JSON.stringify(problem));
        assert.deepEqual(required.filter((name) => problem[name] === undefined), [], JSON.stringify(problem));
        assert.match(problem.type, new RegExp(properties.type.pattern));
    }
    assert.ok(problems.some(({ json: { errors } }) => errors?.length > 0) && problems.some(({ json: { retryAfterSeconds } }) => retryAfterSeconds >= 1));
    const absent = Object.values(json.paths).flatMap((methods) => Object.values(methods)).filter(({ requestBody }) => requestBody && !requestBody.required);
    assert.deepEqual(absent.map(({ operationId }) => operationId), ['cancelRun']);
});

test('the OpenAPI document has each member of a query, and the headers of conditions', async () => {
    const { json } = await server.ask('GET', '/v1/openapi.json', { token: null });
    const operations = Object.values(json.paths).flatMap((methods) => Object.entries(methods));
    const of = (id, place) => operations.find(([, one]) => one.operationId === id)[1].parameters.filter((one) => one.in === place).map((one) => one.name);
    const page = ['limit', 'cursor', 'sort', 'q'];
    assert.deepEqual(of('listRuns', 'query'), [...page, 'status', 'workflowId']);
    assert.deepEqual(of('listWorkItems', 'query'), [...page, 'status', 'ownerUserId', 'runId', 'workflowId', 'approvalId', 'evidenceId']);
    assert.deepEqual(of('listApprovals', 'query'), [...page, 'status', 'runId', 'planId', 'workItemId', 'assigneeUserId', 'requestedByUserId']);
    assert.deepEqual(of('listEvidence', 'query'), ['limit', 'cursor', 'sort', 'category', 'runId', 'planId', 'workItemId']);
    assert.deepEqual(of('verifyEvidence', 'query'), ['from', 'to']);
    assert.deepEqual(of('getConsistency', 'query'), ['since']);
    assert.deepEqual(of('getRun', 'query'), ['view', 'wait']);
    assert.deepEqual(of('listAgentWork', 'query'), ['wait']);
    for (const id of ['updateUser', 'deleteUser', 'updateWorkItem', 'putAssignment', 'cancelRun', 'interveneInRun', 'setToolExposure', 'deleteMachine'])
        assert.ok(of(id, 'header').includes('If-Match'), id);
    const media = (id) => Object.keys(operations.find(([, one]) => one.operationId === id)[1].responses['2XX'].content ?? {});
    assert.deepEqual(['getRun', 'getCheckpoint', 'getRunBundle', 'getEvidenceHead', 'deleteUser'].map(media),
        [['application/json'], ['text/plain'], ['application/jsonl'], ['application/json'], []]);
    /* The document is of OpenAPI 3.1: what a parameter and an answer must have. */
    for (const [, operation] of operations) {
        for (const one of operation.parameters)
            assert.ok(one.name && ['path', 'query', 'header'].includes(one.in) && one.schema.type && one.required === (one.in === 'path'), operation.operationId);
        assert.equal(new Set(operation.parameters.map((one) => `${one.in} ${one.name}`)).size, operation.parameters.length, operation.operationId);
        for (const answer of Object.values(operation.responses))
            assert.ok(answer.$ref || answer.description, operation.operationId);
    }
    const limit = json.paths['/v1/workspaces/{workspaceId}/runs'].get.parameters.find((one) => one.name === 'limit');
    assert.deepEqual([limit.schema.minimum, limit.schema.maximum], [1, 200]);
});

test('the metrics have lines of the plane', async () => {
    const { text } = await server.ask('GET', '/metrics', { token: null });
    for (const name of ['waiting_calls', 'event_readers', 'events_published_total', 'rate_limited_total'])
        assert.match(text, new RegExp(`^portarium_${name} \\d+$`, 'm'));
});

test('a principal who asks too often is refused, and told when to come back', async (t) => {
    const token = server.token('flood', 'auditor');
    const began = Date.now();
    const answers = await Promise.all(Array.from({ length: 1500 }, () => server.ask('GET', `${RUNS}?limit=1`, { token })));
    const refused = answers.find(({ status }) => status === 429);
    if (!refused && Date.now() - began > 5000)
        return t.skip('the machine answers fewer than the limit');
    assert.ok(refused, 'none of 1,500 requests was refused');
    assert.equal(refused.json.type, 'https://portarium.dev/problems/rate-limit-exceeded');
    assert.equal(refused.headers.get('retry-after'), String(refused.json.retryAfterSeconds));
    assert.equal((await server.ask('GET', `${RUNS}?limit=1`)).status, 200);
});

test('an unknown word in a filter is refused, with the words that there are', async () => {
    const HERE = '/v1/workspaces/ws-1', admin = server.token('ada', 'admin');
    const lists = [
        ['runs', 'status', 'Succeeded', 'Cancelled'], ['approvals', 'status', 'Pending', 'RequestChanges'], ['work-items', 'status', 'Open', 'Closed'],
        ['human-tasks', 'status', 'pending', 'escalated'], ['adapter-registrations', 'portFamily', 'SoftwareDev', 'Payroll'],
        ['evidence', 'category', 'System', 'PolicyViolation'],
    ];
    const { paths } = (await server.ask('GET', '/v1/openapi.json', { token: null })).json;
    for (const [list, name, one, other] of lists) {
        const ask = (value) => server.ask('GET', `${HERE}/${list}?${name}=${value}`, { token: admin });
        const several = name === 'status';
        assert.equal((await ask(one)).status, 200);
        assert.equal((await ask('')).status, 200);
        assert.equal((await ask(`${one},${other}`)).status, several ? 200 : 422);
        for (const bad of ['Nonsense', one.toLowerCase() + 'x', `${one},Nonsense`, `${one},`]) {
            const { status, json } = await ask(bad);
            assert.equal(status, 422, `${list} ${bad}`);
            assert.equal(json.errors[0].field, name);
            assert.match(json.errors[0].message, new RegExp(`${one}.*, ${other}|${other}.*, ${one}`));
        }
        const { schema, explode } = paths[`/v1/workspaces/{workspaceId}/${list}`].get.parameters.find((parameter) => parameter.name === name);
        const words = several ? schema.items.enum : schema.enum;
        assert.ok(words.includes(one) && words.includes(other));
        assert.equal(explode, several ? false : undefined);
    }
    for (const [list, name] of [['users', 'active'], ['workflows', 'active'], ['adapter-registrations', 'enabled']]) {
        const { status, json } = await server.ask('GET', `${HERE}/${list}?${name}=perhaps`, { token: admin });
        assert.deepEqual([status, json.errors], [422, [{ field: name, message: 'must be true or false' }]]);
    }
    const names = paths['/v1/workspaces/{workspaceId}/runs/{runId}/evidence'].get.parameters.map((parameter) => parameter.name);
    assert.equal(new Set(names).size, names.length);
});

test('a cursor of another list is refused', async () => {
    const HERE = '/v1/workspaces/ws-1', admin = server.token('ada', 'admin');
    const get = (where) => server.ask('GET', HERE + where, { token: admin });
    for (let i = 0; i < 3; i++)
        assert.equal((await server.ask('POST', `${HERE}/work-items`, { body: { title: 'Look' } })).status, 201);
    const next = async (where) => encodeURIComponent((await get(where)).json.nextCursor);
    const of = { items: await next('/work-items?limit=1'), open: await next('/work-items?limit=1&status=Open'), evidence: await next('/evidence?limit=1') };
    const fit = [`/work-items?limit=2&cursor=${of.items}`, `/work-items?status=Open&cursor=${of.open}`, `/evidence?cursor=${of.evidence}`];
    const unfit = [
        `/runs?cursor=${of.items}`, `/work-items?cursor=${of.open}`, `/work-items?status=Open&cursor=${of.items}`, `/work-items?sort=createdAtIso:asc&cursor=${of.items}`,
        `/work-items?q=Look&cursor=${of.items}`, `/evidence?cursor=${of.items}`, `/evidence?category=System&cursor=${of.evidence}`, `/evidence?sort=occurredAtIso:asc&cursor=${of.evidence}`,
        `/approvals?cursor=${of.evidence}`,
    ];
    for (const where of fit)
        assert.equal((await get(where)).status, 200, where);
    for (const where of unfit) {
        const { status, json } = await get(where);
        assert.deepEqual([status, json.detail], [422, 'cursor is of another list'], where);
    }
});

test('the longest wait is answered', async () => {
    const { json: { runId } } = await server.ask('POST', RUNS, { body: { workflowId: 'wf-gate', parameters: { target: 'x' } } });
    while ((await server.ask('GET', `${RUNS}/${runId}`)).json.status !== 'WaitingForApproval');
    const { status, json } = await server.ask('GET', `${RUNS}/${runId}?wait=60`);
    assert.deepEqual([status, json.status], [200, 'WaitingForApproval']);
});
