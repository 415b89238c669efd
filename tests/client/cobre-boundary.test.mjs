/*
 * cobre-boundary.test.mjs - the first stages of random cases, with the policy of the whole case as
 * their future (policy.boundary), against the whole case.
 *
 * Both bounds are converged, so they are equal: what the stages behind the boundary earn, how they
 * divide a month of the inflow lags, and what they still fill is in the policy.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { copyCase, editJson, limit, object, record, run, scratch } from './cobre-shell.mjs';
import { firstStages, random, randomCase, writeCase } from './support/cobre-random.mjs';

const CASES = Number(process.env.COBRE_RANDOM_CASES ?? 45);
const FIRST = Number(process.env.COBRE_RANDOM_FIRST ?? 1);
/* With nothing but fillings: the target of one of them is missed, and due behind the boundary. */
const FILLING = [101, 253];
const TOLERANCE = 1e-6;
const FEATURES = [
    'cvar', 'stochastic load', 'operating limits', 'withdrawal', 'autoregressive', 'fpha', 'sources', 'line losses',
    'contracts', 'evaporation', 'entry and exit', 'filling', 'chronological blocks', 'soft storage', 'weeks in months',
    'overrides',
];
const converged = { forward_passes: 2, stopping_rules: [{ type: 'iteration_limit', limit: 400 },
                                                        { type: 'bound_stalling', iterations: 40, tolerance: 1e-12 }] };

/** A case of more than two stages, and how many of them are the first ones. */
function draw(seed, features = FEATURES) {
    const c = randomCase(seed, features);
    const r = random(seed + 1);
    const count = r.integer(2, c.stages.length - 1);
    const isFit = c.stages.length > 2 && c.hydros.every(({ filling }) => filling === null || filling.start < count);
    return isFit ? { c, count } : null;
}

function boundOf(dir) {
    const done = run(['run', dir, '--json', '--quiet']);
    assert.equal(done.status, 0, done.stdout);
    return object(done).training.final_lower_bound;
}

/** The bound of the whole, and its first stages, to be run. */
function prepare(name, { c, count }) {
    const whole = path.join(scratch, `whole-${name}`);
    const part = path.join(scratch, `part-${name}`);
    writeCase(whole, c, converged);
    const bound = boundOf(whole);
    const first = firstStages(c, count);
    if (c.seed % 2)
        first.features = [...first.features, 'multi-cut'];
    writeCase(part, first, converged);
    editJson(part, 'config.json', (config) => {
        config.policy = { boundary: { path: path.join(whole, 'output', 'policy'), source_stage: count - 1 } };
    });
    return { bound, whole, part };
}

function compare(name, drawn) {
    const { bound, part, whole } = prepare(name, drawn);
    const found = boundOf(part);
    assert.ok(Math.abs(found - bound) <= TOLERANCE * Math.max(1, Math.abs(bound)),
              `${drawn.count} of ${drawn.c.stages.length} stages (${drawn.c.features}): ${found} for ${bound}`);
    fs.rmSync(whole, { recursive: true });
    fs.rmSync(part, { recursive: true });
}

describe('the first stages of a random case', () => {
    for (let seed = FIRST; seed < FIRST + CASES; seed++) {
        const drawn = draw(seed);
        if (drawn)
            test(`case ${seed}`, () => compare(seed, drawn));
    }
    for (const seed of FILLING)
        test(`case ${seed}, a filling continues behind the boundary`, () => compare(`filling-${seed}`, draw(seed, ['filling'])));
});

describe('a boundary policy is refused', () => {
    /** The refusal of the first two stages of four-stages by a policy of four-stages, changed. */
    const refusal = (training, edit, config = () => {}) => {
        const whole = copyCase('four-stages', { training: { ...limit(2), ...training }, simulation: { enabled: false } });
        assert.equal(run(['run', whole, '--quiet']).status, 0);
        editJson(whole, 'output/policy/metadata.json', edit);
        const part = copyCase('four-stages', { training: limit(2), policy: {
            boundary: { path: path.join(whole, 'output', 'policy'), source_stage: 1 } } });
        editJson(part, 'config.json', config);
        return run(['run', part, '--json']);
    };

    test('with cuts by opening: the message says how to train it', () => {
        const refused = record(refusal({ cut_formulation: 'multi' }, () => {}), 'IncompatibleSettings', 1);
        assert.match(refused.message, /multi-cut.*cut_formulation/);
        assert.match(refused.suggestion, /single cuts/);
    });

    test('of other hydros, unless compatibility is not asked for', () => {
        const others = (metadata) => { metadata.hydro_ids = metadata.hydro_ids.map((id) => id + 100); };
        assert.match(record(refusal({}, others), 'IncompatibleSettings', 1).message, /hydro 0 is 1\d\d in the policy/);
        const done = refusal({}, others, (config) => { config.policy.validate_compatibility = false; });
        assert.equal(done.status, 0, done.stdout);
    });

    for (const [what, edit] of [
        ['floors that are no numbers', (metadata) => { metadata.future_cost_floors = [0, 'x', 0, 0]; }],
        ['a floor above zero', (metadata) => { metadata.future_cost_floors = [0, 0, 0, 1]; }],
        ['too few periods', (metadata) => { metadata.lag_periods = []; }],
        ['a period without an end', (metadata) => { metadata.lag_periods = [1, 2, 3, 4].map(() => ({ spill: 0 })); }],
    ])
        test(`with ${what} in its metadata`, () => {
            record(refusal({}, edit), 'CheckpointFailed', 1);
        });
});
