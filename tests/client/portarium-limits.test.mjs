/*
 * portarium-limits.test.mjs - the bounds of portarium's requests, just at and just beyond them.
 * docs/limits.md has a row for each function.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { CONTENT, plane } from './portarium-rest.mjs';
import { call, connect } from './support/portarium-clients.mjs';

const WS = '/v1/workspaces/ws-1';
let server, admin;

before(async () => {
    const keys = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-'));
    server = await plane(CONTENT, '--webhook-host', 'hooks.example', '--key-file', path.join(keys, 'key'));
    admin = server.token('ada', 'admin');
});
after(() => server.close());

/* The answer to a request, and what it says of fields. */
async function post(where, body, token = admin, headers = {}) {
    const answer = await server.ask('POST', WS + where, { token, body, headers });
    return { status: answer.status, fields: (answer.json?.errors ?? []).map((error) => error.field), answer };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const start = (parameters) => post('/runs', { workflowId: 'wf-noop', parameters: { n: 1, ...parameters } });
const action = (i) => ({ actionId: `a${i}`, order: i, portFamily: 'SoftwareDev', operation: 'control:noop' });
const workflow = (id, more) => ({ schemaVersion: 1, workflowId: id, workspaceId: 'ws-1', name: id, version: 1, active: true, executionTier: 'Auto', actions: [action(1)], ...more });

test(async function a_body_has_1_mib() {
    const raw = (size) => fetch(`${server.base}${WS}/work-items`, {
        method: 'POST', headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
        body: '{"title":"t"' + ' '.repeat(size - 13) + '}',
    });
    assert.equal((await raw(1 << 20)).status, 201);
    const beyond = await raw((1 << 20) + 1);
    assert.deepEqual([beyond.status, (await beyond.json()).type], [413, 'https://portarium.dev/problems/payload-too-large']);
});

test(async function a_body_nests_56_deep() {
    const nested = (depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    const { status, answer } = await start({ deep: nested(54) }); /* in two objects */
    assert.equal(status, 201);
    const beyond = await start({ deep: nested(55) });
    assert.deepEqual([beyond.status, beyond.fields], [422, ['/parameters']]);
    assert.equal((await start({ deep: nested(63) })).status, 400); /* no JSON of this server */
    assert.equal((await start({ n: 1, m: 'x' })).status, 201);
    /* What is taken is performed and shown, also within a page. */
    const run = await server.ask('GET', `${WS}/runs/${answer.json.runId}?wait=30`, { token: admin });
    assert.deepEqual([run.json.status, run.json.parameters.deep], ['Succeeded', nested(54)]);
    assert.equal((await server.ask('GET', `${WS}/runs`, { token: admin })).status, 200);
});

test(async function an_input_nests_56_deep() {
    const deep = JSON.parse('['.repeat(54) + ']'.repeat(54));
    for (const [name, input, status] of [['just', { deep: '${parameters.deep}' }, 'Succeeded'], ['too', { a: [{ deep: '${parameters.deep}' }] }, 'Failed']]) {
        assert.equal((await post('/workflows', workflow(`wf-${name}-deep`, { actions: [{ ...action(1), input }] }))).status, 201);
        const { answer } = await post('/runs', { workflowId: `wf-${name}-deep`, parameters: { deep } });
        const run = await server.ask('GET', `${WS}/runs/${answer.json.runId}?wait=30`, { token: admin });
        assert.deepEqual([run.json.status, run.json.failure?.class], [status, status === 'Failed' ? 'validation' : undefined], run.text);
        assert.match(run.json.failure?.message ?? 'nested', /nested/);
    }
});

test(async function a_text_has_64_kib() {
    assert.equal((await start({ text: 'x'.repeat(65536) })).status, 201);
    const beyond = await start({ deep: [{ text: 'x'.repeat(65537) }] });
    assert.deepEqual([beyond.status, beyond.fields], [422, ['/parameters/deep/0/text']]);
});

test(async function parameters_have_256_kib() {
    const parts = (rest) => ({ a: 'x'.repeat(65000), b: 'x'.repeat(65000), c: 'x'.repeat(65000), d: 'x'.repeat(65000), e: 'x'.repeat(rest) });
    assert.equal((await start(parts(2000))).status, 201);
    const beyond = await start(parts(2200));
    assert.deepEqual([beyond.status, beyond.fields], [422, ['/parameters']]);
});

test(async function a_workflow_has_1000_actions() {
    const actions = Array.from({ length: 1001 }, (_, i) => action(i + 1));
    assert.equal((await post('/workflows', workflow('wf-long', { actions: actions.slice(0, 1000) }))).status, 201);
    assert.equal((await post('/workflows', workflow('wf-longer', { actions }))).status, 422);
});

test(async function a_condition_has_512_characters() {
    const when = (length) => ({ actions: [{ ...action(1), when: 'true || "' + 'x'.repeat(length - 10) + '"' }] });
    assert.equal((await post('/workflows', workflow('wf-when', when(512)))).status, 201);
    const beyond = await post('/workflows', workflow('wf-when-2', when(513)));
    assert.deepEqual([beyond.status, beyond.fields], [422, ['/actions/0/when']]);
});

test(async function an_id_has_200_characters() {
    assert.equal((await post('/workflows', workflow('w'.repeat(200), { name: 'longest id' }))).status, 201);
    const beyond = await post('/workflows', workflow('w'.repeat(201), { name: 'longer id' }));
    assert.deepEqual([beyond.status, beyond.fields], [422, ['/workflowId']]);
});

test(async function an_idempotency_key_has_255_bytes() {
    const keyed = (length) => post('/work-items', { title: 'keyed' }, admin, { 'Idempotency-Key': 'k'.repeat(length) });
    assert.equal((await keyed(255)).status, 201);
    assert.equal((await keyed(256)).status, 422);
});

test(async function a_free_text_has_4096_characters() {
    const { answer } = await post('/runs', { workflowId: 'wf-gate', parameters: { target: 'x' } });
    let approval;
    for (let i = 0; !approval && i < 600; i++) {
        const { json } = await server.ask('GET', `${WS}/approvals?runId=${answer.json.runId}`, { token: admin });
        approval = json.items[0];
        if (!approval)
            await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const anna = server.token('anna', 'approver');
    const decide = (length) => post(`/approvals/${approval.approvalId}/decide`, { decision: 'Approved', rationale: 'r'.repeat(length) }, anna);
    const beyond = await decide(4097);
    assert.deepEqual([beyond.status, beyond.fields], [422, ['/rationale']]);
    assert.equal((await decide(4096)).status, 200);
});

test(async function a_page_has_200_items() {
    const page = (limit) => server.ask('GET', `${WS}/work-items?limit=${limit}`, { token: admin });
    assert.deepEqual([(await page(200)).status, (await page(201)).status, (await page(0)).status], [200, 422, 422]);
});

test(async function a_list_of_work_items_has_200() {
    const token = server.token('otto', 'operator'); /* whose rate is his own */
    const ids = [];
    const done = async (method, where, body) => {
        for (let answer; ; await pause(20)) { /* until the limit of rates lets it pass */
            answer = await server.ask(method, WS + where, { token, body });
            if (answer.status !== 429)
                return answer.json;
        }
    };
    for (let i = 0; i < 202; i++) {
        const { workItemId } = await done('POST', '/work-items', { title: `item ${i}` });
        await done('PATCH', `/work-items/${workItemId}`, { status: i % 2 ? 'Closed' : 'Resolved' });
        ids.unshift(workItemId);
        await pause(2);
    }
    const client = await connect('http', server, token);
    const found = await call(client, 'portarium_work_items_list', { workspaceId: 'ws-1', status: 'completed' });
    await client.close();
    /* of both statuses, the newest first */
    assert.deepEqual(found.items.map((item) => item.workItemId), ids.slice(0, 200));
    assert.equal(found.nextCursor, ids[199]);
});

test(async function a_page_has_2_mib() {
    const text = 'x'.repeat(60_000), ids = [];
    for (let i = 0; i < 20; i++, await pause(2)) /* times have milliseconds */
        ids.unshift((await start({ i, a: text, b: text, c: text, d: text })).answer.json.runId);
    const found = [];
    for (let cursor = '', left = 20; cursor !== undefined && left > 0; left--) {
        const page = await server.ask('GET', `${WS}/runs?workflowId=wf-noop${cursor}`, { token: admin });
        assert.equal(page.status, 200, page.text);
        assert.ok(page.text.length < 2.1 * (1 << 20) && page.json.items.length > 0, `${page.text.length} bytes`);
        found.push(...page.json.items.map((run) => run.runId));
        cursor = page.json.nextCursor && `&cursor=${page.json.nextCursor}`;
    }
    assert.deepEqual(found.filter((id) => ids.includes(id)), ids);
    assert.equal(new Set(found).size, found.length);
});

test(async function a_request_waits_60_seconds_at_most() {
    const { answer } = await start({});
    const wait = (seconds) => server.ask('GET', `${WS}/runs/${answer.json.runId}?wait=${seconds}`, { token: admin });
    assert.equal((await wait(61)).status, 422);
    for (let i = 0; i < 600 && (await wait(0)).json.status !== 'Succeeded'; i++)
        await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await wait(60)).status, 200); /* it has ended, so nobody waits */
});

test(async function a_workspace_has_100_webhooks() {
    const hook = (i) => post('/webhooks', { url: `https://hooks.example/${i}` });
    for (let i = 0; i < 100; i++)
        assert.equal((await hook(i)).status, 201);
    assert.equal((await hook(100)).status, 409);
});
