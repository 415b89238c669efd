/*
 * portarium-evidence.test.mjs - evidence that somebody cut at its end, or changed there, is not
 * verified: the head of the workspace tells of the entries that there were.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { CONTENT, planeOn, program } from './portarium-rest.mjs';
import { DATABASES } from './universe.mjs';

const WS = '/v1/workspaces/ws-1';

/* What keeps the entries as they are. */
const UNGUARD = {
    SQLite: 'DROP TRIGGER evidence_is_not_changed; DROP TRIGGER evidence_is_not_deleted',
    PostgreSQL: 'DROP TRIGGER evidence_is_kept ON evidence; ALTER TABLE evidence DISABLE ROW LEVEL SECURITY',
};

function verifyHere(db) {
    const done = spawnSync(program, ['evidence', 'verify', '--db', db, '--workspace', 'ws-1'], { encoding: 'utf8', timeout: 60_000 });
    return { status: done.status, words: done.stdout + done.stderr };
}

for (const makeDatabase of DATABASES) {
    test(`entries that are missing at the end, on ${makeDatabase.name}`, async (context) => {
        const db = await makeDatabase();
        context.after(() => db.close());
        const server = await planeOn(db.url, CONTENT);
        context.after(() => server.close());
        const token = server.token('ute', 'auditor');
        const verify = async (query = '') => (await server.ask('GET', `${WS}/evidence/verify${query}`, { token })).json;
        const { json: head } = await server.ask('GET', `${WS}/evidence/head`, { token });
        assert.deepEqual(await verify(), { ok: true, from: 1, to: head.seq });
        assert.equal(verifyHere(db.url).status, 0);

        db.sql(UNGUARD[db.name]);
        db.sql(`DELETE FROM evidence WHERE workspace = 'ws-1' AND seq > ${head.seq - 2}`);
        const cut = await verify();
        assert.deepEqual({ ok: cut.ok, index: cut.index, reason: cut.reason, expected: cut.expected, to: cut.to },
            { ok: false, index: head.seq - 2, reason: 'head_mismatch', expected: head.hash, to: head.seq - 2 });
        assert.notEqual(cut.actual, head.hash);
        assert.deepEqual(await verify(`?to=${head.seq - 2}`), { ok: true, from: 1, to: head.seq - 2 });
        assert.equal((await verify(`?from=${head.seq}`)).ok, false);
        const here = verifyHere(db.url);
        assert.equal(here.status, 1, here.words);
        assert.match(here.words, /head_mismatch/);
    });
}
