/*
 * cobre-optimum.test.mjs - the lower bound of random cases against the optimum of one LP over the
 * whole scenario tree, solved by GLPK.
 *
 * The LP is written from the method page and shares nothing with the program. A converged bound
 * equals the optimum to 1e-7, and no bound of any iteration is above it; the upper bound of the
 * inner approximation is never below it. Of some cases the bounds, the policy and the simulation
 * are then the same bits for 1, 2 and 3 threads and any order of the input.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { allFiles, cobre, DEADLINE_MS, editJson, scratch } from './cobre-shell.mjs';
import { randomCase, writeCase } from './support/cobre-random.mjs';
import { optimum, treeProgram } from './support/cobre-tree-lp.mjs';

const CASES = Number(process.env.COBRE_RANDOM_CASES ?? 100);
const FIRST = Number(process.env.COBRE_RANDOM_FIRST ?? 1);
const AT_ONCE = 2;
const TOLERANCE = 1e-7;
/* All that one LP can express. A cyclic horizon has no end, so its cases are derived by hand. */
const FEATURES = [
    'cvar', 'stochastic load', 'operating limits', 'diversion', 'withdrawal', 'autoregressive', 'fpha', 'sources',
    'generic constraints', 'line losses', 'pumping', 'contracts', 'evaporation', 'entry and exit', 'filling',
    'chronological blocks', 'soft storage', 'weeks in months', 'multi-cut', 'truncation', 'dry rivers', 'overrides',
];
/* A bound may rest for many iterations while trial points move between optima of the first stage:
 * where it is short of the optimum after the first patience, the case runs with the second. */
const PATIENCE = [8, 80];
const BITS_EVERY = 5;
const INNER_EVERY = 4;

const training = (patience, passes) => ({
    forward_passes: passes,
    stopping_rules: [{ type: 'iteration_limit', limit: 400 },
                     { type: 'bound_stalling', iterations: patience, tolerance: 1e-12 }],
});

/** The records of the iterations of a run. */
async function iterations(dir, args = []) {
    const child = spawn(cobre, ['run', dir, '--output-format', 'json-lines', ...args],
                        { stdio: ['ignore', 'pipe', 'pipe'], timeout: DEADLINE_MS });
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes) => { out += bytes; });
    child.stderr.on('data', (bytes) => { err += bytes; });
    const status = await new Promise((resolve) => child.on('close', resolve));
    assert.equal(status, 0, `${dir}: ${out.slice(-2000)} ${err}`);
    return out.split('\n').filter((line) => line.includes('"type":"progress"'))
        .map((line) => JSON.parse(line)).filter((event) => 'lower_bound' in event);
}

/** Run a case; returns how far its last bound is below the optimum, which no bound may exceed. */
async function shortfall(c, dir, exact, patience) {
    const room = TOLERANCE * Math.max(1, Math.abs(exact));
    writeCase(dir, c, training(patience, 1 + c.seed % 3));
    const found = (await iterations(dir)).map((event) => event.lower_bound);
    assert.ok(found.length > 0, 'no iteration');
    for (const bound of found)
        assert.ok(bound <= exact + room, `a bound of ${bound} above the optimum`);
    return exact - found.at(-1) <= room ? 0 : exact - found.at(-1);
}

/** The bounds, cuts, bases and simulated scenarios of a run. */
async function bitsOf(dir, threads) {
    const output = path.join(dir, `threads-${threads}`);
    const records = await iterations(dir, ['--output', output, '--threads', String(threads)]);
    const names = allFiles(output).filter((name) => /^policy\/(cuts|basis)\/|^simulation\/(?!solver).*\.parquet$/.test(name)).sort();
    assert.ok(names.some((name) => name.startsWith('simulation/hydros/')), 'nothing is simulated');
    return {
        bounds: records.map((record) => [record.lower_bound, record.upper_bound, record.upper_bound_std]),
        files: names.map((name) => [name, createHash('sha256').update(fs.readFileSync(path.join(output, name))).digest('hex')]),
    };
}

/* What the steepest slope is not derived for: the page, 16, and lags. */
const needsSlope = (c) => c.isSoft || c.planes.length > 0 || c.stations.length > 0 || c.constraints.length > 0
    || c.evaporation.length > 0 || c.hydros.some((hydro) => hydro.filling) || c.inflow.coefficients.flat(2).length > 0;

/** No certain upper bound is below the optimum. */
async function compareInner(c, dir, exact) {
    writeCase(dir, c, { forward_passes: 2, stopping_rules: [{ type: 'iteration_limit', limit: 12 }] });
    editJson(dir, 'config.json', (config) => {
        config.upper_bound_evaluation = { enabled: true, initial_iteration: 1, interval_iterations: 11,
                                          lipschitz: needsSlope(c) ? { mode: 'auto', fallback_value: 1e7 } : { mode: 'auto' } };
    });
    await iterations(dir);
    const bound = JSON.parse(fs.readFileSync(path.join(dir, 'output', 'training', 'metadata.json'), 'utf8'))
        .convergence.inner_upper_bound;
    assert.ok(bound >= exact - TOLERANCE * Math.max(1, Math.abs(exact)), `an inner upper bound of ${bound} below the optimum`);
}

async function compareBits(c, dir) {
    const write = (lastFirst) => {
        fs.rmSync(dir, { recursive: true });
        writeCase(dir, c, { forward_passes: 3, stopping_rules: [{ type: 'iteration_limit', limit: 5 }] }, lastFirst);
        editJson(dir, 'config.json', (config) => { config.simulation = { enabled: true, num_scenarios: 4 }; });
    };
    write(false);
    const one = await bitsOf(dir, 1);
    assert.equal(one.bounds.length, 5);
    for (const threads of [2, 3])
        assert.deepEqual(await bitsOf(dir, threads), one, `${threads} threads`);
    write(true);
    assert.deepEqual(await bitsOf(dir, 1), one, 'the input in reverse order');
}

async function compare(seed, features) {
    const c = randomCase(seed, features);
    const dir = path.join(scratch, `random-${seed}`);
    const exact = optimum(treeProgram(c), dir);
    let short = Infinity;
    try {
        for (let i = 0; i < PATIENCE.length && short > 0; i++)
            short = await shortfall(c, dir, exact, PATIENCE[i]);
        assert.equal(short, 0, `the bound ends ${short} below the optimum`);
        if (seed % INNER_EVERY === 0)
            await compareInner(c, dir, exact);
        if (seed % BITS_EVERY === 0)
            await compareBits(c, dir);
    } catch (error) {
        throw new Error(`case ${seed} (${c.features}), optimum ${exact}: ${error.message}`, { cause: error });
    }
    fs.rmSync(dir, { recursive: true });
}

describe('random cases', { concurrency: AT_ONCE }, () => {
    const features = process.env.COBRE_RANDOM_FEATURES?.split(',') ?? FEATURES;
    for (let seed = FIRST; seed < FIRST + CASES; seed++)
        test(`case ${seed}`, () => compare(seed, features));
});
