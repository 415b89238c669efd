/*
 * The command line of casparian as a person and a shell script use it: what is printed, what --json
 * prints, and exit statuses.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { place, root } from './casparian.mjs';

const FAILED = 1, USAGE = 2, NOT_FOUND = 4;

let self;
beforeEach(() => { self = place(); });
afterEach(() => self.remove());

const succeed = (...args) => self.succeed(...args);
const fail = (...args) => self.fail(...args);

describe('run and backtest', () => {
    beforeEach(() => {
        self.copy('parsers/sales_csv.py', 'sales_csv.py');
        self.copy('samples/sales', 'sales');
        self.copy('samples/weblog', 'weblog');
    });
    const whole = (unit) => JSON.stringify({
        sales_csv: { output_name: 'sales_csv', mode: 'allow_extra', columns: [{ name: 'unit_price', type: unit, nullable: true }] },
    });

    test('a person sees the outputs and what to mend', () => {
        const lines = self.cli(['run', 'weblog_native', 'weblog']).out.split('\n');
        assert.match(lines[0], /^job 1 completed: 1 of 1 files, [\d.]+ s, into parquet:.*output$/);
        assert.match(lines.find((line) => line.startsWith('http_requests')), /^http_requests +200 +0 +100 +http_requests_[0-9a-f]{16}\.parquet$/);
        assert.match(self.cli(['run', 'weblog_native', 'weblog']).out, /^job 2 completed: 0 of 1 files, 1 done before/);
        self.write('s.json', whole('int64'));
        const tested = self.cli(['backtest', './sales_csv.py', 'sales', '--schema', 's.json']);
        assert.equal(tested.status, 0, tested.err);
        assert.match(tested.out, /^sales_csv +unit_price +type_mismatch +\d+ +999\.99 +change_type$/m);
    });

    test('--json prints one document, the job, also where it fails', () => {
        self.write('s.json', whole('int64'));
        const done = self.cli(['run', './sales_csv.py', 'sales', '--schema', 's.json', '--json']);
        assert.equal(done.status, FAILED);
        assert.equal(done.json.status, 'failed');
        assert.match(done.json.error, /quarantine is not allowed/);
        assert.match(done.err, /^error: job 1 failed: .*quarantine is not allowed/);
    });

    test('what was written is no input of the next run', () => {
        const plan = (...args) => self.cli(['run', 'weblog_native', '.', ...args, '--whatif', '--force', '--json'])
            .json.files.map((file) => path.relative(self.dir, file.path)).sort();
        fs.rmSync(path.join(self.dir, 'sales_csv.py'));
        fs.rmSync(path.join(self.dir, 'sales'), { recursive: true });
        const inputs = plan();
        assert.deepEqual(inputs, ['weblog/access.log']);
        for (const sink of ['./tables', '.', 'csv://weblog', 'duckdb://./x.db']) {
            succeed('run', 'weblog_native', '.', '--sink', sink);
            assert.deepEqual(plan('--sink', sink), inputs, sink);
        }
        const [table] = fs.readdirSync(path.join(self.dir, 'tables')).filter((name) => name.endsWith('.parquet'));
        const named = self.cli(['run', 'weblog_native', `tables/${table}`, '--whatif', '--json']).json.files;
        assert.equal(named.length, 1); // a person may name it
    });

    test('lineage answers for rows that are there', () => {
        const hash = createHash('sha256').update(fs.readFileSync(path.join(self.dir, 'sales', 'web.csv'))).digest('hex');
        const lines = self.read('sales/web.csv').trim().split('\n').length;
        succeed('run', './sales_csv.py', 'sales', '--sink', './tables');
        const row = (...args) => ['lineage', 'sales_csv', '--dir', 'tables', '--job', '1', '--source', hash, ...args];
        assert.deepEqual(succeed(...row('--row', String(lines))).source, [path.join(self.dir, 'sales', 'web.csv')]);
        const beyond = `no such row: the output 'sales_csv' has 400 rows, ${lines - 1} of job 1 and this source, and none of these with __cf_row_id ${lines + 1}$`;
        fail(FAILED, new RegExp(beyond, 'm'), ...row('--row', String(lines + 1)));
    });

    test('lineage finds the directory of the outputs of this home by itself', () => {
        const hash = createHash('sha256').update(fs.readFileSync(path.join(self.dir, 'sales', 'web.csv'))).digest('hex');
        const sinks = ['./tables', 'csv://texts', 'duckdb://./x.db', './output'];
        sinks.forEach((sink, i) => succeed('run', './sales_csv.py', 'sales', '--sink', sink));
        sinks.forEach((sink, i) => {
            const found = succeed('lineage', 'sales_csv', '--job', String(i + 1), '--source', hash, '--row', '2');
            assert.equal(found.manifest, `${i + 1}.manifest.json`, sink);
        });
        fs.rmSync(path.join(self.dir, 'output'), { recursive: true });
        fail(NOT_FOUND, /no output 'sales_csv' of job 99[^]*--dir/, 'lineage', 'sales_csv', '--job', '99', '--source', hash);
    });

    test('quarantine that is not allowed names the settings', () => {
        self.write('s.json', whole('int64'));
        fail(FAILED, /\(allow_quarantine\)/, 'run', './sales_csv.py', 'sales', '--schema', 's.json');
        fail(FAILED, /\(max_quarantine_pct, max_quarantine_count\)/, 'run', './sales_csv.py', 'sales', '--schema', 's.json', '--allow-quarantine');
    });

    test('a name that is nearly one is suggested', () => {
        fail(NOT_FOUND, /there is no plugin[^]*TRY: weblog_native/, 'run', 'weblog_nativ', 'weblog');
        fail(NOT_FOUND, /there is no plugin[^]*TRY: casparian plugin list/, 'run', 'q', 'weblog');
    });
});

describe('query', () => {
    const print = (format, sql, ...more) => {
        const { status, out, err } = self.cli(['query', sql, '--format', format, ...more]);
        assert.equal(status, 0, err);
        return { out, err };
    };

    test('--format csv has texts as they are', () => {
        const sql = "SELECT 'a' || chr(10) || 'b' AS x, 'q\"' AS y, chr(27) || chr(9) AS z, ' s' AS l, 's ' AS r, '' AS e, NULL AS n";
        assert.equal(print('csv', sql).out, 'x,y,z,l,r,e,n\n"a\nb","q""",\u001b\t," s","s ","",\n');
        assert.equal(print('table', "SELECT chr(27) AS z").out, 'z\n\\u001B\n');
    });

    test('each format says that there are more rows, and that values are cut', () => {
        for (const format of ['table', 'csv', 'ndjson']) {
            const { out, err } = print(format, 'SELECT * FROM range(5)', '--limit', '2');
            assert.match(err, /^There are more rows: --limit\.$/m, format);
            assert.equal(out.includes('1') && !out.includes('2'), true, out);
            assert.equal(print(format, 'SELECT * FROM range(5)', '--limit', '2', '-q').err, '');
            assert.equal(print(format, 'SELECT * FROM range(5)').err, '');
            assert.match(print(format, "SELECT repeat('x', 9000) AS x").err, /^Values that are cut: 1 \(\[mcp\] max_cell_bytes\)\.$/m);
        }
        assert.equal(succeed('query', "SELECT repeat('x', 9000) AS x").truncated_cells, 1);
    });

    test('--format json is JSON, and what an older schema has is counted', () => {
        for (const [name, text] of [['one/a.csv', 'id,x\n1,2\n3,4\n'], ['two/b.csv', 'id,y\n5,6\n']]) {
            self.write(name, text);
            succeed('run', 'csv_native', path.dirname(name));
        }
        const done = self.cli(['query', 'SELECT id, y FROM rows', '--format', 'json']);
        assert.equal(done.status, 0, done.err);
        const answer = JSON.parse(done.out);
        assert.deepEqual(answer.rows, [['5', '6']]);
        assert.match(answer.warnings.join(), /rows leaves out 2 rows in 1 files of an older schema; rows__all has them/);
    });

    test('a sensitive member of a raw row is hashed as its column is', () => {
        self.write('p.py', `name = "p"
version = "1.0.0"
outputs = {"people": {"columns": [{"name": "email", "type": "string"}, {"name": "n", "type": "int64"}]}}


def parse(path):
    yield {"email": "ada@example.com", "n": 1}
    yield {"email": "bob@example.com", "n": "none", "more": {"phone": "5550199"}}
`);
        self.write('in/a.txt', '');
        succeed('run', './p.py', 'in', '--allow-quarantine', '--max-quarantine-pct', '90');
        const rows = self.cli(['query', 'SELECT email, _raw_row FROM quarantine.people', '--redact', 'none', '--json']).json.rows;
        assert.equal(rows.length, 1);
        const [email, raw] = rows[0];
        const member = JSON.parse(raw);
        assert.equal(email, `[hash:${createHash('sha256').update('bob@example.com').digest('hex').slice(0, 8)}]`);
        assert.equal(member.email, email);
        assert.ok(!/5550199|bob/.test(raw), raw);
        assert.match(raw, /none/);
    });
});

describe('sources, rules and tags', () => {
    beforeEach(() => {
        for (const name of ['in/a.csv', 'in/b.log', 'in/sub/c.csv'])
            self.write(name, 'x\n');
    });
    const at = (name) => path.join(self.dir, name);
    const statuses = (...args) => Object.fromEntries(
        succeed('files', ...args).files.map((file) => [path.relative(self.dir, file.path), file.status]));

    test('a rule tags the files of its source at a sync', () => {
        assert.equal(succeed('source', 'add', 'in').source.name, 'in');
        assert.deepEqual(succeed('rule', 'add', '**/*.csv', '-s', 'in', '--tag', 'table').rule,
            { id: 1, source: 'in', pattern: '**/*.csv', tag: 'table', priority: 0 });
        assert.deepEqual(succeed('source', 'sync', 'in'), { source: 'in', file_count: 3, total_size: 6 });
        assert.deepEqual(statuses(), { 'in/a.csv': 'tagged', 'in/b.log': 'pending', 'in/sub/c.csv': 'tagged' });
        assert.deepEqual(succeed('rule', 'remove', '1'), { removed: 1 });
        succeed('source', 'sync', 'in');
        assert.deepEqual(statuses('--status', 'tagged'), {});
        assert.deepEqual(succeed('source', 'remove', 'in'), { removed: 'in' });
        assert.deepEqual(succeed('source', 'list').sources, []);
    });

    test('a file that was tagged by hand is tagged until the tag is taken away', () => {
        succeed('scan', 'in', '--register', 'all');
        assert.deepEqual(succeed('tag', 'in/b.log', 'log'), { path: at('in/b.log'), tag: 'log', has_tag: true });
        assert.deepEqual(statuses('--tag', 'log'), { 'in/b.log': 'tagged' });
        succeed('source', 'sync', 'all');
        assert.deepEqual(statuses('--tag', 'log'), { 'in/b.log': 'tagged' });
        succeed('untag', 'in/b.log', 'log');
        assert.equal(statuses()['in/b.log'], 'pending');
        fail(NOT_FOUND, /no tag 'log'/, 'untag', 'in/b.log', 'log');
        self.write('other.txt', '');
        fail(NOT_FOUND, /other\.txt' is no registered file/, 'tag', 'other.txt', 'log');
    });

    test('a scan registers and tags what it finds, and no more', () => {
        succeed('scan', 'in', '--register', 'in');
        assert.deepEqual(succeed('scan', 'in', '-p', 'a.*', '--tag', 'top'), { source: 'in', file_count: 1, total_size: 2 });
        assert.deepEqual(statuses(), { 'in/a.csv': 'tagged', 'in/b.log': 'pending', 'in/sub/c.csv': 'pending' });
        fs.rmSync(at('in/b.log'));
        assert.equal(statuses()['in/b.log'], 'pending');
        succeed('source', 'sync', 'in');
        assert.deepEqual(statuses('--status', 'deleted'), { 'in/b.log': 'deleted' });
    });

    test('several patterns and endings each find their files', () => {
        const found = (...args) => succeed('scan', 'in', ...args).files.map((file) => path.relative(self.dir, file.path)).sort();
        assert.deepEqual(found(), ['in/a.csv', 'in/b.log', 'in/sub/c.csv']);
        assert.deepEqual(found('-p', 'a.*', '-t', 'log'), ['in/a.csv', 'in/b.log']);
        assert.deepEqual(found('--no-recursive', '-t', 'csv', '-t', '.log'), ['in/a.csv', 'in/b.log']);
        assert.deepEqual(found('--min-size', '1K'), []);
    });

    test('what is no id, no folder and no source is named', () => {
        fail(USAGE, /'abc' is no id of a rule/, 'rule', 'remove', 'abc');
        fail(NOT_FOUND, /there is no 'nowhere'/, 'source', 'add', 'nowhere');
        fail(NOT_FOUND, /there is no source 'none'/, 'source', 'sync', 'none');
    });
});

describe('schemas', () => {
    const column = (name, type, more = {}) => ({ name, type, nullable: false, ...more });
    const schema = (columns, more = {}) => ({ output_name: 't', columns, ...more });
    const write = (name, value) => self.write(name, JSON.stringify(value));
    const decimal = (precision, scale) => ({ kind: 'decimal', precision, scale });

    /** What `schema diff` says of two schemas: ["change column"] that break, and the others. */
    function diff(older, newer) {
        write('a.json', older);
        write('b.json', newer);
        const done = self.cli(['schema', 'diff', 'a.json', 'b.json', '--json']);
        const names = (breaks) => done.json.changes.filter((one) => one.breaks === breaks).map((one) => `${one.change} ${one.column ?? one.output}`);
        assert.equal(done.json.breaks, names(true).length > 0);
        assert.equal(done.status, done.json.breaks ? FAILED : 0);
        return [names(true), names(false)];
    }

    test('diff names what breaks readers, and what does not', () => {
        const a = column('a', 'int64'), b = column('b', 'string', { nullable: true });
        const price = (precision, scale) => column('p', decimal(precision, scale));
        assert.deepEqual(diff(schema([a, b]), schema([a, b])), [[], []]);
        assert.deepEqual(diff(schema([a, b]), schema([a])), [['removed b'], []]);
        assert.deepEqual(diff(schema([a]), schema([a, b])), [[], ['added b']]);
        assert.deepEqual(diff(schema([a]), schema([{ ...a, nullable: true }])), [['nullable a'], []]);
        assert.deepEqual(diff(schema([b]), schema([{ ...b, nullable: false }])), [[], ['nullable b']]);
        assert.deepEqual(diff(schema([a]), schema([column('a', 'string')])), [['type a'], []]);
        // 8 digits before the point fit into 14
        assert.deepEqual(diff(schema([price(18, 4)]), schema([price(10, 2)])), [[], ['type p']]);
        // 16 do not
        assert.deepEqual(diff(schema([price(18, 4)]), schema([price(18, 2)])), [['type p'], []]);
        assert.deepEqual(diff(schema([price(10, 2)]), schema([price(10, 3)])), [['type p'], []]);
        // 19 digits
        assert.deepEqual(diff(schema([price(22, 3)]), schema([column('p', 'int64')])), [[], ['type p']]);
        assert.deepEqual(diff(schema([price(21, 3)]), schema([column('p', 'int64')])), [['type p'], []]);
        assert.deepEqual(diff(schema([a, b]), schema([b, a])), [[], ['order t']]);
        assert.deepEqual(diff(schema([a]), schema([a], { mode: 'allow_extra' })), [[], ['mode t']]);
        const day = column('d', 'date', { format: '%Y-%m-%d' });
        assert.deepEqual(diff(schema([day]), schema([{ ...day, format: '%d.%m.%Y' }])), [[], ['format d']]);
        assert.deepEqual(diff({ t: schema([a]), u: { ...schema([a]), output_name: 'u' } }, { t: schema([a]) }), [['removed u'], []]);
    });

    test('diff takes plugins and proposals', () => {
        self.copy('parsers/sales_csv.py', 'sales_csv.py');
        const same = self.cli(['schema', 'diff', 'weblog_native', 'weblog_native']);
        assert.equal(same.status, 0, same.err);
        assert.equal(same.out, '');
        const [first] = Object.values(succeed('schema', 'weblog_native').schemas);
        write('first.json', { ...first, columns: first.columns.slice(1) });
        const { ephemeral_id: id } = succeed('schema', 'propose', 'first.json');
        const done = self.cli(['schema', 'diff', 'weblog_native', id]);
        assert.equal(done.status, FAILED);
        assert.match(done.out, new RegExp(`^${first.output_name} +${first.columns[0].name} +removed`, 'm'));
        assert.match(done.err, /changes break readers of weblog_native/);
    });

    test('a proposal is tested, and promoted as code that exists once', () => {
        self.copy('parsers/sales_csv.py', 'sales_csv.py');
        self.copy('samples/sales', 'sales');
        write('s.json', { output_name: 'sales_csv', mode: 'allow_extra', columns: [column('currency', 'string')] });
        const { ephemeral_id: id, schema_hashes: hashes } = succeed('schema', 'propose', 's.json');
        const job = succeed('backtest', './sales_csv.py', 'sales', '--ephemeral', id);
        assert.equal(job.result.outputs.sales_csv.schema_hash, hashes.sales_csv);
        const { files } = succeed('schema', 'promote', id, '--output', 'schemas.py');
        assert.deepEqual(files.map((file) => file.path), [path.join(self.dir, 'schemas.py')]);
        assert.equal(files[0].sha256, createHash('sha256').update(self.read('schemas.py')).digest('hex'));
        assert.match(self.read('schemas.py'), /^outputs = \{/m);
        fail(FAILED, /schemas\.py' exists already/, 'schema', 'promote', id, '--output', 'schemas.py');
        succeed('schema', 'promote', '--from', 's.json', '--output', './');
        assert.ok(self.exists('sales_csv.schema.json'));
    });

    test('what is no schema, proposal or place is named', () => {
        write('bad.json', { output_name: 't', columns: [{ name: 'a', type: 'int65' }] });
        fail(USAGE, /int65/, 'schema', 'propose', 'bad.json');
        fail(USAGE, /--output PATH is required/, 'schema', 'promote', 'eph_00000000-0000-4000-8000-000000000000');
        fail(NOT_FOUND, /no proposal 'eph_0000/, 'schema', 'promote', 'eph_00000000-0000-4000-8000-000000000000', '--output', 'x.py');
        fail(USAGE, /'\.\.\/x' is no id of an ephemeral schema/, 'schema', 'promote', '../x', '--output', 'x.py');
        write('s.json', schema([column('a', 'int64')]));
        fail(NOT_FOUND, /there is no folder 'nowhere\/'/, 'schema', 'promote', '--from', 's.json', '--output', 'nowhere/x.py');
        fail(USAGE, /x\.txt/, 'schema', 'promote', '--from', 's.json', '--output', 'x.txt');
        fail(NOT_FOUND, /none\.json/, 'schema', 'diff', 'none.json', 's.json');
    });
});

describe('plugin new', () => {
    const CSV = ['day;count;price;ok;name;seen', '2024-05-01;3;1.50;true;Ann;2024-05-01T10:00:00Z',
        '2024-05-02;;12.345;false;"B; ""b""";2024-05-01T10:00:01Z', '2024-05-03;-7;N/A;true;?;2024-05-01T10:00:02Z', ''].join('\n');
    const TYPES = {
        day: 'date', count: 'int64', price: { kind: 'decimal', precision: 18, scale: 3 }, ok: 'boolean', name: 'string',
        seen: { kind: 'timestamp_tz', timezone: 'UTC' },
    };
    const columns = (plugin, output) => Object.values(succeed('schema', plugin).schemas).find((one) => one.output_name === output).columns;

    /** All rows of a file, as a run of the plugin writes them. */
    function rows(plugin, file, output) {
        const done = succeed('run', plugin, file, '--sink', 'csv://./out');
        assert.equal(done.result.outputs[output].rows_quarantined, 0);
        return succeed('query', `SELECT * EXCLUDE (_cf_job_id, _cf_source_hash) FROM ${output}`).rows;
    }

    test('a CSV sample becomes a parser in Python that fits all of it', () => {
        self.write('in/shop.csv', CSV);
        const made = succeed('plugin', 'new', 'shop', '--sample', 'in/shop.csv');
        assert.deepEqual(made.files, ['shop/casparian.toml', 'shop/shop.py']);
        const found = columns('./shop', 'shop');
        assert.deepEqual(Object.fromEntries(found.map((one) => [one.name, one.type])), TYPES);
        assert.deepEqual(found.filter((one) => one.nullable).map((one) => one.name).filter((name) => name !== 'name'), ['count', 'price']);
        const job = succeed('backtest', './shop', 'in', '--fail-under', '100');
        assert.equal(job.result.outputs.shop.rows_valid, 3);
        assert.equal(made.schema_hash, job.result.outputs.shop.schema_hash);
    });

    test('what samples have of odd headers, quotes and lines is in the rows', () => {
        const cases = {
            'trail.csv': ['a,b,\n11,2,\n', [[11, 2, null]]],
            'doubled.csv': ['a,a,A,,b\n11,2,3,4,5\n', [[11, 2, 3, 4, 5]]],
            'blanks.csv': ['\n\na;b\n\n1,5;x\n', [['1,5', 'x']]],
        };
        for (const [file, [text, expected]] of Object.entries(cases)) {
            const name = file.replace('.csv', '');
            self.write(`in/${file}`, text);
            succeed('plugin', 'new', name, '--sample', `in/${file}`);
            assert.deepEqual(rows(`./${name}`, `in/${file}`, name).map((row) => row.slice(0, expected[0].length)), expected, file);
        }
        self.write('in/longer.csv', `a,b\n11,${'x'.repeat(200_000)}\n`);
        succeed('plugin', 'new', 'longer', '--sample', 'in/longer.csv');
        rows('./longer', 'in/longer.csv', 'longer');
        assert.deepEqual(succeed('query', 'SELECT length(b) FROM longer').rows, [[200_000]]);
        fs.writeFileSync(path.join(self.dir, 'in/packed.csv.gz'), gzipSync('id|name\n11|a,b,c\n'));
        succeed('plugin', 'new', 'packed', '--sample', 'in/packed.csv.gz');
        assert.deepEqual(rows('./packed', 'in/packed.csv.gz', 'packed').map((row) => row.slice(0, 2)), [[11, 'a,b,c']]);
        fail(USAGE, /no template in C/, 'plugin', 'new', 'other', '--lang', 'c', '--sample', 'in/packed.csv.gz');
    });

    test('no line of a file with odd quotes or a wrong number of values is lost', () => {
        self.write('in/shop.csv', 'id,text\n11,a\n');
        succeed('plugin', 'new', 'shop', '--sample', 'in/shop.csv');
        self.write('odd/a.csv', 'id,text\n1,a\n2\n3,b,more\n4,"never closed\n5,c\n');
        const done = succeed('run', './shop', 'odd', '--sink', 'csv://./out', '--allow-quarantine', '--max-quarantine-pct', '90');
        assert.deepEqual([done.result.outputs.shop.rows_valid, done.result.outputs.shop.rows_quarantined], [1, 3]);
        const bad = succeed('query', 'SELECT _source_row, _raw_row FROM quarantine."shop" ORDER BY 1').rows;
        assert.deepEqual(bad.map(([line]) => line), [3, 4, 5]);
        assert.equal(JSON.parse(bad[0][1]).id, '2');
        assert.deepEqual([JSON.parse(bad[1][1]).text, JSON.parse(bad[1][1]).extra_1], ['b', 'more']);
    });

    test('the same in C compiles without a warning, and says the same', () => {
        self.write('in/shop.csv', CSV);
        const made = succeed('plugin', 'new', 'shop', '--lang', 'c', '--sample', 'in/shop.csv');
        assert.deepEqual(made.files, ['shop/casparian.toml', 'shop/shop.c', 'shop/schemas/shop.schema.json']);
        const sdk = path.join(root, 'servers', 'casparian');
        const sources = fs.readdirSync(path.join(sdk, 'guest', 'sdk')).filter((name) => name.endsWith('.c')).map((name) => path.join(sdk, 'guest', 'sdk', name));
        const built = spawnSync('cc', ['-std=c17', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-I', path.join(root, 'include'), '-I', sdk,
            'shop/shop.c', ...sources, '-o', 'shop/shop'], { cwd: self.dir, encoding: 'utf8' });
        assert.equal(built.status, 0, built.stderr);
        const job = succeed('backtest', './shop', 'in', '--fail-under', '100');
        assert.equal(job.result.outputs.shop.rows_valid, 3);
        assert.deepEqual(columns('./shop', 'shop').map((one) => one.name), Object.keys(TYPES));
        const [header, ...lines] = CSV.split('\n');
        self.write('other/marked.csv', `\ufeff\n${CSV}`);
        self.write('other/reordered.csv', [header.split(';').reverse().join(';'), ...lines].join('\n'));
        const mixed = succeed('backtest', './shop', 'other');
        assert.equal(mixed.result.outputs.shop.rows_valid, 3);
        assert.deepEqual(mixed.result.errors.map(({ file }) => path.basename(file)), ['reordered.csv']);
        assert.match(mixed.result.errors[0].error, /header/);
    });

    test('lines of JSON keep their types, and may lack what is nullable', () => {
        self.write('in/a.ndjson', '{"id":1,"at":"2024-05-01","deep":{"x":1}}\n{"id":2,"at":"2024-05-02","w":1.5}\n');
        succeed('plugin', 'new', 'objects', '--sample', 'in/a.ndjson');
        const types = Object.fromEntries(columns('./objects', 'objects').map((one) => [one.name, [one.type, one.nullable]]));
        assert.deepEqual(types, { id: ['int64', false], at: ['date', false], deep: ['string', true], w: ['float64', true] });
        const job = succeed('backtest', './objects', 'in', '--fail-under', '100');
        assert.equal(job.result.outputs.objects.rows_valid, 2);
        self.write('in/a.ndjson', '{"id":1,"at":"2024-05-01"}\n{"id":2,"at":"2024-05-02","id":3}\n');
        const twice = succeed('backtest', './objects', 'in').result.outputs.objects;
        assert.deepEqual([twice.rows_valid, twice.rows_quarantined], [1, 1]);
        fail(USAGE, /no template in C for JSON/, 'plugin', 'new', 'other', '--lang', 'c', '--sample', 'in/a.ndjson');
        assert.ok(!self.exists('other'));
    });

    test('without a sample a row is a line', () => {
        self.write('in/a.txt', 'one\ntwo\n');
        succeed('plugin', 'new', 'notes');
        assert.deepEqual(rows('./notes', 'in', 'notes').map((row) => row.slice(0, 2)), [[1, 'one'], [2, 'two']]);
    });

    test('nothing is overwritten, and a name is one', () => {
        self.write('mine/x', '');
        fail(FAILED, /'mine' exists/, 'plugin', 'new', 'mine');
        fail(USAGE, /'\.\.\/x' is no name of a plugin/, 'plugin', 'new', '../x');
        fail(NOT_FOUND, /there is no file 'none\.csv'/, 'plugin', 'new', 'shop', '--sample', 'none.csv');
        self.write('empty.csv', 'a,b\n');
        fail(FAILED, /'.*empty\.csv' has no rows/, 'plugin', 'new', 'shop', '--sample', 'empty.csv');
        fs.writeFileSync(path.join(self.dir, 'wide.csv'), Buffer.from('\ufeffa,b\n1,2\n', 'utf16le'));
        fail(FAILED, /wide\.csv': the file is UTF-16: convert it/, 'plugin', 'new', 'shop', '--sample', 'wide.csv');
        fs.writeFileSync(path.join(self.dir, 'latin.csv'), Buffer.from('a,b\n1,caf\xe9\n', 'latin1'));
        fail(FAILED, /latin\.csv': values with bytes that are not UTF-8: 1 .* iconv -f WINDOWS-1252/, 'plugin', 'new', 'shop', '--sample', 'latin.csv');
        self.write('own.csv', 'a,_cf_job_id\n1,2\n');
        fail(FAILED, /own\.csv': .*_cf_job_id is casparian's own/, 'plugin', 'new', 'shop', '--sample', 'own.csv');
        self.write('twice.jsonl', '{"a":1,"A":2}\n');
        fail(FAILED, /twice\.jsonl': output 'rows' gives no schema.*duplicate column/, 'plugin', 'new', 'shop', '--sample', 'twice.jsonl');
        assert.ok(!self.exists('shop'));
    });
});

describe('options of the command table', () => {
    test('backtest --follow prints the progress where nobody watches', () => {
        self.copy('samples/weblog', 'weblog');
        const done = self.cli(['ai', 'backtest', 'weblog_native', 'weblog', '--follow']);
        assert.equal(done.status, 0, done.err);
        const [file] = fs.readdirSync(path.join(self.dir, 'weblog'));
        const lines = self.read(`weblog/${file}`).trimEnd().split('\n').length; // a row each
        assert.match(done.err, new RegExp(`1/1 files +${lines} rows`));
        assert.equal(self.cli(['backtest', 'weblog_native', 'weblog']).err, '');
    });

    test('run --whatif lists what would run and why, and leaves no trace', () => {
        self.write('in/a.csv', 'x\n1\n');
        self.write('in/b.csv', 'x\n2\n');
        const whatif = (...args) => {
            const { files, file_count: count, files_skipped: skipped } = succeed('run', 'csv_native', 'in', '--whatif', ...args);
            assert.equal(files.length, count);
            return [files.map((file) => `${path.basename(file.path)}: ${file.reason}`), skipped];
        };
        assert.deepEqual(whatif(), [['a.csv: new', 'b.csv: new'], 0]);
        assert.deepEqual(succeed('files').files, []);
        assert.ok(!self.exists('output'));
        succeed('run', 'csv_native', 'in');
        assert.deepEqual(whatif(), [[], 2]);
        assert.deepEqual(whatif('--force'), [['a.csv: --force', 'b.csv: --force'], 0]);
        self.write('in/b.csv', 'x\n2\n3\n');
        self.write('in/c.csv', 'x\n4\n');
        const changed = 'changed, or not done by this plugin into this sink';
        assert.deepEqual(whatif(), [[`b.csv: ${changed}`, 'c.csv: new'], 1]);
        assert.deepEqual(whatif('--sink', './other'), [[`a.csv: ${changed}`, `b.csv: ${changed}`, 'c.csv: new'], 0]);
        const { result } = succeed('run', 'csv_native', 'in'); // what was foreseen
        assert.deepEqual([result.files_processed, result.files_skipped], [2, 1]);
    });

    test('ai promote-schema is schema promote', () => {
        self.write('s.json', JSON.stringify({ t: { output_name: 't', columns: [{ name: 'a', type: 'int64' }] } }));
        succeed('ai', 'promote-schema', '--from', 's.json', '--output', 't.py');
        assert.match(self.read('t.py'), /"a"/);
    });

    test('files -p lists those that match, as many as --limit says', () => {
        for (let i = 0; i < 1100; i++)
            self.write(`in/${i % 2 ? 'odd' : 'even'}/${i}.txt`, '');
        self.write('in/z.csv', '');
        succeed('scan', 'in', '--register', 'inbox');
        const names = (...args) => succeed('files', ...args).files.map((file) => path.relative(path.join(self.dir, 'in'), file.path));
        assert.deepEqual(names('-p', '*.csv'), ['z.csv']); // the last of more than one page
        assert.equal(names('-p', 'odd/*', '--limit', '1000').length, 550);
        assert.equal(names('-p', 'odd/*').length, 50);
        assert.deepEqual(names('-p', '*.nothing'), []);
        assert.equal(names('--limit', '3').length, 3);
        fail(USAGE, /./, 'files', '-p', '[');
    });
});
