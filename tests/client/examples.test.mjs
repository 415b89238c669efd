/*
 * examples.test.mjs - examples/ask.c and examples/changes.c under the official clients of both lines over stdio, in both
 * eras; the other examples have tests of their own (library, http, events, everything).
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
    ElicitRequestSchema, ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { assertFits, recorded } from './recorded.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const bin = process.env.CAUSEWAY_BIN ?? path.resolve(here, '..', '..', 'build', 'bin');
const CHANGED = 'notifications/tools/list_changed';
const APPLES = 'shop://apples';

/** Where the client is asked for a form it gives `peer.form`; news are gathered in `peer.news`. */
async function connect(program, { isNew, mode }) {
    const command = path.join(bin, program);
    const transport = isNew ? new NewTransport({ command, stderr: 'pipe' }) : new StdioClientTransport({ command, stderr: 'pipe' });
    const options = { capabilities: { elicitation: {} }, ...(mode ? { versionNegotiation: { mode } } : {}) };
    const client = isNew ? new NewClient({ name: 'examples-test', version: '2' }, options)
        : new Client({ name: 'examples-test', version: '1' }, options);
    const peer = { client, record: recorded(transport), form: null, asked: [], news: [], faults: [], log: '' };
    const answer = ({ params }) => {
        peer.asked.push(params.message);
        return peer.form;
    };

    client.onerror = (error) => { peer.faults.push(error); };
    if (isNew) {
        client.setRequestHandler('elicitation/create', answer);
        client.setNotificationHandler(CHANGED, () => { peer.news.push(CHANGED); });
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => { peer.news.push(params.uri); });
    } else {
        client.setRequestHandler(ElicitRequestSchema, answer);
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

/** Wait until so much news of it has come, 20 s at most. */
async function until(peer, what, times) {
    const deadline = Date.now() + 20_000;
    while (peer.news.filter((one) => one === what).length < times) {
        assert.ok(Date.now() < deadline, `waited 20 s for: ${what}`);
        await new Promise((resolve) => { setTimeout(resolve, 10); });
    }
}

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

        test('a tool comes, is used and goes, and the client is told each time', async () => {
            assert.deepEqual(await names(), ['close_shop', 'open_shop']);
            await call(peer, 'open_shop');
            await until(peer, CHANGED, 1);
            assert.deepEqual(await names(), ['buy', 'close_shop', 'open_shop']);
            assert.equal((await call(peer, 'buy')).content[0].text, 'Here is your apple.');
            await until(peer, APPLES, 1);
            assert.equal((await peer.client.readResource({ uri: APPLES })).contents[0].text, '11 apples');
            await call(peer, 'close_shop');
            await until(peer, CHANGED, 2);
            assert.deepEqual(await names(), ['close_shop', 'open_shop']);
            await assert.rejects(call(peer, 'buy'), (error) => error.code === -32602);
        });
    });
}
