/*
 * library.test.mjs - the library's examples under the official TypeScript client over stdio, once
 * for each session-era revision. The client opens with its newest revision, so a server that is
 * pinned to an older one has to bring it there. The client checks each answer against its own
 * schemas and hands what it cannot read to onerror, which must stay silent.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ErrorCode, LATEST_PROTOCOL_VERSION, McpError } from '@modelcontextprotocol/sdk/types.js';
import { until } from './support/until.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** Connect a client to an example program of its own. */
async function connect(program, ...args) {
    const transport = new StdioClientTransport({
        command: path.join(bin, program), args, stderr: 'pipe',
    });
    const client = new Client({ name: 'library-test', version: '1.0.0' });
    const peer = { client, transport, revision: null, log: '', faults: [] };

    transport.setProtocolVersion = (version) => { peer.revision = version; };
    transport.stderr.on('data', (bytes) => { peer.log += bytes; });
    client.onerror = (error) => { peer.faults.push(error); };
    await client.connect(transport);
    return peer;
}

async function close(peer) {
    await peer.client.close();
    assert.deepEqual(peer.faults, []);
    assert.equal(peer.log, '');
}

const rejectsWith = (promise, code, words) => assert.rejects(promise, (error) => {
    assert.ok(error instanceof McpError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, words);
    return true;
});

/** Take away the faults "unknown token" and say how many there were. */
function lateReports(peer) {
    const count = peer.faults.length;
    peer.faults = peer.faults.filter((fault) => !/unknown token/.test(fault.message));
    return count - peer.faults.length;
}

async function stopped(client) {
    const result = await client.callTool({ name: 'stopped', arguments: {} });
    return JSON.parse(result.content[0].text).stopped;
}

test('a server that speaks all revisions gives the client its newest', async () => {
    const peer = await connect('example-progress');
    assert.equal(peer.revision, LATEST_PROTOCOL_VERSION);
    assert.equal(peer.revision, '2025-11-25');
    await close(peer);
});

test('the README\'s first example says hello', async () => {
    const peer = await connect('example-hello');
    const { tools } = await peer.client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ['hello']);
    const result = await peer.client.callTool({ name: 'hello', arguments: { name: 'Ada' } });
    assert.notEqual(result.isError, true);
    assert.match(result.content[0].text, /Ada/);
    await close(peer);
});

for (const revision of REVISIONS) {
    const isStructured = revision >= '2025-06-18';

    describe(`tools, progress, cancellation under ${revision}`, () => {
        let peer;

        before(async () => { peer = await connect('example-progress', '--revision', revision); });
        after(() => close(peer));

        test('the client is brought to the revision', async () => {
            assert.equal(peer.revision, revision);
            assert.deepEqual(peer.client.getServerVersion(), { name: 'progress', version: '1.0.0' });
            assert.deepEqual(peer.client.getServerCapabilities(), { tools: { listChanged: false } });
            assert.deepEqual(await peer.client.ping(), {});
        });

        test('tools are listed as the revision knows them', async () => {
            const { tools, nextCursor } = await peer.client.listTools();
            assert.deepEqual(tools.map((tool) => tool.name), ['count', 'stopped']);
            assert.equal(nextCursor, undefined);
            assert.deepEqual(tools[0].inputSchema.required, ['to']);
            assert.equal(tools[0].outputSchema !== undefined, isStructured);
        });

        test('a result is text, and structured where the revision has that', async () => {
            const result = await peer.client.callTool({
                name: 'count', arguments: { to: 2, step_ms: 0 },
            });
            assert.deepEqual(result.content, [{ type: 'text', text: '{"counted":2}' }]);
            assert.deepEqual(result.structuredContent, isStructured ? { counted: 2 } : undefined);
        });

        /* The client handles a report later than an answer that it read in the same bytes, and then
         * knows its token no more: on a busy machine the last ones may come as such faults. */
        test('every step is reported, in order, before the answer', async () => {
            const reports = [];
            const result = await peer.client.callTool(
                { name: 'count', arguments: { to: 5, step_ms: 20 } }, undefined,
                { onprogress: (report) => reports.push(report) });
            assert.equal(JSON.parse(result.content[0].text).counted, 5);
            await peer.client.ping();
            assert.equal(reports.length + lateReports(peer), 5);
            assert.deepEqual(reports.map((report) => report.progress),
                             [1, 2, 3, 4, 5].slice(0, reports.length));
            assert.ok(reports.every((report) => report.total === 5));
            assert.ok(reports.every((report) => report.message === `counting ${report.progress}`));
        });

        test('progress keeps a call alive beyond the client\'s time limit', async () => {
            /* The clock is the test's: a second passes with each report, and none without one. */
            mock.timers.enable({ apis: ['setTimeout'] });
            try {
                const result = await peer.client.callTool(
                    { name: 'count', arguments: { to: 10, step_ms: 50 } }, undefined,
                    { onprogress: () => mock.timers.tick(1000), timeout: 1300, resetTimeoutOnProgress: true });
                assert.equal(JSON.parse(result.content[0].text).counted, 10);
            } finally {
                mock.timers.reset();
            }
            lateReports(peer);
        });

        test('arguments that do not match are reported to the model', async () => {
            const result = await peer.client.callTool({ name: 'count', arguments: { to: 'ten' } });
            assert.equal(result.isError, true);
            assert.match(result.content[0].text, /to/);
        });

        test('a tool that is not there is a protocol error', async () => {
            await rejectsWith(peer.client.callTool({ name: 'sing', arguments: {} }),
                              ErrorCode.InvalidParams, /sing/);
        });

        test('a method that is not there is a protocol error', async () => {
            await rejectsWith(peer.client.request({ method: 'no/such' }, { parse: (x) => x }),
                              ErrorCode.MethodNotFound, /no\/such/);
        });

        test('an aborted call stops in the server and others go on', async () => {
            const before = await stopped(peer.client);
            const abort = new AbortController();
            let steps = 0;
            const gone = assert.rejects(peer.client.callTool(
                { name: 'count', arguments: { to: 10000, step_ms: 10 } }, undefined,
                { signal: abort.signal, onprogress: () => { if (++steps === 3) abort.abort('enough'); } }));
            const meanwhile = await peer.client.callTool({
                name: 'count', arguments: { to: 1, step_ms: 0 },
            });
            assert.equal(JSON.parse(meanwhile.content[0].text).counted, 1);
            await gone;
            await until(async () => await stopped(peer.client) === before + 1, 'the count to stop');
            lateReports(peer); /* those that crossed the cancellation */
        });

        test('of many calls at once each gets its own answer', async () => {
            const { client } = peer;
            const results = await Promise.all(Array.from({ length: 100 }, (_, i) => client.callTool({
                name: i % 2 ? 'count' : 'stopped',
                arguments: i % 2 ? { to: i, step_ms: 0 } : {},
            })));
            let counted = 0;
            results.forEach((result, i) => {
                /* a long tool beyond its number of running calls is refused, never queued */
                if (i % 2 && !result.isError) {
                    assert.equal(JSON.parse(result.content[0].text).counted, i);
                    counted++;
                } else if (i % 2 === 0) {
                    assert.equal(typeof JSON.parse(result.content[0].text).stopped, 'number');
                }
            });
            assert.ok(counted >= 4);
        });
    });

    describe(`resources and prompts under ${revision}`, () => {
        let peer;

        before(async () => { peer = await connect('example-resources', '--revision', revision); });
        after(() => close(peer));

        test('capabilities are those of the tables that the server has', () => {
            assert.equal(peer.revision, revision);
            assert.deepEqual(peer.client.getServerCapabilities(), {
                resources: { subscribe: false, listChanged: false }, prompts: { listChanged: false },
            });
        });

        test('resources and templates are listed', async () => {
            const { resources } = await peer.client.listResources();
            const { resourceTemplates } = await peer.client.listResourceTemplates();
            assert.deepEqual(resources.map((one) => one.uri), ['notes://index', 'notes://dot']);
            assert.equal(resources[0].title, isStructured ? 'All notes' : undefined);
            assert.equal(resources[1].size, 35);
            assert.deepEqual(resourceTemplates.map((one) => one.uriTemplate), ['notes://note/{id}']);
        });

        test('contents are read: several, by template, as bytes', async () => {
            const index = await peer.client.readResource({ uri: 'notes://index' });
            assert.deepEqual(index.contents.map((one) => one.text), ['milk', 'a/b', 'café']);
            for (const id of index.contents.map((one) => one.text)) {
                const uri = `notes://note/${encodeURIComponent(id)}`;
                const { contents } = await peer.client.readResource({ uri });
                assert.equal(contents.length, 1);
                assert.equal(contents[0].uri, uri);
                assert.equal(contents[0].mimeType, 'text/plain');
                assert.ok(contents[0].text.length > 0);
            }
            const { contents: [dot] } = await peer.client.readResource({ uri: 'notes://dot' });
            const bytes = Buffer.from(dot.blob, 'base64');
            assert.equal(bytes.length, 35);
            assert.equal(bytes.toString('latin1', 0, 6), 'GIF89a');
        });

        test('what is not there has its own code and names the URI', async () => {
            for (const uri of ['notes://note/none', 'notes://shelf', 'other://x']) {
                await assert.rejects(peer.client.readResource({ uri }), (error) => {
                    assert.equal(error.code, -32002);
                    assert.deepEqual(error.data, { uri });
                    return true;
                });
            }
            await rejectsWith(peer.client.readResource({ uri: 'notes://note/%ff' }),
                              ErrorCode.InvalidParams, /UTF-8/);
        });

        test('prompts are listed and filled', async () => {
            const { prompts } = await peer.client.listPrompts();
            assert.equal(prompts.length, 1);
            assert.equal(prompts[0].name, 'notes/summarise');
            assert.deepEqual(prompts[0].arguments.map((one) => [one.name, one.required]),
                             [['id', true], ['tone', false]]);
            const filled = await peer.client.getPrompt({
                name: 'notes/summarise', arguments: { id: 'milk', tone: '{{note}}' },
            });
            assert.deepEqual(filled.messages.map((one) => one.role), ['user', 'assistant']);
            assert.equal(filled.messages[0].content.text,
                         'Summarise this note in one sentence. Tone: {{note}}\n\n' +
                         'Two litres of milk, and bread.');
        });

        test('a prompt wants its arguments', async () => {
            const { client } = peer;
            await rejectsWith(client.getPrompt({ name: 'notes/summarise' }),
                              ErrorCode.InvalidParams, /'id'/);
            await rejectsWith(client.getPrompt({ name: 'notes/none' }),
                              ErrorCode.InvalidParams, /notes\/none/);
            await rejectsWith(client.getPrompt({ name: 'notes/summarise', arguments: { id: 'x' } }),
                              ErrorCode.InvalidParams, /no note/);
        });

        test('a capability that was not declared is not there', async () => {
            await assert.rejects(peer.client.listTools());
        });
    });
}
