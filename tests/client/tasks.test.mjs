/*
 * tasks.test.mjs - tasks of examples/everything.c under the official clients: the 1.x line's own
 * for the form of 2025-11-25, and the official package for tasks on the 2.x line for both forms.
 * Each message of the server's is held against the schema of its revision, or of the extension.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { Conversation } from '../conformance/conversation.mjs';
import { program, start, stop } from '../conformance/everything.mjs';
import { assertFits, recorded } from './recorded.mjs';

const TASKS = 'io.modelcontextprotocol/tasks';
const VERSION = '2026-07-28';
const text = (result) => result.content[0].text;

/** Forms are filled with true or a name. */
function fill({ params }) {
    return {
        action: 'accept', content: Object.fromEntries(Object.entries(params.requestedSchema.properties)
            .map(([name, { type }]) => [name, type === 'boolean' || 'Ada'])),
    };
}

/* ---- the 1.x line ---------------------------------------------------------------------------- */

async function connect(transport) {
    const record = recorded(transport);
    const client = new Client({ name: 'tasks-test', version: '1.0.0' }, { capabilities: { elicitation: {} } });
    const peer = { client, record, faults: [], forms: 0, tasks: client.experimental.tasks };

    client.onerror = (error) => { peer.faults.push(error); };
    client.setRequestHandler(ElicitRequestSchema, (request) => {
        peer.forms++;
        return fill(request);
    });
    await client.connect(transport);
    await client.listTools(); /* the client learns there which tools may be tasks */
    return peer;
}

/** All that a stream says. */
async function drain(stream) {
    const said = [];
    for await (const message of stream)
        said.push(message);
    return said;
}

function conversation(peer) {
    const call = (name, args, task = { ttl: 60_000 }) =>
        drain(peer().tasks.callToolStream({ name, arguments: args }, undefined, { task }));

    test('tools say whether they may be tasks', async () => {
        const { tools } = await peer().client.listTools();
        const support = (name) => tools.find((tool) => tool.name === name).execution?.taskSupport;
        assert.deepEqual([support('slow_compute'), support('failing_job'), support('greet')],
            ['optional', 'required', undefined]);
    });

    test('a task is watched to its end', async () => {
        const said = await call('slow_compute', { seconds: 1, label: 'a' });
        assert.equal(said[0].type, 'taskCreated');
        assert.equal(said[0].task.ttl, 60_000);
        assert.ok(said.some(({ type, task }) => type === 'taskStatus' && task.status === 'working'));
        assert.equal(text(said.at(-1).result), 'Computed a.');
    });

    test('a task asks the user, each thing once', async () => {
        const before = peer().forms;
        assert.equal(text((await call('confirm_delete', { filename: 'x' })).at(-1).result), 'Would delete x.');
        assert.equal(text((await call('multi_input', {})).at(-1).result), 'Ada and Ada');
        assert.equal(peer().forms - before, 3);
    });

    test('a task fails', async () => {
        const said = await call('failing_job', {});
        assert.equal(said.at(-1).type, 'error');
        assert.equal((await peer().tasks.getTask(said[0].task.taskId)).status, 'failed');
        assert.equal((await peer().tasks.getTaskResult(said[0].task.taskId, CallToolResultSchema)).isError, true);
    });

    test('a task is listed, cancelled, and stays so', async () => {
        const stream = peer().tasks.callToolStream({ name: 'slow_compute', arguments: { seconds: 600 } }, undefined,
            { task: {} });
        const { value: { task: { taskId } } } = await stream.next();
        assert.ok((await peer().tasks.listTasks()).tasks.some((task) => task.taskId === taskId));
        assert.equal((await peer().tasks.cancelTask(taskId)).status, 'cancelled');
        assert.equal((await peer().tasks.getTask(taskId)).status, 'cancelled');
        await assert.rejects(peer().tasks.cancelTask(taskId), (error) => error.code === -32602);
        await assert.rejects(peer().tasks.getTaskResult(taskId, CallToolResultSchema), /cancelled/);
    });

    test('a tool that need not be a task is called as ever', async () => {
        const result = await peer().client.callTool({ name: 'slow_compute', arguments: { seconds: 0, label: 'b' } });
        assert.equal(text(result), 'Computed b.');
    });
}

async function close(peer) {
    await peer.client.close();
    assert.deepEqual(peer.faults, []);
    assertFits(peer.record);
}

describe('client 1.x over stdio', () => {
    let peer;
    before(async () => { peer = await connect(new StdioClientTransport({ command: program })); });
    after(async () => { await close(peer); });
    conversation(() => peer);
});

describe('over HTTP', () => {
    let server;
    before(async () => { server = await start(); });
    after(async () => { await stop(server); });

    describe('client 1.x', () => {
        let peer;
        before(async () => { peer = await connect(new StreamableHTTPClientTransport(server.url)); });
        after(async () => { await close(peer); });
        conversation(() => peer);

        test('another session does not see them', async () => {
            const [{ task: { taskId } }] = await drain(peer.tasks.callToolStream(
                { name: 'slow_compute', arguments: { seconds: 0 } }, undefined, { task: {} }));
            const other = await connect(new StreamableHTTPClientTransport(server.url));
            await assert.rejects(other.tasks.getTask(taskId), (error) => error.code === -32602);
            assert.deepEqual((await other.tasks.listTasks()).tasks, []);
            await close(other);
        });
    });

    /* The 2.x client takes no result that is a task, so the package for tasks wants a way of its
     * own to the server for the extension. */
    function dispatcher(record) {
        let id = 0;
        return async ({ method, params }) => {
            const message = { jsonrpc: '2.0', id: ++id, method, params };
            const name = params.taskId ?? params.name;
            record.sent(message);
            const response = await fetch(server.url, {
                method: 'POST', body: JSON.stringify(message),
                headers: {
                    'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
                    'MCP-Protocol-Version': VERSION, 'Mcp-Method': method, ...name ? { 'Mcp-Name': name } : {},
                },
            });
            const answer = await response.json();
            record.heard(answer);
            return answer.error ? { kind: 'error', error: answer.error } : { kind: 'result', result: answer.result };
        };
    }

    async function session(era, record) {
        const client = new Client2({ name: 'tasks-test', version: '2.0.0' }, {
            capabilities: { elicitation: {}, extensions: { [TASKS]: {} } },
            versionNegotiation: era === 'modern' ? { mode: { pin: VERSION } } : undefined,
        });
        await client.connect(new Http2(server.url));
        assert.equal(client.getProtocolEra(), era);
        const extension = {
            rawDispatch: dispatcher(record),
            v2RequestFraming: {
                protocolVersion: VERSION, clientInfo: { name: 'tasks-test', version: '2.0.0' },
                clientCapabilities: { elicitation: {}, extensions: { [TASKS]: {} } },
            },
        };
        const tasks = createTaskSessionFromClient(client, {
            endpointId: 'everything', onInputRequest: (request) => fill(request), ...era === 'modern' ? extension : {},
        });
        return { client, tasks };
    }

    for (const era of ['legacy', 'modern']) {
        describe(`the package for tasks, ${era}`, () => {
            const record = new Conversation();
            const taskOf = (name) => ({ task: { preference: 'require' },
                declaration: { name, inputSchema: { type: 'object' }, taskSupport: 'optional' } });
            let peer;
            before(async () => { peer = await session(era, record); });
            after(async () => {
                await peer.tasks.close();
                await peer.client.close();
                assert.deepEqual(record.faults, []);
                assert.ok(era === 'legacy' || record.received > 10);
            });
            const call = async (name, args) => {
                const execution = await peer.tasks.callTool(name, args, taskOf(name));
                assert.equal(execution.kind, 'task');
                return (await execution.settle()).outcome;
            };

            test('a task is watched to its end', async () => {
                assert.equal(text(resultFromTaskOutcome(await call('slow_compute', { seconds: 1, label: 'a' }))),
                    'Computed a.');
            });

            test('a task asks the user', async () => {
                assert.equal(text(resultFromTaskOutcome(await call('confirm_delete', { filename: 'x' }))),
                    'Would delete x.');
                assert.equal(text(resultFromTaskOutcome(await call('multi_input', {}))), 'Ada and Ada');
            });

            test('a task ends with an error of the protocol', async () => {
                assert.equal((await call('protocol_error_job', {})).status, 'failed');
            });

            test('a task is cancelled', async () => {
                const execution = await peer.tasks.callTool('slow_compute', { seconds: 600 }, taskOf('slow_compute'));
                await execution.cancel();
                assert.equal((await execution.settle()).outcome.status, 'cancelled');
            });
        });
    }

    test('the extension asks first and becomes a task then', async () => {
        const record = new Conversation();
        const { client, tasks } = await session('modern', record);
        const execution = await tasks.callTool('test_tool_with_task', {});
        assert.equal(execution.kind, 'task');
        assert.equal(text(resultFromTaskOutcome((await execution.settle()).outcome)), 'The task was for Ada.');
        await tasks.close();
        await client.close();
        assert.deepEqual(record.faults, []);
    });
});
