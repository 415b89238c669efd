/*
 * traces.test.mjs - spans of the four servers, as a collector receives them (OTLP over HTTP, JSON):
 * ids, names, attributes; and that a collector that is dead, hangs or refuses costs no call.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { plane } from './portarium-rest.mjs';
import { bin, serve } from './support/observed.mjs';
import { until } from './support/until.mjs';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;

let dir;
before(() => { dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'traces-'))); });
after(() => fs.rmSync(dir, { recursive: true, force: true }));

/** A collector: { endpoint, requests, spans(), close() }. @param answer of a request, response */
async function collector(answer = (_request, response) => response.end('{}')) {
    const self = { requests: [] };
    const server = http.createServer((request, response) => {
        let body = '';
        request.setEncoding('utf8');
        request.on('data', (text) => { body += text; });
        request.on('end', () => {
            self.requests.push({ method: request.method, url: request.url, type: request.headers['content-type'], headers: request.headers, body: JSON.parse(body) });
            answer(request, response, body);
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    self.endpoint = `http://127.0.0.1:${server.address().port}`;
    self.spans = () => self.requests.flatMap(({ body }) => body.resourceSpans).flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans);
    self.close = () => { server.closeAllConnections(); server.close(); };
    return self;
}

const attributes = ({ attributes: list }) => Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue]));
const PLACES = {
    universe: () => ['serve', '--db', `sqlite:${path.join(dir, 'u.db')}`, '--port', '0', '--metrics'],
    'cobre-mcp': () => ['--transport', 'http', '--port', '0', '--metrics', dir],
    casparian: () => ['--home', path.join(dir, 'home'), 'mcp', 'serve', '--transport', 'http', '--port', '0', '--metrics', dir],
};

/** A call that succeeds; the universe is made by the first of them. */
async function list(server, meta = {}) {
    const body = JSON.stringify({ id: 'u', name: 'u', state: {} });
    await (server.made ??= server.ask('/universes', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }));
    return server.call('list_universe_commands', { universeId: 'u' }, meta);
}

const start = (name, endpoint) => serve(name, PLACES[name](), { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });

test('universe exports the spans of calls, with their parents and attributes', async () => {
    const sink = await collector();
    const server = await start('universe', `${sink.endpoint}/`);
    const began = BigInt(Date.now() - 1) * 1_000_000n;
    await list(server, { traceparent: SAMPLED, tracestate: 'congo=t61rcWkgMzE' });
    await server.call('get_universe_state', { universeId: 'none' }, {}, { traceparent: SAMPLED });
    await server.call('made_up', {}, { traceparent: SAMPLED });
    await list(server, { traceparent: `00-${TRACE}-${PARENT}-00` });
    await list(server);
    assert.equal((await server.ask('/universes/none', { headers: { traceparent: SAMPLED } })).status, 404);
    await server.stop(); /* what waits is exported at the end */
    const ended = BigInt(Date.now() + 1) * 1_000_000n;
    assert.deepEqual(new Set(sink.requests.map(({ method, url, type }) => `${method} ${url} ${type}`)), new Set(['POST /v1/traces application/json']));
    const [{ resource, scopeSpans: [{ scope }] }] = sink.requests[0].body.resourceSpans;
    assert.equal(attributes(resource)['service.name'], 'universe');
    assert.equal(scope.name, 'libmcp');
    const spans = sink.spans();
    assert.deepEqual(spans.map(({ name }) => name),
        ['tools/call list_universe_commands', 'tools/call get_universe_state', 'tools/call', 'GET /universes/{id}']);
    for (const span of spans) {
        assert.deepEqual([span.traceId, span.parentSpanId, span.kind], [TRACE, PARENT, 2]);
        assert.match(span.spanId, /^(?!0{16})[0-9a-f]{16}$/);
        assert.match(span.startTimeUnixNano, /^\d+$/);
        assert.ok(began <= BigInt(span.startTimeUnixNano) && BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano) && BigInt(span.endTimeUnixNano) <= ended);
    }
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
    assert.deepEqual(spans.map(({ traceState }) => traceState), ['congo=t61rcWkgMzE', undefined, undefined, undefined]);
    const common = { 'mcp.method.name': 'tools/call', 'mcp.protocol.version': '2026-07-28', 'jsonrpc.request.id': '7', 'network.transport': 'tcp' };
    assert.deepEqual(attributes(spans[0]), { ...common, 'gen_ai.tool.name': 'list_universe_commands', 'gen_ai.operation.name': 'execute_tool' });
    assert.equal(spans[0].status.code, undefined);
    const { 'error.type': type, ...others } = attributes(spans[1]);
    assert.deepEqual(others, { ...common, 'gen_ai.tool.name': 'get_universe_state', 'gen_ai.operation.name': 'execute_tool' });
    assert.match(type, /^(tool_error|-32\d{3})$/);
    assert.equal(spans[1].status.code, 2);
    assert.deepEqual(attributes(spans[2]), { ...common, 'error.type': '-32602' });
    assert.deepEqual(attributes(spans[3]), { 'http.request.method': 'GET', 'http.route': '/universes/{id}', 'network.transport': 'tcp', 'error.type': '404' });
    assert.equal(spans[3].status.code, undefined); /* the client's mistake */
    sink.close();
});

test('a span of a session has its id', async () => {
    const sink = await collector();
    const server = await start('universe', sink.endpoint);
    const post = (body, headers = {}) => server.ask('/mcp', {
        method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
    const opened = await post({ id: 'first', method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } } });
    const session = opened.headers.get('mcp-session-id');
    await (await post({ id: 'zweite-ö', method: 'tools/list', params: { _meta: { traceparent: SAMPLED } } }, { 'Mcp-Session-Id': session })).text();
    await server.stop();
    const [span] = sink.spans();
    assert.equal(span.name, 'tools/list');
    assert.deepEqual(attributes(span), {
        'mcp.method.name': 'tools/list', 'mcp.protocol.version': '2025-06-18', 'mcp.session.id': session, 'jsonrpc.request.id': 'zweite-ö', 'network.transport': 'tcp',
    });
    sink.close();
});

test('a span says how its client is connected, and the log has its ids', async () => {
    const sink = await collector();
    const place = path.join(dir, 'socket');
    const server = await serve('universe', [...PLACES.universe(), '--host', '127.0.0.1', '--unix', place, '--log-level', 'debug'], { OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint });
    const asked = http.request({ socketPath: place, path: '/universes/none/commands', method: 'POST', headers: { Host: 'localhost', 'Content-Type': 'application/json', traceparent: SAMPLED } });
    asked.end('{"type":"tick","dt":1}');
    const [response] = await once(asked, 'response');
    response.resume();
    await once(response, 'end');
    await server.stop();
    const [span] = sink.spans();
    assert.equal(attributes(span)['network.transport'], 'unix');
    const line = server.log.split('\n').find((text) => text.includes('"message":"command"'));
    const { trace_id: trace, span_id: id } = JSON.parse(line);
    assert.deepEqual([trace, id], [TRACE, span.spanId]);
    const child = spawn(path.join(bin, 'universe'), ['serve', '--transport', 'stdio', '--db', 'memory'],
        { env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint }, stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { traceparent: SAMPLED } } })}\n`);
    child.stdout.resume();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const last = sink.spans().at(-1);
    assert.deepEqual([last.name, attributes(last)['network.transport']], ['ping', 'pipe']);
    sink.close();
});

for (const name of Object.keys(PLACES))
    test(`${name} exports the span of a call`, async () => {
        const sink = await collector();
        const server = await start(name, sink.endpoint);
        await server.call('made_up', {}, { traceparent: SAMPLED });
        /* Within five seconds, before the server ends. */
        await until(() => sink.spans().length > 0, 'the span');
        const [span] = sink.spans();
        assert.deepEqual([span.traceId, span.parentSpanId, span.name], [TRACE, PARENT, 'tools/call']);
        await until(async () => (await server.metrics())('otel_spans_exported_total') === 1, 'the span to be counted');
        const get = await server.metrics();
        assert.equal(get('otel_spans_dropped_total', 'reason="queue_full"'), 0);
        await server.stop();
        sink.close();
    });

test('portarium exports the spans of its routes', async () => {
    const sink = await collector();
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = sink.endpoint;
    const server = await plane().finally(() => { delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT; });
    assert.equal((await server.ask('GET', '/v1/workspaces/ws-1/runs', { headers: { traceparent: SAMPLED } })).status, 200);
    await server.close();
    const [span] = sink.spans();
    assert.deepEqual([span.traceId, span.parentSpanId, span.name], [TRACE, PARENT, 'GET /v1/workspaces/{workspaceId}/runs']);
    assert.deepEqual(attributes(span), { 'http.request.method': 'GET', 'http.route': '/v1/workspaces/{workspaceId}/runs', 'network.transport': 'tcp' });
    sink.close();
});

test('without the variable nothing is exported, and no figures of it are shown', async () => {
    const server = await serve('universe', PLACES.universe(), { OTEL_EXPORTER_OTLP_ENDPOINT: '' });
    await list(server, { traceparent: SAMPLED });
    assert.equal((await server.metrics()).families.has('otel_spans_exported_total'), false);
    await server.stop();
});

test('an endpoint that cannot be is logged, and the server serves', async () => {
    const server = await start('universe', 'ftp://collector');
    await until(() => server.log.includes('OTEL_EXPORTER_OTLP_ENDPOINT: the endpoint of traces is no http or https URL'), 'the warning');
    assert.ok((await list(server, { traceparent: SAMPLED })).result);
    await server.stop();
});

test('the collector gets the header fields of OTEL_EXPORTER_OTLP_HEADERS, and no log has them', async () => {
    const sink = await collector();
    const server = await serve('universe', [...PLACES.universe(), '--log-level', 'debug'],
        { OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20s3cr%2Cet, x-tenant = acme ,,x-empty=' });
    await list(server, { traceparent: SAMPLED });
    await server.stop();
    const [{ headers, type }] = sink.requests;
    assert.deepEqual([headers.authorization, headers['x-tenant'], headers['x-empty'], type], ['Bearer s3cr,et', 'acme', '', 'application/json']);
    assert.doesNotMatch(server.log, /s3cr|acme/);
    sink.close();
});

for (const [headers, words] of [['api-key=a,s3cret', 'header 2 is no NAME=VALUE'], ['s3c ret=1', 'header 1 has a name that cannot be sent'],
    ['Content-Length=1', 'header 1 has a name that cannot be sent'], ['api-key=s3cret%0d%0aX: 1', 'header 1 has a value that cannot be sent'],
    ['api-key=s3cret%2', 'header 1 has a value that cannot be sent']])
    test(`without traces, but served, with the headers ${headers}`, async () => {
        const sink = await collector();
        const server = await serve('universe', PLACES.universe(), { OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers });
        await until(() => server.log.includes(`no traces: OTEL_EXPORTER_OTLP_HEADERS: ${words}`), 'the warning');
        assert.doesNotMatch(server.log, /s3c/);
        assert.ok((await list(server, { traceparent: SAMPLED })).result);
        await server.stop();
        assert.equal(sink.requests.length, 0);
        sink.close();
    });

/* ---- collectors that fail -------------------------------------------------------------------- */

/** Calls answer as ever, the server ends in time, and the spans are counted as dropped. */
async function survives(endpoint, reason) {
    const server = await start('universe', endpoint);
    const answers = await Promise.all(Array.from({ length: 40 }, () => list(server, { traceparent: SAMPLED })));
    assert.ok(answers.every(({ result }) => result && !result.isError));
    if (reason)
        await until(async () => (await server.metrics())('otel_spans_dropped_total', `reason="${reason}"`) === 40, 'the spans to be dropped');
    await server.stop();
    return server.log;
}

test('a dead collector costs no call', async () => {
    const gone = net.createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address();
    gone.close();
    const log = await survives(`http://127.0.0.1:${port}`, 'failed');
    assert.equal(log.split('\n').filter((line) => line.includes('spans are dropped')).length, 1);
});

test('a collector that refuses costs no call', async () => {
    const sink = await collector((_request, response) => { response.statusCode = 503; response.end(); });
    const log = await survives(sink.endpoint, 'failed');
    assert.match(log, /spans are dropped, the collector does not take them: the collector answers with HTTP status 503/);
    sink.close();
});

/* How long the end waits for it is in tests/unit/kit/trace/test_trace.c. */
test('a collector that hangs costs no call', async () => {
    const sink = await collector(() => {});
    await survives(sink.endpoint, null);
    sink.close();
});

/* The spans of a burst do not wait for their five seconds when a batch is full; none is lost. */
test('batches leave when they are full', async () => {
    const sink = await collector();
    const server = await start('universe', sink.endpoint);
    for (let i = 0; i < 600; i += 50)
        await Promise.all(Array.from({ length: 50 }, () => list(server, { traceparent: SAMPLED })));
    await server.stop();
    assert.equal(sink.spans().length, 600);
    assert.ok(sink.requests.every(({ body }) => body.resourceSpans[0].scopeSpans[0].spans.length <= 512));
    sink.close();
});

