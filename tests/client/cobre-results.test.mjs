/*
 * cobre-results.test.mjs - cobre/query-results and cobre/export-results under the official client:
 * rows against costs and flows that examples/cases/README.md derives by hand, filters, limits,
 * names and ids, exports against queries, and what is refused.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { answer, call, refusal, workshop } from './support/cobre.mjs';

let shop;
let client;
let order; /* output of merit-order, 3 scenarios */
let towns; /* output of two-towns, 2 scenarios */
let four;  /* output of four-stages, 12 scenarios */

before(async () => {
    shop = workshop('results');
    client = await shop.connect('2025-11-25', 'stdio', ['--allow-write']);
    const run = async (name, options) => {
        const dir = shop.copyCase(name, 'a', options);
        return answer(await call(client, 'cobre/run', { case_dir: dir })).output_dir;
    };
    order = await run('merit-order', { scenarios: 3 });
    towns = await run('two-towns', { scenarios: 2 });
    four = await run('four-stages', { scenarios: 12 });
});

after(() => shop.close());

const query = async (output_dir, entity_type, filters) =>
    answer(await call(client, 'cobre/query-results', { output_dir, entity_type, filters }));
const refused = async (output_dir, entity_type, filters) =>
    refusal(await call(client, 'cobre/query-results', { output_dir, entity_type, filters }));
const column = ({ columns, rows }, name) => rows.map((row) => row[columns.indexOf(name)]);
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);

describe('cobre/query-results', () => {
    test('rows come in the order of scenario, stage, entity, block, with the hand-derived dispatch', async () => {
        const found = await query(order, 'thermals', { columns: ['scenario_id', 'stage_id', 'thermal_id', 'block_id', 'generation_mw'] });
        const expected = [];
        for (const scenario of [0, 1, 2])
            for (const stage of [0, 1])
                for (const [thermal, peak, base] of [[0, 30, 0], [1, 60, 60], [2, 50, 25]])
                    expected.push([scenario, stage, thermal, 0, peak], [scenario, stage, thermal, 1, base]);
        assert.deepEqual(found.rows.map((row) => row.map((cell) => Math.round(cell * 1e6) / 1e6)), expected);
        assert.equal(found.total_rows, 36);
        assert.equal(found.truncated, false);
        assert.equal(found.complete, true);
    });

    test('without columns all of the file follow scenario_id; costs add up to the bound', async () => {
        const found = await query(order, 'costs');
        assert.deepEqual(found.columns.slice(0, 4), ['scenario_id', 'stage_id', 'block_id', 'total_cost']);
        assert.equal(found.columns.length, 27);
        assert.deepEqual([...new Set(column(found, 'block_id'))], [null]);
        const costs = column(found, 'immediate_cost');
        near(costs[0] + costs[1], 2_994_600);
        near(costs[0], 840_000 + 734_400);
    });

    test('an entity is an integer, its text or its exact name; a list is any of them', async () => {
        const of = async (entity_id) => (await query(order, 'thermals', { entity_id, columns: ['thermal_id'], limit: 10_000 })).rows;
        const coal = await of('Coal');
        assert.equal(coal.length, 12);
        assert.deepEqual([...new Set(coal.flat())], [2]);
        assert.deepEqual(await of(2), coal);
        assert.deepEqual(await of('2'), coal);
        assert.deepEqual(await of('002'), coal);
        assert.deepEqual([...new Set((await of(['Gas', 1, 'Gas', '0'])).flat())], [0, 1]);
        assert.equal((await of(['0', '1', '2'])).length, 36);
    });

    test('ranges are inclusive, count from 0, and are cut at the data', async () => {
        const of = async (filters) => (await query(four, 'hydros', { columns: ['scenario_id', 'stage_id'], ...filters })).rows;
        const all = await of({});
        assert.deepEqual([...new Set(all.map(([n]) => n))], [...Array(12).keys()]);
        assert.deepEqual([...new Set(all.map(([, s]) => s))], [0, 1, 2, 3]);
        assert.deepEqual(await of({ stage_range: [1, 2], scenario_range: [3, 5] }),
            all.filter(([n, s]) => n >= 3 && n <= 5 && s >= 1 && s <= 2));
        assert.deepEqual(await of({ stage_range: [-7, 0] }), all.filter(([, s]) => s === 0));
        assert.deepEqual(await of({ scenario_range: [11, 1e30] }), all.filter(([n]) => n === 11));
        assert.deepEqual(await of({ stage_range: [4, 99] }), []);
    });

    test('the limit cuts rows, never the total', async () => {
        const all = await query(four, 'thermals', { limit: 10_000 });
        assert.equal(all.total_rows, all.rows.length);
        for (const limit of [1, 7, all.total_rows - 1, all.total_rows]) {
            const part = await query(four, 'thermals', { limit });
            assert.deepEqual(part.rows, all.rows.slice(0, limit));
            assert.equal(part.total_rows, all.total_rows);
            assert.equal(part.truncated, limit < all.total_rows);
        }
        const one = await query(four, 'thermals', { limit: 3, stage_range: [2, 2], columns: ['stage_id'] });
        assert.equal(one.total_rows, all.total_rows / 4);
    });

    test('columns come as asked; storage_hm3 is the storage at the end of the stage', async () => {
        const found = await query(four, 'hydros', { columns: ['storage_hm3', 'scenario_id', 'storage_final_hm3', 'stage_id'] });
        assert.deepEqual(found.columns, ['storage_hm3', 'scenario_id', 'storage_final_hm3', 'stage_id']);
        for (const [storage, , final] of found.rows)
            assert.equal(storage, final);
        const alone = await query(four, 'hydros', { columns: ['scenario_id'], limit: 2 });
        assert.deepEqual(alone.rows, [[0], [0]]);
    });

    test('lines are in the directory exchanges, and that name is understood', async () => {
        const lines = await query(towns, 'lines', { columns: ['stage_id', 'line_id', 'direct_flow_mw'], scenario_range: [0, 0] });
        assert.deepEqual(lines.rows.map(([s, l, flow]) => [s, l, Math.round(flow)]), [[0, 0, 60], [1, 0, 30]]);
        assert.deepEqual(await query(towns, 'exchanges', { columns: ['stage_id', 'line_id', 'direct_flow_mw'], scenario_range: [0, 0] }), lines);
        const none = await query(order, 'lines');
        assert.deepEqual([none.rows, none.total_rows, none.columns.length], [[], 0, 12]);
    });

    test('a finished simulation that has lost rows is corrupted, and the lost file is named', async () => {
        const of = async (output, folder, entity_type, filters = {}) => {
            const copy = path.join(shop.scratch, `lost-${lost++}`);
            fs.cpSync(output, copy, { recursive: true });
            fs.rmSync(path.join(copy, 'simulation', folder), { recursive: true });
            const exported = refusal(await call(client, 'cobre/export-results', { output_dir: copy, format: 'csv', entity_type, filters }));
            const record = await refused(copy, entity_type, filters);
            assert.deepEqual([record.kind, exported.kind], ['OutputCorrupted', 'OutputCorrupted']);
            assert.equal(exported.context.file, record.context.file);
            return record.context.file;
        };
        let lost = 0;
        assert.equal(await of(order, 'costs/scenario_id=0001/data.parquet', 'costs'), 'simulation/costs/scenario_id=0001/data.parquet');
        assert.equal(await of(order, 'costs/scenario_id=0001', 'costs'), 'simulation/costs');
        assert.equal(await of(order, 'costs/scenario_id=0001', 'costs', { scenario_range: [1, 1] }), 'simulation/costs');
        assert.equal(await of(four, 'hydros', 'hydros'), 'simulation/hydros');
    });

    test('a simulation without its marker is not complete', async () => {
        const copy = path.join(shop.scratch, 'partial');
        fs.cpSync(order, copy, { recursive: true });
        fs.rmSync(path.join(copy, 'simulation', '_SUCCESS'));
        fs.mkdirSync(path.join(copy, 'simulation', 'costs', 'scenario_id=0009'));
        fs.mkdirSync(path.join(copy, 'simulation', 'costs', 'scenario_id=x'));
        fs.writeFileSync(path.join(copy, 'simulation', 'costs', 'scenario_id=3'), '');
        const found = await query(copy, 'costs', {});
        assert.equal(found.complete, false);
        assert.equal(found.total_rows, 6);
    });
});

describe('what cobre/query-results refuses', () => {
    test('columns, entities and ranges that cannot be', async () => {
        const unknown = await refused(order, 'costs', { columns: ['stage_id', 'cost"; DROP TABLE x'] });
        assert.equal(unknown.kind, 'InvalidEnum');
        assert.equal(unknown.context.field, 'filters.columns');
        assert.ok(unknown.context.allowed_values.includes('immediate_cost'));
        assert.equal((await refused(order, 'thermals', { columns: ['thermal_id', 'bus_id'] })).kind, 'InvalidEnum');

        for (const entity of ['coal', 'Coal ', "Coal'; --", '3', -1, '99999999999999999999', '', ['0', 'Oil']]) {
            const record = await refused(order, 'thermals', { entity_id: entity });
            assert.equal(record.kind, 'MissingReference', JSON.stringify(entity));
            assert.equal(record.context.referenced_registry, 'thermals');
        }
        const swapped = await refused(order, 'costs', { stage_range: [2, 1] });
        assert.deepEqual([swapped.kind, swapped.context.field], ['OutOfRange', 'filters.stage_range']);
        assert.equal((await refused(order, 'costs', { scenario_range: [1e30, -1e30] })).kind, 'OutOfRange');
        const costs = await refused(order, 'costs', { entity_id: '0' });
        assert.deepEqual([costs.kind, costs.context.field], ['SchemaViolation', 'filters.entity_id']);
    });

    test('hostile arguments get a clear record', async () => {
        const long = Array.from({ length: 300_000 }, () => 1);
        for (const [filters, kind] of [
            [{ entity_id: long }, 'OutOfRange'], [{ columns: long.map(() => 'a') }, 'OutOfRange'], [{ columns: [] }, 'OutOfRange'],
            [{ entity_id: [] }, 'OutOfRange'], [{ entity_id: [['0']] }, 'TypeMismatch'], [{ entity_id: [null] }, 'TypeMismatch'],
            [{ entity_id: 0.5 }, 'TypeMismatch'], [{ entity_id: [0.5] }, 'TypeMismatch'], [{ entity_id: { $gt: '' } }, 'TypeMismatch'],
            [{ entity_id: 'a\u0000b' }, 'MissingReference'], [{ columns: ['stage_id\u0000'] }, 'InvalidEnum'],
            [{ stage_range: ['0', '1'] }, 'TypeMismatch'], [{ stage_range: [0, 0.5] }, 'TypeMismatch'], [{ stage_range: [0] }, 'SchemaViolation'],
            [{ stage_range: [0, 1, 2] }, 'SchemaViolation'], [{ limit: 0 }, 'OutOfRange'], [{ limit: 10_001 }, 'OutOfRange'],
            [{ limit: 1e300 }, 'OutOfRange'], [{ where: '1=1' }, 'SchemaViolation'], [[], 'TypeMismatch'], ['x', 'TypeMismatch'],
        ])
            assert.equal((await refused(order, 'thermals', filters)).kind, kind, JSON.stringify(filters).slice(0, 60));
        assert.equal((await refused(order, 'convergence', {})).kind, 'InvalidEnum');
        assert.equal((await refused(order, '../costs', {})).kind, 'InvalidEnum');
    });

    test('a column that is named twice', async () => {
        const twice = await refused(order, 'costs', { columns: ['stage_id', 'total_cost', 'stage_id'] });
        assert.equal(twice.kind, 'SchemaViolation');
        assert.equal(twice.context.field, 'filters.columns');
        assert.match(twice.message, /'stage_id'/);
    });

    test('a directory or a FIFO in the place of a record, and broken metadata', async () => {
        const copy = path.join(shop.scratch, 'places');
        fs.cpSync(order, copy, { recursive: true });
        const record = path.join(copy, 'training', 'convergence.parquet'), metadata = path.join(copy, 'training', 'metadata.json');
        const history = async () => refusal(await call(client, 'cobre/query-convergence', { output_dir: copy }));
        const kept = fs.readFileSync(metadata);
        for (const text of ['{', '']) {
            fs.writeFileSync(metadata, text);
            const { kind, context, message } = await history();
            assert.deepEqual([kind, context.file], ['OutputCorrupted', 'training/metadata.json']);
            assert.equal(message.split('metadata.json').length, 2, message);
        }
        fs.writeFileSync(metadata, kept);
        fs.writeFileSync(record, 'PAR1');
        assert.equal((await history()).message.split('convergence.parquet').length, 2);
        for (const make of [() => fs.mkdirSync(record), () => spawnSync('mkfifo', [record])]) {
            fs.rmSync(record, { recursive: true });
            make();
            for (const refused of [await history(), refusal(await call(client, 'cobre/export-results', { output_dir: copy, format: 'csv', entity_type: 'convergence' }))])
                assert.deepEqual([refused.kind, refused.context.file], ['OutputCorrupted', 'training/convergence.parquet']);
        }
    });

    test('results that are not there, and files that are no results', async () => {
        const empty = path.join(shop.scratch, 'empty');
        fs.mkdirSync(empty);
        assert.equal((await refused(empty, 'costs', {})).kind, 'OutputNotFound');
        assert.equal((await refused(path.join(empty, 'nowhere'), 'costs', {})).kind, 'OutputNotFound');
        const outside = await refused('/etc', 'costs', {});
        assert.equal(outside.kind, 'MissingFile');
        assert.deepEqual(outside.context, { path: '/etc' });

        const broken = path.join(shop.scratch, 'broken');
        fs.cpSync(order, broken, { recursive: true });
        const file = path.join(broken, 'simulation', 'costs', 'scenario_id=0001', 'data.parquet');
        const bytes = fs.readFileSync(file);
        for (const bad of [bytes.subarray(0, bytes.length >> 1), Buffer.from('no such file'), Buffer.alloc(0)]) {
            fs.writeFileSync(file, bad);
            const record = await refused(broken, 'costs', {});
            assert.equal(record.kind, 'OutputCorrupted');
            assert.equal(record.context.file, 'simulation/costs/scenario_id=0001/data.parquet');
            assert.ok(!record.message.includes('/proc/'), record.message);
        }
        fs.copyFileSync(path.join(order, 'training', 'convergence.parquet'), file);
        assert.equal((await refused(broken, 'costs', {})).kind, 'OutputCorrupted');
        fs.rmSync(file);
        fs.symlinkSync('/etc/passwd', file);
        assert.equal((await refused(broken, 'costs', {})).kind, 'OutputCorrupted');
        assert.deepEqual((await query(broken, 'costs', { scenario_range: [2, 2], columns: ['stage_id'] })).rows, [[0], [1]]);

        fs.writeFileSync(path.join(broken, 'training', 'dictionaries', 'entities.csv'), 'what,is,this\n');
        assert.equal((await refused(broken, 'thermals', { entity_id: 'Coal' })).kind, 'OutputCorrupted');
        fs.rmSync(path.join(broken, 'training', 'dictionaries', 'entities.csv'));
        assert.equal((await refused(broken, 'thermals', { entity_id: 'Coal' })).kind, 'OutputNotFound');
        assert.equal((await query(broken, 'thermals', { entity_id: 2 })).total_rows, 12);
    });
});

describe('cobre/export-results', () => {
    const send = async (args) => call(client, 'cobre/export-results', args);

    test('CSV has the rows of the query', async () => {
        const result = answer(await send({ output_dir: order, format: 'csv', entity_type: 'thermals',
            filters: { entity_id: 'Coal', stage_range: [0, 1], scenario_range: [1, 2] } }));
        assert.equal(result.file_path, path.join(order, 'exports', 'thermals_Coal_s0-1_n1-2.csv'));
        const text = fs.readFileSync(result.file_path, 'utf8');
        assert.equal(result.size_bytes, Buffer.byteLength(text));
        const lines = text.split('\n');
        assert.equal(lines.pop(), '');
        const found = await query(order, 'thermals', { entity_id: 'Coal', scenario_range: [1, 2] });
        assert.equal(lines.shift(), found.columns.join(','));
        assert.equal(result.rows, 8);
        assert.deepEqual(lines, found.rows.map((row) => row.map((cell) => cell ?? '').join(',')));
    });

    test('JSON is an array of objects', async () => {
        const result = answer(await send({ output_dir: four, format: 'json', entity_type: 'hydros' }));
        assert.equal(path.basename(result.file_path), 'hydros.json');
        const rows = JSON.parse(fs.readFileSync(result.file_path, 'utf8'));
        const found = await query(four, 'hydros', { limit: 10_000 });
        assert.equal(result.rows, found.total_rows);
        assert.deepEqual(rows, found.rows.map((row) => Object.fromEntries(row.map((cell, i) => [found.columns[i], cell]))));
        const again = answer(await send({ output_dir: four, format: 'json', entity_type: 'hydros', filters: { entity_id: [] } }).then(
            () => send({ output_dir: four, format: 'json', entity_type: 'hydros' })));
        assert.deepEqual(again, result);
        assert.deepEqual(fs.readdirSync(path.join(four, 'exports')), ['hydros.json'], 'no temporary file is left');
    });

    test('Arrow has the rows of the query, as Apache Arrow reads them', async (t) => {
        const arrow = await import('apache-arrow').catch(() => null);
        if (!arrow)
            return t.skip('apache-arrow is not installed');
        const result = answer(await send({ output_dir: four, format: 'arrow', entity_type: 'hydros', filters: { stage_range: [1, 2] } }));
        assert.equal(path.basename(result.file_path), 'hydros_s1-2.arrow');
        assert.equal(result.size_bytes, fs.statSync(result.file_path).size);
        const table = arrow.tableFromIPC(fs.readFileSync(result.file_path));
        const found = await query(four, 'hydros', { stage_range: [1, 2], limit: 10_000 });
        assert.deepEqual(table.schema.fields.map(({ name }) => name), found.columns);
        assert.equal(table.numRows, result.rows);
        const columns = found.columns.map((_, i) => Array.from(table.getChildAt(i)));
        assert.deepEqual(found.rows.map((_, row) => columns.map((values) => values[row])), found.rows);
    });

    test('convergence has its stored columns', async () => {
        const result = answer(await send({ output_dir: four, format: 'json', entity_type: 'convergence' }));
        const rows = JSON.parse(fs.readFileSync(result.file_path, 'utf8'));
        const history = answer(await call(client, 'cobre/query-convergence', { output_dir: four }));
        assert.deepEqual(rows.map((row) => row.lower_bound), history.iterations.map((row) => row.lower_bound));
        assert.equal(Object.keys(rows[0]).length, 13);
    });

    test('a name is made of plain bytes, and stays short', async () => {
        const dictionary = path.join(order, 'training', 'dictionaries', 'entities.csv');
        const kept = fs.readFileSync(dictionary, 'utf8');
        const odd = '../../"Coal", ☃\n' + 'x'.repeat(300);
        fs.writeFileSync(dictionary, kept.replace(',Coal,', `,"${odd.replaceAll('"', '""')}",`));
        const result = answer(await send({ output_dir: order, format: 'csv', entity_type: 'thermals', filters: { entity_id: odd } }));
        fs.writeFileSync(dictionary, kept);
        assert.equal(path.dirname(result.file_path), path.join(order, 'exports'));
        assert.match(path.basename(result.file_path), /^thermals_[A-Za-z0-9_-]{1,100}\.csv$/);
        assert.equal(result.rows, 12);
    });

    test('what is refused', async () => {
        const refuse = async (args) => refusal(await send({ output_dir: order, format: 'csv', entity_type: 'costs', ...args }));
        for (const [args, expected] of [[{ entity_type: 'lines' }, 'simulation/exchanges'], [{ output_dir: shop.scratch }, 'simulation/costs'],
            [{ output_dir: shop.scratch, entity_type: 'convergence' }, 'training/convergence.parquet']]) {
            const { kind, context } = await refuse(args);
            assert.deepEqual([kind, context.expected_content], ['OutputNotFound', expected]);
        }
        assert.equal((await refuse({ format: 'xlsx' })).kind, 'InvalidEnum');
        assert.equal((await refuse({ filters: { limit: 3 } })).kind, 'SchemaViolation');
        assert.equal((await refuse({ entity_type: 'convergence', filters: { entity_id: '0' } })).kind, 'SchemaViolation');
        assert.equal((await refuse({ entity_type: 'convergence', filters: { stage_range: [0, 1] } })).kind, 'SchemaViolation');
        const blocked = path.join(shop.scratch, 'blocked');
        fs.cpSync(order, blocked, { recursive: true });
        fs.rmSync(path.join(blocked, 'exports'), { recursive: true });
        fs.writeFileSync(path.join(blocked, 'exports'), '');
        assert.equal((await refuse({ output_dir: blocked })).kind, 'CheckpointFailed');
        fs.rmSync(path.join(blocked, 'exports'));
        fs.symlinkSync(shop.scratch, path.join(blocked, 'exports'));
        assert.equal((await refuse({ output_dir: blocked })).kind, 'CheckpointFailed');
        assert.ok(!fs.existsSync(path.join(shop.scratch, 'costs.csv')));
    });
});
