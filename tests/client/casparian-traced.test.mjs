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

import { fixPlace, program, root, serve } from './casparian.mjs';
import { ALLOWED, REFUSED } from './support/casparian-sql.mjs';

const TRACED = 'trace=open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,ftruncate,execve,execveat,connect,bind';
/* Other system calls do not stop a process. */
const STRACE = ['-f', '--seccomp-bpf', '-y', '-qq', '-s', '300', '-e', TRACED];
const canTrace = spawnSync('strace', [...STRACE, '-o', '/dev/null', 'true']).status === 0;

/* Statements that take memory, the parser's stack or time. */
const LARGE = [`SELECT ${'('.repeat(10000)}1${')'.repeat(10000)}`, "SELECT length(repeat('x', 3000000000))"];
const ENDED = ['WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t', 'SELECT count(*) FROM range(1000000000000) AS r(x) WHERE x % 7 = 3'];

/* What programs and their libraries read by themselves. */
const SYSTEM = /^\/(?:usr|lib|lib64|proc|sys)\/|^\/etc\/(?:ld\.so\.cache|localtime|ssl\/|timezone)|^\/dev\/(?:null|urandom|zero)$|^\/$/;

const LIBRARIES = new RegExp(`^(?:${[path.dirname(program), root, fs.realpathSync(path.join(root, '.deps'))].join('|')})/`);
const WRITES = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|^\d+ +(?:creat|rename|unlink|mkdir|link|symlink|truncate|ftruncate)/;
/* Where the launcher of a process makes its namespaces. */
const OWN_PROCESS = /^\/dev\/null$|^\/proc\/self\/(?:setgroups|uid_map|gid_map)$/;

describe('hostile SQL', { skip: !canTrace && 'strace is not installed, or may not trace here' }, () => {
    let self, server, log, replies = '';
    const ask = async (sql, more) => {
        const reply = await server.call('query', { sql, redaction: { mode: 'none' }, ...more });
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
            under: ['strace', ...STRACE, '-o', log],
            /* The search for leaks traces, too. */
            env: { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:detect_leaks=0` },
        });
    });
    after(async () => { await server?.close(); self.remove(); });

    test('each statement is refused, or ended', async () => {
        for (const sql of [...REFUSED, ...LARGE])
            assert.match(await ask(sql), /^(?:sql_not_allowed|sql_error|invalid_arguments|query_timeout)$/, sql);
        for (const sql of ENDED)
            assert.match(await ask(sql, { timeout_ms: 300 }), /^(?:query_timeout|sql_error)$/, sql);
        for (const sql of ALLOWED)
            assert.equal(await ask(sql), 'done', sql);
    });
    test('no reply has an absolute path', () => {
        /* The engine knows its files as descriptors alone; the text of a view has them. */
        const own = replies.replace(/\/proc\/self\/fd\/\d+/g, '');
        for (const word of [self.top, '/proc/', '/dev/', '/etc/', '/tmp/', 'root:x:0'])
            assert.ok(!own.includes(word), `${word}: ${own.slice(Math.max(0, own.indexOf(word) - 200), own.indexOf(word) + 100)}`);
    });
    test('nothing outside was opened or written', async () => {
        await server.close();
        const lines = fs.readFileSync(log, 'utf8').split('\n');
        const opened = new Set(lines.flatMap((line) => /= \d+<([^>]+)>/.exec(line)?.[1] ?? []));
        assert.ok([...opened].some((file) => file.startsWith(`${self.dir}/out/fix_order_lifecycle_`)), 'the trace has no table');
        const isOutside = (file) => !file.startsWith(`${self.home}/`) && file !== self.home && !file.startsWith(`${self.dir}/`) && file !== self.dir;
        assert.deepEqual([...opened].filter((file) => isOutside(file) && !SYSTEM.test(file) && !LIBRARIES.test(file)), []);
        const writes = lines.filter((line) => WRITES.test(line) && !/= -1 E/.test(line) && !/resumed>/.test(line));
        assert.ok(writes.length > 0, 'the trace has no write');
        const targets = writes.map((line) => [line, /"([^"]*)"/.exec(line)?.[1] ?? /<([^>]*)>/.exec(line)[1], /(?:at|at2)\([^<]*<([^>]*)>/.exec(line)?.[1]]);
        assert.deepEqual(targets.filter(([, file, dir]) => !path.resolve(dir ?? '/', file).startsWith(`${self.home}`) && !OWN_PROCESS.test(file)).map(([line]) => line), []);
        assert.deepEqual(lines.filter((line) => /"\/proc\/\d/.test(line)), [], 'another process was looked at');
        assert.deepEqual(lines.filter((line) => /^\d+ +(?:connect|bind)\(/.test(line)), []);
    });
});
