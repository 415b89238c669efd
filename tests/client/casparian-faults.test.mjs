/*
 * casparian-faults.test.mjs - what is under a server fails: the disk of its outputs or of its home
 * is full, another program locks a database, the home is removed, or the user of its guests has as
 * many processes as he may. What fails is said, nothing half is left, and the server continues when
 * the fault is over.
 *
 * A small file system is mounted for the server alone, which needs root, as do processes of another
 * user.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, program, serve, until } from './casparian.mjs';

const KIB = 1024;
const ROWS = 20_000;
const FLAGS = ['--allow-dev-plugins', '--allow-tool-approval'];
const LOCKER = `import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
`;
const mounts = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
const PARSER = `import hashlib

name = "hashes"
version = "1.0.0"
outputs = {"hashes": {"columns": [{"name": "n", "type": "int64"}, {"name": "text", "type": "string"}]}}


def parse(file_path):
    with open(file_path) as lines:
        for line in lines:
            for n in range(int(line)):
                yield {"n": n, "text": hashlib.sha256(str(n).encode()).hexdigest()}
`;

/* A server may make a file in it meanwhile, which rmSync finds, but does not remove. */
function removed(folder) {
    try {
        fs.rmSync(folder, { recursive: true, force: true });
        return true;
    } catch (error) {
        if (error.code !== 'ENOTEMPTY')
            throw error;
        return false;
    }
}

let self;
beforeEach(() => {
    self = place();
    self.write('hashes.py', PARSER);
    self.write('in/rows.txt', `${ROWS}\n`);
});
afterEach(() => self.remove());

/** A server with a small file system at a folder. disk.folder is its path for this process. */
async function serveWith(folder, kib, env = {}) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const under = ['unshare', '--mount', 'sh', '-c', `mount -t tmpfs -o size=${kib}k,mode=700 tmpfs '${folder}' && exec "$0" "$@"`];
    const server = await serve(self, FLAGS, { under, env });
    const disk = {
        folder: path.join('/proc', String(server.pid), 'root', folder),
        /** Fill it, but for some space. */
        fill(leftKib) {
            const { bavail, bsize } = fs.statfsSync(this.folder);
            try {
                fs.writeFileSync(path.join(this.folder, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - leftKib * KIB)));
            } catch (error) {
                assert.equal(error.code, 'ENOSPC'); // the server wrote meanwhile
            }
        },
        empty() { fs.rmSync(path.join(this.folder, 'ballast'), { force: true }); },
    };
    return { server, disk };
}

async function run(server, output) {
    const { approval_id: id } = await server.ask('run_request', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in', output, force: true });
    const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
    return server.end(job);
}

/** What a failed job may leave: the locks of the sink. */
const left = (disk) => fs.readdirSync(disk.folder, { recursive: true }).filter((name) => !/^(ballast|_casparian|.*\.lock|.*\.lock\.json)$/.test(name));

describe('outputs on a full disk', { skip: mounts ? false : 'no file system can be mounted' }, () => {
    for (const scheme of ['duckdb', 'parquet', 'csv']) {
        test(`${scheme}: the job fails, nothing is left, and the next one succeeds`, async () => {
            const { server, disk } = await serveWith(path.join(self.dir, 'out'), 64 * KIB);
            const output = scheme === 'duckdb' ? 'duckdb://./out/x.duckdb' : `${scheme}://./out`;
            const ends = {};
            let done = 0;
            for (const kib of [0, 300, 1000, 2600]) {
                disk.fill(kib);
                const before = left(disk).sort();
                const end = await run(server, output);
                ends[end.status] = (ends[end.status] ?? 0) + 1;
                if (end.status === 'completed') {
                    done++;
                } else {
                    assert.equal(end.error_code, 'sink_error', `${kib} KiB: ${JSON.stringify(end)}`);
                    assert.match(end.error, /[Nn]o space left|full/, `${kib} KiB`);
                    assert.deepEqual(left(disk).sort(), before, `${kib} KiB`);
                }
                disk.empty();
                const next = await run(server, output);
                assert.equal(next.status, 'completed', `after ${kib} KiB: ${JSON.stringify(next)}`);
                done++;
            }
            assert.ok(ends.failed >= 2, JSON.stringify(ends));
            const { rows } = await server.ask('query', { sql: 'SELECT (SELECT count(*) FROM hashes), (SELECT count(*) FROM outputs."hashes__all")' });
            assert.deepEqual(rows, [[ROWS, ROWS * done]]);
            await server.close();
        });
    }
});

describe('an output that cannot be read', { skip: mounts ? false : 'no file system can be mounted' }, () => {
    test('ends verify with one JSON document, which says so', () => {
        const made = self.succeed('run', './hashes.py', 'in', '--sink', './out');
        const file = path.join(self.dir, 'out', path.basename(made.result.outputs.hashes.locations[0]));
        /* What can be opened, and fails to be read. */
        const script = `mount --bind /proc/1/clear_refs '${file}' && exec "$0" "$@"`;
        const done = spawnSync('unshare', ['--mount', 'sh', '-c', script, program, 'verify', 'out', '--json'], { cwd: self.dir, env: self.env, encoding: 'utf8' });
        assert.equal(done.status, 3, done.stderr);
        assert.match(JSON.parse(done.stdout).error.message, /an output cannot be read/);
    });
});

describe('a home on a full disk', { skip: mounts ? false : 'no file system can be mounted' }, () => {
    for (const required of [true, false]) {
        test(`calls that store are refused with the reason, with [audit] required = ${required}`, async () => {
            const { server, disk } = await serveWith(self.home, 16 * KIB, { CASPARIAN_AUDIT_REQUIRED: String(required) });
            const backtest = ['backtest_start', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in' }];
            const request = ['run_request', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in', output: './out' }];
            assert.equal((await server.end((await server.ask(...backtest)).job_id)).status, 'completed');
            disk.fill(0);
            for (const [name, args] of [backtest, request, backtest, request]) {
                const error = await server.refuse(name, args);
                assert.equal(error.code, 'store_error', JSON.stringify(error));
                assert.match(error.message, /disk is full/);
            }
            disk.empty();
            assert.equal((await server.end((await server.ask(...backtest)).job_id)).status, 'completed');
            const { approval_id: id } = await server.ask(...request);
            const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
            assert.equal((await server.end(job)).status, 'completed');
            await server.close();
        });
    }

    test('a job whose state cannot be written ends once there is space', async () => {
        const { server, disk } = await serveWith(self.home, 16 * KIB, { CASPARIAN_AUDIT_REQUIRED: 'false', CAUSEWAY_LEASE_MS: '1500' });
        const end = await server.end((await server.ask('backtest_start', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in' })).job_id);
        assert.equal(end.status, 'completed');
        const { job_id: job } = await server.ask('backtest_start', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in' });
        disk.fill(0);
        await new Promise((resolve) => { setTimeout(resolve, 3000); });
        disk.empty();
        const { status, error } = await server.end(job);
        assert.ok(['completed', 'failed'].includes(status));
        assert.ok(status === 'completed' || /disk is full|[Nn]o space left/.test(error), error);
        await server.close();
    });
});

test('a query waits for a program that writes the database of its output, and says so when that takes too long', async () => {
    const server = await serve(self, FLAGS);
    assert.equal((await run(server, 'duckdb://./x.duckdb')).status, 'completed');
    const sql = 'SELECT count(*) FROM hashes';
    const locker = spawn('python3', ['-c', LOCKER, path.join(self.dir, 'x.duckdb')]);
    await once(locker.stdout, 'data');
    const error = await server.refuse('query', { sql });
    assert.equal(error.code, 'store_error');
    assert.match(error.message, /another program has a database of the outputs open/i);
    const answer = server.ask('query', { sql });
    setTimeout(() => locker.kill(), 300);
    assert.deepEqual((await answer).rows, [[ROWS]]);
    await server.close();
});

for (const required of [true, false]) {
    test(`a home that is removed: calls that store say so, and the server ends with its input, [audit] required = ${required}`, async () => {
        self.write('slow.py', 'import time\n\nname = "slow"\nversion = "1.0.0"\n\n\ndef parse(file_path):\n    time.sleep(600)\n');
        const server = await serve(self, FLAGS, { env: { CASPARIAN_AUDIT_REQUIRED: String(required) } });
        const { job_id: job } = await server.ask('backtest_start', { plugin_ref: { path: 'slow.py' }, input_dir: 'in' });
        await until(async () => (await server.ask('job_status', { job_id: job })).status === 'running', 'the job to run');
        await until(() => removed(self.home), 'the home to be removed');
        for (const [name, args] of [
            ['backtest_start', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in' }],
            ['run_request', { plugin_ref: { path: 'hashes.py' }, input_dir: 'in', output: 'out' }],
            ['preview', { plugin_ref: { path: 'hashes.py' }, files: ['in/rows.txt'] }],
            ['schema_propose', { schema: { output_name: 'a', columns: [{ name: 'x', type: 'string' }] } }],
            ['approval_list', {}],
            ['job_cancel', { job_id: job }],
        ]) {
            const error = await server.refuse(name, args);
            assert.equal(error.code, 'store_error', `${name}: ${JSON.stringify(error)}`);
            assert.match(error.message, required ? /audit log .*No such file/ : /was removed/);
        }
        const gone = () => !fs.existsSync(`/proc/${server.pid}`);
        assert.ok(!gone());
        await server.close();
        await until(gone, 'the server to end');
        assert.ok(!fs.existsSync(self.home));
    });
}

/* The limit of processes counts all that a user has. Where the server is root, guests run as
 * nobody, and so do programs that have nothing to do with it. */
const NOBODY = 65534;
const others = (count) => Array.from({ length: count }, () => spawn('sleep', ['600'], { uid: NOBODY, gid: NOBODY, stdio: 'ignore' }));

describe('others of the user of its guests start processes', { skip: process.getuid() !== 0 && 'guests run as the caller' }, () => {
    let crowd;
    afterEach(() => crowd.forEach((one) => one.kill()));

    test('a guest that has no process left says so, and the next one has', async () => {
        const server = await serve(self, FLAGS);
        const preview = async () => (await server.ask('preview', { plugin_ref: { path: 'hashes.py' }, files: ['in/rows.txt'] })).errors;
        crowd = [];
        assert.deepEqual(await preview(), []);
        crowd = others(100);
        const [{ kind, error }] = await preview(); // by the guest of the first one
        assert.equal(kind, 'crashed');
        assert.match(error, /^no process for the file: BlockingIOError/);
        assert.deepEqual(await preview(), []);
        await server.close();
    });

    test('a job repeats the file with a new guest', async () => {
        self.write('slow.py', `${PARSER.replace('"hashes"\nversion', '"slow"\nversion')}        time.sleep(2)\n`.replace('import hashlib', 'import hashlib\nimport time'));
        self.write('in/more.txt', '1\n');
        const server = await serve(self, FLAGS);
        crowd = [];
        const { job_id: job } = await server.ask('backtest_start', { plugin_ref: { path: 'slow.py' }, input_dir: 'in' });
        await until(async () => (await server.ask('job_status', { job_id: job })).progress?.phase === 'parsing', 'the first file');
        await new Promise((resolve) => { setTimeout(resolve, 700); }); // for its guest to start
        crowd = others(100);
        const { status, result } = await server.end(job);
        assert.equal(status, 'completed');
        assert.equal(result.files_failed, 0, JSON.stringify(result.errors));
        await server.close();
    });
});
