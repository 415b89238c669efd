/*
 * The command line of casparian as a person and a shell script use it: what is printed, what --json
 * prints, and exit statuses.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place } from './casparian.mjs';

const FAILED = 1, USAGE = 2, NOT_FOUND = 4;

let self;
beforeEach(() => { self = place(); });
afterEach(() => self.remove());

function succeed(...args) {
    const done = self.cli([...args, '--json']);
    assert.equal(done.status, 0, `${args}: ${done.err}${done.out}`);
    return done.json;
}

function fail(status, pattern, ...args) {
    const done = self.cli(args);
    assert.equal(done.status, status, `${args}: ${done.out}${done.err}`);
    assert.match(done.err, pattern);
    return done;
}

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

    test('a name that is nearly one is suggested', () => {
        fail(NOT_FOUND, /there is no plugin[^]*TRY: weblog_native/, 'run', 'weblog_nativ', 'weblog');
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
