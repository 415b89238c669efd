/*
 * metrics.test.mjs - /metrics of the four servers: the format by its rules, the families that the
 * servers have of their own, and that these count what happened.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { plane } from './portarium-rest.mjs';
import { readMetrics, root, serve } from './support/observed.mjs';
import { until } from './support/until.mjs';

let dir;
before(() => { dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'metrics-'))); });
after(() => fs.rmSync(dir, { recursive: true, force: true }));

const COMMON = {
    mcp_build_info: 'gauge', mcp_operation_duration_seconds: 'histogram', mcp_session_duration_seconds: 'histogram', mcp_sessions_open: 'gauge',
    mcp_sessions_total: 'counter', mcp_handlers_stuck: 'gauge', mcp_handlers_given_up_total: 'counter', process_cpu_seconds_total: 'counter',
    process_resident_memory_bytes: 'gauge', process_open_fds: 'gauge', process_max_fds: 'gauge', process_start_time_seconds: 'gauge',
};

function hasFamilies(get, own) {
    for (const [name, type] of Object.entries({ ...COMMON, ...own }))
        assert.equal(get.families.get(name), type, name);
}

const calls = (tool) => `method="tools/call",tool="${tool}"`;

test('universe counts commands by what became of them, and the time of commits', async () => {
    const server = await serve('universe', ['serve', '--db', `sqlite:${path.join(dir, 'u.db')}`, '--port', '0', '--metrics']);
    const command = (body) => server.ask('/universes/u-1/commands', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    await server.ask('/universes', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ id: 'u-1', name: 'u', state: {} }) });
    assert.equal((await command({ type: 'tick', dt: 1 })).status, 200);
    assert.equal((await command({ type: 'tick', dt: 1 })).status, 200);
    assert.notEqual((await command({ type: 'removeStar', id: 'none' })).status, 200);
    const get = await server.metrics();
    hasFamilies(get, { universe_commands_total: 'counter', universe_commit_seconds: 'histogram' });
    assert.deepEqual(['applied', 'rejected', 'conflict', 'failed'].map((outcome) => get('universe_commands_total', `outcome="${outcome}"`)), [2, 1, 0, 0]);
    assert.ok(get('universe_commit_seconds_count') >= 2);
    assert.equal(get('mcp_operation_duration_seconds_count', 'method="POST",route="/universes/{id}/commands"'), 2);
    assert.equal(get('mcp_operation_duration_seconds_count', 'method="POST",route="/universes/{id}/commands",error_type="422"'), 1);
    await server.stop();
});

test('cobre counts the linear programs of its runs', async () => {
    const where = path.join(dir, 'case');
    fs.cpSync(path.join(root, 'examples', 'cases', '1dtoy'), where, { recursive: true });
    const server = await serve('cobre-mcp', ['--transport', 'http', '--port', '0', '--metrics', '--allow-write', where]);
    hasFamilies(await server.metrics(), { cobre_lp_solves_total: 'counter' });
    assert.equal((await server.metrics())('cobre_lp_solves_total'), 0);
    const { result } = await server.call('cobre/run', { case_dir: where });
    assert.ok(!result.isError, JSON.stringify(result));
    const get = await server.metrics();
    assert.ok(get('cobre_lp_solves_total') > 0);
    assert.equal(get('mcp_operation_duration_seconds_count', calls('cobre/run')), 1);
    await server.call('cobre/validate', {});
    const refused = await server.metrics();
    assert.equal(refused('mcp_operation_duration_seconds_count', `${calls('cobre/validate')},error_type="tool_error"`)
        ?? refused('mcp_operation_duration_seconds_count', `${calls('cobre/validate')},error_type="-32602"`), 1);
    await server.stop();
});

test('casparian counts jobs by their state', async () => {
    const home = path.join(dir, 'home'), files = path.join(dir, 'files');
    fs.mkdirSync(files);
    const server = await serve('casparian', ['--home', home, 'mcp', 'serve', '--transport', 'http', '--port', '0', '--metrics', files]);
    const get = await until(async () => {
        const now = await server.metrics();
        return now.families.has('casparian_jobs') && now;
    }, 'the first sample');
    hasFamilies(get, { casparian_jobs: 'gauge' });
    for (const state of ['queued', 'running', 'completed', 'failed', 'cancelled'])
        assert.equal(get('casparian_jobs', `state="${state}"`), 0);
    await server.stop();
});

test('portarium counts runs by their state, and approvals that wait', async () => {
    const server = await plane();
    const metrics = async () => readMetrics((await server.ask('GET', '/metrics', { token: null })).text);
    const { status } = await server.ask('POST', '/v1/workspaces/ws-1/runs', { body: { workflowId: 'wf-gate', parameters: { target: 'x' } } });
    assert.equal(status, 201);
    await until(async () => {
        const { json } = await server.ask('GET', '/v1/workspaces/ws-1/runs');
        return json.items.some((run) => run.status === 'WaitingForApproval');
    }, 'the run to wait');
    await server.restart(); /* a server samples at its start */
    const get = await until(async () => {
        const now = await metrics();
        return now.families.has('portarium_runs') && now;
    }, 'the first sample');
    hasFamilies(get, { portarium_runs: 'gauge', portarium_approvals_pending: 'gauge', portarium_outbox_lag_seconds: 'gauge' });
    assert.equal(get('portarium_runs', 'state="WaitingForApproval"'), 1);
    assert.equal(get('portarium_runs', 'state="Succeeded"'), 0);
    assert.equal(get('portarium_approvals_pending'), 1);
    assert.equal(get('portarium_outbox_lag_seconds'), 0);
    await server.close();
});

/* While calls arrive, each exposition is whole, and counters do not fall. */
test('no sample is lost under a load', async () => {
    const server = await serve('universe', ['serve', '--db', `sqlite:${path.join(dir, 'load.db')}`, '--port', '0', '--metrics']);
    const total = 200, label = calls('get_universe_state');
    let isDone = false, last = 0;
    const reader = (async () => {
        while (!isDone) {
            const get = await server.metrics();
            let count = 0;
            for (const suffix of ['', ',error_type="tool_error"', ',error_type="-32602"', ',error_type="-32603"'])
                count += get('mcp_operation_duration_seconds_count', label + suffix) ?? 0;
            assert.ok(count >= last);
            last = count;
        }
    })();
    for (let i = 0; i < total; i += 10)
        await Promise.all(Array.from({ length: 10 }, () => server.call('get_universe_state', { id: 'none' })));
    isDone = true;
    await reader;
    const get = await server.metrics();
    const counts = ['', ',error_type="tool_error"', ',error_type="-32602"', ',error_type="-32603"']
        .map((suffix) => get('mcp_operation_duration_seconds_count', label + suffix) ?? 0);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), total);
    await server.stop();
});
