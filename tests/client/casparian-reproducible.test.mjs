/*
 * casparian-reproducible.test.mjs - the same inputs through the same parser twice, in two homes:
 * the outputs are equal, byte for byte as text, but for the job and the time.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { place } from './casparian.mjs';

/* Sets have an order that depends on the seed of hashes, and files of a folder one of the disk. */
const PARSER = `import datetime
import decimal
import os

name = "kinds"
version = "1.0.0"
outputs = {"kinds": {"columns": [
    {"name": "n", "type": "int64", "nullable": False}, {"name": "text", "type": "string"},
    {"name": "real", "type": "float64"}, {"name": "price", "type": "decimal(18,4)"},
    {"name": "flag", "type": "boolean"}, {"name": "day", "type": "date"}, {"name": "at", "type": "timestamp_tz(UTC)"},
    {"name": "bytes", "type": "binary"}]}}


def parse(file_path):
    base = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
    with open(file_path) as lines:
        for n, line in enumerate(lines):
            words = set(line.split())
            yield {"n": n if n % 10 else None, "text": " ".join(words), "real": 1 / (n + 1),
                   "price": decimal.Decimal(n).scaleb(-4), "flag": n % 2 == 0, "day": base.date(),
                   "at": base + datetime.timedelta(microseconds=n), "bytes": os.fsencode(line)}
`;
const PLUGINS = {
    kinds: { ref: './kinds.py', input: 'in', outputs: ['kinds', 'kinds_quarantine'] },
    fix_parser: { ref: 'fix_parser', input: 'samples/fix', outputs: ['fix_order_lifecycle', 'fix_session_events'] },
    weblog_native: { ref: 'weblog_native', input: 'samples/weblog', outputs: ['http_requests', 'http_parse_errors'] },
    jsonl_native: { ref: 'jsonl_native', input: 'samples/jsonl', outputs: ['rows'] },
};
const LINEAGE = /,([0-9a-f]{64}),(\d+),(\d{4}-[\dT:.-]+Z),([\w.+-]+)$/gm;

describe('two runs', () => {
    let self;
    const homes = ['first', 'second'];
    const inHome = (home, args) => {
        const done = self.cli(args, { env: { CASPARIAN_HOME: path.join(self.top, home) } });
        assert.equal(done.status, 0, `${args}: ${done.err}${done.out}`);
        return done.out;
    };

    before(() => {
        self = place();
        for (const name of ['fix', 'weblog', 'jsonl'])
            self.copy(`samples/${name}`, `samples/${name}`);
        self.write('kinds.py', PARSER);
        for (const file of [1, 2, 3])
            self.write(`in/${file}.txt`, Array.from({ length: 500 }, (_, row) => `alpha beta gamma delta ${row} "quoted, ${file}"\n`).join(''));
        inHome('second', ['backtest', 'jsonl_native', 'samples/jsonl']); // other job numbers
    });
    after(() => self.remove());

    const runs = (scheme, { name, ref, input }, read) => homes.map((home) => {
        const folder = `${home}-${name}-${scheme}`;
        const file = scheme === 'duckdb' ? '/x.duckdb' : '';
        const sink = `${scheme}://./${folder}${file}`;
        inHome(home, ['run', ref, input, '--sink', sink, '--force', '--allow-quarantine']);
        return read(home, path.join(self.dir, folder));
    });

    for (const [name, plugin] of Object.entries(PLUGINS)) {
        for (const scheme of name === 'kinds' ? ['parquet', 'duckdb'] : ['parquet']) {
            test(`${name} to ${scheme}`, () => {
                const texts = runs(scheme, { name, ...plugin }, (home) => plugin.outputs.map((output) => inHome(home, ['query', '--format', 'csv',
                    '--limit', '10000', `SELECT * EXCLUDE (_cf_job_id, _cf_processed_at) FROM outputs."${output}"`])));
                assert.ok(texts[0][0].split('\n').length > 3, texts[0][0]);
                assert.deepEqual(texts[1], texts[0]);
            });
        }

        test(`${name} to csv`, () => {
            const texts = runs('csv', { name, ...plugin }, (home, dir) => fs.readdirSync(dir).filter((file) => file.endsWith('.csv')).sort()
                .map((file) => [file.replace(/_[0-9a-f]{16}\.csv$/, ''), fs.readFileSync(path.join(dir, file), 'utf8').replace(LINEAGE, ',$1,JOB,TIME,$4')]));
            assert.deepEqual(plugin.outputs.filter((output) => !texts[0].some(([file]) => file === output)), []);
            assert.ok(texts[0].some(([, text]) => text.includes(',JOB,TIME,')));
            assert.deepEqual(texts[1], texts[0]);
        });
    }
});
