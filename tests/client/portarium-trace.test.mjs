/*
 * portarium-trace.test.mjs - the trace of the request that starts a run goes with its actions, by
 * each kind of executor, and into its events and evidence; the plane's own span is the parent.
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

import { events, plane } from './portarium-rest.mjs';
import { checkChain } from './support/portarium-history.mjs';
import { until } from './support/until.mjs';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const GIVEN = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'congo=t61rcWkgMzE' };
const WS = '/v1/workspaces/ws-1';

let dir, peer, server;
const seen = { http: [], mcp: [] };

/** A system with a REST interface, and an MCP server that speaks the older revisions. */
function answer(request, response) {
    let text = '';
    request.on('data', (piece) => { text += piece; });
    request.on('end', () => {
        const send = (json, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
        if (request.url === '/tickets') {
            seen.http.push(request.headers);
            return send({ ok: true });
        }
        const { id, method, params } = text ? JSON.parse(text) : {};
        const result = {
            initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
            'tools/list': { tools: [{ name: 'write', inputSchema: { type: 'object' } }] },
            'tools/call': { content: [{ type: 'text', text: '{}' }] },
        }[method];
        if (method === 'tools/call')
            seen.mcp.push(params._meta);
        if (id === undefined)
            return response.writeHead(request.method === 'POST' ? 202 : 405).end();
        return send(result ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'none' } });
    });
}

const adapter = (adapterId, portFamily, operation, binding) => ({
    schemaVersion: 1, adapterId, providerSlug: adapterId, portFamily, enabled: true, capabilityMatrix: [{ operation, requiresAuth: false }],
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: ['127.0.0.0/8'], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
    binding,
});

before(async () => {
    dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-trace-')));
    peer = http.createServer(answer).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    const base = `http://127.0.0.1:${peer.address().port}`;
    fs.writeFileSync(path.join(dir, 'config.toml'), `
[exec.note]
command = ["/bin/sh", "-c", 'printf "%s %s\\n" "$TRACEPARENT" "$TRACESTATE" >> "${path.join(dir, 'notes')}"']
writable = ["${dir}"]

[mcp.tools]
url = "${base}/mcp"
`, { mode: 0o600 });
    const steps = [['CustomerSupport', 'ticket:write'], ['CrmSales', 'contact:write'], ['ItsmItOps', 'incident:write']];
    const workflow = {
        schemaVersion: 1, workflowId: 'wf-all', workspaceId: 'ws-1', name: 'All', version: 1, active: true, executionTier: 'Auto',
        actions: steps.map(([portFamily, operation], i) => ({ actionId: `a-${i}`, order: i + 1, portFamily, operation, input: {} })),
    };
    const bindings = [{ kind: 'http', url: `${base}/tickets` }, { kind: 'exec', command: 'note' }, { kind: 'mcp', server: 'tools', tool: 'write' }];
    const content = {
        workspaces: [{
            workspaceId: 'ws-1', name: 'First', workflows: [workflow],
            adapters: steps.map(([portFamily, operation], i) => adapter(`ad-${i}`, portFamily, operation, bindings[i])),
        }],
    };
    server = await plane(content, '--config', path.join(dir, 'config.toml'));
});
after(async () => {
    await server?.close();
    peer?.close();
    peer?.closeAllConnections();
    fs.rmSync(dir, { recursive: true, force: true });
});

async function ended(runId) {
    const run = await until(async () => {
        const { json } = await server.ask('GET', `${WS}/runs/${runId}?view=full&wait=5`);
        return ['Succeeded', 'Failed', 'Paused', 'Cancelled'].includes(json.status) && json;
    }, `run ${runId}`);
    assert.equal(run.status, 'Succeeded', JSON.stringify(run));
    return run;
}

const notes = () => fs.readFileSync(path.join(dir, 'notes'), 'utf8').split('\n').at(-2).split(' ');

/** The same span in every place: that of the request. Returns it. */
function checkPlaces() {
    const [fromHttp, fromMcp, [parent, state]] = [seen.http.at(-1), seen.mcp.at(-1), notes()];
    assert.match(parent, new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-01$`));
    assert.deepEqual([fromHttp.traceparent, fromHttp.tracestate], [parent, GIVEN.tracestate]);
    assert.deepEqual([fromMcp.traceparent, fromMcp.tracestate], [parent, GIVEN.tracestate]);
    assert.equal(state, GIVEN.tracestate);
    return parent;
}

test('a run that is started by REST carries the trace of its request', async () => {
    const started = await server.ask('POST', `${WS}/runs`, { body: { workflowId: 'wf-all', parameters: {} }, headers: GIVEN });
    assert.equal(started.status, 201, started.text);
    assert.equal(started.headers.get('traceparent'), GIVEN.traceparent);
    const { runId } = started.json;
    const run = await ended(runId);
    assert.ok(!JSON.stringify(run).includes(TRACE)); /* not a member of runs */
    const parent = checkPlaces();
    const all = await events(server, `${WS}/events:stream`, 4, { 'Last-Event-ID': '0' });
    const own = all.map(({ data }) => data).filter(({ runid }) => runid === runId);
    assert.ok(own.length > 0);
    for (const event of own)
        assert.deepEqual([event.traceparent, event.tracestate], [parent, GIVEN.tracestate]);
    const { json: { items } } = await server.ask('GET', `${WS}/runs/${runId}/evidence`);
    assert.ok(items.length > 0);
    assert.deepEqual(new Set(items.map(({ traceparent }) => traceparent)), new Set([parent]));
});

test('a run that is started by a tool carries the trace of the call', async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.base), { requestInit: { headers: { Authorization: `Bearer ${server.token('otto', 'operator')}` } } }));
    const result = await client.callTool({ name: 'portarium_run_start', arguments: { workspaceId: 'ws-1', workflowId: 'wf-all', parameters: {} }, _meta: GIVEN });
    assert.ok(!result.isError, JSON.stringify(result));
    await ended(JSON.parse(result.content[0].text).runId);
    checkPlaces();
    await client.close();
});

test('without a trace, or with one that is invalid, there is none', async () => {
    for (const headers of [{}, { traceparent: GIVEN.traceparent.toUpperCase(), tracestate: 'a=b' }]) {
        const started = await server.ask('POST', `${WS}/runs`, { body: { workflowId: 'wf-all', parameters: {} }, headers });
        assert.match(started.headers.get('traceparent'), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
        await ended(started.json.runId);
        assert.deepEqual(notes(), ['', '']);
        for (const place of [seen.http.at(-1), seen.mcp.at(-1)])
            assert.deepEqual([place.traceparent, place.tracestate], [undefined, undefined]);
        const { json: { items } } = await server.ask('GET', `${WS}/runs/${started.json.runId}/evidence`);
        assert.ok(items.every((entry) => !('traceparent' in entry)));
    }
});

test('the chain of evidence holds with entries of both kinds', async () => {
    const { json } = await server.ask('GET', `${WS}/evidence?limit=200`, { token: server.token('aud', 'auditor') });
    assert.ok(json.items.some((entry) => 'traceparent' in entry) && json.items.some((entry) => !('traceparent' in entry)));
    const inOrder = [...json.items];
    if (inOrder[0].previousHash)
        inOrder.reverse();
    checkChain(inOrder);
});
