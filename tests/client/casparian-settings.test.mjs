/*
 * casparian-settings.test.mjs - keys of config.toml by what they do.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { place, serve } from './casparian.mjs';

const FAILED = 1, USAGE = 2, NOT_FOUND = 4;

const TWO = `name, version = "two", "1.0.0"
outputs = {"lines": {"columns": [{"name": "n", "type": "int64"}]},
           "words": {"columns": [{"name": "word", "type": "string"}]}}


def parse(file_path):
    yield "lines", {"n": 1}
    yield "words", {"word": "x"}
`;

const ONE = `name, version = "one", "1.0.0"
outputs = {"lines": {"columns": [{"name": "n", "type": "int64"}]}}


def parse(file_path):
    yield {"n": 1}
`;

let self;
beforeEach(() => { self = place(); });
afterEach(() => self.remove());

function configure(text) {
    fs.mkdirSync(self.home, { recursive: true });
    fs.writeFileSync(path.join(self.home, 'config.toml'), text);
}

const succeed = (...args) => self.succeed(...args);
const fail = (...args) => self.fail(...args);

const tables = (folder) => fs.readdirSync(path.join(self.dir, folder)).filter((name) => /\.(csv|parquet)$/.test(name))
    .map((name) => name.replace(/_[0-9a-f]{16}\./, '.')).sort();

describe('[[sinks]]', () => {
    beforeEach(() => {
        self.write('in/a.txt', 'x\n');
        self.write('one.py', ONE);
        self.write('two.py', TWO);
    });

    test('an output goes where its topic says, and --sink goes before', () => {
        configure('[[sinks]]\ntopic = "lines"\nuri = "csv://./lines"\n[[sinks]]\ntopic = "*"\nuri = "parquet://./others"\n');
        succeed('run', './one.py', 'in');
        assert.deepEqual(tables('lines'), ['lines.csv']);
        self.write('other.py', ONE.replaceAll('lines', 'others'));
        succeed('run', './other.py', 'in');
        assert.deepEqual(tables('others'), ['others.parquet']);
        succeed('run', './two.py', 'in', '--sink', 'parquet://./here');
        assert.deepEqual(tables('here'), ['lines.parquet', 'words.parquet']);
        assert.ok(!self.exists('output'));
    });

    test('the mode is that of the entry: error refuses a table that is there', () => {
        configure('[[sinks]]\ntopic = "*"\nuri = "duckdb://./web.duckdb"\nmode = "error"\n');
        succeed('run', './one.py', 'in');
        fail(FAILED, /has a table 'lines/, 'run', './one.py', 'in', '--force');
    });

    const verifies = (...folders) => {
        for (const folder of folders)
            assert.equal(self.cli(['verify', folder]).status, 0, folder);
    };

    test('outputs of one job go to their folders, each with a manifest', () => {
        configure('[[sinks]]\ntopic = "lines"\nuri = "csv://./a"\n[[sinks]]\ntopic = "*"\nuri = "parquet://./b"\n');
        const { result } = succeed('run', './two.py', 'in');
        assert.deepEqual([tables('a'), tables('b')], [['lines.csv'], ['words.parquet']]);
        assert.deepEqual(Object.values(result.outputs).map(({ sink_uri: uri }) => uri), [`csv://${self.dir}/a`, `parquet://${self.dir}/b`]);
        verifies('a', 'b');
        assert.deepEqual(succeed('query', 'SELECT n, word FROM outputs.lines, outputs.words').rows, [[1, 'x']]);
        for (const [output, dir] of [['lines', 'a'], ['words', 'b']]) {
            const [[job, source]] = succeed('query', `SELECT _cf_job_id, _cf_source_hash FROM outputs.${output}`).rows;
            assert.equal(succeed('lineage', output, '--dir', dir, '--job', job, '--source', source).manifest, '1.manifest.json');
        }
        /* Done is done in both. */
        assert.equal(succeed('run', './two.py', 'in').result.files_skipped, 1);
        const whatif = succeed('run', './two.py', 'in', '--whatif', '--force');
        assert.deepEqual(whatif.sinks, { lines: `csv://${self.dir}/a`, words: `parquet://${self.dir}/b` });
        /* The other way round they are not. */
        configure('[[sinks]]\ntopic = "words"\nuri = "csv://./a"\n[[sinks]]\ntopic = "*"\nuri = "parquet://./b"\n');
        succeed('run', './two.py', 'in');
        assert.deepEqual([tables('a'), tables('b')], [['lines.csv', 'words.csv'], ['lines.parquet', 'words.parquet']]);
        verifies('a', 'b');
        assert.deepEqual(succeed('query', 'SELECT n, word FROM outputs.lines, outputs.words').rows, [[1, 'x']]);
        const [line] = fs.readFileSync(path.join(self.home, 'mcp_audit.ndjson'), 'utf8').trim().split('\n')
            .map((text) => JSON.parse(text)).filter(({ manifests_sha256: all }) => all);
        assert.equal(line.manifests_sha256.length, 2);
    });

    test('a folder may have files and a database of one job', () => {
        configure('[[sinks]]\ntopic = "lines"\nuri = "duckdb://./a/x.duckdb"\n[[sinks]]\ntopic = "*"\nuri = "csv://./a"\n');
        succeed('run', './two.py', 'in');
        assert.deepEqual(tables('a'), ['words.csv']);
        verifies('a');
        assert.deepEqual(succeed('query', 'SELECT n, word FROM outputs.lines, outputs.words').rows, [[1, 'x']]);
    });

    test('an output that nobody declared goes by its name, too', () => {
        self.write('loose.py', `name, version = "loose", "1.0.0"\n\n\ndef parse(file_path):\n    yield "lines", {"n": 1}\n    yield "words", {"word": "x"}\n`);
        configure('[[sinks]]\ntopic = "lines"\nuri = "csv://./a"\n[[sinks]]\ntopic = "*"\nuri = "csv://./b"\n');
        succeed('run', './loose.py', 'in');
        assert.deepEqual([tables('a'), tables('b')], [['lines.csv'], ['words.csv']]);
        assert.equal(succeed('run', './loose.py', 'in').result.files_skipped, 1);
    });

    test('one DuckDB file is what a job may have, in it several tables', () => {
        configure('[[sinks]]\ntopic = "lines"\nuri = "duckdb://./a.duckdb"\n[[sinks]]\ntopic = "words"\nuri = "duckdb://./b.duckdb"\n');
        fail(USAGE, /two DuckDB files.*--sink/, 'run', './two.py', 'in');
        self.write('loose.py', `name, version = "loose", "1.0.0"\noutputs = {"lines": {"columns": [{"name": "n", "type": "int64"}]}}\n\n\ndef parse(file_path):\n    yield "lines", {"n": 1}\n    yield "words", {"word": "x"}\n`);
        fail(FAILED, /one DuckDB file/, 'run', './loose.py', 'in');
        assert.ok(!self.exists('a.duckdb') && !self.exists('b.duckdb'));
        configure('[[sinks]]\ntopic = "lines"\nuri = "duckdb://./a.duckdb?table=one"\n[[sinks]]\ntopic = "words"\nuri = "duckdb://./a.duckdb?table=two"\nmode = "replace"\n');
        for (let run = 0; run < 2; run++)
            succeed('run', './two.py', 'in', '--force');
        assert.deepEqual(succeed('query', 'SELECT (SELECT count(*) FROM outputs.lines__all), (SELECT count(*) FROM outputs.words)').rows, [[2, 1]]);
    });

    test('each output needs a sink, with a mode that it has', () => {
        configure('[[sinks]]\ntopic = "lines"\nuri = "csv://./a"\n[[sinks]]\ntopic = "words"\nuri = "csv://./b"\n');
        self.write('other.py', ONE.replaceAll('lines', 'others'));
        fail(NOT_FOUND, /topic 'others'/, 'run', './other.py', 'in');
        configure('[[sinks]]\ntopic = "*"\nuri = "csv://./a"\nmode = "replace"\n');
        fail(USAGE, /mode append alone/, 'run', './two.py', 'in');
    });
});

describe('[quarantine] dir', () => {
    const BAD = `name, version = "bad", "1.0.0"
outputs = {"lines": {"columns": [{"name": "n", "type": "int64"}]}}


def parse(file_path):
    for line in open(file_path):
        yield {"n": line.strip()}
`;
    beforeEach(() => {
        self.write('in/a.txt', '1\nx\n2\n3\n');
        self.write('bad.py', BAD);
        configure('[quarantine]\nallow_quarantine = true\nmax_quarantine_pct = 50\ndir = "./apart"\n');
    });
    const verifies = (folder) => {
        const [done] = [self.cli(['verify', folder, '--json'])];
        assert.equal(done.status, 0, `${folder}: ${done.out}`);
        return JSON.parse(done.out).outputs;
    };

    test('quarantine tables go there, and are found there', () => {
        for (const [sink, kind] of [['./good', 'parquet'], ['csv://./text?delimiter=;', 'csv']]) {
            const folder = sink.match(/good|text/)[0];
            const { result } = succeed('run', './bad.py', 'in', '--sink', sink, '--force');
            assert.deepEqual(tables(folder), [`lines.${kind}`]);
            assert.ok(tables('apart').includes(`lines_quarantine.${kind}`));
            assert.equal(path.dirname(result.outputs.lines.quarantine.location), path.join(self.dir, 'apart'));
            assert.equal(verifies(folder), 1);
        }
        assert.equal(verifies('apart'), 2);
        assert.deepEqual(succeed('query', 'SELECT _raw_row FROM quarantine.lines').rows, [['{"n":"x"}']]);
        assert.deepEqual(succeed('query', 'SELECT sum(n) FROM outputs.lines').rows, [['6']]);
        const [[job, source]] = succeed('query', 'SELECT _cf_job_id, _cf_source_hash FROM quarantine.lines ORDER BY 1 LIMIT 1').rows;
        const origin = succeed('lineage', 'lines_quarantine', '--dir', 'apart', '--job', job, '--source', source);
        assert.deepEqual(origin.source, [path.join(self.dir, 'in/a.txt')]);
    });

    test('an output without invalid rows, and a policy without quarantine, leave the folder alone', () => {
        self.write('in/a.txt', '1\n');
        succeed('run', './bad.py', 'in', '--sink', './good');
        assert.deepEqual([tables('good'), tables('apart')], [['lines.parquet'], []]);
        assert.equal(verifies('good'), 1);
        configure('[quarantine]\ndir = "./never"\n');
        succeed('run', './bad.py', 'in', '--sink', 'duckdb://./x.duckdb');
        assert.ok(!self.exists('never'));
    });

    test('a DuckDB sink has its quarantine tables itself', () => {
        fail(USAGE, /not for a DuckDB sink.*x\.duckdb/, 'run', './bad.py', 'in', '--sink', 'duckdb://./x.duckdb');
        assert.ok(!self.exists('x.duckdb') && !self.exists('apart'));
    });

    test('a run that an assistant asks for does the same, and its approval says where', async () => {
        const server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']);
        try {
            const request = { plugin_ref: { path: 'bad.py' }, input_dir: 'in', output: './good' };
            const refused = await server.call('run_request', { ...request, output: 'duckdb://./x.duckdb' });
            assert.match(refused.content[0].text, /not for a DuckDB sink/);
            const { approval_id: id, summary } = await server.ask('run_request', request);
            assert.ok(summary.description.includes(`in ${self.dir}/apart`), summary.description);
            const done = await server.end((await server.ask('approval_decide', { approval_id: id, decision: 'approve' })).job_id);
            assert.equal(done.status, 'completed', JSON.stringify(done));
            assert.deepEqual([tables('good'), tables('apart')], [['lines.parquet'], ['lines_quarantine.parquet']]);
            const { rows } = await server.ask('query', { sql: 'SELECT count(*) FROM quarantine.lines' });
            assert.deepEqual(rows, [[1]]);
            const text = JSON.stringify(await server.ask('quarantine_summary', {}));
            assert.match(text, /"rows_quarantined":1/);
        } finally {
            await server.close();
        }
    });
});

describe('[query] expose_control', () => {
    const rows = (sql) => succeed('query', sql).rows;

    beforeEach(() => {
        self.write('in/a.txt', 'x\n');
        self.write('one.py', ONE);
        succeed('run', './one.py', 'in');
        succeed('scan', 'in', '--register', 'inbox');
    });

    test('jobs, events, approvals and files are views of this moment', () => {
        configure('[query]\nexpose_control = true\n');
        assert.deepEqual(rows('SELECT job_id, job_type, status, rows, typeof(created_at) FROM casparian.jobs'),
            [[1, 'run', 'completed', 1, 'TIMESTAMP WITH TIME ZONE']]);
        assert.deepEqual(rows('SELECT event_type FROM casparian.events ORDER BY event_id DESC LIMIT 1'), [['job_finished']]);
        assert.deepEqual(rows('SELECT count(*) FROM casparian.approvals'), [[0]]);
        assert.deepEqual(rows("SELECT name, source, error FROM (SELECT name, source, last_error AS error FROM casparian.files WHERE size = 2)"),
            [['a.txt', 'inbox', null]]);
        assert.ok(rows("SELECT abs(date_diff('minute', created_at, now())) < 60 FROM casparian.jobs")[0][0]);
        succeed('backtest', './one.py', 'in');
        assert.deepEqual(rows('SELECT job_type FROM casparian.jobs ORDER BY job_id'), [['run'], ['backtest']]);
    });

    test('they are no views by default, and an output of such a name stays what it is', () => {
        fail(USAGE, /"jobs" does not exist/, 'query', 'SELECT * FROM casparian.jobs');
        self.write('jobs.py', ONE.replaceAll('lines', 'jobs'));
        succeed('run', './jobs.py', 'in');
        configure('[query]\nexpose_control = true\n');
        assert.deepEqual(rows('SELECT n FROM jobs'), [[1]]);
        assert.deepEqual(rows('SELECT count(*) FROM casparian.jobs, outputs.jobs'), [[2]]);
    });
});

test('[mcp] max_cell_bytes cuts the values of an answer at whole characters', () => {
    self.write('in/a.txt', 'x\n');
    self.write('long.py', ONE.replace('"int64"', '"string"').replace('{"n": 1}', '{"n": "\u00e4" * 10000}'));
    succeed('run', './long.py', 'in');
    const value = () => succeed('query', 'SELECT n FROM lines').rows[0][0];
    assert.equal(value(), `${'\u00e4'.repeat(4096)}\u2026`); // 8192 bytes by default
    configure('[mcp]\nmax_cell_bytes = 17\n');
    assert.equal(value(), `${'\u00e4'.repeat(8)}\u2026`);
});

test('[audit] files from the second on are compressed, and verify and tail read them', async () => {
    configure('[audit]\nmax_bytes = 16384\nkeep = 4\nchain = true\n');
    const server = await serve(self);
    for (let i = 0; i < 100; i++)
        await server.ask('job_list');
    await server.close();
    const file = (suffix) => path.join(self.home, `mcp_audit.ndjson${suffix}`);
    const older = fs.readdirSync(self.home).filter((name) => /^mcp_audit\.ndjson\.\d/.test(name)).sort();
    assert.deepEqual(older, ['.1', '.2.gz', '.3.gz', '.4.gz'].map((suffix) => `mcp_audit.ndjson${suffix}`));
    const lines = [...['.4.gz', '.3.gz', '.2.gz'].map((suffix) => gunzipSync(fs.readFileSync(file(suffix)))), ...['.1', ''].map((suffix) => fs.readFileSync(file(suffix)))]
        .flatMap((bytes) => bytes.toString().trimEnd().split('\n'));
    const found = succeed('audit', 'verify');
    assert.deepEqual([found.valid, found.files, found.lines, found.chained], [true, 5, lines.length, lines.length]);
    const present = fs.readFileSync(file(''), 'utf8').trimEnd().split('\n').length;
    const tail = self.cli(['audit', 'tail', '-n', String(present + 3)]);
    assert.deepEqual(tail.out.trimEnd().split('\n'), lines.slice(-present - 3));
    fs.writeFileSync(file('.3.gz'), fs.readFileSync(file('.3.gz')).subarray(0, 100));
    const damaged = self.cli(['audit', 'verify']);
    assert.equal(damaged.status, FAILED, damaged.err);
    assert.match(damaged.out, /\.3\.gz:\d+: it and what follows cannot be read$/m);
});

describe('the directories that a client may name', () => {
    test('are the arguments together with --allow-path, before those of the file', async () => {
        const folders = ['argument', 'flag', 'file', 'other'].map((name) => path.join(self.top, name));
        for (const folder of folders) {
            fs.mkdirSync(folder);
            fs.writeFileSync(path.join(folder, 'a.txt'), 'x\n');
        }
        const [argument, flag, file, other] = folders;
        configure(`[mcp]\nallowed_paths = ["${file}"]\n`);
        const server = await serve(self, [argument, `--allow-path=${flag}`]);
        for (const folder of [argument, flag, self.dir])
            await server.ask('scan', { path: folder });
        for (const folder of [file, other])
            assert.equal((await server.refuse('scan', { path: folder })).code, 'path_not_allowed');
        await server.close();
    });
});
