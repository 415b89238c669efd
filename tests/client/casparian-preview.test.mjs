/*
 * casparian-preview.test.mjs - casparian preview on the command line: by a parser, and files as
 * they are.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { place } from './casparian.mjs';

const FAILED = 1, USAGE = 2, NOT_FOUND = 4;

let self;
beforeEach(() => { self = place(); });
afterEach(() => self.remove());

function succeed(...args) {
    const done = self.cli(['preview', ...args, '--json']);
    assert.equal(done.status, 0, `${args}: ${done.err}${done.out}`);
    return done.json;
}

function fail(status, pattern, ...args) {
    const done = self.cli(['preview', ...args]);
    assert.equal(done.status, status, `${args}: ${done.out}${done.err}`);
    assert.match(done.err, pattern);
}

describe('by a parser', () => {
    beforeEach(() => self.write('a.csv', 'id;name\n1;a,b\n2;c\n'));

    test('--delimiter is that of the file, also of another ending', () => {
        assert.deepEqual(succeed('a.csv').outputs.rows.sample_rows.map((row) => row.id), ['1', '2']);
        const byComma = succeed('a.csv', '--delimiter', ',').outputs.rows;
        assert.ok('id;name' in byComma.sample_rows[0]);
        self.write('b.dat', 'x\ty\n1\t2\n');
        assert.equal(succeed('b.dat', '--delimiter', 'tab').outputs.rows.sample_rows[0].y, '2');
        fail(USAGE, /one character of ASCII, or tab/, 'a.csv', '--delimiter', '::');
        fail(USAGE, /for csv_native, and not for jsonl_native/, 'a.csv', '--delimiter', ',', '--plugin', 'jsonl_native');
    });

    test('bytes that are not UTF-8 are named in a warning, as they are of a job', () => {
        fs.writeFileSync(path.join(self.dir, 'latin.csv'), Buffer.from('id;name\n1;M\xfcller\n2;G\xf6\xdfl\n3;x\n', 'latin1'));
        const words = /values with bytes that are not UTF-8: 2 \(first in latin\.csv\)/;
        assert.match(succeed('latin.csv').warnings.join(), words);
        const run = self.cli(['run', 'csv_native', 'latin.csv', '--sink', 'csv://./out']);
        assert.equal(run.status, 0, run.err);
        assert.match(run.err, words);
        const { warnings } = self.succeed('backtest', 'csv_native', 'latin.csv').result;
        assert.match(warnings.join(), words);
        assert.equal(succeed('a.csv').warnings, undefined);
        /* A terminal would write the rest of the line from right to left. */
        fs.renameSync(path.join(self.dir, 'latin.csv'), path.join(self.dir, 'latin\u202e.csv'));
        assert.match(self.cli(['run', 'csv_native', 'latin\u202e.csv', '--sink', 'csv://./out']).err, /^warning: .*first in latin\\u202E\.csv/m);
    });

    test('--schema shows columns and types', () => {
        const shown = self.cli(['preview', 'a.csv', '--schema']);
        assert.equal(shown.status, 0, shown.err);
        assert.match(shown.out, /^rows$\n^COLUMN +TYPE +NULLABLE$/m);
        assert.match(shown.out, /^name +string +/m);
        assert.doesNotMatch(shown.out, /a,b/);
    });

    test('a file that the parser cannot read fails the command, and rows of no table are warned of', () => {
        fs.writeFileSync(path.join(self.dir, 'wide.csv'), Buffer.from('\ufeffa,b\n1,2\n', 'utf16le'));
        fail(FAILED, /error: the file is UTF-16[^]*error: csv_native cannot read '.*wide\.csv'/, 'wide.csv');
        const done = self.cli(['preview', 'wide.csv', '--json']);
        assert.deepEqual([done.status, done.json.errors.length], [FAILED, 1]);
        self.write('twice.jsonl', '{"a":1,"A":2}\n');
        const shown = self.cli(['preview', 'twice.jsonl']);
        assert.equal(shown.status, 0);
        assert.match(shown.err, /^output 'rows' gives no schema/m);
    });

    test('lines of JSON are known by the first one', () => {
        self.write('events', '{"k": 1}\n{"k": 2}\n');
        assert.deepEqual(succeed('events', '-n', '1').outputs.rows.sample_rows.map((row) => row.k), [1]);
    });
});

describe('as it is', () => {
    test('text without a parser is shown by lines', () => {
        self.write('notes.txt', 'one\r\ntwo\n\nfour');
        assert.deepEqual(succeed('notes.txt').lines, ['one', 'two', '', 'four']);
        const { lines, truncated, format } = succeed('notes.txt', '--head', '2');
        assert.deepEqual([lines, truncated, format], [['one', 'two'], true, 'text']);
        assert.equal(self.cli(['preview', 'notes.txt', '--raw', '-n', '1']).out, 'one\n');
    });

    test('a terminal obeys nothing of it', () => {
        self.write('evil.txt', 'a\u001b[2Jb\n');
        assert.equal(self.cli(['preview', 'evil.txt']).out, 'a\\u001B[2Jb\n');
    });

    test('bytes are shown as hexadecimal digits, 16 a line', () => {
        fs.writeFileSync(path.join(self.dir, 'x.bin'), Buffer.from([...Array(17).keys()].map((i) => i + 0x40 - (i === 0 ? 0x40 : 0))));
        const { format, lines, truncated } = succeed('x.bin');
        assert.equal(format, 'hex');
        assert.equal(truncated, false);
        assert.deepEqual(lines, [
            '00000000  00 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  |.ABCDEFGHIJKLMNO|',
            `00000010  50${' '.repeat(45)}  |P|`,
        ]);
    });

    test('a character that the bound of 1 MiB divides makes no bytes of a text', () => {
        self.write('long.txt', `xy\n${'\u00e4'.repeat(600000)}`);
        const { format, lines, truncated } = succeed('long.txt', '--head', '1');
        assert.deepEqual([format, lines, truncated], ['text', ['xy'], true]);
    });

    test('what gzip has packed is shown as what it holds, up to 1 MiB, and with --raw as it is', () => {
        fs.writeFileSync(path.join(self.dir, 'x.1.gz'), Buffer.concat([gzipSync('one\ntwo\n'), gzipSync('three')]));
        const { format, unpacked, lines, truncated } = succeed('x.1.gz');
        assert.deepEqual([format, unpacked, lines, truncated], ['text', 'gzip', ['one', 'two', 'three'], false]);
        assert.deepEqual(succeed('x.1.gz', '--head', '1').lines, ['one']);
        assert.match(succeed('x.1.gz', '--raw').lines[0], /^00000000 {2}1f 8b 08 /);
        fs.writeFileSync(path.join(self.dir, 'bomb.gz'), gzipSync(Buffer.alloc(64 << 20)));
        const bomb = succeed('bomb.gz', '-n', '1000');
        assert.deepEqual([bomb.format, bomb.lines.length, bomb.truncated], ['hex', 1000, true]);
        fs.writeFileSync(path.join(self.dir, 'cut.gz'), gzipSync('a line\n'.repeat(3)).subarray(0, 20));
        assert.equal(succeed('cut.gz').truncated, true);
        fs.writeFileSync(path.join(self.dir, 'no.gz'), Buffer.from([0x1f, 0x8b, 0, 1, 2]));
        assert.deepEqual([succeed('no.gz').format, succeed('no.gz').unpacked], ['hex', undefined]);
        fs.writeFileSync(path.join(self.dir, 'events.jsonl.gz'), gzipSync('{"k": 1}\n'));
        assert.deepEqual(succeed('events.jsonl.gz').outputs.rows.sample_rows.map((row) => row.k), [1]);
    });

    test('what is no file is refused, and --redact without rows', () => {
        fs.mkdirSync(path.join(self.dir, 'd'));
        fail(USAGE, /is not a file/, 'd');
        fail(NOT_FOUND, /no file/, 'nothing.csv');
        self.write('notes.txt', 'one\n');
        fail(USAGE, /--redact is for the rows/, 'notes.txt', '--redact', 'hash');
    });
});
