/*
 * everything.test.mjs - examples/everything.c under the official client of the 1.x line, over each
 * transport and for each session-era revision. Each message of the server's is held against the
 * official schema of its revision.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import {
    CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
    PromptListChangedNotificationSchema, ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { program, start, stop } from '../conformance/everything.mjs';
import { messageFaults } from '../conformance/schemas.mjs';
import { assertFits, recorded } from './recorded.mjs';
import { until } from './support/until.mjs';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A client that can be asked for everything, on a transport of `make`'s. */
async function connect(transport) {
    const record = recorded(transport);
    const client = new Client({ name: 'everything-test', version: '1.0.0' },
        { capabilities: { sampling: {}, elicitation: {}, roots: {} } });
    const peer = { client, record, faults: [], logs: [], news: [] };

    client.onerror = (error) => { peer.faults.push(error); };
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
        role: 'assistant', model: 'test', content: { type: 'text', text: `${params.messages.length} read` },
    }));
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
        action: 'accept', content: Object.fromEntries(Object.keys(params.requestedSchema.properties)
            .map((name) => [name, params.requestedSchema.properties[name].default ?? 'Ada'])),
    }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] }));
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => { peer.logs.push(params); });
    for (const schema of [ToolListChangedNotificationSchema, PromptListChangedNotificationSchema])
        client.setNotificationHandler(schema, ({ method }) => { peer.news.push(method); });
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { peer.news.push(params.uri); });
    await client.connect(transport);
    return peer;
}

async function close(peer) {
    await peer.client.close();
    assert.deepEqual(peer.faults, []);
    assertFits(peer.record);
}

const call = async (peer, name, args = {}, options = undefined) =>
    (await peer.client.callTool({ name, arguments: args }, undefined, options)).content;

/** The tests that hold on any transport. `peer()` is the connected client. */
function conversation(revision, peer) {
    test('the client speaks the revision', () => {
        assert.equal(peer().record.revision, revision);
    });

    test('everything that is listed has a description', async () => {
        const { client } = peer();
        const lists = [(await client.listTools()).tools, (await client.listPrompts()).prompts,
            (await client.listResources()).resources, (await client.listResourceTemplates()).resourceTemplates];
        for (const list of lists) {
            assert.ok(list.length > 0);
            assert.ok(list.every((one) => one.description?.length > 0));
        }
    });

    test('an echo is what was said', async () => {
        for (const message of ['', 'hello', 'é\u{1f600}\n"\\', 'x'.repeat(100_000)])
            assert.deepEqual(await call(peer(), 'echo', { message }), [{ type: 'text', text: message }]);
    });

    test('content of each kind, or a text where the revision has it not', async () => {
        const [image] = await call(peer(), 'test_image_content');
        assert.deepEqual([image.type, image.mimeType], ['image', 'image/png']);
        assert.deepEqual(Buffer.from(image.data, 'base64').subarray(0, 8), PNG);
        const [audio] = await call(peer(), 'test_audio_content');
        assert.equal(audio.type, revision < '2025-03-26' ? 'text' : 'audio');
        const mixed = await call(peer(), 'test_multiple_content_types');
        assert.deepEqual(mixed.map((block) => block.type), ['text', 'image', 'resource']);
    });

    test('a tool\'s own failure is reported to the model', async () => {
        const result = await peer().client.callTool({ name: 'test_error_handling', arguments: {} });
        assert.equal(result.isError, true);
    });

    test('resources are read, as text, as bytes, by template', async () => {
        const { client } = peer();
        const read = async (uri) => (await client.readResource({ uri })).contents[0];
        assert.equal((await read('test://static-text')).text, 'This is the content of the static text resource.');
        assert.deepEqual(Buffer.from((await read('test://static-binary')).blob, 'base64').subarray(0, 8), PNG);
        assert.deepEqual(JSON.parse((await read('test://template/a%2Fb/data')).text),
            { id: 'a/b', templateTest: true, data: 'Data for ID: a/b' });
        await assert.rejects(read('test://none'), (error) => error.code === -32002);
    });

    test('prompts are filled, with an image and a resource in front', async () => {
        const { client } = peer();
        const get = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages;
        assert.equal((await get('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' }))[0].content.text,
            'Prompt with arguments: arg1=\'a\', arg2=\'b\'');
        assert.deepEqual((await get('test_prompt_with_image')).map((one) => one.content.type), ['image', 'text']);
        assert.equal((await get('test_prompt_with_embedded_resource', { resourceUri: 'test://x' }))[0]
            .content.resource.uri, 'test://x');
    });

    test('arguments are completed, best first', { skip: revision < '2025-03-26' && 'came with 2025-03-26' }, async () => {
        const { completion } = await peer().client.complete({
            ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' },
        });
        assert.deepEqual(completion.values, ['paragraph', 'paris', 'party']);
    });

    test('log messages come in order, and not those too gentle', async () => {
        const { client, logs } = peer();
        await client.setLoggingLevel('info');
        await call(peer(), 'test_tool_with_logging');
        await client.setLoggingLevel('error');
        await call(peer(), 'test_tool_with_logging');
        await client.ping();
        assert.deepEqual(logs.map((one) => one.data),
            ['Tool execution started', 'Tool processing data', 'Tool execution completed']);
    });

    test('progress is reported', async () => {
        const reports = [];
        await call(peer(), 'test_tool_with_progress', { acknowledged: true }, { onprogress: ({ progress }) => {
            reports.push(progress);
            call(peer(), 'test_acknowledge_progress', { progress });
        } });
        assert.deepEqual(reports, [0, 50, 100]);
    });

    test('the client\'s model and roots are asked', async () => {
        assert.deepEqual(await call(peer(), 'test_sampling', { prompt: 'Hello?' }),
            [{ type: 'text', text: 'LLM response: 1 read' }]);
        const [{ text }] = await call(peer(), 'test_input_required_result_list_roots');
        assert.match(text, /file:\/\/\/home\/ada/);
    });

    test('the user is asked', { skip: revision < '2025-06-18' && 'came with 2025-06-18' }, async () => {
        const [{ text }] = await call(peer(), 'test_elicitation', { message: 'Who?' });
        assert.deepEqual(JSON.parse(text.slice(text.indexOf('{'))),
            { action: 'accept', content: { username: 'Ada', email: 'Ada' } });
        assert.deepEqual(await call(peer(), 'test_input_required_result_multi_round'),
            [{ type: 'text', text: 'Ada likes Ada' }]);
    });

    test('a changed list is notified, and differs then', async () => {
        const { client, news } = peer();
        const names = async () => (await client.listTools()).tools.map((tool) => tool.name);
        assert.ok(!(await names()).includes('dummy'));
        await call(peer(), 'test_trigger_tool_change');
        await until(() => news.includes('notifications/tools/list_changed'), 'news of the tools');
        assert.ok((await names()).includes('dummy'));
        assert.deepEqual((await call(peer(), 'dummy')).length, 1);
        await call(peer(), 'test_trigger_tool_change');
        assert.ok(!(await names()).includes('dummy'));
        await call(peer(), 'test_trigger_prompt_change');
        await until(() => news.includes('notifications/prompts/list_changed'), 'news of the prompts');
        await call(peer(), 'test_trigger_prompt_change');
    });

    test('only subscribers of a resource are notified of its changes', async () => {
        const { client, news } = peer();
        const uri = 'test://watched-resource';
        const told = () => news.filter((one) => one === uri).length;
        await call(peer(), 'test_trigger_resource_update');
        await client.subscribeResource({ uri });
        await call(peer(), 'test_trigger_resource_update');
        await until(() => told() > 0, 'news of the resource');
        await client.unsubscribeResource({ uri });
        await call(peer(), 'test_trigger_resource_update');
        await client.ping();
        assert.equal(told(), 1);
    });

    test('twenty calls at once, each with its own answer', async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => call(peer(), 'echo', { message: `${i}` })));
        assert.deepEqual(answers.map(([block]) => block.text), Array.from({ length: 20 }, (_, i) => `${i}`));
    });
}

test('the schemas find what is wrong', () => {
    const methods = new Map([['1', 'tools/call'], ['2', 'ping']]);
    const answer = (result, id = 1) => ({ jsonrpc: '2.0', id, result });
    const text = [{ type: 'text', text: 'a' }];

    for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
        assert.notDeepEqual(messageFaults(revision, answer({}), methods), []);
        assert.notDeepEqual(messageFaults(revision, answer({ content: [{ type: 'text', text: 1 }] }), methods), []);
        assert.notDeepEqual(messageFaults(revision, { jsonrpc: '2.0', method: 'notifications/none' }, methods), []);
        assert.notDeepEqual(messageFaults(revision, { jsonrpc: '2.0', id: 1, error: { code: 'x' } }, methods), []);
        assert.equal(messageFaults(revision, answer({ content: text }), methods).length === 0, revision < '2026');
        assert.deepEqual(messageFaults(revision, answer({ content: text, resultType: 'complete' }), methods), []);
    }
    assert.deepEqual(messageFaults('2025-11-25', answer({}, 2), methods), []);
});

for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    describe(`the 1.x client over stdio, ${revision}`, () => {
        let peer;

        before(async () => {
            peer = await connect(new StdioClientTransport({
                command: program, args: ['--revision', revision], stderr: 'inherit',
            }));
        });
        after(() => close(peer));
        conversation(revision, () => peer);
    });
}

for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25']) {
    describe(`the 1.x client over HTTP, ${revision}`, () => {
        let server, peer;

        before(async () => {
            server = await start('--revision', revision);
            peer = await connect(new StreamableHTTPClientTransport(server.url));
        });
        after(async () => {
            await peer.record.transport.terminateSession();
            await close(peer);
            await stop(server);
        });
        conversation(revision, () => peer);
    });
}

describe('the 1.x client over HTTP+SSE, 2024-11-05', () => {
    let server, peer;

    before(async () => {
        server = await start('--revision', '2024-11-05');
        peer = await connect(new SSEClientTransport(new URL('/sse', server.url)));
    });
    after(async () => {
        await close(peer);
        await stop(server);
    });
    conversation('2024-11-05', () => peer);
});

for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
    describe(`the 1.x client over WebSocket, ${revision}`, () => {
        let server, peer;

        before(async () => {
            server = await start('--transport', 'ws', '--revision', revision);
            const url = new URL('/ws', server.url);
            url.protocol = 'ws:';
            peer = await connect(new WebSocketClientTransport(url));
        });
        after(async () => {
            await close(peer);
            await stop(server);
        });
        conversation(revision, () => peer);
    });
}
