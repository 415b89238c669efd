/*
 * casparian-inputs.test.mjs - files as people have them: empty, only a header, of another encoding;
 * and parsers as strangers write them, without a schema.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';

let self, server;
beforeEach(async () => {
    self = place();
    server = await serve(self, ['--allow-dev-plugins']);
});
afterEach(async () => {
    await server?.close();
    self.remove();
});

const preview = (plugin, ...files) => server.ask('preview', { plugin_ref: plugin, files, redaction: { mode: 'none' } });

describe('an output without rows', () => {
    for (const [name, text] of [['a header', 'a,b\n'], ['nothing', ''], ['a byte order mark', '\ufeff']]) {
        test(`${name} is previewed as no rows`, async () => {
            self.write('a.csv', text);
            const { outputs, errors } = await preview('csv_native', 'a.csv');
            assert.deepEqual(errors, []);
            assert.deepEqual(outputs.rows.sample_rows, []);
            assert.ok(!('schema' in outputs.rows) && !('schema_hash' in outputs.rows));
            assert.equal(outputs.csv_parse_errors.schema.output_name, 'csv_parse_errors');
        });
    }

    test('a file whose parser fails is named, not answered by an internal error', async () => {
        self.write('a.csv', `${Array.from({ length: 3000 }, (_, i) => `c${i}`)}\n`);
        const { errors } = await preview('csv_native', 'a.csv');
        assert.match(errors[0].error, /more than 2000 columns/);
    });
});

/* Backtest a parser of that body over files of that names. */
async function backtest(body, files = ['a'], more = {}) {
    self.write('parser.py', `name = "parser"\nversion = "1.0.0"\n${body}\n`);
    for (const file of files)
        self.write(`in/${file}`, file);
    const { job_id } = await server.ask('backtest_start', { plugin_ref: { path: 'parser.py' }, input_dir: 'in', ...more });
    const job = await server.end(job_id);
    return job.result ?? job.partial_result;
}

describe('an output without a schema', () => {
    test('what the parser says of bad rows is shown, of files that succeed', async () => {
        const { outputs: { parser } } = await backtest(`
def parse(path):
    yield {"a": 1, "_cf_row_error": "bad row"}
    yield {"a": 2, "_cf_row_error": ""}
    yield {"a": 3, "_cf_row_error": None}
    yield {"a": 4}
    if path.endswith("b"):
        yield {"a": 5, "_cf_row_error": "never seen"}
        raise ValueError("x")`, ['a', 'b', 'c'], { redaction: { mode: 'none' } });
        assert.deepEqual(parser.parser_errors, { count: 2, samples: ['bad row'] });
        assert.equal(parser.rows_quarantined, 2);
        assert.equal(parser.extra_columns_dropped, 0);
    });

    test('a reason that is no text makes a row bad, too, as in a run', async () => {
        const { outputs: { parser } } = await backtest(`
def parse(path):
    yield {"a": 1, "_cf_row_error": 5}`, ['a'], { redaction: { mode: 'none' } });
        assert.deepEqual(parser.parser_errors, { count: 1, samples: ['5'] });
    });

    for (const [what, row, why] of [
        ['two columns that differ in case', '{"a": 1, "A": 2}', /duplicate column 'A'/],
        ['a name that is too long', '{"a" * 129: 1}', /1 to 128 bytes/],
    ]) {
        test(`${what} make no table: a warning says so before a run fails`, async () => {
            const parse = `def parse(path):\n    yield ${row}`;
            const { warnings } = await backtest(parse);
            assert.match(warnings.join('\n'), /^output 'parser' gives no schema, so a run of it fails: /m);
            assert.match(warnings.join('\n'), why);
            const shown = await preview({ path: 'parser.py' }, 'in/a');
            assert.match(shown.warnings.join('\n'), why);
        });
    }
});

describe('an error', () => {
    test('names plugins and paths as they are', async () => {
        self.write('in/a.csv', 'a\n1\n');
        const refused = async (plugin_ref) => (await server.refuse('preview', { plugin_ref, files: ['in/a.csv'] })).message;
        assert.equal(await refused('csv_native@9'), 'The plugin csv_native has no version 9');
        assert.match(await refused({ path: 'in/a.csv' }), /^There is no plugin at in\/a\.csv: /);
        assert.match(await refused({ path: 'in' }), /^There is no plugin at in: /);
    });

    test('of a tool that is limited begins with its name', async () => {
        fs.mkdirSync(self.home, { recursive: true });
        fs.writeFileSync(path.join(self.home, 'config.toml'), '[mcp.tools.casparian_preview]\nplugins = ["fix_parser"]\n');
        self.write('a.csv', 'a\n1\n');
        const limited = await serve(self);
        const { code, message } = await limited.refuse('preview', { plugin_ref: 'csv_native', files: ['a.csv'] });
        await limited.close();
        assert.equal(code, 'permission_denied');
        assert.match(message, /^casparian_preview may not be called with 'csv_native'/);
    });
});

test('schemas are not promoted into a folder that is not there: approved, they could not be written', async () => {
    const schema = { output_name: 'orders', columns: [{ name: 'id', type: 'int64' }] };
    const { ephemeral_id } = await server.ask('schema_propose', { schema });
    for (const output_path of ['no/orders.py', 'no/', 'no/way/orders.schema.json']) {
        const { code, message } = await server.refuse('schema_promote', { ephemeral_id, output_path });
        assert.equal(code, 'not_found');
        assert.match(message, /^\/output_path: there is no folder .*\/no(\/way)?$/);
    }
    fs.mkdirSync(path.join(self.dir, 'no'));
    for (const output_path of ['no/orders.py', 'no/', 'orders.py'])
        assert.equal((await server.ask('schema_promote', { ephemeral_id, output_path })).status, 'pending_approval');
});

describe('a policy that the server changes', () => {
    const redaction = { mode: 'none', max_sample_count: 100 };
    const expected = ['redaction.max_sample_count was set to 20: it must be 0 to 20'];

    test('is named in the warnings of each tool that takes one', async () => {
        self.write('a.csv', 'a\n1\n');
        assert.deepEqual((await server.ask('preview', { plugin_ref: 'csv_native', files: ['a.csv'], redaction })).warnings, expected);
        assert.deepEqual((await server.ask('query', { sql: 'SELECT 1', redaction })).warnings, expected);
        assert.deepEqual((await server.ask('quarantine_summary', { redaction })).warnings, expected);
        const { warnings } = await backtest('outputs = {"parser": {"columns": [{"name": "a", "type": "int64"}]}}\n'
            + 'def parse(path):\n    yield {"a": 1}', ['a'], { redaction });
        assert.deepEqual(warnings, expected);
    });

    test('several of them are several texts', async () => {
        const { warnings } = await server.ask('query', { sql: 'SELECT 1', redaction: { ...redaction, max_value_length: 0 } });
        assert.equal(warnings.length, 2);
        for (const warning of warnings)
            assert.match(warning, /^redaction\.\w+ was set to \d+: it must be \d+ to \d+$/);
    });
});

describe('rows of many megabytes', () => {
    test(async function long_rows_are_read_back_from_each_kind_of_sink() {
        self.write('huge.py', 'name = "huge"\nversion = "1.0.0"\noutputs = {"big": {"columns": [{"name": "n", "type": "int64"}, {"name": "text", "type": "string"}]}}\n'
            + 'def parse(path):\n    for n in range(2):\n        yield {"n": n, "text": "a\\n\\"," * (3 << 20)}\n');
        self.write('in/a', 'x');
        for (const sink of ['csv://./out', 'parquet://./out', 'duckdb://./out.duckdb']) {
            self.succeed('run', './huge.py', 'in', '--sink', sink);
            assert.deepEqual(self.succeed('query', 'SELECT n, length(text), length(replace(text, chr(10), \'\')) FROM big ORDER BY n').rows,
                [[0, 4 * (3 << 20), 3 * (3 << 20)], [1, 4 * (3 << 20), 3 * (3 << 20)]], sink);
        }
    });
});
