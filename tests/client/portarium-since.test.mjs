/*
 * portarium-since.test.mjs - `evidence verify --since`: a kept checkpoint against a database that
 * grew, one that was cut, and one that was rewritten.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';

import { CONTENT, plane, program } from './portarium-rest.mjs';

const ONE = { workspaces: [CONTENT.workspaces[0]] };
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-since-'));
const key = path.join(dir, 'key.pem'), publicKey = path.join(dir, 'public.pem');
const old = path.join(dir, 'old.txt');
after(() => fs.rmSync(dir, { recursive: true, force: true }));

function portarium(...args) {
    return spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
}

const verify = (server, ...more) =>
    portarium('evidence', 'verify', '--db', server.db, '--workspace', 'ws-1', '--since', old, '--key', publicKey, ...more);

async function addItems(server, count) {
    for (let i = 0; i < count; i++)
        assert.equal((await server.ask('POST', '/v1/workspaces/ws-1/work-items', { body: { title: 'Look' } })).status, 201);
}

/** Cut the last entries, and make the head agree with what is left. */
function cut(server, count) {
    const db = new DatabaseSync(server.db.slice('sqlite:'.length), { timeout: 60_000 });
    db.exec('DROP TRIGGER evidence_is_not_deleted');
    const last = db.prepare("SELECT MAX(seq) AS seq FROM evidence WHERE workspace = 'ws-1'").get().seq - count;
    db.prepare("DELETE FROM evidence WHERE workspace = 'ws-1' AND seq > ?").run(last);
    const { hash } = db.prepare("SELECT hash FROM evidence WHERE workspace = 'ws-1' AND seq = ?").get(last);
    db.prepare("UPDATE heads SET evidence_seq = ?, evidence_hash = ? WHERE workspace = 'ws-1'").run(last, hash);
    db.close();
}

test('a kept checkpoint shows what happened to the evidence since', async () => {
    const server = await plane(ONE, '--evidence-key', key);
    try {
        fs.writeFileSync(publicKey, portarium('evidence', 'key', '--evidence-key', key).stdout);
        await addItems(server, 5);
        const auditor = server.token('ute', 'auditor');
        const answer = await fetch(`${server.base}/v1/workspaces/ws-1/evidence/checkpoint`, { headers: { Authorization: `Bearer ${auditor}` } });
        assert.equal(answer.status, 200);
        fs.writeFileSync(old, await answer.text());
        await addItems(server, 4);

        const grown = verify(server);
        assert.equal(grown.status, 0, grown.stderr);
        assert.match(grown.stdout, /^unbroken: \d+ entries\nconsistent: with the checkpoint of \d+ entries\n$/);
        assert.match(verify(server, 'file.json').stderr, /not for a file/);
        const keyless = portarium('evidence', 'verify', '--db', server.db, '--workspace', 'ws-1', '--since', old);
        assert.notEqual(keyless.status, 0);
        assert.match(keyless.stderr, /--key is required/);

        cut(server, 7);
        assert.equal(portarium('evidence', 'verify', '--db', server.db, '--workspace', 'ws-1').status, 0);
        const shorter = verify(server);
        assert.notEqual(shorter.status, 0);
        assert.match(shorter.stderr, /entries are missing/);
    } finally {
        await server.close();
    }
});

test('evidence that was rewritten does not agree with a kept checkpoint', async () => {
    const other = await plane(ONE, '--evidence-key', key);
    try {
        await addItems(other, 12);
        const rewritten = verify(other);
        assert.notEqual(rewritten.status, 0);
        assert.match(rewritten.stdout, /^unbroken: /);
        assert.match(rewritten.stderr, /the evidence was rewritten/);
        fs.writeFileSync(old, fs.readFileSync(old, 'utf8').replace('portarium/ws-1', 'portarium/ws-2'));
        const forged = verify(other);
        assert.notEqual(forged.status, 0);
        assert.match(forged.stderr, /signature/);
    } finally {
        await other.close();
    }
});
