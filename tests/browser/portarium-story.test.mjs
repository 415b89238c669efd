/*
 * portarium-story.test.mjs - an agent's whole story. It registers, beats, plans and starts a run; a
 * person approves in the cockpit, in Chromium; the `mcp` executor changes a running universe; the
 * bundle verifies in both verifiers. Then the agent does the same through `portarium gate`.
 *
 * Each test continues where the one before it ended.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { chromium } from 'playwright-core';

import { plane, program, root } from '../client/portarium-rest.mjs';
import { until } from '../client/support/until.mjs';
import { reportFailures, watch } from './witness.mjs';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const WAIT_MS = 60_000, WS = '/v1/workspaces/ws-1';
const TOOL = 'send_universe_command';
const MACHINE = {
    machineId: 'm-1', endpointUrl: 'https://m.example.com', active: true, displayName: 'm-1', capabilities: ['agent:task'],
    executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' },
    authConfig: { kind: 'bearer', secretRef: 'M' },
};
const WORKFLOW = {
    schemaVersion: 1, workflowId: 'wf-star', workspaceId: 'ws-1', name: 'Add a star', version: 1, active: true, executionTier: 'HumanApprove',
    actions: [{
        actionId: 'add', order: 1, portFamily: 'SoftwareDev', operation: 'universe:write',
        input: { universeId: 'sky', command: { type: 'addStar', id: '${parameters.id}', payload: '${parameters.body}' } },
    }],
};
const ADAPTER = {
    schemaVersion: 1, adapterId: 'ad-universe', workspaceId: 'ws-1', providerSlug: 'universe', portFamily: 'SoftwareDev', enabled: true,
    capabilityMatrix: [{ operation: 'universe:write', requiresAuth: false }],
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: [], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
    binding: { kind: 'mcp', server: 'sky', tool: TOOL },
};
const star = (name) => ({ name, bodyType: 'star', parentId: null, orbitalDistance: 0, orbitalSpeed: 0, radius: 3, color: '#FFF4EA', mass: 27 });

let home, config, sky, server, browser, admin, agentToken, agent, runId, approvalId;

/* A running universe with the universe "sky": { url, bodies(), close() }. */
async function startUniverse() {
    const child = spawn(path.join(path.dirname(program), 'universe'), ['serve', '--port', '0', '--db', 'memory'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => { log += text; });
    while (!/serving http:\S+\n/.test(log))
        await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(() => assert.fail(log))]);
    const base = new URL(/serving (http:\S+)\n/.exec(log)[1]).origin;
    const made = await fetch(`${base}/universes`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ id: 'sky', name: 'Sky', state: {} }),
    });
    assert.ok(made.ok, await made.text());
    return {
        url: `${base}/mcp`,
        bodies: async () => (await (await fetch(`${base}/universes/sky/positions`)).json()).ids,
        close: async () => {
            const gone = once(child, 'exit');
            child.kill('SIGTERM');
            await gone;
        },
    };
}

function portarium(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: WAIT_MS });
    assert.equal(done.status, 0, `portarium ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
}

async function call(client, name, args) {
    const result = await client.callTool({ name, arguments: args }, undefined, { timeout: WAIT_MS });
    assert.ok(!result.isError, JSON.stringify(result));
    return JSON.parse(result.content[0].text);
}

async function approveInCockpit(id, rationale, ...words) {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage(), faults = [];
    page.setDefaultTimeout(WAIT_MS);
    page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });
    page.on('pageerror', (error) => faults.push(error.stack));
    watch(page, faults);
    await page.goto(`${server.base}/#token=${server.token('anna', 'approver')}`);
    await page.locator(`a.row[href="#/inbox/${id}"]`).click();
    for (const text of words)
        await page.locator('#detail').getByText(text).first().waitFor();
    await page.keyboard.press('a');
    await page.keyboard.type(rationale);
    await page.keyboard.press('Control+Enter');
    await until(async () => (await approvalOf(id)).decidedByUserId === 'anna', 'the decision of the page');
    assert.equal((await approvalOf(id)).rationale, rationale);
    await context.close();
}

async function approvalOf(id) {
    return (await server.ask('GET', `${WS}/approvals/${id}`, { token: admin })).json;
}

before(async () => {
    assert.ok(CHROMIUM, 'there is no chromium: scripts/bootstrap installs it');
    sky = await startUniverse();
    const content = { workspaces: [{ workspaceId: 'ws-1', name: 'First', workflows: [WORKFLOW], adapters: [ADAPTER], machines: [MACHINE] }] };
    home = fs.mkdtempSync(path.join(os.tmpdir(), 'story-'));
    config = path.join(home, 'host.toml');
    fs.writeFileSync(config, `[mcp.sky]\nurl = "${sky.url}"\n`, { mode: 0o600 });
    server = await plane(content, '--config', config);
    admin = server.token('ada', 'admin');
    agentToken = portarium('tokens', 'create', '--db', server.db, '--workspace', 'ws-1', '--subject', 'agent-1', '--roles', 'operator',
        '--agent', 'agent-1', '--owner', 'otto').trim();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: WAIT_MS });
    agent = new Client({ name: 'agent', version: '1' });
});
after(async () => {
    await browser?.close();
    await agent?.close();
    await server?.close();
    await sky?.close();
    if (home)
        fs.rmSync(home, { recursive: true, force: true });
});

reportFailures(() => [server?.log ?? '']);

test('the agent registers itself and beats', async () => {
    await agent.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${agentToken}` } } }));
    await call(agent, 'portarium_agent_register', { workspaceId: 'ws-1', machineId: 'm-1', agentId: 'agent-1', displayName: 'Agent', capabilities: ['agent:task'] });
    const beat = await call(agent, 'portarium_agent_heartbeat', { workspaceId: 'ws-1', machineId: 'm-1', agentId: 'agent-1', status: 'healthy' });
    assert.equal(beat.status, 'healthy');
    const { json } = await server.ask('GET', `${WS}/agents/agent-1`, { token: admin });
    assert.deepEqual([json.machineId, json.liveness], ['m-1', 'online']);
});

test('the plan says that a person will be asked, and the run then waits for one', async () => {
    const parameters = { id: 'sol', body: star('Sol') };
    const plan = await server.ask('POST', `${WS}/runs:plan`, { token: agentToken, body: { workflowId: 'wf-star', parameters } });
    assert.equal(plan.status, 200, plan.text);
    assert.deepEqual(plan.json.actions.map((one) => [one.actionId, one.decision]), [['add', 'NeedsApproval']]);
    ({ runId } = await call(agent, 'portarium_run_start', { workspaceId: 'ws-1', workflowId: 'wf-star', input: parameters }));
    let run;
    await until(async () => {
        run = await call(agent, 'portarium_run_get', { workspaceId: 'ws-1', runId, waitSeconds: 5 });
        return run.pendingApprovals.length > 0;
    }, 'the gate');
    assert.equal(run.status, 'WaitingForApproval');
    [{ approvalId }] = run.pendingApprovals;
    assert.deepEqual(await sky.bodies(), []);
});

test('the agent may not approve its own run', async () => {
    const result = await agent.callTool({ name: 'portarium_approval_submit', arguments: { workspaceId: 'ws-1', approvalId, decision: 'Approved' } });
    assert.equal(result.isError, true);
    assert.equal((await approvalOf(approvalId)).status, 'Pending');
});

test('a person approves in the cockpit, and the universe changes', async () => {
    await approveInCockpit(approvalId, 'One star is fine.', 'universe:write', 'agent-1', '"Sol"');
    let run;
    await until(async () => {
        run = await call(agent, 'portarium_run_get', { workspaceId: 'ws-1', runId, waitSeconds: 5 });
        return run.status === 'Succeeded' || run.status === 'Failed';
    }, 'the end of the run');
    assert.equal(run.status, 'Succeeded', JSON.stringify(run));
    assert.deepEqual(await sky.bodies(), ['sol']);
});

test('both verifiers accept the bundle, and neither accepts it altered', () => {
    const key = path.join(server.dir, 'key.pem'), shown = path.join(server.dir, 'public.pem');
    const bundle = path.join(server.dir, 'bundle'), altered = path.join(server.dir, 'altered');
    const text = portarium('evidence', 'export', '--db', server.db, '--workspace', 'ws-1', '--run', runId, '--evidence-key', key);
    fs.writeFileSync(shown, portarium('evidence', 'key', '--evidence-key', key));
    fs.writeFileSync(bundle, text);
    assert.ok(text.includes('anna'));
    fs.writeFileSync(altered, text.replaceAll('anna', 'otto'));
    const name = /\n— (\S+) /.exec(JSON.parse(text.split('\n').find((line) => line.includes('\\n— '))).checkpoint)?.[1];
    const ours = (file) => spawnSync(program, ['evidence', 'verify', file, '--key', shown], { encoding: 'utf8', timeout: WAIT_MS });
    const theirs = (file) => spawnSync('python3', [path.join(root, 'examples/portarium/verify_evidence.py'), shown, name, file], { encoding: 'utf8', timeout: WAIT_MS });
    for (const verify of [ours, theirs]) {
        const whole = verify(bundle);
        assert.equal(whole.status, 0, whole.stderr + whole.stdout);
        const broken = verify(altered);
        assert.notEqual(broken.status, 0, broken.stdout);
    }
});

test('the agent does it again through the gate', async () => {
    const client = new Client({ name: 'agent', version: '1' });
    const transport = new StdioClientTransport({
        command: program, args: ['gate', '--workspace', 'ws-1', '--db', server.db, '--config', config, '--upstream', 'sky'],
        stderr: 'ignore', env: { ...process.env, PORTARIUM_TOKEN: agentToken },
    });
    await client.connect(transport);
    try {
        await until(async () => (await client.listTools()).tools.some(({ name }) => name === TOOL), 'the tools of the universe');
        const waiting = client.callTool({ name: TOOL, arguments: { universeId: 'sky', command: { type: 'addStar', id: 'vega', payload: star('Vega') } } },
            undefined, { timeout: 2 * WAIT_MS });
        let pending;
        await until(async () => {
            pending = (await server.ask('GET', `${WS}/approvals?status=Pending`, { token: admin })).json.items;
            return pending.length === 1;
        }, 'the approval of the call');
        assert.deepEqual(await sky.bodies(), ['sol']);
        await approveInCockpit(pending[0].approvalId, 'A second one too.', TOOL, '"Vega"');
        const result = await waiting;
        assert.ok(!result.isError, JSON.stringify(result));
        assert.deepEqual((await sky.bodies()).sort(), ['sol', 'vega']);
        assert.equal((await approvalOf(pending[0].approvalId)).status, 'Executed');
    } finally {
        await client.close();
    }
});
