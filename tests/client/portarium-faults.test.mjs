/*
 * portarium-faults.test.mjs - what is under a control plane fails while it works: the database goes
 * and comes back, its file may not grow or is locked, the service is ended under load. Nothing
 * acknowledged is lost, nothing is doubled, and the plane continues by itself.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { DATABASES, postgres, sqlite, until } from './universe.mjs';
import { Load, Plane, killAll } from './support/portarium-load.mjs';
import { Sink } from './support/portarium-sink.mjs';

/** How long the database is away. */
const AWAY_MS = Number(process.env.PORTARIUM_AWAY_MS ?? 5000);

async function begin(context, makeDatabase) {
    const db = makeDatabase(), sink = await Sink.open();
    let plane;
    if (db.halt) { /* a commit of this test's database is one, and it may fail at any time */
        db.sql('ALTER ROLE causeway SET synchronous_commit = on');
        db.sql('CHECKPOINT');
    }
    context.after(async () => {
        await killAll();
        sink.close();
        plane?.close();
        db.close();
    });
    plane = new Plane(db, sink);
    const server = await plane.start();
    await plane.prepare(server);
    return { db, plane, server };
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Wait for answers that are not there yet. */
async function more(load, count = 15) {
    const enough = load.started.size + count;
    await until(() => load.started.size >= enough, 'answers');
}

async function finish(load, server, what) {
    await load.end();
    await load.settle(server);
    console.log(`# ${what}: ${JSON.stringify(await load.verify(server))}`);
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.gone, [0, null], server.log);
}

test(`PostgreSQL is away for ${AWAY_MS} ms, under load`, async (context) => {
    const { db, plane, server } = await begin(context, postgres);
    const load = new Load(plane, () => server);
    load.begin();
    await more(load);
    db.halt();
    await until(() => load.unanswered.length > 0, 'a refusal');
    await pause(AWAY_MS);
    assert.equal(server.child.exitCode, null, server.log);
    db.resume();
    await more(load);
    await finish(load, server, 'away');
});

test('another program has the file locked, under load', async (context) => {
    const { db, plane, server } = await begin(context, sqlite);
    const load = new Load(plane, () => server);
    load.begin();
    await more(load);
    const other = new DatabaseSync(db.file);
    other.exec('PRAGMA busy_timeout = 20000');
    other.exec('BEGIN IMMEDIATE');
    const before = Number(other.prepare('SELECT COUNT(*) AS n FROM runs').get().n);
    await pause(AWAY_MS);
    assert.equal(Number(other.prepare('SELECT COUNT(*) AS n FROM runs').get().n), before);
    other.exec('COMMIT');
    other.close();
    await more(load);
    await finish(load, server, 'locked');
});

test('the file may not grow, under load: it continues when it may', async (context) => {
    const { plane, server } = await begin(context, sqlite);
    const limit = (bytes) => assert.equal(spawnSync('prlimit', ['--pid', server.child.pid, `--fsize=${bytes}:`]).status, 0);
    const load = new Load(plane, () => server);
    load.begin();
    await more(load);
    limit(100_000);
    await until(() => load.unanswered.length >= 20, 'refusals');
    assert.equal(server.child.exitCode, null, server.log);
    limit('unlimited');
    await more(load);
    await finish(load, server, 'full');
});

for (const makeDatabase of DATABASES) {
    test(`ended under load, and started again, on ${makeDatabase.name}`, async (context) => {
        const { plane, server: first } = await begin(context, makeDatabase);
        let server = first;
        const load = new Load(plane, () => server);
        for (let round = 1; round <= 3; round++) {
            load.begin();
            await more(load);
            server.child.kill('SIGTERM');
            assert.deepEqual(await server.gone, [0, null], server.log);
            await load.end();
            server = await plane.start();
        }
        await load.settle(server);
        console.log(`# ended on ${makeDatabase.name}: ${JSON.stringify(await load.verify(server))}`);
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    });
}
