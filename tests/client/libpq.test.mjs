/*
 * libpq.test.mjs - libpq is opened when a database of PostgreSQL is named: no program is linked
 * with it, or with Kerberos and LDAP, which it brings. Where it cannot be loaded, SQLite works and
 * a URL of PostgreSQL is refused with the reason.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

const bin = path.resolve(process.env.CAUSEWAY_BIN ?? 'build/bin');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'libpq-'));
after(() => fs.rmSync(folder, { recursive: true }));

for (const program of ['cobre', 'casparian', 'universe', 'portarium']) {
    test(`${program} is not linked with libpq`, () => {
        const needs = execFileSync('ldd', [path.join(bin, program)]).toString();
        assert.match(needs, /libc\.so/);
        assert.doesNotMatch(needs, /libpq|ldap|krb5/);
    });
}

test('without libpq SQLite works, and PostgreSQL is refused with a reason', () => {
    /* The loader looks no further. */
    fs.writeFileSync(path.join(folder, 'libpq.so.5'), 'no library\n');
    const generate = (db) => spawnSync(path.join(bin, 'universe'), ['generate', '--id', 'u', '--db', db],
        { encoding: 'utf8', timeout: 120_000, cwd: folder, env: { ...process.env, LD_LIBRARY_PATH: folder } });
    const sqlite = generate('sqlite:u.db');
    assert.equal(sqlite.status, 0, sqlite.stderr);
    const postgres = generate('postgres://nobody@127.0.0.1:1/nothing');
    assert.notEqual(postgres.status, 0);
    assert.match(postgres.stderr, /libpq\.so\.5 cannot be loaded.*libpq5/s);
});
