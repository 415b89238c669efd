/*
 * visit.test.mjs - users who are sent to an address, by the official clients: the 1.x line under
 * 2025-11-25, whose errors and news it knows, and the 2.x line under 2026-07-28, which answers the
 * question and calls again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Client as NewClient, StreamableHTTPClientTransport as NewHTTPTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    ElicitationCompleteNotificationSchema, ElicitRequestSchema, UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';

import { program, start, stop } from '../conformance/everything.mjs';
import { assertFits, recorded } from './recorded.mjs';
import { until } from './support/until.mjs';

const SIGN_IN = /^https:\/\/as\.example\/sign-in\?errand=([0-9a-f]{32})$/;

/** The 1.x client from the first question to the work that it was asked for. */
async function signIn(transport) {
    const record = recorded(transport);
    const client = new Client({ name: 'visit-test', version: '1.0.0' }, { capabilities: { elicitation: { form: {}, url: {} } } });
    const asked = [], done = [], faults = [];
    const call = async (name) => (await client.callTool({ name, arguments: {} })).content[0].text;

    client.onerror = (error) => { faults.push(error); };
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params);
        return { action: 'accept' };
    });
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => { done.push(params.elicitationId); });
    await client.connect(transport);

    assert.equal(await call('test_elicitation_url'), 'accept');
    assert.equal(asked.length, 1);
    assert.equal(asked[0].mode, 'url');
    assert.equal(SIGN_IN.exec(asked[0].url)[1], asked[0].elicitationId);

    const refused = await call('test_visit_required').then(() => assert.fail('it was done'), (error) => error);
    assert.ok(refused instanceof UrlElicitationRequiredError, String(refused));
    assert.equal(refused.code, -32042);
    assert.deepEqual(refused.elicitations.map((one) => one.elicitationId), [asked[0].elicitationId]);
    assert.deepEqual(done, []);

    assert.equal(await call('test_visit_done'), 'Signed in.');
    await until(() => done.length > 0, 'news of the errand');
    assert.deepEqual(done, [asked[0].elicitationId]);
    assert.equal(await call('test_visit_required'), 'You are signed in.');
    await client.close();
    assert.deepEqual(faults, []);
    assertFits(record);
}

describe('an address that the user is sent to', () => {
    test('2025-11-25 over stdio', () => signIn(new StdioClientTransport({ command: program, stderr: 'inherit' })));

    test('2025-11-25 over HTTP', async () => {
        const server = await start();
        await signIn(new StreamableHTTPClientTransport(server.url));
        await stop(server);
    });

    test('2026-07-28 over HTTP: a question like others, asked until it is done', async () => {
        const server = await start();
        const transport = new NewHTTPTransport(server.url);
        const record = recorded(transport);
        const client = new NewClient({ name: 'visit-test', version: '2.0.0' }, {
            capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } },
        });
        const asked = [];
        const call = async (name) => (await client.callTool({ name, arguments: {} })).content[0].text;

        client.setRequestHandler('elicitation/create', async ({ params }) => {
            asked.push(params);
            if (asked.length === 3) /* at last the user has been there */
                assert.equal(await call('test_visit_done'), 'Signed in.');
            return { action: 'accept' };
        });
        await client.connect(transport);
        assert.equal(await call('test_elicitation_url'), 'accept');
        assert.equal(await call('test_visit_required'), 'You are signed in.');
        assert.equal(asked.length, 3);
        for (const { mode, url, elicitationId } of asked) {
            assert.equal(mode, 'url');
            assert.match(url, SIGN_IN);
            assert.equal(elicitationId, undefined);
        }
        await client.close();
        assertFits(record);
        await stop(server);
    });
});
