/*
 * cobre-numbers.test.mjs - case directories with numbers at the edge of what a solver can take, by
 * each solver: the right cost, or a refusal that says where; never another cost.
 *
 * merit-order with its dearest plant out of reach, free, or as large or small as a number can be.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { copyCase, editJson, object, run } from './cobre-shell.mjs';

const GAS = 0;

/** merit-order with other numbers of its gas plant. */
function caseWith(generation, cost, backend) {
    const dir = copyCase('merit-order', { training: { solver: { backend } } });
    editJson(dir, 'system/thermals.json', ({ thermals }) => {
        Object.assign(thermals[GAS].generation, generation);
        thermals[GAS].cost_per_mwh = cost ?? thermals[GAS].cost_per_mwh;
    });
    return dir;
}

/** The lower bound, or the kind of the refusal and the field that it names. */
function outcome(dir) {
    const done = run(['run', dir, '--json', '--quiet']);
    const value = object(done);
    assert.ok([0, 1, 3].includes(done.status), `${done.status} ${done.stderr}`);
    return done.status === 0 ? { bound: value.training.final_lower_bound }
        : { kind: value.kind, field: value.context.field };
}

/* Without the gas plant the demand beyond the others is a deficit: the cost with a plant of 0 MW.
 * What the program has in place of a number follows from its meaning. */
const CASES = [
    { name: 'a cost of 1e19', cost: 1e19, as: [{ max_mw: 0 }] },
    { name: 'a cost of 1e21', cost: 1e21, refusal: 'cost_per_mwh' },
    { name: 'a cost of 1e30', cost: 1e30, refusal: 'cost_per_mwh' },
    { name: 'the smallest cost there is', cost: 5e-324, as: [{}, 0] },
    { name: 'a limit of 1e19 MW', generation: { max_mw: 1e19 }, as: [{ max_mw: 1000 }] },
    { name: 'a limit of 1e30 MW', generation: { max_mw: 1e30 }, as: [{ max_mw: 1000 }] },
    { name: 'a limit of 1e-310 MW', generation: { max_mw: 1e-310 }, as: [{ max_mw: 0 }] },
    { name: 'limits without a gap', generation: { min_mw: 7, max_mw: 7 }, as: [{ min_mw: 7, max_mw: 7.0000001 }] },
];

describe('numbers at the edge', () => {
    for (const { name, generation = {}, cost, as, refusal } of CASES)
        for (const backend of ['own', 'clp'])
            test(`${name}, by ${backend}`, () => {
                const found = outcome(caseWith(generation, cost, backend));
                if (found.kind !== undefined) {
                    assert.ok(refusal, JSON.stringify(found));
                    assert.deepEqual(found, { kind: 'OutOfRange', field: refusal });
                    return;
                }
                assert.ok(as, `a cost of ${found.bound}`);
                const expected = outcome(caseWith(as[0], as[1], 'clp')).bound;
                assert.ok(Math.abs(found.bound - expected) <= 1e-6 * expected, `${found.bound} is not ${expected}`);
            });
});

describe('a product that is beyond what a solver takes', () => {
    for (const backend of ['own', 'clp'])
        test(`names the number that it comes from, by ${backend}`, () => {
            const dir = caseWith({ min_mw: 5 }, 9e19, backend);
            const done = run(['run', dir, '--json', '--quiet']);
            const { kind, suggestion } = object(done);
            assert.equal(done.status, 3, done.stderr);
            assert.equal(kind, 'SolverFailure');
            assert.match(suggestion, /the cost of thermal \d+ '.*', 9e\+19 per MWh in stage \d/);
        });
});
