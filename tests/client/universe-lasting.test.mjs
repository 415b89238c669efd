/*
 * universe-lasting.test.mjs - what was acknowledged is there: after a server is killed under load,
 * after the database has cut its connections; and several servers on one database serve the same
 * universe and each other's streams.
 *
 * UNIVERSE_KILLS says how often a server is killed on each database (10).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';

import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import {
    DATABASES, Viewer, addStar, call, connect, create, createAnew, disconnect, kill, postgres, program, range, rest, send, sqlite, start,
    stop, until,
} from './universe.mjs';

const KILLS = Number(process.env.UNIVERSE_KILLS ?? 10);
const WRITERS = 16;
/** What the log may say while a database is away. */
const AWAY = /not committed|input\/output error|internal error|sweeping|snapshot|listen|connection|terminat|gone|busy|database/i;

/** The whole log after a version. */
async function history(server, id, from) {
    const entries = [];
    for (;;) {
        const after = entries.at(-1)?.version ?? from;
        const { json } = await rest(server, 'GET', `/universes/${id}/history?after=${after}&limit=1000`);
        assert.equal(json.complete, true);
        entries.push(...json.entries);
        if (json.entries.length === 0)
            return entries;
    }
}

/** Commands of one writer until `over`; what was acknowledged goes to `acknowledged`, as [version,
 *  command]. */
async function write(server, id, prefix, over, acknowledged, failed) {
    for (let i = 0; !over(); i++) {
        const command = i % 3 === 0 ? { type: 'tick', dt: 1 } : addStar(`${prefix}-${i}`);
        const answer = await rest(server, 'POST', `/universes/${id}/commands?return=minimal`, command).catch(() => null);
        if (answer?.status === 200)
            acknowledged.push([answer.json.version, command]);
        else
            failed.push(answer?.status ?? 'cut');
    }
}

/** The log has no gap, holds each acknowledged command at its version, and the state is what the
 *  log says. */
async function verify(server, id, from, acknowledged) {
    const entries = await history(server, id, from.version);
    const { json: { state, version } } = await rest(server, 'GET', `/universes/${id}`);
    assert.deepEqual(entries.map((entry) => entry.version), range(from.version + 1, version));
    const seen = new Set();
    for (const [at, command] of acknowledged) {
        assert.ok(!seen.has(at), `version ${at} was given twice`);
        seen.add(at);
        assert.deepEqual(entries[at - from.version - 1]?.command, command, `version ${at} is not what was acknowledged`);
    }
    const stars = new Set(from.stars);
    let { time } = from;
    for (const { command } of entries) {
        if (command.type === 'tick')
            time += command.dt;
        else
            stars.add(command.id);
    }
    assert.equal(state.time, time);
    assert.equal(Object.keys(state.stars).length, stars.size);
    assert.ok(Object.keys(state.stars).every((one) => stars.has(one)));
    return { version, time, stars };
}

/** Each version once and in order up to the last, but for what a resync says is to be fetched. */
function assertTold(events, version) {
    let last = 0;
    for (const { event, id } of events) {
        if (event === 'command')
            assert.equal(id, last + 1);
        else
            assert.ok(event === 'resync' && id > last, `${event} ${id} after ${last}`);
        last = id;
    }
    assert.equal(last, version);
}

for (const makeDatabase of DATABASES) {
    test(`${KILLS} times killed under load, on ${makeDatabase.name}: nothing that was acknowledged is lost`, async () => {
        const db = makeDatabase();
        let server = await start(db.url);
        let from = { version: 0, time: 0, stars: new Set() };
        let total = 0;
        await createAnew(server, 'u-1');
        for (let round = 1; round <= KILLS; round++) {
            const acknowledged = [], failed = [];
            let over = false;
            const writers = range(1, WRITERS).map((n) =>
                write(server, 'u-1', `r${round}-${n}`, () => over, acknowledged, failed));
            /* A moment by chance, yet not before something was acknowledged. */
            await until(() => acknowledged.length >= 1 + Math.floor(Math.random() * 300), 'some answers');
            await kill(server);
            over = true;
            await Promise.all(writers);
            server = await start(db.url);
            from = await verify(server, 'u-1', from, acknowledged);
            total += acknowledged.length;
        }
        assert.ok(total >= KILLS);
        console.log(`# ${makeDatabase.name}: ${KILLS} kills, ${total} acknowledged, ${from.version} in the log`);
        await stop(server);
        db.close();
    });
}

describe('two servers on one PostgreSQL', () => {
    let db, servers;

    before(async () => {
        db = postgres();
        servers = [await start(db.url), await start(db.url)];
    });
    after(async () => {
        await Promise.all(servers.map((server) => stop(server, AWAY)));
        db.close();
    });

    test('what one accepts both tell, in one order, without a gap', async () => {
        const [a, b] = servers;
        const N = 8, each = 20;
        await createAnew(a, 'u-both');
        const viewers = [await Viewer.open(a, 'u-both'), await Viewer.open(b, 'u-both')];
        await Promise.all(range(1, 2 * N).map(async (n) => {
            for (let i = 0; i < each; i++)
                await send(servers[n % 2], 'u-both', i % 4 === 0 ? { type: 'tick', dt: n } : addStar(`s-${n}-${i}`));
        }));
        const total = 2 * N * each;
        for (const viewer of viewers)
            await viewer.until(() => viewer.versions.length >= total, 'all');
        assert.deepEqual(viewers[0].versions, range(1, total));
        assert.deepEqual(viewers[1].events, viewers[0].events);
        const states = await Promise.all(servers.map(async (server) => (await rest(server, 'GET', '/universes/u-both')).json));
        assert.equal(states[0].version, total);
        assert.deepEqual(states[0], states[1]);
        viewers.forEach((viewer) => viewer.close());
    });

    test('an agent on the one moves the viewers of the other', async () => {
        const [a, b] = servers;
        await createAnew(a, 'u-agent');
        const viewer = await Viewer.open(b, 'u-agent', { query: '?detail=1' });
        const peer = await connect(a);
        await call(peer, 'send_universe_command', { universeId: 'u-agent', command: addStar('sol') });
        await viewer.until(() => viewer.events.length >= 2, 'both events');
        assert.deepEqual(viewer.events, [
            { event: 'command', id: 1, data: addStar('sol') },
            { event: 'applied', id: 1, data: { version: 1, events: [{ type: 'starAdded', id: 'sol' }], time: 0 } },
        ]);
        assert.equal((await rest(b, 'GET', '/universes/u-agent')).json.version, 1);
        await disconnect(peer);
        viewer.close();
    });

    test('expectedVersion holds across both: one of two wins', async () => {
        await createAnew(servers[0], 'u-race');
        await until(async () => (await rest(servers[1], 'GET', '/universes/u-race')).status === 200, 'both to know it');
        for (let version = 0; version < 10; version++) {
            const answers = await Promise.all(servers.map((server, i) =>
                rest(server, 'POST', `/universes/u-race/commands?expectedVersion=${version}`, addStar(`s-${version}-${i}`))));
            assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
        }
    });

    test('PUT, restore and DELETE on one server are published by the other', async () => {
        const [a, b] = servers;
        await createAnew(a, 'u-put');
        const viewer = await Viewer.open(b, 'u-put');
        await rest(a, 'PUT', '/universes/u-put', { state: { time: 5 } });
        await viewer.until(() => viewer.of('resync').length === 1, 'the resync');
        assert.equal(viewer.of('resync')[0].data.version, 1);
        assert.equal((await rest(b, 'GET', '/universes/u-put')).json.state.time, 5);
        await send(b, 'u-put', { type: 'tick' });
        await rest(a, 'POST', '/universes/u-put/restore', { version: 0 });
        await viewer.until(() => viewer.of('resync').length === 2, 'the second resync');
        assert.equal((await rest(b, 'GET', '/universes/u-put')).json.state.time, 0);
        await rest(a, 'DELETE', '/universes/u-put');
        await viewer.until(() => viewer.closed, 'the end');
        assert.equal(viewer.events.at(-1).event, 'deleted');
        assert.equal((await rest(b, 'GET', '/universes/u-put')).status, 404);
        await createAnew(b, 'u-put');
        assert.equal((await send(a, 'u-put', { type: 'tick' })).version, 1);
    });

    test('the database cuts every connection, again and again: nothing acknowledged is lost', async () => {
        await createAnew(servers[0], 'u-cut');
        await until(async () => (await rest(servers[1], 'GET', '/universes/u-cut')).status === 200, 'both to know it');
        const viewers = await Promise.all(servers.map((server) => Viewer.open(server, 'u-cut')));
        const acknowledged = [], failed = [];
        let over = false;
        const writers = range(1, 8).map((n) => write(servers[n % 2], 'u-cut', `c-${n}`, () => over, acknowledged, failed));
        for (let i = 0; i < 8; i++) {
            const enough = acknowledged.length + 40;
            await until(() => acknowledged.length >= enough, 'answers');
            db.sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = current_user');
        }
        const enough = acknowledged.length + 40;
        await until(() => acknowledged.length >= enough, 'answers after the last');
        over = true;
        await Promise.all(writers);
        for (const status of failed)
            assert.ok([500, 503, 504].includes(status), String(status));
        /* Both know in the end, without another word. */
        const [{ version: last }] = db.sql("SELECT version FROM universes WHERE id = 'u-cut'");
        for (const server of servers)
            await until(async () => (await rest(server, 'GET', '/universes/u-cut')).json?.version === last, `version ${last}`);
        const { version } = await verify(servers[0], 'u-cut', { version: 0, time: 0, stars: [] }, acknowledged);
        for (const viewer of viewers) {
            await viewer.until(() => viewer.events.at(-1)?.id === version, `version ${version}`);
            assertTold(viewer.events, version);
            viewer.close();
        }
    });

    test('one is killed in the midst: the other continues', async () => {
        await createAnew(servers[1], 'u-left');
        const acknowledged = [], failed = [];
        let over = false;
        const third = await start(db.url);
        const writers = range(1, 8).map((n) =>
            write(n % 2 ? third : servers[1], 'u-left', `k-${n}`, () => over, acknowledged, failed));
        await until(() => acknowledged.length >= 100, 'answers');
        await kill(third);
        const enough = acknowledged.length + 50;
        await until(() => acknowledged.length >= enough, 'answers of the other');
        over = true;
        await Promise.all(writers);
        await verify(servers[1], 'u-left', { version: 0, time: 0, stars: [] }, acknowledged);
    });
});

/** Push `id` out of the server's memory, which has room for 1,000 bodies, by another universe. */
async function evict(server, id) {
    const { json: before } = await rest(server, 'GET', '/readyz');
    const { json } = await rest(server, 'GET', '/universes/u-full/summary');
    assert.equal(json.counts.stars, 1000);
    const { json: after } = await rest(server, 'GET', '/readyz');
    assert.deepEqual([before.bodies, after.bodies], [1, 1000], `${id} is not what was in memory`);
}

for (const makeDatabase of DATABASES) {
    test(`what another server does to a universe that was forgotten is published, on ${makeDatabase.name}`, async () => {
        const db = makeDatabase();
        const [a, b] = [await start(db.url, '--bodies-max', '1000'), await start(db.url)];
        await create(b, 'u-full');
        await rest(b, 'POST', '/universes/u-full/commands:batch?return=minimal', range(1, 1000).map((n) => addStar(`f-${n}`)));
        await createAnew(b, 'u-out');
        await send(b, 'u-out', addStar('one'));
        await rest(a, 'GET', '/universes/u-out');
        const viewers = await Promise.all(['', '?ticks=coalesce'].map((query) => Viewer.open(a, 'u-out', { query })));
        const peer = await connect(a);
        let news = 0;
        peer.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
            assert.equal(params.uri, 'universe://u-out/state');
            news++;
        });
        await peer.client.subscribeResource({ uri: 'universe://u-out/state' });

        await evict(a, 'u-out');
        await send(b, 'u-out', { type: 'tick' });
        for (const viewer of viewers) {
            await viewer.until(() => viewer.events.length > 0, 'the resync');
            assert.deepEqual(viewer.events, [{ event: 'resync', id: 2, data: { version: 2 } }]);
        }
        await until(() => news > 0, 'news');

        /* who fetches the state has it loaded again: from there on every change is published */
        assert.equal((await rest(a, 'GET', '/universes/u-out')).json.version, 2);
        await send(b, 'u-out', addStar('two'));
        for (const viewer of viewers) {
            await viewer.until(() => viewer.events.length > 1, 'what comes next');
            assert.deepEqual(viewer.events[1], { event: 'command', id: 3, data: addStar('two') });
        }
        assert.equal((await rest(b, 'POST', '/universes/u-out/commands', { type: 'removeStar', id: 'two' })).status, 200);
        for (const viewer of viewers)
            await viewer.until(() => viewer.events.length > 2, 'the removal');

        await evict(a, 'u-out');
        const before = news;
        assert.equal((await rest(b, 'DELETE', '/universes/u-out')).status, 204);
        for (const viewer of viewers) {
            await viewer.until(() => viewer.closed, 'the end');
            assert.equal(viewer.events.at(-1).event, 'deleted');
        }
        await until(() => news > before, 'news of the end');
        await disconnect(peer);
        await Promise.all([stop(a), stop(b)]);
        db.close();
    });
}

describe('other programs on the SQLite file of a server', () => {
    test('a universe is imported while it serves: its viewers are notified, it is there', async () => {
        const db = sqlite();
        const server = await start(db.url);
        await createAnew(server, 'u-in');
        await send(server, 'u-in', addStar('old'));
        const { state } = await createAnew(server, 'u-model');
        const viewer = await Viewer.open(server, 'u-in');
        const run = (args, input) => {
            const done = spawnSync(program, [...args, '--db', db.url, '--quiet'], { input, encoding: 'utf8', timeout: 60_000 });
            assert.equal(done.status, 0, done.stderr);
            return done.stdout;
        };
        const text = JSON.stringify({ ...state, time: 77 });
        run(['import', '-', '--id', 'u-new'], text);
        run(['import', '-', '--id', 'u-in', '--replace'], text);
        await viewer.until(() => viewer.of('resync').length > 0, 'the resync');
        assert.deepEqual(viewer.of('resync')[0].data, { version: 2 });
        viewer.close();
        for (const id of ['u-new', 'u-in'])
            assert.deepEqual((await rest(server, 'GET', `/universes/${id}`)).json.state, { ...state, time: 77 });
        await send(server, 'u-in', addStar('new'));
        assert.deepEqual(JSON.parse(run(['export', 'u-in'])), (await rest(server, 'GET', '/universes/u-in')).json.state);
        await stop(server);
        db.close();
    });

    test('two servers change it, and both know in the end', async () => {
        const db = sqlite();
        const servers = [await start(db.url), await start(db.url)];
        await createAnew(servers[0], 'u-file');
        const viewers = await Promise.all(servers.map((server) => Viewer.open(server, 'u-file')));
        await Promise.all(range(1, 8).map(async (n) => {
            for (let i = 0; i < 10; i++)
                await send(servers[n % 2], 'u-file', addStar(`f-${n}-${i}`));
        }));
        for (const viewer of viewers) {
            await viewer.until(() => viewer.versions.length >= 80, 'all');
            assert.deepEqual(viewer.versions, range(1, 80));
            viewer.close();
        }
        const states = await Promise.all(servers.map(async (server) => (await rest(server, 'GET', '/universes/u-file')).json));
        assert.deepEqual(states[0], states[1]);
        assert.equal(Object.keys(states[0].state.stars).length, 80);
        await Promise.all(servers.map((server) => stop(server)));
        db.close();
    });
});
