/*
 * universe-faults.test.mjs - what is under the server fails while it serves: files that may not
 * grow, files that are taken away, a database server that goes and comes back. Nothing acknowledged
 * is lost, what failed is reported as such, and the server continues by itself.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';

import { Viewer, addStar, createAnew, kill, postgres, program, range, rest, send, sqlite, start, stop, until } from './universe.mjs';

/** What a server may complain of here: the faults that it was given. */
const FAULTS = /disk is full|disk I\/O error|removed or replaced|not committed|input\/output error|sweeping|connection|snapshot|locked|reached|time limit|busy|database: /;

const command = (server, id, what) => rest(server, 'POST', `/universes/${id}/commands?return=minimal`, what);

/** The ids of the bodies. */
async function bodies(server, id) {
    const { json } = await rest(server, 'GET', `/universes/${id}`);
    return new Set(Object.keys(json.state.stars));
}

/** Send until `count` were refused; the ids of those that were accepted. */
async function sendUntilRefused(server, id, prefix, count = 3) {
    const accepted = [];
    for (let i = 0, refused = 0; refused < count; i++) {
        const { status } = await command(server, id, addStar(`${prefix}-${i}`));
        if (status === 200)
            accepted.push(`${prefix}-${i}`);
        else
            refused++;
        assert.ok(i < 5000, 'the fault was never seen');
    }
    return accepted;
}

describe('the files of a server on SQLite', () => {
    test('a file that may not grow: commands fail, the server lives, and continues when it may', async () => {
        const db = sqlite();
        const server = await start(db.url);
        await createAnew(server, 'u-full');
        const limit = (bytes) => assert.equal(spawnSync('prlimit', ['--pid', server.child.pid, `--fsize=${bytes}:`]).status, 0);
        limit(200_000);
        const accepted = await sendUntilRefused(server, 'u-full', 'before');
        const began = Date.now();
        server.log = '';
        for (const n of range(1, 30)) {
            const { status, json } = await command(server, 'u-full', addStar(`refused-${n}`));
            assert.equal(status, 507);
            assert.match(json.error, /disk is full/);
            assert.equal(json.universeId, 'u-full');
        }
        const lines = server.log.split('\n').filter((line) => line);
        assert.ok(lines.length <= 1 + (Date.now() - began) / 60_000, server.log);
        assert.equal((await rest(server, 'GET', '/health')).json.ok, true);
        assert.equal((await rest(server, 'GET', '/readyz')).status, 503);
        limit('unlimited');
        await send(server, 'u-full', addStar('after'));
        assert.equal((await rest(server, 'GET', '/readyz')).status, 200);
        await kill(server);
        const again = await start(db.url);
        const there = await bodies(again, 'u-full');
        assert.deepEqual(there, new Set([...accepted, 'after']));
        await stop(again);
        db.close();
    });

    test('a start on a full disk says so', () => {
        const db = sqlite();
        const done = spawnSync('prlimit', ['--fsize=1000:1000', program, 'serve', '--port', '0', '--db', db.url],
            { encoding: 'utf8', timeout: 60_000 });
        assert.equal(done.status, 2);
        assert.match(done.stderr, /universe\.db: the disk is full/);
        db.close();
    });

    test('what `universe generate` refuses for want of room is not there, or it says that it may be', () => {
        const db = sqlite();
        const run = (...args) => spawnSync(args[0], args.slice(1), { encoding: 'utf8', timeout: 60_000 });
        assert.equal(run(program, 'list', '--db', db.url).status, 2); /* not made yet */
        assert.equal(run(program, 'generate', '--seed', '1', '--id', 'first', '--db', db.url).status, 0);
        const size = fs.statSync(db.file).size;
        let refused = 0, accepted = 0;
        for (const more of range(1, 40).map((n) => n * 3000)) {
            const id = `g-${more}`;
            const done = run('prlimit', `--fsize=${size + more}:${size + more}`, program, 'generate', '--preset', 'solarLike',
                '--seed', '1', '--id', id, '--db', db.url);
            const there = JSON.parse(run(program, 'list', '--json', '--db', db.url).stdout).some((one) => one.id === id);
            if (done.status === 0) {
                accepted++;
                assert.ok(there, id);
            } else {
                refused++;
                assert.ok(!there || /may have been created|was created/.test(done.stderr), `${id}: ${done.stderr}`);
            }
        }
        assert.ok(refused > 0, `${refused} refused, ${accepted} accepted`);
        db.close();
    });

    for (const end of ['', '-wal']) {
        test(`universe.db${end} is removed while it serves: nothing more is acknowledged that would be lost`, async () => {
            const db = sqlite();
            const server = await start(db.url);
            await createAnew(server, 'u-gone');
            for (const n of range(1, 10))
                await send(server, 'u-gone', addStar(`s-${n}`));
            fs.renameSync(db.file + end, `${db.file}.aside`);
            for (const n of range(11, 13))
                assert.equal((await command(server, 'u-gone', addStar(`s-${n}`))).status, 500);
            assert.match(server.log, /was removed or replaced while it was open/);
            if (end === '') { /* put back, it is as if nothing had been */
                fs.renameSync(`${db.file}.aside`, db.file);
                await send(server, 'u-gone', addStar('s-11'));
            }
            await kill(server);
            const again = await start(db.url);
            assert.deepEqual(await bodies(again, 'u-gone'), new Set(range(1, end === '' ? 11 : 10).map((n) => `s-${n}`)));
            await stop(again);
            db.close();
        });
    }

    test('another program has the file locked: commands wait for it, and nobody else does', async () => {
        const db = sqlite();
        const server = await start(db.url);
        await createAnew(server, 'u-lock');
        const other = new DatabaseSync(db.file);
        other.exec('BEGIN IMMEDIATE');
        let answered = 0;
        const commands = range(1, 100).map(async (n) => {
            const { status } = await command(server, 'u-lock', addStar(`s-${n}`));
            answered++;
            return status;
        });
        for (let i = 0; i < 5; i++) {
            assert.equal((await rest(server, 'GET', '/health')).status, 200);
            await rest(server, 'GET', '/readyz');
        }
        assert.equal(answered, 0);
        other.exec('COMMIT');
        other.close();
        assert.deepEqual(new Set(await Promise.all(commands)), new Set([200]));
        assert.equal((await bodies(server, 'u-lock')).size, 100);
        await stop(server);
        db.close();
    });

    test('a log that is damaged is no fault of who asks', async () => {
        const damages = [`command = X'7b7b', command_packed = 0`, `applied_at = 'x'`, `events_packed = 1`, `kind = 9`];
        for (const damage of damages) {
            const db = sqlite();
            let server = await start(db.url);
            await createAnew(server, 'u-worm');
            await createAnew(server, 'u-well');
            for (const n of range(1, 5))
                await send(server, 'u-worm', addStar(`s-${n}`));
            await kill(server);
            db.sql(`UPDATE universe_commands SET ${damage} WHERE version = 3`);
            server = await start(db.url);
            for (const answer of [await rest(server, 'GET', '/universes/u-worm'), await command(server, 'u-worm', { type: 'tick' })])
                assert.deepEqual([answer.status, answer.json], [500, { error: 'Internal server error' }], damage);
            await send(server, 'u-well', { type: 'tick' });
            await kill(server);
            db.close();
        }
    });

    test('nobody reads the log any more: the server continues', async () => {
        const db = sqlite();
        const server = await start(db.url, '--log-level', 'debug');
        server.child.stderr.destroy();
        await createAnew(server, 'u-log');
        for (const n of range(1, 10))
            await send(server, 'u-log', addStar(`s-${n}`));
        assert.equal((await bodies(server, 'u-log')).size, 10);
        await stop(server);
        db.close();
    });
});

test('the database server fails and comes back, under load: the reply to each command is true', async () => {
    const db = postgres();
    db.sql('ALTER ROLE causeway SET synchronous_commit = on');
    db.sql('CHECKPOINT');
    const servers = [await start(db.url), await start(db.url)];
    await createAnew(servers[0], 'u-away');
    await until(async () => (await rest(servers[1], 'GET', '/universes/u-away')).status === 200, 'both to know it');
    const viewers = await Promise.all(servers.map((server) => Viewer.open(server, 'u-away')));
    const accepted = new Map(), refused = [];
    let over = false;
    const writers = range(1, 8).map(async (n) => {
        for (let i = 0; !over; i++) {
            const id = `w${n}-${i}`;
            const { status, json, headers } = await command(servers[n % 2], 'u-away', addStar(id));
            if (status === 200)
                accepted.set(id, json.version);
            else
                refused.push({ id, status, json, retry: headers.get('retry-after') });
        }
    });
    for (const round of range(1, 4)) {
        const enough = accepted.size + 100;
        await until(() => accepted.size >= enough, `answers of round ${round}`);
        db.halt();
        const before = refused.length;
        await until(() => refused.length > before, 'the fault to be seen');
        db.resume();
    }
    const enough = accepted.size + 100;
    await until(() => accepted.size >= enough, 'answers after the last');
    over = true;
    await Promise.all(writers);
    const version = Math.max(...accepted.values());
    for (const server of servers) {
        await until(async () => (await rest(server, 'GET', '/universes/u-away/summary')).json?.version >= version, 'both to be there');
        const there = await bodies(server, 'u-away');
        for (const id of accepted.keys())
            assert.ok(there.has(id), `${id} was acknowledged and is lost`);
        for (const { id, status, json, retry } of refused) {
            if (status === 504) { /* the server crashed in the very commit */
                assert.match(json.error, /read the universe to see whether/);
                continue;
            }
            assert.deepEqual([status, retry], [503, '1']);
            assert.match(json.error, /nothing was (changed|done)/);
            assert.ok(!there.has(id), `of ${id} was said that nothing was done`);
        }
    }
    assert.equal(new Set(accepted.values()).size, accepted.size);
    for (const viewer of viewers) {
        await viewer.until(() => viewer.events.at(-1)?.id >= version, `version ${version}`);
        let last = 0;
        for (const { event, id } of viewer.events) {
            assert.ok(event === 'command' ? id === last + 1 : event === 'resync' && id > last, `${event} ${id} after ${last}`);
            last = id;
        }
        viewer.close();
    }
    await Promise.all(servers.map((server) => stop(server, FAULTS)));
    db.close();
});

test('clients that ask for much and hang up are worked for no longer', async () => {
    const db = sqlite();
    const server = await start(db.url);
    const ids = range(1, 2000).map((n) => `s-${n}`);
    const stars = Object.fromEntries(ids.map((id) => [id, { id, ...addStar(id).payload, children: [] }]));
    await createAnew(server, 'u-much', { stars, rootIds: ids });
    await Promise.all(range(1, 8).map(async () => {
        const over = new AbortController();
        const asked = rest(server, 'GET', '/universes/u-much/positions?times=0:4999:1', undefined, {}, over.signal);
        await rest(server, 'GET', '/health');
        over.abort();
        await assert.rejects(asked, { name: 'AbortError' });
    }));
    await stop(server); /* at once, and without a word of handlers that go on */
    db.close();
});
