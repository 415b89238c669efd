/*
 * casparian-bound.test.mjs - what approvals, manifests and names bind: targets that become links,
 * commits that another process completes, runs to several sinks, and names that views have.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';

const FAILED = 1, USAGE = 2, ENVIRONMENT = 3, NOT_FOUND = 4;
const FLAGS = ['--allow-dev-plugins', '--allow-tool-approval'];
const PARSER = `import datetime
name = "two"
version = "1.0.0"
outputs = {"lines": {"columns": [{"name": "n", "type": "int64"}]}, "words": {"columns": [{"name": "word", "type": "string"}]}}


def parse(path):
    with open(path) as file:
        for line in file:
            yield "lines", {"n": line.strip()}
            yield "words", {"word": line.strip()}
`;

let self, server;
beforeEach(() => {
    self = place();
    fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
    self.write('two.py', PARSER);
    self.write('in/a.txt', '1\n2\n');
});
afterEach(async () => {
    await server?.close().catch(() => {});
    server = undefined;
    self.remove();
});

const configure = (text) => fs.writeFileSync(path.join(self.home, 'config.toml'), text);

describe('a folder that was approved and then becomes a link', () => {
    beforeEach(async () => {
        fs.mkdirSync(path.join(self.dir, 'out'));
        fs.mkdirSync(path.join(self.dir, 'other'));
        server = await serve(self, FLAGS);
    });
    const swap = () => {
        fs.rmdirSync(path.join(self.dir, 'out'));
        fs.symlinkSync('other', path.join(self.dir, 'out'));
    };

    test('a run does not write through it', async () => {
        const { approval_id: id } = await server.ask('run_request', { plugin_ref: { path: 'two.py' }, input_dir: 'in', output: './out' });
        swap();
        const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
        const done = await server.end(job);
        assert.deepEqual([done.status, done.error_code], ['failed', 'sink_error'], JSON.stringify(done));
        assert.match(done.error, /reached by a link/);
        assert.deepEqual(fs.readdirSync(path.join(self.dir, 'other')), []);
    });
    test('a schema is not written through it either', async () => {
        const schema = { output_name: 'lines', columns: [{ name: 'n', type: 'int64' }] };
        const { ephemeral_id: proposal } = await server.ask('schema_propose', { schema });
        const asked = await server.ask('schema_promote', { ephemeral_id: proposal, output_path: 'out/lines.py' });
        const again = await server.ask('schema_promote', { ephemeral_id: proposal, output_path: 'out/more.py' });
        swap();
        const decided = await server.ask('approval_decide', { approval_id: asked.approval_id, decision: 'approve' });
        assert.match(decided.error, /reached by a link/);
        self.fail(ENVIRONMENT, /reached by a link/, 'approvals', 'approve', again.approval_id, '--yes');
        assert.deepEqual(fs.readdirSync(path.join(self.dir, 'other')), []);
    });
});

describe('a proposal', () => {
    test('is promoted with a warning where it was not tested, or not all rows were valid', async () => {
        self.write('in/b.txt', 'x\n');
        server = await serve(self, FLAGS);
        const schema = { output_name: 'lines', columns: [{ name: 'n', type: 'int64' }] };
        const { ephemeral_id: proposal } = await server.ask('schema_propose', { schema });
        const promote = (name) => server.ask('schema_promote', { ephemeral_id: proposal, output_path: name });
        const backtest = async (dir) => {
            const { job_id: job } = await server.ask('backtest_start', { plugin_ref: { path: 'two.py' }, input_dir: dir, ephemeral_id: proposal });
            assert.equal((await server.end(job)).status, 'completed');
        };
        assert.deepEqual((await promote('a.py')).warnings, ['no backtest has used these schemas']);
        await backtest('in');
        const [warning, ...more] = (await promote('b.py')).warnings;
        assert.match(warning, /^66\.66 % of the rows of 'lines' were valid in job 1/);
        assert.deepEqual(more, []);
        assert.match(self.cli(['schema', 'promote', proposal, '--output', 'c.py']).err, /^warning: 66\.66 %/m);
        await backtest('in/a.txt');
        assert.equal((await promote('d.py')).warnings, undefined);
    });
});

describe('a promotion whose process is killed', () => {
    const schema = { output_name: 'lines', columns: [{ name: 'n', type: 'int64' }] };
    const request = async (name) => {
        const { ephemeral_id: proposal } = await server.ask('schema_propose', { schema });
        return (await server.ask('schema_promote', { ephemeral_id: proposal, output_path: name })).approval_id;
    };

    for (const [point, outcome] of [['promote', /interrupted/], ['promoted', undefined]]) {
        test(`at the point "${point}" says so once it cannot go on`, async (t) => {
            self.env.CAUSEWAY_CLOCK = path.join(self.top, 'clock');
            server = await serve(self, FLAGS);
            const id = await request('made.py');
            const killed = self.cli(['approvals', 'approve', id, '--yes'], { env: { CAUSEWAY_FAULT: `${point}:1` } });
            if (killed.status === 0)
                return t.skip('the build has no points of failure');
            fs.writeFileSync(self.env.CAUSEWAY_CLOCK, '60000');
            const { status, result } = await server.ask('approval_status', { approval_id: id });
            assert.equal(status, 'approved');
            if (outcome)
                assert.match(result.error, outcome);
            else
                assert.equal(result.error, undefined);
            assert.equal(self.exists('made.py'), !outcome);
            assert.deepEqual(fs.readdirSync(self.dir).filter((name) => name.startsWith('.')), []);
            if (!outcome)
                return;
            const again = await request('made.py');
            self.succeed('approvals', 'approve', again, '--yes');
            assert.ok(self.exists('made.py'));
        });
    }
});

describe('only what failed', () => {
    test('is of the newest run to the same sinks', () => {
        const sinks = (words) => configure(`[[sinks]]\ntopic = "lines"\nuri = "csv://./a"\n[[sinks]]\ntopic = "words"\nuri = "csv://./${words}"\n`);
        self.write('fails.py', PARSER.replace('name = "two"', 'name = "fails"').replace('    with open', '    if path.endswith("b.txt"):\n        raise ValueError("no")\n    with open'));
        self.write('in/b.txt', '3\n');
        sinks('b');
        assert.equal(self.succeed('run', './fails.py', 'in').result.files_failed, 1);
        sinks('c');
        self.write('fails.py', self.read('fails.py').replace('raise ValueError("no")', 'pass'));
        assert.equal(self.succeed('run', './fails.py', 'in').result.files_failed, 0);
        assert.equal(self.succeed('run', './fails.py', 'in', '--only', 'failed', '--whatif').files.length, 0);
        sinks('b'); // where it has failed
        assert.deepEqual(self.succeed('run', './fails.py', 'in', '--only', 'failed', '--whatif').files.map((file) => path.basename(file.path)), ['b.txt']);
    });
});

describe('a commit that another process completes', () => {
    test('has the hash of its manifest in the audit log', async (t) => {
        self.env.CAUSEWAY_LEASE_MS = '1000';
        const killed = self.cli(['run', './two.py', 'in', '--sink', './out'], { env: { CAUSEWAY_FAULT: 'renamed:1' } });
        if (killed.status === 0)
            return t.skip('the build has no points of failure');
        server = await serve(self, FLAGS);
        const done = await server.end('1');
        assert.equal(done.status, 'completed');
        const finished = self.audit().find((line) => line.type === 'job' && line.action === 'finished');
        const { manifest_sha256: hash } = finished;
        const { createHash } = await import('node:crypto');
        assert.equal(hash, createHash('sha256').update(fs.readFileSync(path.join(self.dir, 'out/_casparian/1.manifest.json'))).digest('hex'));
    });
});

describe('a manifest', () => {
    const manifest = (job) => path.join(self.dir, `out/_casparian/${job}.manifest.json`);
    const run = () => self.succeed('run', './two.py', 'in', '--sink', './out', '--force');
    const findings = () => self.cli(['verify', 'out', '--json']).json.findings.map(({ finding, file }) => `${finding} ${file}`);

    test('that changes by itself is found, also the newest one without a signature', () => {
        run();
        const whole = fs.readFileSync(manifest(1));
        for (let at = 3; at < whole.length; at += Math.ceil(whole.length / 25)) {
            const damaged = Buffer.from(whole);
            damaged[at] ^= 1;
            fs.writeFileSync(manifest(1), damaged);
            const verified = self.cli(['verify', 'out']);
            assert.equal(verified.status, FAILED, `byte ${at}: ${verified.out}`);
            assert.match(verified.out, /1\.manifest\.json/, `byte ${at}`);
        }
        fs.writeFileSync(manifest(1), whole);
        assert.deepEqual(findings(), []);
    });
    test('has the name of its job, and keeps its signature', () => {
        self.succeed('plugin', 'keygen', 'key.pem');
        configure(`[trust]\nsigning_key = "${self.dir}/key.pem"\n`);
        run();
        run();
        assert.deepEqual(findings(), []);
        const { signature, public_key: key, ...rest } = JSON.parse(fs.readFileSync(manifest(2)));
        assert.ok(signature && key);
        configure('');
        run(); // the same without a key: an author of changes can take a signature away
        assert.deepEqual(findings(), ['unsigned _casparian/3.manifest.json']);
        fs.renameSync(manifest(3), manifest(7));
        assert.ok(findings().includes('damaged _casparian/7.manifest.json'));
        assert.ok(rest.content_sha256);
    });
    test('is there where something is to be verified', () => {
        fs.mkdirSync(path.join(self.dir, 'empty'));
        self.fail(NOT_FOUND, /'empty' has no manifests/, 'verify', 'empty');
    });
});

describe('names of outputs', () => {
    const RESERVED = ['lines__all', 'lines_quarantine', 'lines__schema_0123abcd'];

    test('are none that views of other outputs have', async () => {
        server = await serve(self, FLAGS);
        for (const name of RESERVED) {
            self.write('bad.py', PARSER.replace('"words": {', `"${name}": {`));
            self.fail(FAILED, new RegExp(`${name}: names that end in`), 'backtest', './bad.py', 'in');
            self.write('late.py', `name, version = "late", "1.0.0"\n\n\ndef parse(path):\n    yield "${name}", {"a": 1}\n`);
            const { errors } = await server.ask('preview', { plugin_ref: { path: 'late.py' }, files: ['in/a.txt'] });
            assert.match(errors[0].error, /names that end in __all, _quarantine or __schema_/);
            const { valid, validation_errors: wrong } = await server.ask('schema_propose', { schemas: { [name]: { output_name: name, columns: [{ name: 'a', type: 'int64' }] } } });
            assert.equal(valid, false);
            assert.match(JSON.stringify(wrong), /names that end in/);
            self.fail(USAGE, /names that end in/, 'plugin', 'new', name);
        }
        const fine = ['lines__all2', 'all', 'quarantine', 'a__schema_0123abcg', '__all'.slice(2)];
        for (const name of fine)
            assert.ok((await server.ask('schema_propose', { schema: { output_name: name, columns: [{ name: 'a', type: 'int64' }] } })).valid, name);
    });
});

describe('a preview', () => {
    test('shows times in the zone of their column', async () => {
        const zoned = (zone) => `import datetime, zoneinfo\nname, version = "times", "1.0.0"\n\n\ndef parse(path):\n    yield {"t": datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("${zone}"))}\n`;
        self.write('times.py', zoned('Europe/Berlin'));
        server = await serve(self, FLAGS);
        const show = async (more) => (await server.ask('preview', { plugin_ref: { path: 'times.py' }, files: ['in/a.txt'], ...more })).outputs.times.sample_rows[0].t;
        assert.equal(await show(), '2024-07-01T12:00:00+02:00');
        const schemas = { times: { output_name: 'times', columns: [{ name: 't', type: { kind: 'timestamp_tz', timezone: 'Asia/Tokyo' } }] } };
        assert.equal(await show({ schemas }), '2024-07-01T19:00:00+09:00');
        self.write('times.py', zoned('UTC'));
        assert.equal(await show(), '2024-07-01T12:00:00Z');
    });
});
