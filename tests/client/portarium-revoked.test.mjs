/*
 * portarium-revoked.test.mjs - a stream of events ends with its token and with its user, on every
 * replica; so does a request that waits.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { CONTENT, plane, planeOn, program } from './portarium-rest.mjs';
import { TRANSPORTS, connect } from './support/portarium-clients.mjs';
import { postgres } from './universe.mjs';
import { until } from './support/until.mjs';

const WS = '/v1/workspaces/ws-1', STREAM = `${WS}/events:stream`;

function cli(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

const create = (db, subject) => JSON.parse(cli('tokens', 'create', '--json', '--db', db, '--workspace', 'ws-1', '--subject', subject, '--roles', 'auditor'));

/* A reader: the types of its events so far, and whether its stream has ended. */
async function follow(base, token, headers = {}) {
    const answer = await fetch(base + STREAM, { headers: { Authorization: `Bearer ${token}`, ...headers } });
    const self = { status: answer.status, types: [], isOver: false };
    (async () => {
        let text = '';
        for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
            text += chunk;
            for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
                self.types.push(...text.slice(0, end).split('\n').filter((line) => line.startsWith('event: ')).map((line) => line.slice(7)));
                text = text.slice(end + 2);
            }
        }
    })().finally(() => { self.isOver = true; });
    return self;
}

const item = async (server) => assert.equal((await server.ask('POST', `${WS}/work-items`, { body: { title: 'Look' } })).status, 201);

/* @param servers replicas on one database: the token is revoked by a process of its own */
async function revoke(servers, db) {
    const made = create(db, 'ada'), kept = create(db, 'ute');
    const readers = await Promise.all(servers.map(({ base }) => follow(base, made.token)));
    const others = await Promise.all(servers.map(({ base }) => follow(base, kept.token)));
    assert.deepEqual([...readers, ...others].map(({ status }) => status), Array(2 * servers.length).fill(200));
    await item(servers[0]);
    await until(() => [...readers, ...others].every(({ types }) => types.length === 1), 'the first event everywhere');
    cli('tokens', 'revoke', '--db', db, '--workspace', 'ws-1', made.id);
    await item(servers[0]);
    await until(() => others.every(({ types }) => types.length === 3), 'the events behind the revocation');
    await until(() => readers.every(({ isOver }) => isOver), 'the end of the streams');
    assert.deepEqual(readers.map(({ types }) => types), servers.map(() => ['WorkItemCreated']));
    assert.deepEqual(others.map(({ types, isOver }) => [types, isOver]), servers.map(() => [['WorkItemCreated', 'TokenRevoked', 'WorkItemCreated'], false]));
    /* The verdict on the token is in a cache for up to a minute. */
    for (const { base } of servers)
        assert.ok([401, 403].includes((await follow(base, made.token, { 'Last-Event-ID': '0' })).status));
}

test('the streams of a token end when another process revokes it', async () => {
    const server = await plane(CONTENT);
    await revoke([server], server.db);
    await server.close();
});

test('the streams of a token end on every replica when it is revoked, and when it expires', async () => {
    const db = postgres();
    const first = await planeOn(db.url, CONTENT), second = await planeOn(db.url, CONTENT);
    await revoke([first, second], db.url);
    const made = create(db.url, 'eve');
    db.sql(`UPDATE api_tokens SET expires_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 10000 WHERE id = '${made.id}'`);
    const readers = await Promise.all([first, second].map(({ base }) => follow(base, made.token)));
    assert.deepEqual(readers.map(({ status }) => status), [200, 200]);
    /* Without an event. */
    await until(() => readers.every(({ isOver }) => isOver), 'the end of the streams');
    for (const { base } of [first, second])
        assert.ok([401, 403].includes((await follow(base, made.token)).status));
    await first.close();
    await second.close();
    db.close();
});

/* A request that waits for what does not happen. */
const waitFor = (server, token, where) => server.ask('GET', `${where}?wait=60`, { token });

/* @param servers replicas on one database: the first one deactivates the user */
async function deactivate(servers, db) {
    const [first] = servers, admin = first.token('root', 'admin'), USER = `${WS}/users/ada`;
    const made = create(db, 'ada'), kept = create(db, 'ute');
    assert.equal((await first.ask('POST', `${WS}/users`, { token: admin, body: { userId: 'ada', email: 'ada@example.com', roles: ['auditor'] } })).status, 201);
    const { runId } = (await first.ask('POST', `${WS}/runs`, { body: { workflowId: 'wf-gate', parameters: { target: 'x' } } })).json;
    await until(async () => (await first.ask('GET', `${WS}/runs/${runId}`)).json.status === 'WaitingForApproval', 'the gate');
    const readers = await Promise.all(servers.map(({ base }) => follow(base, made.token)));
    const others = await Promise.all(servers.map(({ base }) => follow(base, kept.token)));
    const waits = servers.map((server) => waitFor(server, made.token, `${WS}/runs/${runId}`));
    const stays = waitFor(first, kept.token, `${WS}/runs/${runId}`);
    await item(first);
    await until(() => [...readers, ...others].every(({ types }) => types.length === 1), 'the first event everywhere');
    assert.equal((await first.ask('PATCH', USER, { token: admin, body: { active: false } })).status, 200);
    assert.deepEqual((await Promise.all(waits)).map(({ status, json }) => [status, json.detail]), servers.map(() => [403, 'The user of the token is not active.']));
    await until(() => readers.every(({ isOver }) => isOver), 'the end of the streams');
    await item(first);
    await until(() => others.every(({ types }) => types.length === 3), 'the events behind');
    assert.deepEqual(readers.map(({ types }) => types), servers.map(() => ['WorkItemCreated']));
    assert.deepEqual(others.map(({ types, isOver }) => [types, isOver]), servers.map(() => [['WorkItemCreated', 'UserDeactivated', 'WorkItemCreated'], false]));
    const refused = async () => { /* on each; 401 where no verdict on the token is in a cache */
        for (const server of servers) {
            assert.ok([401, 403].includes((await follow(server.base, made.token)).status));
            assert.ok([401, 403].includes((await server.ask('GET', `${WS}/runs`, { token: made.token })).status));
        }
    };
    await refused();
    assert.equal((await first.ask('DELETE', USER, { token: admin })).status, 204);
    await refused();
    assert.equal((await first.ask('POST', `${WS}/users`, { token: admin, body: { userId: 'ada', email: 'ada@example.com', roles: ['auditor'] } })).status, 201);
    await refused();
    /* Who was not active is deleted; the token that was made for her afterwards counts. */
    const later = create(db, 'ada');
    assert.equal((await first.ask('GET', `${WS}/runs`, { token: later.token })).status, 200);
    const reader = await follow(first.base, later.token);
    assert.equal((await first.ask('DELETE', USER, { token: admin })).status, 204);
    await until(() => reader.isOver, 'the end of the stream of a user who was deleted');
    assert.equal((await first.ask('POST', `${WS}/runs/${runId}/cancel`, { body: {} })).status, 200);
    assert.equal((await stays).status, 200);
}

test('what a user reads and waits for ends when the user is deactivated, and the tokens end when the user is deleted', async () => {
    const server = await plane(CONTENT);
    await deactivate([server], server.db);
    await server.close();
});

test('the same on every replica', async () => {
    const db = postgres();
    const first = await planeOn(db.url, CONTENT), second = await planeOn(db.url, CONTENT);
    await deactivate([first, second], db.url);
    await first.close();
    await second.close();
    db.close();
});

test('a tool that waits is answered when its user is deactivated, over every transport', async () => {
    const server = await plane(CONTENT), admin = server.token('root', 'admin');
    const made = create(server.db, 'ada'), refusal = /The user of the token is not active/;
    const { runId } = (await server.ask('POST', `${WS}/runs`, { body: { workflowId: 'wf-gate', parameters: { target: 'x' } } })).json;
    await until(async () => (await server.ask('GET', `${WS}/runs/${runId}`)).json.status === 'WaitingForApproval', 'the gate');
    assert.equal((await server.ask('POST', `${WS}/users`, { token: admin, body: { userId: 'ada', email: 'ada@example.com', roles: ['auditor'] } })).status, 201);
    const clients = await Promise.all(TRANSPORTS.map((kind) => connect(kind, server, made.token)));
    const ask = (client, more = {}) => client.callTool({ name: 'portarium_run_get', arguments: { workspaceId: 'ws-1', runId, ...more } })
        .then(({ isError, content }) => isError && content[0].text, ({ message }) => message);
    /* Root's wait ends first where none is ended. */
    let isOver = false;
    const root = await connect(TRANSPORTS[0], server, admin);
    ask(root, { waitSeconds: 45 }).then(() => { isOver = true; });
    const waits = clients.map((client) => ask(client, { waitSeconds: 50 }));
    /* They are refused also where they have not begun to wait. */
    await new Promise((resolve) => { setTimeout(resolve, 500); });
    assert.equal((await server.ask('PATCH', `${WS}/users/ada`, { token: admin, body: { active: false } })).status, 200);
    for (const answer of await Promise.all(waits))
        assert.match(String(answer), refusal);
    assert.ok(!isOver, 'they have waited to the end');
    for (const client of clients)
        assert.match(String(await ask(client)), refusal);
    await Promise.all([root, ...clients].map((client) => client.close().catch(() => {})));
    await server.close();
});
