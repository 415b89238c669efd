/*
 * portarium-postgres.test.mjs - a control plane on a PostgreSQL that others administer: it ends
 * connections, takes rights away, has a locale, is empty, and its URL has odd characters.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { CONTENT, planeOn, program } from './portarium-rest.mjs';
import { postgres } from './universe.mjs';
import { until } from './support/until.mjs';

const RUNS = '/v1/workspaces/ws-1/runs', ITEMS = '/v1/workspaces/ws-1/work-items';
const PASSWORD = 'p@ss/w:o?r#d %';

let db;

before(() => { db = postgres(); });
after(() => db.close());

function urlOf(user, password, name = 'postgres') {
    return `postgres://${user}:${encodeURIComponent(password)}@${new URL(db.url).host}/${name}`;
}

/* A role with a schema of its own, which is no superuser. */
function roleOf(name) {
    db.sql(`CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}'; CREATE SCHEMA ${name} AUTHORIZATION ${name}; ALTER ROLE ${name} SET search_path = ${name}`);
    return urlOf(name, PASSWORD);
}

function run(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    assert.ok(!(done.stdout + done.stderr).includes('secret'), done.stderr);
    return { status: done.status, words: done.stdout + done.stderr };
}

test('where connections are ended, reads are answered, or refused for a moment, and commands are done', async () => {
    const server = await planeOn(roleOf('ended'), CONTENT);
    const token = server.token('otto', 'operator'), seen = new Set(), started = new Set();
    let isOver = false;
    const work = async () => {
        while (!isOver) {
            seen.add((await server.ask('GET', `${RUNS}?limit=1`, { token })).status);
            const { status, json } = await server.ask('POST', RUNS, { token, body: { workflowId: 'wf-noop', parameters: { n: 1 } } });
            seen.add(status);
            if (status === 201)
                started.add(json.runId);
            await new Promise((resolve) => { setTimeout(resolve, 50); });
        }
    };
    const workers = [work(), work()];
    for (let i = 0; i < 20; i++) {
        const before = started.size;
        db.sql("SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE usename = 'ended'");
        await until(() => started.size > before, 'a further run');
    }
    isOver = true;
    await Promise.all(workers);
    assert.deepEqual([...seen].filter((status) => ![200, 201, 429, 503].includes(status)), []);
    assert.equal(Number(db.sql('SELECT COUNT(*) AS n FROM ended.runs')[0].n), started.size);
    await server.close();
});

test('what the database refuses is no refusal of the client, who does not learn what it says', async () => {
    const server = await planeOn(roleOf('denied'), CONTENT);
    const start = () => server.ask('POST', RUNS, { body: { workflowId: 'wf-noop', parameters: { n: 1 } } });
    db.sql('ALTER TABLE denied.runs OWNER TO causeway');
    for (const { status, headers, json } of [await server.ask('GET', RUNS), await start()])
        assert.deepEqual([status, headers.get('retry-after'), json.detail], [503, '1', 'The control plane could not complete the request.']);
    db.sql("ALTER TABLE denied.runs OWNER TO denied; ALTER TABLE denied.runs ADD CONSTRAINT odd CHECK (status <> 'Pending')");
    const { status, json } = await start();
    assert.deepEqual([status, json.detail], [500, 'The control plane could not complete the request.']);
    db.sql('ALTER TABLE denied.runs DROP CONSTRAINT odd');
    assert.equal((await start()).status, 201);
    await server.close();
});

test('a search finds what was written, in a locale that knows more capital letters than ASCII', async () => {
    db.sql("CREATE DATABASE located TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'");
    const server = await planeOn(db.url.replace(/postgres$/, 'located'), CONTENT);
    await server.ask('POST', ITEMS, { body: { title: 'Übung am Montag' } });
    for (const [q, count] of [['Übung', 1], ['MONTAG', 1], ['_bung', 0]])
        assert.equal((await server.ask('GET', `${ITEMS}?q=${encodeURIComponent(q)}`)).json.items.length, count, q);
    await server.close();
});

test('a command makes no tables in a database that is not a plane’s, and tells no password', () => {
    db.sql('CREATE DATABASE other');
    const other = db.url.replace(/postgres$/, 'other');
    for (const args of [['runs', 'list'], ['tokens', 'list'], ['evidence', 'verify']])
        assert.match(run(...args, '--db', other).words, /has no control plane/);
    const tables = spawnSync('sh', ['-c', 'exec "$(ls -d /usr/lib/postgresql/*/bin/psql | head -n 1)" -X -A -t -d "$0" -c "$1"', other,
        "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'"], { encoding: 'utf8' });
    assert.equal(tables.stdout.trim(), '0', tables.stderr);
    for (const url of ['host=127.0.0.1 password=secret', 'mysql://u:secret@h/x', 'postgres//u:secret@h/x', 'postgres://u:secret@127.0.0.1:1/x?nonsense=1', 'postgres://u:s@secret@h/x'])
        assert.equal(run('runs', 'list', '--db', url).status, 2, url);
});

/* ---- a pooler -------------------------------------------------------------------------------- */

const message = (type, ...parts) => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
};
const text = (value) => Buffer.from(`${value}\0`);
const number = (value) => { const four = Buffer.alloc(4); four.writeInt32BE(value); return four; };
const READY = message('Z', Buffer.from('I'));

/* What a pooler says that a client hears before its first statement. As PgBouncer, it gives its
 * clients numbers of its own; a statement is answered by the process of `processOf(connection)`. */
async function pooler(processOf) {
    const heard = [];
    let count = 0;
    const server = net.createServer((socket) => {
        const connection = count++;
        let isBegun = false;
        socket.on('error', () => {});
        socket.on('data', (bytes) => {
            if (!isBegun) {
                isBegun = true;
                socket.write(Buffer.concat([message('R', number(0)), message('S', text('server_version'), text('15.5')), message('K', number(77), number(1)), READY]));
                return;
            }
            const sql = bytes.subarray(5, -1).toString();
            heard.push(sql);
            const column = Buffer.concat([Buffer.from([0, 1]), text('pid'), number(0), Buffer.from([0, 0]), number(23), Buffer.from([0, 4]), number(-1), Buffer.from([0, 0])]);
            const value = String(processOf(connection));
            if (sql === 'SELECT pg_backend_pid()')
                socket.write(Buffer.concat([message('T', column), message('D', Buffer.from([0, 1]), number(value.length), Buffer.from(value)), message('C', text('SELECT 1')), READY]));
            else if (sql === 'BEGIN')
                socket.write(Buffer.concat([message('C', text('BEGIN')), message('Z', Buffer.from('T'))]));
            else
                socket.end(message('E', Buffer.from('SFATAL\0C57P01\0Mgone\0\0')));
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const child = spawn(program, ['serve', '--db', `postgres://u@127.0.0.1:${server.address().port}/x?sslmode=disable&gssencmode=disable`, '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.on('data', (part) => { words += part; });
    const [status] = await once(child, 'exit');
    server.close();
    return { status, words, heard };
}

test('a pooler that shares connections between transactions is refused at the start, before anything is set', async () => {
    const turn = [41, 42, 43];
    let at = 0;
    /* The connection that was used last; each in its turn. */
    for (const processOf of [() => 41, () => turn[at++ % 3]]) {
        const { status, words, heard } = await pooler(processOf);
        assert.notEqual(status, 0);
        assert.match(words, /behind a pooler .*pool_mode=transaction: name the server's own address, or use pool_mode=session/);
        assert.deepEqual(heard.filter((sql) => sql !== '' && !/^(SELECT pg_backend_pid\(\)|BEGIN)$/.test(sql)), []);
    }
    const { words, heard } = await pooler((connection) => 41 + connection);
    assert.doesNotMatch(words, /pooler/);
    assert.ok(heard.some((sql) => sql.startsWith('SET lock_timeout')), 'one that gives each client a connection is not');
});

/* ---- TLS ------------------------------------------------------------------------------------- */

function openssl(...args) {
    const done = spawnSync('openssl', args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, done.stderr);
}

test('TLS to the database is verified as the URL says', async () => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-tls-'));
    const at = (name) => path.join(dir, name);
    for (const name of ['good', 'other'])
        openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name} ca`, '-keyout', at(`${name}.key`), '-out', at(`${name}.pem`));
    fs.writeFileSync(at('names'), 'subjectAltName=DNS:localhost\n');
    openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', at('server.key'), '-out', at('server.csr'));
    openssl('x509', '-req', '-in', at('server.csr'), '-CA', at('good.pem'), '-CAkey', at('good.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names'), '-out', at('server.crt'));
    const [{ data }] = db.sql("SELECT setting AS data FROM pg_settings WHERE name = 'data_directory'");
    const { uid, gid } = fs.statSync(data);
    for (const name of ['server.key', 'server.crt']) {
        fs.copyFileSync(at(name), path.join(data, name));
        fs.chmodSync(path.join(data, name), 0o600);
        fs.chownSync(path.join(data, name), uid, gid);
    }
    db.sql('ALTER SYSTEM SET ssl = on');
    db.sql('SELECT pg_reload_conf()');
    await until(() => db.sql("SELECT setting FROM pg_settings WHERE name = 'ssl'")[0].setting === 'on', 'TLS');
    const url = (options, host = 'localhost') => db.url.replace('127.0.0.1', host).replace(/$/, `?${options}`);
    const verified = url(`sslmode=verify-full&sslrootcert=${at('good.pem')}`);
    const server = await planeOn(verified, CONTENT);
    const connections = db.sql("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name <> 'psql' AND backend_type = 'client backend'");
    assert.ok(connections.length > 1 && connections.every(({ ssl }) => ssl), JSON.stringify(connections));
    await server.close();
    const list = (where) => run('tokens', 'list', '--workspace', 'ws-1', '--db', where);
    assert.equal(list(url('sslmode=require')).status, 0);
    for (const [where, words] of [
        [url(`sslmode=verify-full&sslrootcert=${at('other.pem')}`), /certificate verify failed/],
        [url(`sslmode=verify-full&sslrootcert=${at('good.pem')}`, '127.0.0.1'), /server certificate for "localhost".* does not match host name "127\.0\.0\.1"/],
        [url(`sslmode=verify-full&sslrootcert=${at('none.pem')}`), /none\.pem" does not exist/],
        [url('sslmode=verify'), /invalid sslmode value: "verify"/],
    ]) {
        const answer = list(where);
        assert.notEqual(answer.status, 0);
        assert.match(answer.words, words);
        assert.ok(!answer.words.includes(new URL(db.url).password), answer.words);
    }
    db.sql('ALTER SYSTEM SET ssl = off');
    db.sql('SELECT pg_reload_conf()');
    await until(() => db.sql("SELECT setting FROM pg_settings WHERE name = 'ssl'")[0].setting === 'off', 'no TLS');
    assert.match(list(verified).words, /server does not support SSL, but SSL was required/);
    fs.rmSync(dir, { recursive: true, force: true });
});
