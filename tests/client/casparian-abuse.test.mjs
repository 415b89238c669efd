/*
 * casparian-abuse.test.mjs - a hostile client and hostile data: paths outside the allowed folders,
 * SQL that reads or writes files, approvals that no person gave, values that must not be shown,
 * calls without end, arguments that do not fit, tools that are not permitted.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { fixPlace, place, serve } from './casparian.mjs';
import { ALLOWED, REFUSED } from './support/casparian-sql.mjs';

const FIX = { path: 'parsers/fix/fix_parser.py' };
const UNLIMITED = '[mcp]\nrate_limit_rpm = 0\nexpensive_rpm = 0\n';

function configure(self, text) {
    fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(self.home, 'config.toml'), text);
}

const security = (self) => self.audit().filter((line) => line.type === 'security');

/** All tools that take a path, each with the argument that is the path. */
const TAKERS = {
    'scan.path': (file) => ['scan', { path: file }],
    'preview.files': (file) => ['preview', { plugin_ref: FIX, files: [file] }],
    'preview.plugin_ref': (file) => ['preview', { plugin_ref: { path: file }, files: ['samples/fix'] }],
    'backtest_start.input_dir': (file) => ['backtest_start', { plugin_ref: FIX, input_dir: file }],
    'backtest_start.plugin_ref': (file) => ['backtest_start', { plugin_ref: { path: file }, input_dir: 'samples/fix' }],
    'run_request.input_dir': (file) => ['run_request', { plugin_ref: FIX, input_dir: file, output: 'out' }],
    'run_request.plugin_ref': (file) => ['run_request', { plugin_ref: { path: file }, input_dir: 'samples/fix', output: 'out' }],
    'run_request.output': (file) => ['run_request', { plugin_ref: FIX, input_dir: 'samples/fix', output: file }],
    'schema_promote.output_path': (file, id) => ['schema_promote', { ephemeral_id: id, output_path: `${file}/x.py` }],
};
const READERS = Object.keys(TAKERS).filter((name) => !/output/.test(name));

describe('paths', () => {
    let self, server, ephemeral;
    before(async () => {
        self = fixPlace();
        configure(self, UNLIMITED);
        fs.mkdirSync(`${self.dir}2`);
        self.write('../work2/other.fix', 'x\n');
        fs.symlinkSync('/etc', path.join(self.dir, 'folder'));
        fs.symlinkSync('/etc/passwd', path.join(self.dir, 'file'));
        execFileSync('mkfifo', [path.join(self.dir, 'pipe')]);
        server = await serve(self, ['--allow-dev-plugins']);
        ({ ephemeral_id: ephemeral } = await server.ask('schema_propose', { schema: { output_name: 'a', columns: [{ name: 'x', type: 'string' }] } }));
    });
    after(async () => { await server?.close(); self.remove(); });

    const refused = async (names, file, code) => {
        for (const name of names) {
            const [tool, args] = TAKERS[name](file, ephemeral);
            const seen = security(self).length;
            const error = await server.refuse(tool, args);
            assert.equal(error.code, code, `${name} ${JSON.stringify(file.slice(0, 60))}: ${error.message}`);
            if (['path_traversal', 'path_not_allowed', 'symlink_escape'].includes(code)) {
                const line = security(self).slice(seen).find((one) => one.rule === code);
                assert.ok(line, `${name}: no line of the audit log for ${file}`);
                assert.equal(line.tool, `casparian_${tool}`);
            }
        }
    };

    for (const file of ['../work2', '../work2/other.fix', 'samples/../samples/fix', 'samples/fix/..', 'samples//../..', '..'])
        test(`${file} is a traversal`, () => refused(Object.keys(TAKERS), file, 'path_traversal'));
    for (const file of ['/etc', '/etc/passwd', '//etc//passwd', '/etc/', '/proc/self/environ', '/proc/self/fd/0', '/no/such/file'])
        test(`${file} is not allowed`, () => refused(Object.keys(TAKERS), file, 'path_not_allowed'));
    test('a folder whose name begins like the root is not inside it', () => refused(Object.keys(TAKERS), `${self.dir}2`, 'path_not_allowed'));
    for (const file of ['folder', 'folder/', 'file', 'folder/passwd', './/folder'])
        test(`${file} is a symlink that escapes`, () => refused(Object.keys(TAKERS), file, 'symlink_escape'));
    for (const [name, file] of [['a pipe', 'pipe'], ['NUL', 'samples/fix\0/etc'], ['an endless path', 'x/'.repeat(4000)], ['nothing', '']])
        test(`${name} is an invalid argument`, () => refused(READERS, file, 'invalid_arguments'));
    for (const scheme of ['parquet', 'csv', 'duckdb']) {
        test(`${scheme}:// is held to the same roots`, async () => {
            for (const [file, code] of [['/etc/x', 'path_not_allowed'], ['../work2/x', 'path_traversal'], ['folder/x', 'symlink_escape'], ['file', 'symlink_escape']])
                await refused(['run_request.output'], `${scheme}://${file}`, code);
        });
    }
    test('a slash too many, and one at the end, name the folder itself', async () => {
        for (const file of ['samples//fix', 'samples/fix/', './samples/fix'])
            assert.equal((await server.ask('scan', { path: file })).files.length, (await server.ask('scan', { path: 'samples/fix' })).files.length);
    });
    test('a name that is not UTF-8 does not end a walk', async () => {
        execFileSync('sh', ['-c', `mkdir "$1/names" && : > "$1/names/good.log" && : > "$1/names/$(printf 'bad\\377.log')"`, 'sh', self.dir]);
        const { files } = await server.ask('scan', { path: 'names' });
        assert.ok(files.some(({ path: file }) => file.endsWith('good.log')), JSON.stringify(files));
    });
    test('a walk does not leave the root', async () => {
        const { files } = await server.ask('scan', { path: '.', limit: 10000 });
        assert.deepEqual(files.filter((one) => !one.path.startsWith(`${self.dir}/`) || /passwd|shadow|pipe/.test(one.path)), []);
    });
    test('a database that is a link already', async () => {
        for (const [name, to] of [['there.duckdb', path.join(`${self.dir}2`, 'there.duckdb')], ['away.db', '/etc/passwd']]) {
            fs.symlinkSync(to, path.join(self.dir, name));
            await refused(['run_request.output'], `duckdb://${name}`, 'symlink_escape');
        }
        assert.ok(!fs.existsSync(path.join(`${self.dir}2`, 'there.duckdb')));
    });
    test('a target that becomes a symlink after its request is not written through', async () => {
        for (const [uri, name] of [['duckdb://late.duckdb', 'late.duckdb'], ['parquet://late', 'late']]) {
            const { approval_id: id } = await server.ask('run_request', { plugin_ref: FIX, input_dir: 'samples/fix', output: uri });
            fs.symlinkSync(name === 'late' ? `${self.dir}2` : path.join(`${self.dir}2`, 'late.duckdb'), path.join(self.dir, name));
            const before = fs.readdirSync(`${self.dir}2`).sort();
            self.cli(['approvals', 'approve', id, '--yes']);
            const { job_id: job } = await server.ask('approval_status', { approval_id: id });
            const end = job ? await server.end(job) : { status: 'refused' };
            assert.deepEqual(fs.readdirSync(`${self.dir}2`).sort(), before, uri);
            assert.notEqual(end.status, 'completed', uri);
        }
    });
});

describe('a home below an allowed root', () => {
    let self, server;
    before(async () => {
        self = fixPlace();
        self.env.CASPARIAN_HOME = self.home = path.join(self.dir, 'home');
        configure(self, UNLIMITED);
        server = await serve(self, ['--allow-dev-plugins']);
    });
    after(async () => { await server?.close(); self.remove(); });

    test('is not shown and not read', async () => {
        for (const file of ['home', 'home/', 'home/config.toml', 'home/mcp_audit.ndjson', './/home']) {
            for (const name of Object.keys(TAKERS).filter((one) => !/output/.test(one))) {
                const [tool, args] = TAKERS[name](file);
                assert.equal((await server.refuse(tool, args)).code, 'path_not_allowed', `${name} ${file}`);
            }
        }
        const { files } = await server.ask('scan', { path: '.', limit: 10000 });
        assert.deepEqual(files.filter((one) => one.path.includes('/home/')), []);
    });
});

describe('arguments', () => {
    let self, server;
    before(async () => {
        self = fixPlace();
        configure(self, UNLIMITED);
        server = await serve(self, ['--allow-dev-plugins']);
    });
    after(async () => { await server?.close(); self.remove(); });

    const column = { name: 'x', type: 'string' };
    const CASES = [
        ['scan', { path: '.', nope: 1 }, ''],
        ['scan', { path: 7 }, '/path'],
        ['preview', { plugin_ref: FIX, files: ['a', 3] }, '/files/1'],
        ['preview', { plugin_ref: 7, files: ['a'] }, '/plugin_ref'],
        ['preview', { plugin_ref: { path: 'a', plugin: 'b' }, files: ['a'] }, '/plugin_ref'],
        ['schema_propose', { schemas: { a: { output_name: 'a', columns: [{ name: 3, type: 'string' }] } } }, '/schemas/a/columns/0/name'],
        ['query', { sql: 'SELECT 1', redaction: { mode: 'loud' } }, '/redaction/mode'],
        ['query', { sql: 'SELECT 1', redaction: { loud: true } }, '/redaction'],
        ['query', { sql: 'SELECT 1', limit: 1e9 }, '/limit'],
        ['query', { sql: 'SELECT 1', limit: 1.5 }, '/limit'],
        ['query', { sql: `SELECT 1 --${'x'.repeat(70000)}` }, '/sql'],
        ['job_status', { job_id: '1', wait_ms: -1 }, '/wait_ms'],
    ];
    for (const [name, args, pointer] of CASES) {
        test(`${name} names ${pointer || 'the root'}`, async () => {
            const error = await server.refuse(name, args);
            assert.equal(error.code, 'invalid_arguments');
            assert.equal(error.details.pointer, pointer, error.message);
        });
    }
    test('a string with a NUL is refused, not read as a shorter one or as none', async () => {
        const input = { plugin_ref: FIX, input_dir: 'samples/fix' };
        for (const [name, args, pointer] of [
            ['backtest_start', { ...input, ephemeral_id: 'eph_x\0' }, '/ephemeral_id'],
            ['backtest_start', { ...input, pattern: '*.fix\0' }, '/pattern'],
            ['backtest_start', { ...input, plugin_ref: { path: `${FIX.path}\0` } }, '/plugin_ref/path'],
            ['preview', { plugin_ref: FIX, files: ['samples/fix\0'] }, '/files/0'],
            ['quarantine_summary', { job_id: '1\0' }, '/job_id'],
            ['schema_promote', { ephemeral_id: '\0', output_path: 'x.py' }, '/ephemeral_id'],
            ['schema_propose', { schema: { output_name: 'a\0', columns: [column] } }, '/schema/output_name'],
            ['scan', { path: '.', cursor: '1\0' }, '/cursor'],
        ]) {
            const error = await server.refuse(name, args);
            assert.equal(error.code, 'invalid_arguments', `${name}: ${error.message}`);
            assert.ok(error.message.startsWith(`${pointer}:`), error.message);
        }
        assert.deepEqual((await server.ask('job_list')).jobs, []);
    });
    test('ids that are paths or SQL name nothing', async () => {
        for (const id of ['../../etc/passwd', "1' OR '1'='1", '1; DROP TABLE cf_jobs', '', ' 1', '0x1', '-1', '9'.repeat(30), 'eph_../../x']) {
            for (const [name, args] of [['job_status', { job_id: id }], ['job_cancel', { job_id: id }], ['quarantine_summary', { job_id: id }],
                ['approval_status', { approval_id: id }], ['approval_decide', { approval_id: id, decision: 'reject' }]])
                assert.equal((await server.refuse(name, args)).code, 'invalid_arguments', `${name} ${id}`);
            for (const [name, args] of [['schema_promote', { output_path: 'x.py' }], ['backtest_start', { plugin_ref: FIX, input_dir: 'samples/fix' }],
                ['run_request', { plugin_ref: FIX, input_dir: 'samples/fix', output: './out' }], ['preview', { plugin_ref: FIX, files: ['samples/fix/order_lifecycle.fix'] }]])
                assert.equal((await server.refuse(name, { ...args, ephemeral_id: id })).code, 'invalid_arguments', `${name} ${id}`);
        }
    });
    test('64 outputs are a proposal, 65 are refused', async () => {
        const schemas = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`o${i}`, { output_name: `o${i}`, columns: [column] }]));
        assert.equal((await server.ask('schema_propose', { schemas: schemas(64) })).valid, true);
        const refused = await server.ask('schema_propose', { schemas: schemas(65) });
        assert.equal(refused.valid, false);
        assert.match(JSON.stringify(refused.validation_errors), /1 to 64 outputs/);
    });
    test('what is too deep or too large is refused, and the server lives', async () => {
        let deep = {};
        for (let i = 0; i < 100; i++)
            deep = { a: deep };
        await assert.rejects(server.call('schema_propose', { schema: deep }), /nested too deep/);
        await assert.rejects(server.call('scan', { path: 'x'.repeat(5 << 20) }), /4194304 bytes/);
        const many = { output_name: 'a', columns: Array.from({ length: 2001 }, (_, i) => ({ name: `x${i}`, type: 'string' })) };
        assert.equal((await server.ask('schema_propose', { schema: many })).valid, false);
        await server.ask('job_list');
    });
});

describe('SQL', () => {
    let self, server;
    before(async () => {
        self = fixPlace();
        configure(self, UNLIMITED);
        server = await serve(self, ['--allow-dev-plugins']);
        const { approval_id: id } = await server.ask('run_request', { plugin_ref: FIX, input_dir: 'samples/fix', output: 'out' });
        assert.equal(self.cli(['approvals', 'approve', id, '--yes']).status, 0);
        const { job_id: job } = await server.ask('approval_status', { approval_id: id });
        assert.equal((await server.end(job)).status, 'completed');
    });
    after(async () => { await server?.close(); self.remove(); });

    const hides = (text) => {
        assert.ok(!text.includes(path.join(self.dir, 'out')), text.slice(0, 500));
        assert.ok(!text.includes('root:x:0'), text.slice(0, 500));
    };
    for (const sql of REFUSED) {
        test(`${JSON.stringify(sql)} is refused`, async () => {
            const error = await server.refuse('query', { sql });
            assert.ok(['sql_not_allowed', 'sql_error', 'invalid_arguments'].includes(error.code), JSON.stringify(error));
            hides(JSON.stringify(error));
        });
    }
    test('what only looks like an attack works', async () => {
        for (const sql of ALLOWED)
            await server.ask('query', { sql });
    });
    test('no answer has the path of a file of the catalog', async () => {
        for (const sql of ['SELECT * FROM sqlite_master', 'SELECT * FROM information_schema.tables', 'SELECT * FROM information_schema.columns', 'SELECT sql FROM sqlite_master',
            'EXPLAIN SELECT * FROM fix_order_lifecycle', 'SELECT CAST(_cf_job_id AS INT) / 0, error(_cf_job_id) FROM fix_order_lifecycle', 'SELECT nothing FROM fix_order_lifecycle', 'SELECT * FROM nothing'])
            hides(JSON.stringify(await server.call('query', { sql, redaction: { mode: 'none' } })));
    });
    test('statements without end or measure end, and the next one works', async () => {
        for (const [sql, code] of [['WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t', /query_timeout|sql_error/],
            ["SELECT length(repeat('x', 3000000000))", /query_timeout|sql_error|sql_not_allowed/], [`SELECT ${'('.repeat(10000)}1${')'.repeat(10000)}`, /sql_error|sql_not_allowed/]])
            assert.match((await server.refuse('query', { sql, timeout_ms: 1000 })).code, code);
        assert.equal((await server.ask('query', { sql: 'SELECT 42 AS a' })).rows[0][0], 42);
    });
});

describe('approvals', () => {
    test('no tool lets a client approve its own request', async () => {
        const self = fixPlace();
        const server = await serve(self, ['--allow-dev-plugins']);
        try {
            const { approval_id: id } = await server.ask('run_request', { plugin_ref: FIX, input_dir: 'samples/fix', output: 'out' });
            assert.equal((await server.refuse('approval_decide', { approval_id: id, decision: 'approve' })).code, 'approval_required');
            await server.refuse('approval_decide', { approval_id: id, decision: 'approve', _meta: { human: true } });
            await server.refuse('job_cancel', { job_id: id });
            assert.equal((await server.ask('approval_status', { approval_id: id })).status, 'pending');
            assert.deepEqual((await server.ask('job_list')).jobs, []);
            assert.ok(!self.exists('out'));
        } finally {
            await server.close();
            self.remove();
        }
    });
    test('a hundred decisions through two servers are one job', async () => {
        const self = fixPlace();
        const servers = [await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']), await serve(self, ['--allow-dev-plugins', '--allow-tool-approval'])];
        try {
            const { approval_id: id } = await servers[0].ask('run_request', { plugin_ref: FIX, input_dir: 'samples/fix', output: 'out' });
            const replies = await Promise.all(Array.from({ length: 100 }, (_, i) => servers[i % 2].ask('approval_decide', { approval_id: id, decision: 'approve' })));
            assert.equal(replies.filter((one) => one.status === 'approved').length, 1, JSON.stringify(replies.slice(0, 3)));
            assert.equal(replies.filter((one) => one.status === 'already_approved').length, 99);
            assert.deepEqual([...new Set(replies.map((one) => one.job_id))].length, 1);
            assert.equal((await servers[0].end(replies[0].job_id)).status, 'completed');
            assert.equal((await servers[1].ask('job_list')).jobs.length, 1);
        } finally {
            for (const server of servers)
                await server.close();
            self.remove();
        }
    });
});

describe('limits and permissions', () => {
    test('ten thousand calls are limited, and the server lives', async () => {
        const self = place();
        const server = await serve(self);
        try {
            let limited = 0;
            for (let i = 0; i < 100; i++) {
                for (const reply of await Promise.all(Array.from({ length: 100 }, () => server.call('job_list')))) {
                    if (reply.isError) {
                        const { error } = JSON.parse(reply.content[0].text);
                        assert.equal(error.code, 'rate_limited');
                        assert.ok(error.details.retry_after_ms > 0);
                        limited++;
                    }
                }
            }
            assert.ok(limited > 0);
            await server.client.ping();
            assert.ok(security(self).some((line) => line.rule === 'rate_limited'));
        } finally {
            await server.close();
            self.remove();
        }
    });
    const denied = async (server, name, args) => {
        let code;
        try {
            code = (await server.refuse(name, args)).code;
        } catch (error) {
            code = /permission_denied|not found|no such tool|no tool/i.test(error.message) ? 'permission_denied' : error.message;
        }
        assert.equal(code, 'permission_denied', name);
    };
    const run = (more) => ({ plugin_ref: FIX, input_dir: 'samples/fix', output: 'out', ...more });
    for (const [title, settings, refusedCalls, allowed] of [
        ['readonly', 'profile = "readonly"', [['run_request', run()], ['schema_promote', { ephemeral_id: 'eph_x', output_path: 'x.py' }], ['job_cancel', { job_id: '1' }], ['approval_decide', { approval_id: 'x', decision: 'reject' }]], ['backtest_start', { plugin_ref: FIX, input_dir: 'samples/fix' }]],
        ['disabled tools', 'disabled_tools = ["casparian_query"]', [['query', { sql: 'SELECT 1' }]], ['job_list', {}]],
        ['deny', '[mcp.tools]\ncasparian_scan = "deny"', [['scan', { path: '.' }]], ['job_list', {}]],
        ['ask, without a human', '[mcp.tools]\ncasparian_scan = "ask"', [['scan', { path: '.' }]], ['job_list', {}]],
        ['sinks', '[mcp.tools.casparian_run_request]\nsinks = ["parquet"]', [['run_request', run({ output: 'csv://out' })], ['run_request', run({ output: 'duckdb://x.db' })]], ['run_request', run()]],
        ['plugins', '[mcp.tools.casparian_run_request]\nplugins = ["hl7_v2"]', [['run_request', run()]], ['job_list', {}]],
    ]) {
        test(`permissions: ${title}`, async () => {
            const self = fixPlace();
            configure(self, `[mcp]\n${settings}\n`);
            const server = await serve(self, ['--allow-dev-plugins']);
            try {
                for (const [name, args] of refusedCalls)
                    await denied(server, name, args);
                await server.ask(...allowed);
            } finally {
                await server.close();
                self.remove();
            }
        });
    }
});
