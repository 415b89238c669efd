/*
 * portarium-faults.test.mjs - what is under a control plane fails while it works: the database goes
 * and comes back, its file may not grow or is locked, the disk is full, the service is ended under
 * load. Nothing acknowledged is lost, nothing is doubled, a refusal says when to come again,
 * and the plane continues by itself.
 *
 * PORTARIUM_AWAY_MS says how long a database is away or locked (5 s).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { DATABASES, postgres, sqlite, until } from './universe.mjs';
import { Load, begin, pause } from './support/portarium-load.mjs';

/** How long the database is away. */
const AWAY_MS = Number(process.env.PORTARIUM_AWAY_MS ?? 5000);

/** A plane at work, with a load for it. */
async function work(context, makeDatabase) {
    const { db, plane } = await begin(context, makeDatabase);
    if (db.halt) { /* a commit of this test's database is one, and it may fail at any time */
        db.sql('ALTER ROLE causeway SET synchronous_commit = on');
        db.sql('CHECKPOINT');
    }
    const self = { db, plane, server: await plane.start() };
    await plane.prepare(self.server);
    self.load = new Load(plane, () => self.server);
    self.load.begin();
    await self.load.more();
    return self;
}

/** A shell in a namespace in which it may mount; a system may forbid it. */
const NAMESPACE = ['--user', '--map-root-user', '--mount', 'sh', '-c'];
const canMount = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs none /mnt']).status === 0;

/** Write a file until there is no room for one byte more. */
function fillDisk(file) {
    const to = fs.openSync(file, 'w');
    for (let size = 1 << 20; size > 0; size >>= 1) {
        try {
            for (;;)
                fs.writeSync(to, Buffer.alloc(size));
        } catch (error) {
            assert.equal(error.code, 'ENOSPC');
        }
    }
    fs.closeSync(to);
}

test(`PostgreSQL is away for ${AWAY_MS} ms, under load`, async (context) => {
    const { db, load, server } = await work(context, postgres);
    db.halt();
    await until(() => load.refusals.length > 0, 'a refusal');
    await pause(AWAY_MS);
    assert.equal(server.child.exitCode, null, server.log);
    db.resume();
    await load.more();
    /* Where it is lost at COMMIT, the outcome is not known. */
    await load.finish(server, 'away', /\/(service-unavailable|outcome-unknown)$/);
});

test('PostgreSQL is lost at COMMIT: the answer says that the outcome is not known, and the key finds out', async (context) => {
    const { db, plane } = await begin(context, postgres);
    const server = await plane.start();
    await plane.prepare(server);
    db.sql('ALTER ROLE causeway SET synchronous_commit = on'); /* the trigger stays */
    db.sql(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(50); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON runs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`);
    db.sql('CHECKPOINT');
    const start = () => plane.ask(server, 'otto', 'POST', '/runs', { workflowId: 'wf-blind', parameters: { n: 1 } }, { 'Idempotency-Key': 'key-1' });
    const lost = start();
    await until(() => db.sql("SELECT 1 AS n FROM pg_stat_activity WHERE query LIKE '%COMMIT%' AND wait_event = 'PgSleep'").length > 0, 'the commit');
    db.halt();
    const { status, json, retryAfter } = await lost;
    assert.equal(status, 503, JSON.stringify(json));
    assert.equal(json.type, 'https://portarium.dev/problems/outcome-unknown');
    assert.match(json.detail, /same Idempotency-Key/);
    assert.equal(retryAfter, String(json.retryAfterSeconds));
    db.resume();
    db.sql('DROP TRIGGER slow ON runs');
    const again = await until(async () => { const answer = await start(); return answer.status === 201 && answer.json; }, 'the same key to start it');
    assert.equal((await start()).json.runId, again.runId);
    assert.equal(Number(db.sql('SELECT COUNT(*) AS n FROM runs')[0].n), 1);
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.gone, [0, null], server.log);
});

test(`another program has the file locked for ${AWAY_MS} ms, under load`, async (context) => {
    const { db, load, server } = await work(context, sqlite);
    const other = new DatabaseSync(db.file);
    other.exec('PRAGMA busy_timeout = 20000');
    other.exec('BEGIN IMMEDIATE');
    const before = Number(other.prepare('SELECT COUNT(*) AS n FROM runs').get().n);
    await pause(AWAY_MS);
    assert.equal(Number(other.prepare('SELECT COUNT(*) AS n FROM runs').get().n), before);
    other.exec('COMMIT');
    other.close();
    await load.more();
    await load.finish(server, 'locked');
});

test('the file may not grow, under load: it continues when it may', async (context) => {
    const { load, server } = await work(context, sqlite);
    const limit = (bytes) => assert.equal(spawnSync('prlimit', ['--pid', server.child.pid, `--fsize=${bytes}:`]).status, 0);
    limit(100_000);
    await until(() => load.refusals.length >= 20, 'refusals');
    assert.equal(server.child.exitCode, null, server.log);
    limit('unlimited');
    await load.more();
    await load.finish(server, 'no growth');
});

test('the disk is full, under load: it continues when there is room', { skip: !process.env.PORTARIUM_DISK }, async (context) => {
    const { load, server } = await work(context, sqlite);
    const filler = path.join(process.env.PORTARIUM_DISK, 'filler');
    fillDisk(filler);
    await until(() => load.refusals.length >= 20, 'refusals');
    assert.equal(server.child.exitCode, null, server.log);
    fs.rmSync(filler);
    await load.more();
    await load.finish(server, 'full');
});

/* A small disk of one's own is had in a namespace, in which the test before runs. */
test('on a small disk', { skip: process.env.PORTARIUM_DISK !== undefined || !canMount }, () => {
    const disk = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-disk-'));
    const { NODE_TEST_CONTEXT: _outer, ...environment } = process.env;
    const done = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs -o size=16m none "$PORTARIUM_DISK" && exec "$@"', 'sh',
        process.execPath, '--test', '--test-name-pattern', 'the disk is full', fileURLToPath(import.meta.url)],
    { env: { ...environment, PORTARIUM_DISK: disk, TMPDIR: disk }, encoding: 'utf8', timeout: 300_000 });
    fs.rmdirSync(disk);
    assert.equal(done.status, 0, done.stdout + done.stderr);
    console.log(done.stdout.split('\n').find((line) => /full: /.test(line)));
});

for (const makeDatabase of DATABASES) {
    test(`ended under load, and started again, on ${makeDatabase.name}`, async (context) => {
        const self = await work(context, makeDatabase);
        for (let round = 1; ; round++) {
            self.server.child.kill('SIGTERM');
            assert.deepEqual(await self.server.gone, [0, null], self.server.log);
            await self.load.end();
            self.server = await self.plane.start();
            if (round === 3)
                break;
            self.load.begin();
            await self.load.more();
        }
        await self.load.finish(self.server, `ended on ${makeDatabase.name}`);
    });
}
