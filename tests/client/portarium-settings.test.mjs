/*
 * portarium-settings.test.mjs - settings of a served plane that change what it does, from the file
 * of --config.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { CONTENT, plane } from './portarium-rest.mjs';

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
