/*
 * casparian-hostile.test.mjs - parsers and files that do harm, as jobs of a running server: each
 * file fails with its kind, the files after it are read, other jobs go on, and the memory of the
 * server does not grow with what they emit.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { fixPlace, place, program, serve } from './casparian.mjs';

const FIX = { path: 'parsers/fix/fix_parser.py' };
const PYTHON = { path: 'python' };
const NATIVE = { path: 'native' };
const native = path.join(path.dirname(program), '..', 'tests', 'plugins', 'fixture_native', '1.0.0');
const MIB = 1 << 20;
/* Two parsers emit so many rows before they are ended, and 10^6 lines each; a packed file has so
 * many bytes. The server may grow by less than one of them. */
const OUTPUT_MAX_MB = 100, UNPACKED = 100 * MIB, GROWTH_MAX = 80 * MIB, LOG_MAX = 65 * MIB;
const MANY_MS = 240_000; /* for a machine that is loaded */

/** A server in a place with both fixtures. The address sanitizer holds back little freed memory. */
async function open(self, settings) {
    fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(self.home, 'config.toml'), `[mcp]\nrate_limit_rpm = 0\nexpensive_rpm = 0\n[jobs]\nmax_concurrent = 4\n[plugins]\n${settings}`);
    self.copy('fixture_plugin', 'python');
    fs.cpSync(native, path.join(self.dir, 'native'), { recursive: true });
    return serve(self, ['--allow-dev-plugins'], { env: { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=8` } });
}

/** The largest resident size that the server has had. */
function peakOf(server) {
    const [, kib] = /^VmHWM:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'));
    return kib * 1024;
}

/** Start a backtest over files of these names, by which the fixtures choose what they do. */
async function start(self, server, plugin, modes, top = 'in') {
    const folder = `${top}/${plugin.path}`;
    for (const mode of modes)
        self.write(`${folder}/${mode}.txt`, 'x\n');
    return (await server.ask('backtest_start', { plugin_ref: plugin, input_dir: folder })).job_id;
}

const kindsOf = (job) => Object.fromEntries((job.result ?? job.partial_result).errors.map((one) => [path.basename(one.file, '.txt'), one.kind]));

const PYTHON_KINDS = {
    crash: 'crashed', bad_frame: 'protocol_error', forge_frames: 'protocol_error', collision: 'reserved_column', error: 'parse_error',
    fork_bomb: 'parse_error', thread_bomb: 'parse_error', setsid: 'parse_error', exec: 'parse_error', socket: 'parse_error',
    read_other: 'parse_error', read_processes: 'parse_error', read_sibling: 'parse_error',
    oom: 'memory_limit', huge_cell: 'memory_limit', fill_scratch: 'output_limit',
};
const NATIVE_KINDS = { crash: 'crashed', bad_frame: 'protocol_error', collision: 'reserved_column', error: 'parse_error', no_memory: 'memory_limit' };
/* The native twin lives after a refusal, and says in a row how it was refused. */
const REFUSED = ['fork_bomb', 'import_bomb', 'thread_bomb', 'setsid', 'exec', 'socket', 'system_calls', 'read_other', 'read_processes', 'read_sibling', 'forge_frames'];

describe('hostile parsers', () => {
    let self, server, isSealed;
    before(async () => {
        self = fixPlace();
        server = await open(self, `scratch_mb = 4\noutput_max_mb = ${OUTPUT_MAX_MB}\n`);
        isSealed = (await server.end(await start(self, server, NATIVE, ['normal']))).result.sandbox.includes('landlock');
    });
    after(async () => { await server?.close(); self.remove(); });

    test('each fails with its kind, and other jobs go on', async (t) => {
        if (!isSealed)
            return t.skip('plugins are not kept from processes and files here');
        const jobs = [await start(self, server, PYTHON, [...Object.keys(PYTHON_KINDS), 'normal']), await start(self, server, NATIVE, [...Object.keys(NATIVE_KINDS), ...REFUSED, 'normal'])];
        const { job_id: other } = await server.ask('backtest_start', { plugin_ref: FIX, input_dir: 'samples/fix' });
        assert.equal((await server.end(other)).result.files_passed, 6);
        const ended = [await server.end(jobs[0], MANY_MS), await server.end(jobs[1], MANY_MS)];
        assert.deepEqual(kindsOf(ended[0]), PYTHON_KINDS);
        assert.deepEqual(kindsOf(ended[1]), NATIVE_KINDS);
        assert.deepEqual(ended.map((one) => one.result.files_passed), [1, 1 + REFUSED.length]);
    });
    test('the server does not hold what they emit', async () => {
        const before = peakOf(server);
        const jobs = [await start(self, server, PYTHON, ['endless_rows', 'many_lines'], 'much'), await start(self, server, NATIVE, ['endless_rows', 'many_lines'], 'much')];
        for (const job of jobs) {
            const ended = await server.end(job, MANY_MS);
            assert.deepEqual(kindsOf(ended), { endless_rows: 'output_limit' });
            assert.equal(ended.result.files_passed, 1);
            const { size } = fs.statSync(path.join(self.home, 'logs', 'jobs', `${job}.log`));
            assert.ok(size > 100_000 && size < LOG_MAX, `the log of job ${job} has ${size} bytes`);
        }
        assert.ok(peakOf(server) - before < GROWTH_MAX, `the server grew from ${before / MIB} to ${peakOf(server) / MIB} MiB`);
        assert.equal((await server.ask('query', { sql: 'SELECT 1 AS a' })).rows[0][0], 1);
    });
});

test('parsers that never end are ended', async () => {
    const self = place();
    const server = await open(self, 'idle_timeout_ms = 2000\nfile_timeout_ms = 6000\n');
    try {
        const jobs = [await start(self, server, PYTHON, ['stop_self', 'loop', 'hang']), await start(self, server, NATIVE, ['stop_self', 'hang', 'endless_log'])];
        const [python, twin] = [kindsOf(await server.end(jobs[0])), kindsOf(await server.end(jobs[1]))];
        assert.deepEqual(python, { stop_self: 'idle_timeout', loop: 'idle_timeout', hang: 'idle_timeout' });
        /* The clock of a machine that is loaded may find it silent before it finds it late. */
        assert.match(twin.endless_log, /^(file|idle)_timeout$/);
        assert.deepEqual({ ...twin, endless_log: '' }, { stop_self: 'idle_timeout', hang: 'idle_timeout', endless_log: '' });
    } finally {
        await server.close();
        self.remove();
    }
});

describe('files packed by gzip', () => {
    let self, server;
    before(async () => {
        self = place();
        /* Less than is unpacked: a parser that holds it all fails. */
        server = await open(self, 'memory_limit_mb = 64\n');
        const bomb = gzipSync(Buffer.alloc(UNPACKED), { level: 9 });
        assert.ok(bomb.length < MIB);
        for (const name of ['web/bomb.log.gz', 'csv/bomb.csv.gz', 'jsonl/bomb.jsonl.gz'])
            self.write(name, bomb);
        self.write('web/cut.log.gz', bomb.subarray(0, 1000));
        self.write('web/plain.log.gz', 'not packed\n');
    });
    after(async () => { await server?.close(); self.remove(); });

    const backtest = async (plugin, folder) => server.end((await server.ask('backtest_start', { plugin_ref: plugin, input_dir: folder })).job_id);
    const of = (job, file) => (job.result ?? job.partial_result).errors.find((one) => one.file.endsWith(file));

    test('one that unpacks to 100 MiB without a line is one bad line', async () => {
        for (const [plugin, folder, output] of [['weblog_native', 'web', 'http_parse_errors'], ['jsonl_native', 'jsonl', 'jsonl_parse_errors']]) {
            const job = await backtest(plugin, folder);
            assert.equal(of(job, '/bomb.log.gz'), undefined, JSON.stringify(job));
            assert.equal((job.result ?? job.partial_result).outputs[output].rows_emitted, 1, JSON.stringify(job));
        }
    });
    test('its header is no line either', async () => {
        const job = await backtest('csv_native', 'csv');
        assert.equal(of(job, '/bomb.csv.gz').kind, 'parse_error', JSON.stringify(job));
    });
    test('what is cut, or not packed, fails with its reason', async () => {
        const job = await backtest('weblog_native', 'web');
        assert.match(of(job, '/cut.log.gz').error, /ends too early/);
        assert.match(of(job, '/plain.log.gz').error, /not packed by gzip/);
    });
    test('a preview shows what was read until then', async () => {
        const shown = await server.ask('preview', { plugin_ref: 'weblog_native', files: ['web/bomb.log.gz'] });
        assert.equal(shown.outputs.http_parse_errors.sample_rows.length, 1, JSON.stringify(shown));
    });
});
