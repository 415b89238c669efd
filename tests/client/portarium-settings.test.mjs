/*
 * portarium-settings.test.mjs - settings of a served plane that change what it does, from the file
 * of --config.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { CONTENT, plane, program } from './portarium-rest.mjs';
import { until } from './support/until.mjs';

const ONE = { workspaces: [CONTENT.workspaces[0]] };
const RUNS = '/v1/workspaces/ws-1/runs';
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-settings-'));
after(() => fs.rmSync(dir, { recursive: true, force: true }));

async function withPlane(text, use) {
    const file = path.join(dir, 'portarium.toml');
    fs.writeFileSync(file, text, { mode: 0o600 });
    const server = await plane(ONE, '--config', file);
    try {
        await use(server);
    } finally {
        await server.close();
    }
}

async function cancelAsAuditor(server) {
    const { status, json } = await server.ask('POST', RUNS, { body: { workflowId: 'wf-wait', parameters: { ms: 600_000 } } });
    assert.equal(status, 201);
    return (await server.ask('POST', `${RUNS}/${json.runId}/cancel`, { token: server.token('ute', 'auditor'), body: {} })).status;
}

/** How many of so many requests at once are refused with 429. */
async function refusals(server, count) {
    const answers = await Promise.all(Array.from({ length: count }, () => server.ask('GET', RUNS)));
    return answers.filter(({ status }) => status === 429).length;
}

test('an auditor cancels a run only where rbac.compat_cancel is set', async () => {
    await withPlane('[rbac]\ncompat_cancel = true\n', async (server) => assert.equal(await cancelAsAuditor(server), 200));
    await withPlane('', async (server) => assert.equal(await cancelAsAuditor(server), 403));
});

test('who reads evidence is in the evidence only where audit_reads is set', async () => {
    const EVIDENCE = '/v1/workspaces/ws-1/evidence';
    const reads = async (server) => {
        const auditor = server.token('ute', 'auditor');
        const { json: { runId } } = await server.ask('POST', RUNS, { body: { workflowId: 'wf-noop', parameters: { n: 1 } } });
        const run = `${RUNS}/${runId}`;
        await until(async () => (await server.ask('GET', run)).json.status === 'Succeeded', 'the end of the run');
        const own = await server.ask('GET', `${run}/evidence`, { token: auditor });
        const payload = own.json.items.flatMap(({ payloadRefs = [] }) => payloadRefs)[0].uri.split('/').at(-1);
        assert.equal((await server.ask('GET', `/v1/workspaces/ws-1/payloads/${payload}`, { token: auditor })).status, 200);
        assert.equal((await server.ask('GET', '/v1/workspaces/ws-2/evidence', { token: auditor })).status, 403);
        assert.equal((await server.ask('GET', run, { token: auditor })).status, 200);
        const { json: { items } } = await server.ask('GET', `${EVIDENCE}?category=OperatorSurface`, { token: auditor });
        assert.equal((await server.ask('GET', `${EVIDENCE}/verify`, { token: auditor })).json.ok, true);
        return { runId, payload, seen: items.filter(({ summary }) => /read evidence/.test(summary)) };
    };
    await withPlane('', async (server) => assert.deepEqual((await reads(server)).seen, []));
    await withPlane('audit_reads = true\n', async (server) => {
        const { runId, payload, seen } = await reads(server);
        assert.deepEqual(seen.map(({ summary, actor, links }) => [summary, actor.kind, actor.userId, links?.runId]), [
            ['ute read evidence: listEvidence', 'User', 'ute', undefined],
            [`ute read evidence: getPayload ${payload}`, 'User', 'ute', undefined],
            ['ute read evidence: listRunEvidence', 'User', 'ute', runId],
        ]);
    });
    const done = spawnSync(program, ['serve', '--db', `sqlite:${path.join(dir, 'p.db')}`, '--port', '0', '--read-only', '--audit-reads'], { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 2);
    assert.match(done.stderr, /--audit-reads stores something, which --read-only refuses: leave out one of them/);
});

test('rest.compat_rate gives a workspace a burst of 50', async () => {
    await withPlane('', async (server) => assert.equal(await refusals(server, 150), 0));
    await withPlane('[rest]\ncompat_rate = true\n', async (server) => assert.ok(await refusals(server, 600) > 0));
});

test('rest.compat_400 answers what is wrong with an agent, and not with a run, with 400', async () => {
    const refusals = async (server) => Promise.all(['agents', 'runs'].map(async (what) => {
        const { status, json } = await server.ask('POST', `/v1/workspaces/ws-1/${what}`, { body: { agentId: 7, workflowId: 7 } });
        assert.equal(json.type, 'https://portarium.dev/problems/validation-failed');
        return status;
    }));
    await withPlane('', async (server) => assert.deepEqual(await refusals(server), [422, 422]));
    await withPlane('[rest]\ncompat_400 = true\n', async (server) => assert.deepEqual(await refusals(server), [400, 422]));
});

test('who claims a workspace that does not exist finds nothing in it', async () => {
    const claims = { ENABLE_DEV_AUTH: 'true', PORTARIUM_DEV_TOKEN: 'dev-token-1', PORTARIUM_DEV_WORKSPACE_ID: 'ws-none' };
    Object.assign(process.env, claims);
    const server = await plane(ONE, '--environment', 'test');
    Object.keys(claims).forEach((name) => delete process.env[name]);
    try {
        const { json } = await server.ask('GET', '/v1/openapi.json', { token: null });
        const where = Object.entries(json.paths).filter(([path, { get }]) => get && /^\/v1\/workspaces\/\{workspaceId\}[^{}]*$/.test(path))
            .map(([path]) => path.replace('{workspaceId}', 'ws-none'));
        assert.ok(where.length > 15);
        for (const path of where) {
            const answer = await server.ask('GET', path, { token: claims.PORTARIUM_DEV_TOKEN });
            assert.deepEqual([path, answer.status, answer.json.detail], [path, 404, 'Workspace ws-none not found.']);
        }
        const started = await server.ask('POST', '/v1/workspaces/ws-none/runs', { token: claims.PORTARIUM_DEV_TOKEN, body: { workflowId: 'wf-noop' } });
        assert.deepEqual([started.status, started.json.detail], [404, 'Workspace ws-none not found.']);
        assert.equal((await server.ask('GET', '/v1/workspaces/ws-1/runs', { token: claims.PORTARIUM_DEV_TOKEN })).status, 403);
    } finally {
        await server.close();
    }
});

test('a member of a policy that is none of a policy hides no tool and stops no server', async () => {
    await withPlane('', async (server) => {
        const ask = (method, where, body) => server.ask(method, `/v1/workspaces/ws-1${where}`, { token: server.token('ada', 'admin'), body });
        const shown = async () => (await ask('POST', '/tool-exposure:judge', { tools: ['a_tool', 'b_tool'] })).json.tools;
        for (const rules of [[], [{ ruleId: 'r', condition: 'true', effect: 'Allow' }]])
            assert.equal((await ask('POST', '/policies', { name: 'x', defaultEffect: 'Deny', rules })).status, 201);
        assert.deepEqual(await shown(), ['a_tool', 'b_tool']);
        assert.equal((await ask('PUT', '/tool-exposure', { schemaVersion: 1, rules: [{ toolPattern: 'a_*' }], defaultEffect: 'Deny' })).status, 200);
        await server.restart();
        assert.deepEqual(await shown(), ['a_tool']);
    });
});
