/*
 * doctor.test.mjs - `NAME version` and `NAME doctor` of each program: the versions are those of the
 * libraries that the system has, and each broken set-up fails the one check that is about it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const DEADLINE_MS = 60_000;
const DUCKDB = ['cobre', 'cobre-mcp', 'casparian'];
const DATABASES = ['universe', 'portarium'];
const PROGRAMS = [...DUCKDB, ...DATABASES];
const is_root = process.getuid() === 0;

let scratch, busy;

before(async () => {
    scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'doctor-')));
    busy = net.createServer();
    await new Promise((resolve) => busy.listen(0, '127.0.0.1', resolve));
});
after(() => {
    busy.close();
    fs.rmSync(scratch, { recursive: true, force: true });
});

function run(program, args, env = {}) {
    const done = spawnSync(path.join(bin, program), args, { encoding: 'utf8', cwd: scratch, timeout: DEADLINE_MS,
        env: { PATH: process.env.PATH, HOME: scratch, ...env } });
    assert.equal(done.error, undefined, `${program}: ${done.error}`);
    return done;
}

/* The checks of a doctor, and those that failed, by name. The exit status says the same. */
function examine(program, args = [], env = {}) {
    const done = run(program, ['doctor', '--json', ...args], env);
    const said = JSON.parse(done.stdout);
    const checks = said.checks ?? said.data.checks;
    const failed = checks.filter(({ result }) => result !== 'ok').map(({ check }) => check);
    assert.equal(done.status, failed.length > 0 ? 1 : 0, done.stdout + done.stderr);
    for (const { check, result, detail } of checks)
        assert.ok(check.length > 0 && ['ok', 'failed'].includes(result) && detail.length > 0, done.stdout);
    return { checks: new Map(checks.map((one) => [one.check, one])), failed };
}

/* A port that nobody has at this moment. */
async function free_port() {
    const server = net.createServer();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address();
    await new Promise((resolve) => server.close(resolve));
    return String(port);
}

function file(name, mode) {
    const made = path.join(scratch, name);
    fs.writeFileSync(made, '');
    fs.chmodSync(made, mode);
    return made;
}

/* ---- version --------------------------------------------------------------------------------- */

/* The development packages say which versions are installed. */
const PACKAGES = { libuv: 'libuv', OpenSSL: 'openssl', SQLite: 'sqlite3', simdjson: 'simdjson', libpq: 'libpq' };

function modversion(name) {
    const said = spawnSync('pkg-config', ['--modversion', name], { encoding: 'utf8' });
    return said.status === 0 ? said.stdout.trim() : null;
}

describe('version', () => {
    for (const program of PROGRAMS) {
        test(`${program}: libraries as loaded`, () => {
            const { libraries } = JSON.parse(run(program, ['version', '--json']).stdout);
            const all = new Map(libraries.map((one) => [one.name, one]));
            const [, own] = /project\(\w+ VERSION ([\d.]+)/.exec(fs.readFileSync(path.join(root, 'CMakeLists.txt'), 'utf8'));
            assert.equal(all.get('libmcp').version, own);
            const wanted = ['libuv', 'OpenSSL', 'simdjson', ...(DUCKDB.includes(program) ? ['DuckDB'] : ['libpq']),
                ...(program.startsWith('cobre') ? ['Clp'] : ['SQLite'])];
            for (const name of wanted) {
                const one = all.get(name);
                assert.ok(one, `${program} does not name ${name}`);
                assert.match(one.version, /^v?\d+\.\d+/);
                assert.ok(fs.existsSync(one.path), `${name}: ${one.path}`);
                const installed = name in PACKAGES ? modversion(PACKAGES[name]) : null;
                if (installed !== null)
                    assert.ok(installed.startsWith(one.version), `${name} ${one.version}, the system has ${installed}`);
            }
            const words = run(program, ['version']).stdout;
            for (const name of all.keys())
                assert.ok(words.includes(`\n${name} `), words);
        });

        test(`${program}: what it was built of`, () => {
            const said = JSON.parse(run(program, ['version', '--json']).stdout);
            assert.match(said.revision ?? said.git_commit, /^\S+$/);
            assert.match(said.compiler, /^(gcc|clang) \d+\./);
            assert.equal(run(program, ['--version']).stdout.trim().split(/\s+/).pop().replace(/^v/, ''), said.version);
        });
    }

    for (const program of DUCKDB) {
        test(`${program}: a library that is missing is named with the reason, and is no failure`, () => {
            const done = run(program, ['version', '--json'], { CAUSEWAY_DUCKDB: '/nonexistent/libduckdb.so' });
            const missing = JSON.parse(done.stdout).libraries.find(({ name }) => name === 'DuckDB');
            assert.equal(done.status, 0);
            assert.equal(missing.version, undefined);
            assert.match(missing.missing, /nonexistent/);
        });
    }
});

/* ---- doctor ---------------------------------------------------------------------------------- */

describe('doctor', () => {
    for (const program of PROGRAMS) {
        test(`${program}: a machine that has everything, and nothing is made`, async () => {
            const before = fs.readdirSync(scratch);
            const { failed, checks } = examine(program, ['--port', await free_port()]);
            assert.deepEqual(failed.filter((name) => !/sandbox|isolation/.test(name)), [], JSON.stringify([...checks.values()]));
            assert.deepEqual(fs.readdirSync(scratch), before);
        });

        test(`${program}: a port in use`, () => {
            const { checks } = examine(program, ['--port', String(busy.address().port)]);
            assert.equal(checks.get('port').result, 'failed');
            assert.match(checks.get('port').detail, /in use/);
        });

        test(`${program}: tokens that others may read`, () => {
            for (const [mode, result] of [[0o600, 'ok'], [0o640, 'ok'], [0o644, 'failed'], [0o602, 'failed']]) {
                const { checks } = examine(program, ['--tokens', file('tokens', mode)]);
                assert.equal(checks.get('tokens').result, result, checks.get('tokens').detail);
            }
            assert.equal(examine(program, ['--tokens', path.join(scratch, 'none')]).checks.get('tokens').result, 'failed');
        });

        test(`${program}: the words say what the JSON says`, () => {
            const done = run(program, ['doctor', '--tokens', path.join(scratch, 'none'), '--port', '0']);
            assert.equal(done.status, 1);
            assert.match(done.stdout, /^CHECK +RESULT +DETAIL\n/);
            assert.match(done.stdout, /^tokens +failed +/m);
        });
    }

    for (const program of DUCKDB) {
        test(`${program}: no DuckDB`, () => {
            const { checks } = examine(program, [], { CAUSEWAY_DUCKDB: '/nonexistent/libduckdb.so' });
            assert.equal(checks.get('libduckdb').result, 'failed');
            assert.match(checks.get('libduckdb').detail, /nonexistent/);
        });
    }

    for (const program of ['cobre', 'cobre-mcp']) {
        test(`${program}: a directory that is missing, and one that is a file`, () => {
            for (const name of [path.join(scratch, 'none'), file('plain', 0o600)])
                assert.deepEqual(examine(program, [scratch, name]).failed, ['directory']);
        });
    }

    for (const program of DATABASES) {
        const schema = path.join(root, 'servers', program, 'sql');
        const database = (name) => path.join(scratch, `${program}-${name}.db`);
        const with_port = async () => ['--port', await free_port()];

        test(`${program}: a database whose folder is missing`, async () => {
            const { checks } = examine(program, ['--db', `sqlite:${scratch}/none/a.db`, ...await with_port()]);
            assert.match(checks.get('database').detail, /none/);
            assert.equal(checks.get('database').result, 'failed');
        });

        test(`${program}: a file that is no database`, async () => {
            fs.writeFileSync(database('text'), 'a text that is longer than the header of a database, which has a hundred bytes'.repeat(9));
            const { checks } = examine(program, ['--db', `sqlite:${database('text')}`, ...await with_port()]);
            assert.equal(checks.get('database').result, 'failed');
        });

        test(`${program}: a database that is current, older, or newer than the program`, async () => {
            const name = database('state');
            const nothing = path.join(scratch, 'nothing.json');
            fs.writeFileSync(nothing, '{"workspaces":[]}');
            const words = program === 'universe' ? ['generate', '--id', 'a', '--seed', '1', '--preset', 'sparse'] : ['admin', 'apply', nothing];
            const made = run(program, [...words, '--db', `sqlite:${name}`]);
            assert.ok(fs.existsSync(name), made.stderr);
            const args = ['--db', `sqlite:${name}`, ...await with_port()];
            assert.match(examine(program, args).checks.get('database').detail, /is up to date$/);

            const state = new DatabaseSync(name);
            const newest = fs.readdirSync(schema).filter((one) => !one.includes('.postgres.')).sort().pop();
            const row = state.prepare('SELECT * FROM db_migrations WHERE name = ?').get(newest);
            state.exec('DELETE FROM db_migrations WHERE number = (SELECT MAX(number) FROM db_migrations)');
            assert.match(examine(program, args).checks.get('database').detail, /brought up to date/);
            assert.ok(row, newest);
            state.prepare('INSERT INTO db_migrations VALUES (?, ?, ?, ?)').run(row.number, row.name, row.sha256, row.run_at);
            state.prepare('INSERT INTO db_migrations VALUES (?, ?, ?, ?)').run(999, '999-later.sql', 'x', 1);
            state.close();
            const { checks } = examine(program, args);
            assert.equal(checks.get('database').result, 'failed');
            assert.match(checks.get('database').detail, /999-later\.sql.*newer/);
        });
    }

    test('portarium: keys that others may read, and one that is made later', async () => {
        const port = ['--port', await free_port()];
        for (const option of ['key-file', 'evidence-key']) {
            const judged = (name) => examine('portarium', [`--${option}`, name, ...port]).checks.get(option).result;
            assert.equal(judged(file(option, 0o640)), 'failed');
            assert.equal(judged(file(option, 0o600)), 'ok');
            assert.equal(judged(path.join(scratch, 'later')), 'ok');
            assert.equal(judged(path.join(file('plain', 0o600), 'later')), 'failed');
        }
        const done = run('portarium', ['doctor', '--json', '--config', file('config', 0o640)]);
        assert.equal(done.status, 2);
        assert.match(done.stderr, /config: others than its owner can open it/);
    });

    test('casparian: a state newer than the program; an allowed path that is missing', () => {
        const home = path.join(scratch, 'home');
        assert.equal(run('casparian', ['--home', home, 'jobs', 'list']).status, 0);
        assert.match(examine('casparian', ['--home', home]).checks.get('state').detail, /is up to date$/);
        const state = new DatabaseSync(path.join(home, 'state.sqlite'));
        state.prepare('INSERT INTO db_migrations VALUES (?, ?, ?, ?)').run(999, '999-later.sql', 'x', 1);
        state.close();
        assert.match(examine('casparian', ['--home', home]).checks.get('state').detail, /999-later\.sql.*newer/);
        fs.writeFileSync(path.join(home, 'config.toml'), `[mcp]\nallowed_paths = ["${scratch}", "${scratch}/none"]\n`);
        assert.equal(examine('casparian', ['--home', home]).checks.get('allowed path').detail.startsWith(`${scratch}/none: `), true);
    });

    test('casparian: a home that cannot be made', { skip: is_root ? 'root may make it' : false }, () => {
        const closed = path.join(scratch, 'closed');
        fs.mkdirSync(closed, { mode: 0o500 });
        assert.equal(examine('casparian', ['--home', path.join(closed, 'home')]).checks.get('home').result, 'failed');
    });

    test('casparian: settings that are wrong, and the other checks all the same', () => {
        fs.writeFileSync(path.join(scratch, 'bad.toml'), 'mcp = [');
        const { checks, failed } = examine('casparian', ['--config', path.join(scratch, 'bad.toml')]);
        assert.ok(failed.includes('settings'));
        assert.equal(checks.get('libduckdb').result, 'ok');
    });

    test('casparian: a home below a file', () => {
        const { checks } = examine('casparian', ['--home', path.join(file('plain', 0o600), 'home')]);
        assert.equal(checks.get('home').result, 'failed');
    });
});
