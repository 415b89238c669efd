/*
 * everything-2.test.mjs - examples/everything.c under the official client of the 2.x line, in both
 * eras, over stdio, HTTP and WebSocket, and over HTTP+SSE, which has the older era alone. The 2.x
 * line has no WebSocket of its own; its transports are made alike, so it is given that of the 1.x
 * line. The client fulfils what the server asks for in the midst of a call by the same handlers in
 * both eras. Each message of the server's is held against the official schema of its revision.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';

import { program, start, stop } from '../conformance/everything.mjs';
import { assertFits, recorded } from './recorded.mjs';
import { until } from './support/until.mjs';

const ERAS = [
    { era: 'legacy', revision: '2025-11-25', negotiation: undefined },
    { era: 'modern', revision: '2026-07-28', negotiation: { mode: 'auto' } },
    { era: 'modern', revision: '2026-07-28', negotiation: { mode: { pin: '2026-07-28' } } },
];

async function connect(transport, negotiation) {
    const record = recorded(transport);
    const client = new Client({ name: 'everything-test', version: '2.0.0' }, {
        capabilities: { sampling: {}, elicitation: {}, roots: {} }, versionNegotiation: negotiation,
    });
    const peer = { client, record, faults: [] };

    client.onerror = (error) => { peer.faults.push(error); };
    client.setRequestHandler('sampling/createMessage', ({ params }) => ({
        role: 'assistant', model: 'test', content: { type: 'text', text: `${params.messages.length} read` },
    }));
    client.setRequestHandler('elicitation/create', ({ params }) => ({
        action: 'accept', content: Object.fromEntries(Object.keys(params.requestedSchema.properties)
            .map((name) => [name, params.requestedSchema.properties[name].type === 'boolean' || 'Ada'])),
    }));
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] }));
    await client.connect(transport);
    return peer;
}

async function close(peer) {
    await peer.client.close();
    assert.deepEqual(peer.faults, []);
    assertFits(peer.record);
}

const texts = (result) => result.content.map((block) => block.text);
const call = async ({ client }, name, args = {}, options = undefined) =>
    texts(await client.callTool({ name, arguments: args }, options));

function conversation({ era, revision }, peer) {
    test('the era is the one that was asked for', () => {
        assert.equal(peer().client.getProtocolEra(), era);
        assert.equal(peer().client.getNegotiatedProtocolVersion(), revision);
        assert.equal(peer().client.getServerVersion().name, 'everything');
        for (const feature of ['tools', 'resources', 'prompts', 'completions'])
            assert.ok(peer().client.getServerCapabilities()[feature], feature);
    });

    test('everything is listed, read and filled', async () => {
        const { client } = peer();
        const { tools } = await client.listTools();
        assert.ok(tools.some((tool) => tool.name === 'echo'));
        assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0);
        for (const { uri } of (await client.listResources()).resources)
            assert.equal((await client.readResource({ uri })).contents[0].uri, uri);
        assert.ok((await client.listPrompts()).prompts.length > 0);
        const { messages } = await client.getPrompt({ name: 'test_prompt_with_image' });
        assert.deepEqual(messages.map((one) => one.content.type), ['image', 'text']);
        await assert.rejects(client.readResource({ uri: 'test://none' }),
            (error) => error.name === 'ResourceNotFoundError' || /resource not found/.test(error.message));
    });

    test('tools answer, also those whose arguments are repeated in headers', async () => {
        for (const message of ['', 'é\u{1f600}\n"\\', 'x'.repeat(100_000)])
            assert.deepEqual(await call(peer(), 'echo', { message }), [message]);
        for (const region of ['eu', ' a b ', 'Zürich', '=?base64?'])
            assert.deepEqual(await call(peer(), 'test_header_argument', { region, count: 2 }), [`${region}, 2 times`]);
        assert.equal((await peer().client.callTool({ name: 'test_error_handling', arguments: {} })).isError, true);
        await assert.rejects(call(peer(), 'none'), (error) => error.code === -32602);
    });

    test('progress is reported', async () => {
        const reports = [];
        await call(peer(), 'test_tool_with_progress', { acknowledged: true }, { onprogress: ({ progress }) => {
            reports.push(progress);
            call(peer(), 'test_acknowledge_progress', { progress });
        } });
        assert.deepEqual(reports, [0, 50, 100]);
    });

    test('user, model and roots are asked in the midst of a call', async () => {
        assert.deepEqual(await call(peer(), 'test_sampling', { prompt: 'Hello?' }), ['LLM response: 1 read']);
        assert.deepEqual(await call(peer(), 'test_input_required_result_elicitation'), ['Hello, Ada!']);
        assert.deepEqual(await call(peer(), 'test_input_required_result_multi_round'), ['Ada likes Ada']);
        assert.match((await call(peer(), 'test_input_required_result_multiple_inputs')).join(), /1 read.*home\/ada/);
        assert.deepEqual(await call(peer(), 'test_input_required_result_request_state'), ['state-ok']);
    });

    test('a prompt asks too', async () => {
        const { messages } = await peer().client.getPrompt({ name: 'test_input_required_result_prompt' });
        assert.equal(messages[0].content.text, 'Context: Ada');
    });

    test('arguments are completed', async () => {
        const { completion } = await peer().client.complete({
            ref: { type: 'ref/resource', uri: 'test://template/{id}/data' }, argument: { name: 'id', value: '12' },
        });
        assert.deepEqual(completion.values, ['12', '123']);
    });

    test('an aborted call is let go, and others go on', async () => {
        const abort = new AbortController();
        const gone = assert.rejects(call(peer(), 'test_tool_with_progress', { acknowledged: true },
            { signal: abort.signal, onprogress: () => abort.abort('enough') }));
        assert.deepEqual(await call(peer(), 'greet', { name: 'Ada' }), ['Hello, Ada!']);
        await gone;
        peer().faults = peer().faults.filter((fault) => !/unknown (token|message ID)/i.test(fault.message));
    });

    test('a listener gets the notifications that it requested, until it stops', async () => {
        const { client } = peer();
        const uri = 'test://watched-resource';
        const news = [];
        for (const method of ['notifications/tools/list_changed', 'notifications/prompts/list_changed'])
            client.setNotificationHandler(method, () => { news.push(method); });
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => { news.push(params.uri); });
        const listening = era === 'modern'
            ? await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] })
            : await client.subscribeResource({ uri });
        if (era === 'modern')
            assert.deepEqual(listening.honoredFilter, { toolsListChanged: true, resourceSubscriptions: [uri] });
        await call(peer(), 'test_trigger_prompt_change');
        await call(peer(), 'test_trigger_prompt_change');
        await call(peer(), 'test_trigger_tool_change');
        await call(peer(), 'test_trigger_tool_change');
        await call(peer(), 'test_trigger_resource_update');
        await until(() => news.includes(uri) && news.includes('notifications/tools/list_changed'), 'news');
        if (era === 'modern') {
            assert.ok(!news.includes('notifications/prompts/list_changed'));
            await listening.close();
            assert.equal(await listening.closed, 'local');
        } else {
            await client.unsubscribeResource({ uri });
        }
        const before = news.filter((one) => one === uri).length;
        await call(peer(), 'test_trigger_resource_update');
        await call(peer(), 'echo', { message: 'after' });
        assert.equal(news.filter((one) => one === uri).length, before);
    });

    test('thirty calls at once, each with its own answer', async () => {
        const wanted = Array.from({ length: 30 }, (_, i) => [`${i}`]);
        const answers = await Promise.all(wanted.map(([message]) => call(peer(), 'echo', { message })));
        assert.deepEqual(answers, wanted);
    });
}

for (const one of ERAS) {
    const how = one.negotiation ? JSON.stringify(one.negotiation.mode) : 'default';

    describe(`the 2.x client over stdio, ${how}`, () => {
        let peer;

        before(async () => {
            peer = await connect(new StdioClientTransport({ command: program, stderr: 'inherit' }), one.negotiation);
        });
        after(() => close(peer));
        conversation(one, () => peer);
    });

    describe(`the 2.x client over HTTP, ${how}`, () => {
        let server, peer;

        before(async () => {
            server = await start();
            peer = await connect(new StreamableHTTPClientTransport(server.url), one.negotiation);
        });
        after(async () => {
            await close(peer);
            await stop(server);
        });
        conversation(one, () => peer);
    });

    describe(`the 2.x client over WebSocket, ${how}`, () => {
        let server, peer;

        before(async () => {
            server = await start('--transport', 'ws');
            const url = new URL('/ws', server.url);
            url.protocol = 'ws:';
            peer = await connect(new WebSocketClientTransport(url), one.negotiation);
        });
        after(async () => {
            await close(peer);
            await stop(server);
        });
        conversation(one, () => peer);
    });
}

describe('the 2.x client over HTTP+SSE', () => {
    let server, peer;

    before(async () => {
        server = await start();
        peer = await connect(new SSEClientTransport(new URL('/sse', server.url)));
    });
    after(async () => {
        await peer.client.close(); /* it tells itself that it ended its own stream */
        peer.faults = peer.faults.filter((fault) => fault.name !== 'AbortError');
        await close(peer);
        await stop(server);
    });
    conversation(ERAS[0], () => peer);
});
