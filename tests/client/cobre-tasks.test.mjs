/*
 * cobre-tasks.test.mjs - cobre/run as a task, of 2025-11-25 under the official client and of the
 * extension of 2026-07-28 message by message over HTTP: its status tells how far the run is, its
 * result is that of the call, and cancelling stops the run.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

import { answer, call, workshop } from './support/cobre.mjs';
import { until } from './support/until.mjs';

const MODERN = '2026-07-28';
const TASKS = 'io.modelcontextprotocol/tasks';
let shop;

before(() => { shop = workshop('tasks'); });
after(() => shop.close());

const metadata = (dir) => {
    const file = path.join(dir, 'output', 'training', 'metadata.json');
    return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : null;
};

for (const transport of ['stdio', 'http'])
    describe(`2025-11-25 over ${transport}`, () => {
        let client;
        let tasks;

        before(async () => {
            client = await shop.connect('2025-11-25', transport, ['--allow-write']);
            tasks = client.experimental.tasks;
            await client.listTools(); /* the client learns there which tools may be tasks */
        });

        const start = async (dir) => {
            const stream = tasks.callToolStream({ name: 'cobre/run', arguments: { case_dir: dir } }, CallToolResultSchema, { task: { ttl: 600_000 } });
            const { value } = await stream.next();
            assert.equal(value.type, 'taskCreated');
            return { stream, id: value.task.taskId };
        };

        test('the result of the task is the result of the run', async () => {
            const dir = shop.copyCase('four-stages', `run-${transport}`, { iterations: 8, scenarios: 4 });
            const { stream } = await start(dir);
            let last;
            for await (const message of stream)
                last = message;
            const result = answer(last.result);
            assert.equal(result.status, 'completed');
            assert.equal(result.training.iterations, 8);
            assert.equal(result.simulation.scenarios, 4);
            const again = answer(await call(client, 'cobre/run', { case_dir: dir }));
            assert.equal(again.training.final_lower_bound, result.training.final_lower_bound);
        });

        test('its status tells how far it is, and cancelling stops the run', async () => {
            const dir = shop.copyCase('four-stages', `cancel-${transport}`, { iterations: 1_000_000 });
            const { stream, id } = await start(dir);
            await until(async () => /^iteration \d+: lower bound/.test((await tasks.getTask(id)).statusMessage ?? ''), 'a status message');
            assert.equal((await tasks.getTask(id)).status, 'working');
            assert.equal((await tasks.cancelTask(id)).status, 'cancelled');
            await until(() => metadata(dir)?.status === 'partial', 'the files of the stopped run');
            await stream.return?.();
            const next = shop.copyCase('four-stages', `next-${transport}`, { iterations: 2, scenarios: 1 });
            let run = await call(client, 'cobre/run', { case_dir: next });
            for (let i = 0; run.isError && i < 200; i++) {
                assert.match(run.content[0].text, /in progress/);
                await new Promise((resolve) => { setTimeout(resolve, 50); });
                run = await call(client, 'cobre/run', { case_dir: next });
            }
            assert.equal(answer(run).status, 'completed');
        });
    });

test('the extension of 2026-07-28', async () => {
    const url = await shop.serve(['--revision', MODERN, '--allowed-dirs', shop.scratch, '--allow-write']);
    const dir = shop.copyCase('four-stages', 'modern', { iterations: 6, scenarios: 3 });
    let id = 0;
    const send = async (method, params, name) => {
        const response = await fetch(url, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': MODERN,
                'Mcp-Method': method, 'Mcp-Name': name },
            body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta: {
                'io.modelcontextprotocol/protocolVersion': MODERN,
                'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} } },
                'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' } } } }),
        });
        const body = await response.json();
        assert.equal(body.error, undefined, JSON.stringify(body.error));
        return body.result;
    };
    const created = await send('tools/call', { name: 'cobre/run', arguments: { case_dir: dir } }, 'cobre/run');
    assert.equal(created.resultType, 'task');
    let task = created;
    await until(async () => {
        task = await send('tasks/get', { taskId: created.taskId }, created.taskId);
        return task.status !== 'working';
    }, 'the end of the task');
    assert.equal(task.status, 'completed');
    const result = answer(task.result);
    assert.equal(result.training.iterations, 6);
    assert.equal(result.simulation.scenarios, 3);
});
