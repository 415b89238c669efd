/*
 * examples.test.mjs - the examples ask.c and changes.c under the official clients of both lines
 * over stdio, in both eras; answers.c, scopes.c and validate.c; the others have tests of their own
 * (library, http, events, everything).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { assertFits, recorded } from './recorded.mjs';
import { until } from './support/until.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');
const CHANGED = 'notifications/tools/list_changed';
const APPLES = 'shop://apples';

/** Where the client is asked for a form it gives `peer.form`; news are gathered in `peer.news`. */
async function connect(program, { isNew, mode }) {
    const command = path.join(bin, program);
    const transport = isNew ? new NewTransport({ command, stderr: 'pipe' }) : new StdioClientTransport({ command, stderr: 'pipe' });
    const options = { capabilities: { elicitation: {}, roots: {}, sampling: {} }, ...(mode ? { versionNegotiation: { mode } } : {}) };
    const client = isNew ? new NewClient({ name: 'examples-test', version: '2' }, options)
        : new Client({ name: 'examples-test', version: '1' }, options);
    const peer = { client, record: recorded(transport), form: null, asked: [], news: [], faults: [], log: '' };
    const answer = ({ params }) => {
        peer.asked.push(params.message);
        return peer.form;
    };

    const named = ({ params }) => ({
        role: 'assistant', model: 'm', content: { type: 'text', text: `${params.messages[0].content.text}!` },
    });
    const roots = () => ({ roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] });

    client.onerror = (error) => { peer.faults.push(error); };
    if (isNew) {
        client.setRequestHandler('elicitation/create', answer);
        client.setRequestHandler('sampling/createMessage', named);
        client.setRequestHandler('roots/list', roots);
        client.setNotificationHandler(CHANGED, () => { peer.news.push(CHANGED); });
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => { peer.news.push(params.uri); });
    } else {
        client.setRequestHandler(ElicitRequestSchema, answer);
        client.setRequestHandler(CreateMessageRequestSchema, named);
        client.setRequestHandler(ListRootsRequestSchema, roots);
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => { peer.news.push(CHANGED); });
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { peer.news.push(params.uri); });
    }
    transport.stderr?.on('data', (bytes) => { peer.log += bytes; });
    await client.connect(transport);
    return peer;
}

async function close(peer) {
    await peer.client.close();
    assert.deepEqual(peer.faults, []);
    assert.equal(peer.log, '');
    assertFits(peer.record);
}

/** Wait until that many notifications of one kind have come. */
const received = (peer, what, times) =>
    until(() => peer.news.filter((one) => one === what).length >= times, `${times} of ${what}`);

const call = (peer, name, args = {}) => peer.client.callTool({ name, arguments: args });

for (const kind of [
    { name: 'the 1.x client' },
    { name: 'the 2.x client in a session', isNew: true },
    { name: 'the 2.x client without one', isNew: true, mode: { pin: '2026-07-28' } },
]) {
    describe(`ask.c under ${kind.name}`, () => {
        let peer;

        before(async () => { peer = await connect('example-ask', kind); });
        after(() => close(peer));

        test('a table is booked as the user has it', async () => {
            peer.form = { action: 'accept', content: { guests: 3, outside: true } };
            const result = await call(peer, 'book_table', { restaurant: 'Chez Ada' });
            assert.deepEqual(JSON.parse(result.content[0].text),
                { restaurant: 'Chez Ada', guests: 3, outside: true, price: '35 a head' });
            assert.deepEqual(peer.asked, ['A table for how many?']);
        });

        test('a user who will not say books none', async () => {
            for (const action of ['decline', 'cancel']) {
                peer.form = { action };
                const result = await call(peer, 'book_table', { restaurant: 'Chez Ada' });
                assert.equal(result.isError, true);
                assert.equal(result.content[0].text, 'No table was booked.');
            }
        });

        test('a request may depend on the response to another', async () => {
            const result = await call(peer, 'name_project');
            assert.deepEqual(JSON.parse(result.content[0].text),
                { root: 'file:///a', name: 'Name a project with 2 roots!' });
        });
    });

    describe(`changes.c under ${kind.name}`, () => {
        let peer;
        let listening;

        before(async () => {
            peer = await connect('example-changes', kind);
            if (kind.mode)
                listening = await peer.client.listen({ toolsListChanged: true, resourceSubscriptions: [APPLES] });
            else
                await peer.client.subscribeResource({ uri: APPLES });
        });
        after(async () => {
            await listening?.close();
            await close(peer);
        });

        const names = async () => (await peer.client.listTools()).tools.map(({ name }) => name).sort();

        test('a tool is added, used and removed, and the client is notified each time', async () => {
            assert.deepEqual(await names(), ['close_shop', 'open_shop']);
            await call(peer, 'open_shop');
            await received(peer, CHANGED, 1);
            assert.deepEqual(await names(), ['buy', 'close_shop', 'open_shop']);
            assert.equal((await call(peer, 'buy')).content[0].text, 'Here is your apple.');
            await received(peer, APPLES, 1);
            assert.equal((await peer.client.readResource({ uri: APPLES })).contents[0].text, '11 apples');
            await call(peer, 'close_shop');
            await received(peer, CHANGED, 2);
            assert.deepEqual(await names(), ['close_shop', 'open_shop']);
            await assert.rejects(call(peer, 'buy'), (error) => error.code === -32602);
        });
    });
}

describe('answers.c', () => {
    let peer;
    const logged = [];

    before(async () => {
        peer = await connect('example-answers', {});
        peer.client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => { logged.push(params); });
    });
    after(async () => {
        await peer.client.close();
        assert.deepEqual(peer.faults, []);
        assert.match(peer.log, /^answers \[info\] client examples-test 1, protocol 2025-11-25$/m);
        assertFits(peer.record);
    });

    test('a result may be a number; numbers may come as text', async () => {
        for (const args of [{ a: 1, b: 2 }, { a: '1', b: '2', weight: '0.5' }])
            assert.equal((await call(peer, 'mean', args)).content[0].text, '1.5');
        assert.equal((await call(peer, 'mean', { a: 8, b: 4, weight: 0.25 })).content[0].text, '5');
        assert.equal((await call(peer, 'mean', { a: 1, b: 2, weight: 2 })).isError, true);
    });

    test('a handler sees its request', async () => {
        const result = await peer.client.callTool({ name: 'describe', arguments: { level: 'error' }, _meta: { mine: 7 } });
        const got = JSON.parse(result.content[0].text);
        assert.equal(got.revision, '2025-11-25');
        assert.equal(got.level, 'error');
        assert.equal(got.meta.mine, 7);
        assert.match(result.content[0].text, /18446744073709551615/);
        assert.equal(result.content[1].type, 'resource_link');
        assert.deepEqual(logged, [{ level: 'error', logger: 'describe', data: { described: true } }]);
        const { contents: [version] } = await peer.client.readResource({ uri: result.content[1].uri });
        assert.match(version.text, /^\d+\.\d+\.\d+$/);
        assert.deepEqual(version._meta, { library: 'libmcp' });
        assert.equal((await call(peer, 'describe', { level: 'loud' })).isError, true);
    });
});

describe('scopes.c', () => {
    let server;

    before(async () => {
        const child = spawn(path.join(bin, 'example-scopes'), ['r-token', 'w-token'], { stdio: ['ignore', 'pipe', 'inherit'] });
        const [line] = await once(child.stdout, 'data');
        server = { child, url: new URL(String(line).trim()) };
    });
    after(async () => {
        const gone = once(server.child, 'exit');
        assert.equal((await hook('stop', '{}', sign('stop', '{}'))).status, 204);
        assert.deepEqual(await gone, [0, null]);
    });

    async function as(token) {
        const client = new Client({ name: 'examples-test', version: '1' });
        await client.connect(new StreamableHTTPClientTransport(server.url,
            { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
        return client;
    }
    const hook = (name, body, signature) => fetch(new URL(`/hooks/${name}`, server.url),
        { method: 'POST', body, headers: { 'Content-Type': 'application/json', 'X-Signature': signature } });
    const sign = (name, body) => createHmac('sha256', 'a key that both machines know')
        .update(`/hooks/${name}\n${body}`).digest('hex');

    test('a client sees and does what its token allows', async () => {
        const reader = await as('r-token');
        const writer = await as('w-token');
        const names = async (client) => (await client.listTools()).tools.map(({ name }) => name);
        assert.deepEqual(await names(reader), ['read']);
        assert.deepEqual(await names(writer), ['read', 'add']);
        assert.deepEqual(JSON.parse((await writer.callTool({ name: 'add', arguments: { amount: 2 } })).content[0].text),
            { counter: 2, for: 'writer' });
        assert.deepEqual(JSON.parse((await reader.callTool({ name: 'read' })).content[0].text),
            { counter: 2, for: 'reader' });
        await assert.rejects(reader.callTool({ name: 'add' }));
        await assert.rejects(writer.callTool({ name: 'add', arguments: { amount: 101 } }));
        await assert.rejects(as('x-token'));
        await Promise.all([reader.close(), writer.close()]);
    });

    test('a webhook is taken with its signature alone', async () => {
        assert.equal((await hook('build', '{}', sign('build', '{}'))).status, 204);
        assert.equal((await hook('build', '{"x":1}', sign('build', '{}'))).status, 403);
        assert.equal((await hook('deploy', '{}', sign('build', '{}'))).status, 403);
        assert.equal((await hook('build', '{}', 'short')).status, 403);
    });
});

describe('validate.c', () => {
    let folder;
    const file = (name, value) => {
        const where = path.join(folder, name);
        fs.writeFileSync(where, typeof value === 'string' ? value : JSON.stringify(value));
        return where;
    };
    const run = (...args) => spawnSync(path.join(bin, 'example-validate'), args, { encoding: 'utf8' });

    before(() => { folder = fs.mkdtempSync(path.join(os.tmpdir(), 'validate-')); });
    after(() => fs.rmSync(folder, { recursive: true, force: true }));

    test('values are checked against a schema', () => {
        const schema = file('schema.json', { type: 'object', properties: { port: { maximum: 65535 }, at: { format: 'date' } } });
        const good = file('good.json', { port: 80, at: '2026-07-28' });
        assert.deepEqual([run(schema, good, good).status, run(schema, good, good).stdout], [0, '']);
        const bad = run(schema, good, file('bad.json', { port: 70000 }));
        assert.equal(bad.status, 1);
        assert.equal(bad.stdout, '/port: 70000 is above the maximum 65535\n');
        assert.match(bad.stderr, /E_SCHEMA, JSON-RPC code -32602/);
        assert.equal(run(schema, file('date.json', { at: 'soon' })).status, 1);
    });

    test('what is no schema, no JSON or no file is said', () => {
        assert.match(run(file('old.json', { items: [{}] }), file('any.json', {})).stderr, /prefixItems/);
        assert.match(run(file('list.json', []), file('any.json', {})).stderr, /not an object/);
        assert.equal(run(file('cut.json', '{'), file('any.json', {})).status, 2);
        assert.equal(run(path.join(folder, 'none.json'), file('any.json', {})).status, 2);
        assert.equal(run().status, 2);
    });
});

test('every example is run by a test', () => {
    const tests = fs.readdirSync(here).filter((name) => name.endsWith('.mjs'))
        .map((name) => fs.readFileSync(path.join(here, name), 'utf8')).join('\n');
    for (const name of fs.readdirSync(bin).filter((one) => one.startsWith('example-')))
        assert.ok(tests.includes(`'${name}'`), `${name} is not in a test`);
});

describe('casparian', () => {
    const example = path.resolve(here, '..', '..', 'examples', 'casparian');
    let top, dir, env, client;
    before(async () => {
        top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'example-')));
        dir = path.join(top, 'examples', 'casparian');
        env = { ...process.env, HOME: path.join(top, 'home'), CASPARIAN_HOME: undefined, NO_COLOR: '1' };
        fs.cpSync(example, dir, { recursive: true });
        fs.mkdirSync(path.join(top, 'build'));
        fs.mkdirSync(env.HOME);
        fs.symlinkSync(bin, path.join(top, 'build', 'bin'));
        const { command, args } = JSON.parse(fs.readFileSync(path.join(dir, '.mcp.json'), 'utf8')).mcpServers.casparian;
        client = new Client({ name: 'examples-test', version: '1' });
        await client.connect(new StdioClientTransport({ command, args, cwd: dir, env, stderr: 'inherit' }));
    });
    after(async () => {
        await client?.close();
        fs.rmSync(top, { recursive: true, force: true });
    });
    const ask = async (name, args) => {
        const reply = await client.callTool({ name: `casparian_${name}`, arguments: args });
        assert.ok(!reply.isError, reply.content[0].text);
        return reply.structuredContent;
    };
    const ended = (id) => until(async () => {
        const job = await ask('job_status', { job_id: id, wait_ms: 5000 });
        return ['completed', 'failed', 'cancelled'].includes(job.status) && job;
    }, `the end of job ${id}`);

    test('its .mcp.json and the commands of its README work as they stand', async () => {
        const input = { plugin_ref: { path: 'parsers/sales_csv.py' }, input_dir: 'samples/sales' };
        const shown = await ask('preview', { plugin_ref: input.plugin_ref, files: ['samples/sales/north.csv'] });
        assert.deepEqual(shown.errors, []);
        const rows = fs.readdirSync(path.join(example, 'samples', 'sales'))
            .map((name) => fs.readFileSync(path.join(example, 'samples', 'sales', name), 'utf8').trim().split('\n').length - 1)
            .reduce((sum, count) => sum + count);
        assert.equal((await ended((await ask('backtest_start', input)).job_id)).result.outputs.sales_csv.rows_emitted, rows);
        const { approval_id: id } = await ask('run_request', { ...input, plugin_ref: { path: 'parsers/sales_csv_2.py' }, output: 'tables' });
        const lines = fs.readFileSync(path.join(dir, 'README.md'), 'utf8').match(/^\.\.\/.*$/gm);
        assert.equal(lines.length, 4);
        for (const line of lines) {
            const yes = line.includes(' approve ') ? ' --yes' : ''; /* there is no terminal */
            const done = spawnSync('sh', ['-c', line.replace('ID', id) + yes], { cwd: dir, env, encoding: 'utf8' });
            assert.equal(done.status, 0, `${line}: ${done.stdout}${done.stderr}`);
            if (yes)
                assert.equal((await ended((await ask('approval_status', { approval_id: id })).job_id)).status, 'completed');
        }
        const counted = await ask('query', { sql: 'SELECT count(*) FROM outputs."sales_csv"' });
        assert.deepEqual(counted.rows, [[rows]]);
    });
});
