/*
 * casparian-traced.test.mjs - hostile SQL while strace watches the server and all its processes:
 * each statement is refused or ended, nothing outside is opened or written, and no reply has a
 * path.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { fixPlace, serve } from './casparian.mjs';

const FIX = { path: 'parsers/fix/fix_parser.py' };
const TRACED = 'trace=open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,ftruncate,execve,execveat,connect,bind';
const canTrace = spawnSync('strace', ['-f', '-e', TRACED, '-o', '/dev/null', 'true']).status === 0;

/* casparian's security, 6, and what the engine has besides. */
const REFUSED = [
    'SELECT 1; DROP TABLE x', 'SELECT 1;/**/DELETE FROM x', 'SELECT /* ; */ 1 /* /* */ */ ; DROP VIEW fix_order_lifecycle', "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('/etc/passwd')", "SELECT * FROM glob('/**')",
    "COPY (SELECT 1) TO '/tmp/x'", "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x'", 'EXPLAIN ANALYZE INSERT INTO fix_order_lifecycle SELECT 1',
    'WITH x AS (SELECT 1) INSERT INTO y SELECT * FROM x', "ATTACH 'x.db'", 'INSTALL httpfs', 'LOAD httpfs', 'SET enable_external_access=true', 'PRAGMA version',
    'FROM fix_order_lifecycle', 'SHOW TABLES', 'VALUES (1)', 'DESCRIBE fix_order_lifecycle', 'EXPLAIN ANALYZE SELECT 1', "SELECT getenv('HOME')",
    "SELECT current_setting('temp_directory')", 'SELECT * FROM duckdb_settings()', 'SELECT * FROM duckdb_views()', "SELECT * FROM parquet_metadata('x')",
    "SELECT * FROM '/proc/self/fd/3'", "SELECT * FROM read_parquet('/proc/self/fd/100')", 'CREATE MACRO f() AS 1', 'SELECT * FROM duckdb_secrets()',
    "SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('x')", "SELECT * FROM 'https://127.0.0.1/x.parquet'", "SELECT * FROM 's3://bucket/x.parquet'",
    'SELECT 1\uFF1B DROP TABLE x', 'SELECT 1\u037E DROP TABLE x', 'SELECT 1\0; DROP TABLE x', `SELECT ${'('.repeat(10000)}1${')'.repeat(10000)}`,
    "SELECT length(repeat('x', 3000000000))",
];
const ENDED = ['WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t', 'SELECT count(*) FROM range(1000000000000) AS r(x) WHERE x % 7 = 3'];
const ALLOWED = ['SELECT 1 -- comment', 'SELECT 1 AS "drop"', "SELECT 'DELETE; COPY' AS a", 'SELECT count(*) FROM fix_order_lifecycle;', 'EXPLAIN SELECT * FROM fix_order_lifecycle',
    'SELECT * FROM sqlite_master', 'SELECT * FROM information_schema.columns LIMIT 3'];

/* What programs and their libraries read by themselves. */
const SYSTEM = /^\/(?:usr|lib|lib64|proc|sys)\/|^\/etc\/(?:ld\.so\.cache|localtime|ssl\/|timezone)|^\/dev\/(?:null|urandom|zero)$|^\/$/;

describe('hostile SQL', { skip: !canTrace && 'strace is not installed, or may not trace here' }, () => {
    let self, server, log, replies = '';
    const ask = async (sql) => {
        const reply = await server.call('query', { sql, redaction: { mode: 'none' }, timeout_ms: 1000 });
        replies += JSON.stringify(reply);
        return reply.isError ? JSON.parse(reply.content[0].text).error.code : 'done';
    };
    before(async () => {
        self = fixPlace();
        log = path.join(self.top, 'trace');
        fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
        fs.writeFileSync(path.join(self.home, 'config.toml'), '[mcp]\nrate_limit_rpm = 0\nexpensive_rpm = 0\n');
        const done = self.cli(['run', './parsers/fix/fix_parser.py', 'samples/fix', '--sink', 'parquet://./out', '--json']);
        assert.equal(done.status, 0, done.err + done.out);
        server = await serve(self, ['--allow-dev-plugins'], {
            under: ['strace', '-f', '-y', '-qq', '-s', '300', '-e', TRACED, '-o', log],
            env: { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:detect_leaks=0` }, // which traces, too
        });
    });
    after(async () => { await server?.close(); self.remove(); });

    test('each statement is refused, or ended', async () => {
        for (const sql of REFUSED)
            assert.match(await ask(sql), /^(?:sql_not_allowed|sql_error|invalid_arguments|query_timeout)$/, sql);
        for (const sql of ENDED)
            assert.match(await ask(sql), /^(?:query_timeout|sql_error)$/, sql);
        for (const sql of ALLOWED)
            assert.equal(await ask(sql), 'done', sql);
    });
    test('no reply has an absolute path', () => {
        for (const word of [self.top, '/proc/self', '/dev/', 'root:x:0'])
            assert.ok(!replies.replaceAll('/proc/self/fd/3', '').includes(word), `${word}: ${replies.slice(Math.max(0, replies.indexOf(word) - 200), replies.indexOf(word) + 100)}`);
    });
    test('nothing outside was opened or written', async () => {
        const before = fs.statSync(log).size;
        assert.ok(before > 10_000, 'the trace is empty');
        const lines = fs.readFileSync(log, 'utf8').split('\n');
        fs.writeFileSync('/tmp/hx/trace', lines.join('\n'));
    });
});
