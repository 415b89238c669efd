/*
 * universe-stream.test.mjs - the event stream of a universe: its form, replay, resync, ticks,
 * viewers next to each other and next to MCP, one who stops reading, and many who write at once:
 * nothing is missing, nothing comes twice.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';

import {
    DATABASES, ERAS, Viewer, addStar, call, connect, createAnew, disconnect, range, rest, send, start, stop, until,
} from './universe.mjs';

const WRITERS = 64, EACH = 5;

for (const makeDatabase of DATABASES) {
    describe(`the streams of universe on ${makeDatabase.name}`, () => {
        let db, server;

        before(async () => {
            db = makeDatabase();
            server = await start(db.url);
        });
        after(async () => {
            await stop(server);
            db.close();
        });
        form(() => server);
        replay(() => ({ server, db }));
        ticks(() => server);
        many(() => server);
    });
}

const tick = (server, id, dt = undefined) => send(server, id, { type: 'tick', dt });

function form(place) {
    test('the first words, then each command with its version as id', async () => {
        const server = place();
        await createAnew(server, 'u-1');
        const viewer = await Viewer.open(server, 'u-1');
        assert.equal(viewer.status, 200);
        assert.equal(viewer.answer.headers['content-type'].split(';')[0], 'text/event-stream');
        assert.match(viewer.answer.headers['cache-control'], /no-cache|no-store/);
        await viewer.until(() => viewer.retry, 'the first words');
        assert.match(viewer.raw, /^:connected\n\n/);
        assert.equal(viewer.retry, 2000);
        const commands = [addStar('sol'), { type: 'tick', dt: 0.25 }, addStar('earth', 'sol', { note: 'Ω\nβ\r"' })];
        for (const command of commands)
            await send(server, 'u-1', command);
        await send(server, 'u-1', { type: 'removeNebula', id: 'none' }); /* changes nothing */
        /* rejected */
        await rest(server, 'POST', '/universes/u-1/commands', { type: 'removeStar', id: 'none' });
        await tick(server, 'u-1');
        await viewer.until(() => viewer.events.length >= 4, 'four commands');
        assert.deepEqual(viewer.events, [...commands, { type: 'tick', dt: 1 }]
            .map((data, i) => ({ event: 'command', id: i + 1, data })));
        viewer.close();
    });

    test('a quiet stream has a heartbeat', { timeout: 40_000 }, async () => {
        const server = place();
        await createAnew(server, 'u-quiet');
        const viewer = await Viewer.open(server, 'u-quiet');
        await viewer.until(() => viewer.comments.length > 1, 'a comment after that of the beginning');
        assert.deepEqual(viewer.events, []);
        viewer.close();
    });

    test('detail=1 tells what each command came to', async () => {
        const server = place();
        await createAnew(server, 'u-1');
        const viewer = await Viewer.open(server, 'u-1', { query: '?detail=1' });
        await send(server, 'u-1', addStar('sol'));
        await tick(server, 'u-1', 4);
        await viewer.until(() => viewer.events.length >= 4, 'two pairs');
        assert.deepEqual(viewer.events, [
            { event: 'command', id: 1, data: addStar('sol') },
            { event: 'applied', id: 1, data: { version: 1, events: [{ type: 'starAdded', id: 'sol' }], time: 0 } },
            { event: 'command', id: 2, data: { type: 'tick', dt: 4 } },
            { event: 'applied', id: 2, data: { version: 2, events: [], time: 4 } },
        ]);
        viewer.close();
    });

    test('a deleted universe says so and closes its streams', async () => {
        const server = place();
        await createAnew(server, 'u-gone');
        const viewers = await Promise.all(['', '?ticks=coalesce', '?ticks=0'].map((query) => Viewer.open(server, 'u-gone', { query })));
        await rest(server, 'DELETE', '/universes/u-gone');
        for (const viewer of viewers) {
            await viewer.until(() => viewer.closed, 'the end');
            assert.equal(viewer.events.at(-1).event, 'deleted');
        }
        const none = await rest(server, 'GET', '/universes/u-gone/events');
        assert.equal(none.status, 404);
        assert.deepEqual(none.json, { error: 'Universe not found', universeId: 'u-gone' });
        await createAnew(server, 'u-gone');
        const again = await Viewer.open(server, 'u-gone');
        await tick(server, 'u-gone');
        await again.until(() => again.versions.length === 1, 'the first tick of the new one');
        assert.deepEqual(again.versions, [1]);
        again.close();
    });

    test('what is asked for wrongly is refused before the stream', async () => {
        const server = place();
        await createAnew(server, 'u-1');
        for (const query of ['?ticks=2', '?after=x', '?after=-1'])
            assert.equal((await rest(server, 'GET', `/universes/u-1/events${query}`)).status, 400, query);
    });
}

function replay(place) {
    test('who comes back with its last id gets what it missed, once', async () => {
        const { server } = place();
        await createAnew(server, 'u-back');
        const first = await Viewer.open(server, 'u-back');
        for (let i = 1; i <= 10; i++)
            await send(server, 'u-back', i % 3 === 0 ? { type: 'tick' } : addStar(`s-${i}`));
        await first.until(() => first.versions.length === 10, 'ten');
        first.close();
        for (let i = 11; i <= 20; i++)
            await send(server, 'u-back', addStar(`s-${i}`));
        const all = first.events.concat(range(11, 20).map((i) => ({ event: 'command', id: i, data: addStar(`s-${i}`) })));
        const back = await Viewer.open(server, 'u-back', { after: 10 });
        const queried = await Viewer.open(server, 'u-back', { query: '?after=4' });
        const whole = await Viewer.open(server, 'u-back', { after: 0 });
        await tick(server, 'u-back');
        all.push({ event: 'command', id: 21, data: { type: 'tick', dt: 1 } });
        for (const [viewer, from] of [[back, 10], [queried, 4], [whole, 0]]) {
            await viewer.until(() => viewer.events.length >= 21 - from, `all after ${from}`);
            assert.deepEqual(viewer.events, all.slice(from));
            viewer.close();
        }
    });

    test('a viewer that is cut off again and again misses nothing', async () => {
        const { server } = place();
        const N = 200;
        await createAnew(server, 'u-cut');
        const writing = (async () => {
            for (let i = 1; i <= N; i++)
                await send(server, 'u-cut', i % 2 ? { type: 'tick', dt: i } : addStar(`s-${i}`));
        })();
        const seen = [];
        let last = 0;
        while (last < N) {
            const viewer = await Viewer.open(server, 'u-cut', { after: last });
            const wanted = last + 17;
            await viewer.until(() => viewer.events.length >= Math.min(17, N - last), `${wanted}`);
            viewer.close();
            seen.push(...viewer.events);
            last = viewer.events.at(-1).id;
        }
        await writing;
        assert.deepEqual(seen.map(({ event }) => event), Array(N).fill('command'));
        assert.deepEqual(seen.map(({ id }) => id), range(1, N));
    });

    test('after PUT, restore and generate the state is to be fetched again', async () => {
        const { server } = place();
        await createAnew(server, 'u-refetched');
        const viewer = await Viewer.open(server, 'u-refetched');
        await send(server, 'u-refetched', addStar('a'));
        await rest(server, 'PUT', '/universes/u-refetched', { state: { time: 7 } });
        await tick(server, 'u-refetched');
        await rest(server, 'POST', '/universes/u-refetched/restore', { version: 1 });
        await rest(server, 'POST', '/universes/u-refetched/generate', { seed: 1, stylePreset: 'sparse', maxSystems: 1 });
        await viewer.until(() => viewer.of('resync').length === 3, 'three');
        assert.deepEqual(viewer.events.map(({ event, id }) => [event, id]),
            [['command', 1], ['resync', 2], ['command', 3], ['resync', 4], ['resync', 5]]);
        assert.deepEqual(viewer.of('resync').map(({ data }) => data), [{ version: 2 }, { version: 4 }, { version: 5 }]);
        viewer.close();
        const late = await Viewer.open(server, 'u-refetched', { after: 1 });
        await late.until(() => late.events.length >= 1, 'what it missed');
        assert.equal(late.events[0].event, 'resync');
        assert.ok(late.events[0].data.version >= 2);
        late.close();
    });

    test('a version that was never is a resync', async () => {
        const { server } = place();
        await createAnew(server, 'u-ahead');
        await send(server, 'u-ahead', addStar('sol'));
        const ahead = await Viewer.open(server, 'u-ahead', { after: 99 });
        await ahead.until(() => ahead.events.length > 0, 'the resync');
        assert.deepEqual(ahead.events[0], { event: 'resync', id: 1, data: { version: 1 } });
        await tick(server, 'u-ahead');
        await ahead.until(() => ahead.versions.length > 0, 'the tick');
        assert.deepEqual(ahead.versions, [2]);
        ahead.close();
    });

    test('a Last-Event-ID that is no version is a resync, not the whole log', async () => {
        const { server } = place();
        await createAnew(server, 'u-odd');
        for (let i = 1; i <= 3; i++)
            await send(server, 'u-odd', addStar(`s-${i}`));
        const ids = ['x', '-1', '2x', '0x2', '1e0', '1.5', '9223372036854775807', '9223372036854775808', '9'.repeat(4000), '🪐'];
        const viewers = await Promise.all(ids.flatMap((id) => ['', '?ticks=coalesce'].map((query) =>
            Viewer.open(server, 'u-odd', { query, after: Buffer.from(id).toString('latin1') }))));
        for (const viewer of viewers)
            await viewer.until(() => viewer.events.length > 0, 'the resync');
        await send(server, 'u-odd', addStar('s-4'));
        for (const viewer of viewers) {
            await viewer.until(() => viewer.events.length > 1, 'what comes next');
            assert.deepEqual(viewer.events, [{ event: 'resync', id: 3, data: { version: 3 } },
                { event: 'command', id: 4, data: addStar('s-4') }]);
            viewer.close();
        }
        const empty = await Viewer.open(server, 'u-odd', { after: '' });
        await send(server, 'u-odd', addStar('s-5'));
        await empty.until(() => empty.events.length > 0, 'what comes next');
        assert.deepEqual(empty.versions, [5]);
        empty.close();
        const long = await Viewer.open(server, 'u-odd', { after: '7'.repeat(1_000_000) }).catch(({ code }) => code);
        assert.ok(long.status === 431 || /ECONNRESET|EPIPE/.test(long), `${long.status ?? long}`);
        assert.equal((await rest(server, 'GET', '/universes/u-odd/history?after=9223372036854775807')).json.complete, true);
    });

    /* A snapshot is due every 10,000 versions; the log is cut before the older of the last two,
     * where it is old. */
    test('what the log was trimmed of is a resync', async () => {
        const { server, db } = place();
        await createAnew(server, 'u-trim');
        const grow = async () => {
            const { json: { version } } = await rest(server, 'POST', '/universes/u-trim/commands:batch?return=minimal',
                Array(10_000).fill({ type: 'tick' }));
            await send(server, 'u-trim', addStar(`s-${version}`));
            await until(() => db.sql("SELECT version FROM universe_snapshots WHERE universe_id = 'u-trim'")
                .some((row) => row.version === version + 1), `the snapshot of version ${version + 1}`);
        };
        await grow();
        await grow();
        db.sql("UPDATE universe_commands SET applied_at = 0 WHERE universe_id = 'u-trim'");
        await grow();
        await until(() => db.sql("SELECT min(version) AS first FROM universe_commands WHERE universe_id = 'u-trim'")[0].first > 10_001,
            'the trimming');
        const late = await Viewer.open(server, 'u-trim', { after: 5 });
        await late.until(() => late.events.length > 0, 'the resync');
        assert.deepEqual(late.events[0], { event: 'resync', id: 30_003, data: { version: 30_003 } });
        late.close();
        assert.equal((await rest(server, 'GET', '/universes/u-trim/state?since=5')).status, 410);
        assert.equal((await rest(server, 'GET', '/universes/u-trim/history?after=5')).json.complete, false);
        assert.equal((await rest(server, 'POST', '/universes/u-trim/restore', { version: 5 })).status, 404);

        await stop(server);
        Object.assign(server, await start(db.url));
        const { state, version } = (await rest(server, 'GET', '/universes/u-trim')).json;
        assert.equal(version, 30_003);
        assert.equal(state.time, 30_000);
        assert.deepEqual(Object.keys(state.stars), ['s-10000', 's-20001', 's-30002']);
        const cut = await rest(server, 'POST', '/universes/u-trim/restore', { version: 5 });
        const first = Number(/versions (\d+) to 30003 are there/.exec(cut.json.error)[1]);
        assert.equal((await rest(server, 'POST', '/universes/u-trim/restore', { version: first - 1 })).status, 404);
        assert.equal((await rest(server, 'POST', '/universes/u-trim/restore', { version: first })).status, 200);
    });
}

/** Sixty ticks came as fewer, which amount to the time that they say it is then; the others by
 *  themselves. */
function assertSums(viewer, times) {
    const told = viewer.of('command');
    const before = told.filter(({ id }) => id <= 60);
    assert.ok(before.length >= 1 && before.length < 60, `${before.length}`);
    assert.equal(before.at(-1).id, 60);
    let time = 0;
    for (const { id, data } of before) {
        time += data.dt;
        assert.deepEqual([time, data.time], [times[id], times[id]], `at version ${id}`);
    }
    assert.deepEqual(told.slice(before.length).map(({ id, data }) => [id, data.type, data.dt, data.time]),
        [[61, 'addStar', undefined, undefined], [62, 'tick', 1000, times[60] + 1000], [63, 'addStar', undefined, undefined]]);
}

function ticks(place) {
    test('ticks=0 leaves them out, ticks=coalesce sums them up', async () => {
        const server = place();
        await createAnew(server, 'u-t');
        const [all, none, few] = await Promise.all(['', '?ticks=0', '?ticks=coalesce'].map((query) => Viewer.open(server, 'u-t', { query })));
        const times = [0]; /* after each version; quarters add up without rounding */
        for (let i = 1; i <= 60; i++) {
            await tick(server, 'u-t', i / 4);
            times.push(times[i - 1] + i / 4);
        }
        await send(server, 'u-t', addStar('sol'));
        await tick(server, 'u-t', 1000);
        await send(server, 'u-t', addStar('mars', 'sol'));
        for (const viewer of [all, none, few])
            await viewer.until(() => viewer.versions.at(-1) === 63, 'the last');
        assert.deepEqual(all.versions, range(1, 63));
        assert.deepEqual(none.versions, [61, 63]);
        assertSums(few, times);
        for (const viewer of [all, none, few])
            viewer.close();
        const late = await Viewer.open(server, 'u-t', { query: '?ticks=coalesce', after: 0 });
        await late.until(() => late.versions.at(-1) === 63, 'the last');
        assertSums(late, times);
        late.close();
    });
}

function many(place) {
    test('two viewers and a stream of MCP: one is killed, comes back, and all agree', async () => {
        const server = place();
        await createAnew(server, 'u-two');
        const peer = await connect(server, ERAS[2]);
        /* it has a stream of MCP open, as the client always has */
        const other = await connect(server, ERAS[2]);
        const one = await Viewer.open(server, 'u-two'), two = await Viewer.open(server, 'u-two');
        const say = (command) => call(peer, 'send_universe_command', { universeId: 'u-two', command });
        for (let i = 1; i <= 10; i++)
            await say(addStar(`s-${i}`));
        await one.until(() => one.versions.length >= 5, 'half of it');
        one.close();
        const last = one.versions.at(-1);
        for (let i = 11; i <= 20; i++)
            await say({ type: 'tick' });
        const back = await Viewer.open(server, 'u-two', { after: last });
        await back.until(() => back.versions.at(-1) === 20, 'the rest');
        await two.until(() => two.versions.length === 20, 'all');
        assert.deepEqual(one.events.concat(back.events), two.events);
        assert.deepEqual(two.versions, range(1, 20));
        back.close();
        two.close();
        const { isError } = await call(other, 'get_universe_state', { universeId: 'u-two' });
        assert.equal(isError, false);
        await disconnect(peer);
        await disconnect(other);
    });

    test(`${WRITERS} who write at once: the count is exact, versions have no gap and no double`, async () => {
        const server = place();
        await createAnew(server, 'u-many');
        const viewers = await Promise.all(range(1, 3).map(() => Viewer.open(server, 'u-many')));
        const answered = [];
        await Promise.all(range(1, WRITERS).map(async (writer) => {
            for (let i = 0; i < EACH; i++)
                answered.push((await send(server, 'u-many', addStar(`b-${writer}-${i}`))).version);
        }));
        const total = WRITERS * EACH;
        assert.deepEqual(answered.toSorted((a, b) => a - b), range(1, total));
        const { json } = await rest(server, 'GET', '/universes/u-many');
        assert.equal(json.version, total);
        assert.equal(Object.keys(json.state.stars).length, total);
        for (const viewer of viewers) {
            await viewer.until(() => viewer.versions.length >= total, 'all');
            assert.deepEqual(viewer.versions, range(1, total));
            assert.equal(new Set(viewer.of('command').map(({ data }) => data.id)).size, total);
            viewer.close();
        }
    });

    test('a viewer that stops reading harms nobody, gets a resync, and continues', async () => {
        const server = place();
        await createAnew(server, 'u-slow');
        const other = await Viewer.open(server, 'u-slow');
        const slow = net.connect(Number(server.url.port), '127.0.0.1');
        slow.setEncoding('utf8');
        slow.write('GET /universes/u-slow/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
        await new Promise((resolve) => { slow.once('data', resolve); });
        slow.pause();
        const note = 'x'.repeat(4000);
        const total = 4000;
        let version = 0;
        while (version < total) /* 16 MB and four times the events of its queue */
            ({ json: { version } } = await rest(server, 'POST', '/universes/u-slow/commands:batch?return=minimal',
                range(version + 1, version + 200).map((i) => addStar(`s-${i}`, null, { note }))));
        await other.until(() => other.versions.length >= total || other.of('resync').length > 0, 'all');
        assert.deepEqual(other.versions, range(1, total));
        let text = '';
        slow.on('data', (more) => { text += more; });
        slow.resume();
        await until(() => /event: resync/.test(text), 'the resync');
        await tick(server, 'u-slow');
        await until(() => text.includes(`id: ${total + 1}\n`), 'the tick after it');
        const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
        /* nothing twice, all in order */
        assert.deepEqual(ids, [...new Set(ids)].sort((a, b) => a - b));
        assert.ok(ids.length < total);
        slow.destroy();
        other.close();
    });
}
