/*
 * casparian-loop.test.mjs - an assistant drafts the schema of dirty files from backtests alone, and
 * a person approves the result: acceptance scenario 4, and what comes after it.
 *
 * The samples have 400 rows: 12 with "N/A" as a price, 5 with an extra column, 30 without a
 * quantity, 60 with four decimals, two files with day-first dates; the defects are in different
 * rows. So the fixes alone give 383 rows, and a parser that makes nulls of "N/A" gives 395.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { place, serve } from './casparian.mjs';

const REF = { path: 'parsers/sales/sales_csv.py' };
const OUTPUT = 'sales_csv';
const WRONG = {
    output_name: OUTPUT,
    columns: [
        { name: 'order_id', type: 'string', nullable: false }, { name: 'customer', type: 'string' }, { name: 'order_date', type: 'date' },
        { name: 'quantity', type: 'int64', nullable: false }, { name: 'unit_price', type: 'int64' }, { name: 'currency', type: 'string' },
        { name: 'note', type: 'string' },
    ],
};

/** Apply the suggested fixes of a backtest's output to its schema, as an assistant does. */
function apply(schema, violations) {
    const next = structuredClone(schema);
    for (const { column, suggested_fix: fix } of violations) {
        const at = next.columns.findIndex((one) => one.name === column);
        if (!fix)
            continue;
        if (fix.action === 'make_nullable') {
            next.columns[at].nullable = true;
        } else if (fix.action === 'change_type') {
            next.columns[at].type = fix.to;
            delete next.columns[at].format;
            if (fix.format)
                next.columns[at].format = fix.format;
        } else if (fix.action === 'change_format') {
            next.columns[at].format = fix.suggested;
        } else if (fix.action === 'add_column') {
            next.columns.push({ name: fix.name, type: fix.type });
        } else if (fix.action === 'remove_column') {
            next.columns.splice(at, 1);
        }
    }
    return next;
}

describe('the loop', () => {
    let self, server, schema, rounds = 0, ephemeral;
    before(async () => {
        self = place();
        self.copy('samples/sales', 'samples/sales');
        self.copy('parsers/sales_csv.py', REF.path);
        fs.mkdirSync(path.join(self.dir, 'schemas'));
        server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']);
    });
    after(async () => { await server?.close(); self.remove(); });

    const backtest = async (id) => {
        rounds++;
        const { job_id: job } = await server.ask('backtest_start', { plugin_ref: REF, input_dir: 'samples/sales', ephemeral_id: id });
        const ended = await server.end(job);
        assert.equal(ended.status, 'completed', JSON.stringify(ended));
        return ended.result.outputs[OUTPUT];
    };
    const propose = async (definition) => {
        const reply = await server.ask('schema_propose', { schemas: { [OUTPUT]: definition } });
        assert.equal(reply.valid, true, JSON.stringify(reply));
        assert.match(reply.ephemeral_id, /^eph_[0-9a-f-]{36}$/);
        return reply;
    };

    test('1: a preview has the forms of the values and not the values', async () => {
        const shown = await server.ask('preview', { plugin_ref: REF, files: fs.readdirSync(path.join(self.dir, 'samples/sales')).sort().map((name) => `samples/sales/${name}`) });
        assert.deepEqual(shown.errors, []);
        assert.equal(shown.outputs[OUTPUT].inferred, true);
        const text = JSON.stringify(shown);
        for (const line of self.read(`samples/sales/${fs.readdirSync(path.join(self.dir, 'samples/sales'))[0]}`).split('\n').slice(1, 20)) {
            const customer = line.split(',')[1];
            assert.ok(!customer || customer.length < 4 || !text.includes(customer), customer);
        }
    });

    test('2: what is wrong with a proposal is said, and nothing is stored', async () => {
        const reply = await server.ask('schema_propose', { schema: { output_name: OUTPUT, columns: [{ name: 'a', type: { kind: 'decimal' } }, { name: 'a', type: 'string' }] } });
        assert.equal(reply.valid, false);
        assert.ok(reply.validation_errors.length >= 2, JSON.stringify(reply));
        assert.equal(reply.ephemeral_id, undefined);
    });

    test('3: the backtest of the wrong schema names each defect', async () => {
        const { violations } = await backtest((await propose(WRONG)).ephemeral_id);
        const of = (type, column) => violations.find((one) => one.violation_type === type && one.column === column);
        const price = of('type_mismatch', 'unit_price');
        assert.deepEqual(price.suggested_fix, { action: 'change_type', from: 'int64', to: { kind: 'decimal', precision: 18, scale: 4 } });
        assert.ok(price.sentinels.includes('N/A'));
        const date = of('format_mismatch', 'order_date');
        assert.equal(date.suggested_fix.action, 'change_type');
        assert.equal(date.suggested_fix.to, 'string');
        assert.ok(date.sample_patterns.includes('99/99/9999'));
        assert.deepEqual(of('null_not_allowed', 'quantity').suggested_fix, { action: 'make_nullable' });
        assert.equal(of('null_not_allowed', 'quantity').count, 30);
        const extra = of('column_count_mismatch', 'extra');
        assert.equal(extra.count, 5);
        assert.equal(extra.suggested_fix, undefined);
        for (const one of violations)
            assert.ok(one.samples.every((sample) => sample === '' || /^\[hash:[0-9a-f]{8}\]$/.test(sample)), JSON.stringify(one));
        schema = apply(WRONG, violations);
    });

    test('4: the fixes alone give 383 of 400 in three rounds', async () => {
        let found;
        do {
            found = await backtest((await propose(schema)).ephemeral_id);
            if (found.rows_valid < 383)
                schema = apply(schema, found.violations);
        } while (found.rows_valid < 383 && rounds < 3);
        assert.equal(found.rows_emitted, 400);
        assert.equal(found.rows_valid, 383, JSON.stringify(found));
    });

    test('5: the second parser gives 395 in five', async () => {
        self.copy('parsers/sales_csv_2.py', REF.path);
        schema.columns.find((column) => column.name === 'unit_price').nullable = true;
        const reply = await propose(schema);
        ephemeral = reply.ephemeral_id;
        const found = await backtest(ephemeral);
        assert.equal(found.rows_valid, 395, JSON.stringify(found));
        assert.ok(rounds <= 5);
        assert.equal(found.schema_hash, reply.schema_hashes[OUTPUT]);
        assert.deepEqual((await server.ask('approval_list', { status: 'all' })).approvals, [], 'no person was needed');
    });

    test('6: the schema becomes a file when a person approves', async () => {
        const asked = await server.ask('schema_promote', { ephemeral_id: ephemeral, output_path: 'schemas/sales.py' });
        assert.equal(asked.status, 'pending_approval');
        assert.ok(!self.exists('schemas/sales.py'));
        const approved = self.cli(['approvals', 'approve', asked.approval_id, '--yes']);
        assert.equal(approved.status, 0, approved.err);
        const code = self.read('schemas/sales.py');
        assert.equal(code.slice(0, 1000), asked.preview.slice(0, 1000));
        const script = 'import ast,json,sys\n'
            + 'tree = ast.parse(open(sys.argv[1]).read())\n'
            + 'print(json.dumps([ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "outputs"][0]))';
        const literal = spawnSync('python3', ['-c', script, path.join(self.dir, 'schemas/sales.py')], { encoding: 'utf8' });
        assert.equal(literal.status, 0, literal.stderr);
        const definition = JSON.parse(literal.stdout)[OUTPUT];
        const again = await propose({ output_name: OUTPUT, ...definition });
        assert.equal(again.schema_hashes[OUTPUT], (await propose(schema)).schema_hashes[OUTPUT]);
    });

    test('7: an existing file is not overwritten', async () => {
        const refused = await server.refuse('schema_promote', { ephemeral_id: ephemeral, output_path: 'schemas/sales.py' });
        assert.equal(refused.code, 'conflict');
    });

    test('8: a run, a fixed parser, a second run, and no row is double', async () => {
        const run = async (params) => {
            const { approval_id: id } = await server.ask('run_request', {
                plugin_ref: REF, input_dir: 'samples/sales', output: './output', ephemeral_id: ephemeral, quarantine: { allow_quarantine: true }, ...params,
            });
            const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
            return server.end(job);
        };
        const first = await run({});
        assert.equal(first.status, 'completed', JSON.stringify(first));
        assert.equal(first.result.partial, true);
        assert.deepEqual([first.result.outputs[OUTPUT].rows_written, first.result.outputs[OUTPUT].quarantine.rows], [395, 5]);
        const summary = await server.ask('quarantine_summary', { output: OUTPUT, job_id: first.job_id });
        assert.equal(summary.total_rows, 5);
        const text = self.read(REF.path).replace(/^def parse/m, 'FIXED = True\n\n\ndef parse');
        self.write(REF.path, text);
        const second = await run({ only: 'quarantined' });
        assert.equal(second.status, 'completed', JSON.stringify(second));
        const count = async (view) => (await server.ask('query', { sql: `SELECT count(*), count(DISTINCT order_id) FROM outputs."${view}"` })).rows[0];
        assert.deepEqual(await count(OUTPUT), [395, 395]);
    });
});
