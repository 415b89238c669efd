/*
 * cobre-edges.test.mjs - cases of many elements, and cases that cannot be: what cobre says of them.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { assertUnfinished, copyCase, editJson, limit, record, run } from './cobre-shell.mjs';
import { writeRows } from './support/cobre-parquet.mjs';

/** water-for-later with `count` copies of its hydro; `edit` changes each by its id. */
function copiedHydros(count, edit) {
    const dir = copyCase('water-for-later', { training: limit(2) });
    fs.rmSync(path.join(dir, 'scenarios', 'inflow_seasonal_stats.parquet'), { force: true });
    editJson(dir, 'system/hydros.json', (file) => {
        const [hydro] = file.hydros;
        file.hydros = Array.from({ length: count }, (_, id) => edit({ ...hydro, id, name: `H${id}` }, id));
    });
    return dir;
}

describe('hydros in a ring', () => {
    const ring = (count) => record(run(['run', copiedHydros(count, (hydro, id) => (
        { ...hydro, downstream_id: (id + 1) % count })), '--json']), 'PhysicalConstraint', 1).context.detail;

    test('are named where there are few', () => {
        assert.equal(ring(3), 'the cascade runs in a ring: 0 -> 1 -> 2 -> 0');
    });

    test('are counted where there are many, and the first ones named', () => {
        assert.match(ring(100), /^the cascade runs in a ring of 100 hydros: 0 -> 1 -> .* -> 31 -> \.\.\. -> 0$/);
    });
});

describe('generic constraints without a slack that cannot hold', () => {
    const BLOCKS = 2; /* of a stage; a bound holds in each of them */

    /** The record of merit-order with constraints [expression, sense, bound] on stage 1. */
    function failure(backend, ...constraints) {
        const dir = copyCase('merit-order', { training: { ...limit(2), solver: { backend } } });
        fs.mkdirSync(path.join(dir, 'constraints'), { recursive: true });
        fs.writeFileSync(path.join(dir, 'constraints', 'generic_constraints.json'), JSON.stringify({
            constraints: constraints.map(([expression, sense], id) => (
                { id, name: `wish ${id}`, expression, sense, slack: { enabled: false } })) }));
        writeRows(path.join(dir, 'constraints', 'generic_constraint_bounds.parquet'),
                  { constraint_id: 'i32', stage_id: 'i32', bound: 'f64' },
                  constraints.map(([, , bound], id) => [id, 1, bound]));
        const value = record(run(['run', dir, '--json']), 'SolverFailure', 3);
        assert.equal(value.context.stage, 1);
        assert.deepEqual(value.context.hydros, []);
        assert.match(value.suggestion, /constraints that the context names/);
        assertUnfinished(path.join(dir, 'output'));
        return value;
    }

    for (const backend of ['own', 'clp']) {
        test(`one is named with what it lacks, by ${backend}`, () => {
            const { message, context } = failure(backend, ['2 * thermal_generation(0)', '>=', 1e6], ['bus_excess(0)', '>=', 0]);
            assert.equal(context.constraints.length, BLOCKS);
            for (const sentence of context.constraints)
                assert.match(sentence, /^constraint 0 'wish 0' misses its bound of 1e\+06 by \d+ in block [01]$/);
            assert.ok(message.endsWith(context.constraints[0]), message);
        });

        test(`one of two that exclude each other is named, by ${backend}`, () => {
            const { context } = failure(backend, ['thermal_generation(0)', '>=', 3], ['thermal_generation(0)', '<=', 1]);
            assert.equal(context.constraints.length, BLOCKS);
            for (const sentence of context.constraints)
                assert.match(sentence, /(misses its bound of 3|exceeds its bound of 1) by 2 in block [01]$/);
        });
    }
});
