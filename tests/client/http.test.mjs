/*
 * http.test.mjs - the library over Streamable HTTP under the official TypeScript client, once for
 * each session-era revision, and REST. The client checks each answer against its own
 * schemas and hands what it cannot read to onerror, which must stay silent.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');
const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25'];

/** Start the example; its first line says where it is. */
async function start(...args) {
    const child = spawn(path.join(bin, 'example-http_routes'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const server = { child, url: null, log: '' };

    child.stderr.on('data', (bytes) => { server.log += bytes; });
    const [line] = await once(child.stdout, 'data');
    server.url = new URL(String(line).trim());
    return server;
}

async function stop(server) {
    server.child.kill('SIGTERM');
    const [code] = await once(server.child, 'exit');
    assert.equal(code, 0, server.log);
    assert.equal(server.log, '');
}

async function connect(server) {
    const transport = new StreamableHTTPClientTransport(server.url);
    const client = new Client({ name: 'http-test', version: '1.0.0' });
    const peer = { client, transport, faults: [] };

    client.onerror = (error) => { peer.faults.push(error); };
    await client.connect(transport);
    return peer;
}

for (const revision of REVISIONS) {
    describe(`Streamable HTTP under ${revision}`, () => {
        let server, peer;

        before(async () => {
            server = await start('--revision', revision);
            peer = await connect(server);
        });
        after(async () => {
            await peer.client.close();
            assert.deepEqual(peer.faults, []);
            await stop(server);
        });

        test('the client is brought to the revision and has a session', async () => {
            assert.equal(peer.transport.protocolVersion, revision);
            assert.match(peer.transport.sessionId, /^[0-9a-f]{32}$/);
            assert.deepEqual(await peer.client.ping(), {});
        });

        test('tools are listed and called', async () => {
            const { tools } = await peer.client.listTools();
            assert.deepEqual(tools.map((tool) => tool.name), ['add_note', 'get_note', 'read_aloud']);
            const added = await peer.client.callTool({ name: 'add_note', arguments: { text: 'one' } });
            assert.deepEqual(JSON.parse(added.content[0].text), { id: 1, text: 'one' });
            const refused = await peer.client.callTool({ name: 'get_note', arguments: { id: 9 } });
            assert.equal(refused.isError, true);
        });

        test('reports come on the stream of the answer', async () => {
            await peer.client.callTool({ name: 'add_note', arguments: { text: 'two' } });
            const reports = [];
            const result = await peer.client.callTool({ name: 'read_aloud', arguments: {} }, undefined,
                { onprogress: (report) => reports.push(report.message) });
            assert.deepEqual(JSON.parse(result.content[0].text), { read: 2 });
            assert.deepEqual(reports, ['one', 'two']);
        });

        test('many calls at once each get their own answer', async () => {
            const ids = await Promise.all(Array.from({ length: 20 }, async (_, i) => {
                const added = await peer.client.callTool({ name: 'add_note', arguments: { text: `n${i}` } });
                const { id } = JSON.parse(added.content[0].text);
                const told = await peer.client.callTool({ name: 'get_note', arguments: { id } });
                assert.equal(JSON.parse(told.content[0].text).text, `n${i}`);
                return id;
            }));
            assert.equal(new Set(ids).size, 20);
        });

        test('two clients do not meet', async () => {
            const other = await connect(server);
            assert.notEqual(other.transport.sessionId, peer.transport.sessionId);
            assert.deepEqual(await other.client.ping(), {});
            await other.transport.terminateSession();
            await other.client.close();
            assert.deepEqual(await peer.client.ping(), {});
        });

        test('an ended session is answered by 404', async () => {
            const other = await connect(server);
            const session = other.transport.sessionId;
            await other.transport.terminateSession();
            const answer = await fetch(server.url, {
                method: 'POST',
                headers: {
                    'Content-Type': 'application/json', 'Mcp-Session-Id': session,
                    Accept: 'application/json, text/event-stream',
                },
                body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
            });
            assert.equal(answer.status, 404);
            await other.client.close();
        });
    });
}

describe('REST with MCP', () => {
    let server;

    before(async () => { server = await start(); });
    after(() => stop(server));

    test('MCP and REST lead to the same notes', async () => {
        const posted = await fetch(new URL('/notes', server.url), {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text: 'by REST' }),
        });
        assert.equal(posted.status, 201);
        const { id } = await posted.json();
        const peer = await connect(server);
        const told = await peer.client.callTool({ name: 'get_note', arguments: { id } });
        assert.deepEqual(JSON.parse(told.content[0].text), { id, text: 'by REST' });
        const shown = await fetch(new URL(`/notes/${id}`, server.url));
        assert.deepEqual(await shown.json(), { id, text: 'by REST' });
        await peer.client.close();
        assert.deepEqual(peer.faults, []);
    });

    test('what is not there is 404, and the server is in health', async () => {
        assert.equal((await fetch(new URL('/notes/77', server.url))).status, 404);
        assert.equal((await fetch(new URL('/elsewhere', server.url))).status, 404);
        assert.deepEqual(await (await fetch(new URL('/health', server.url))).json(), { status: 'ok' });
    });
});
