/*
 * cobre-optimum.test.mjs - the lower bound of random cases against the optimum of one LP over the
 * whole scenario tree, solved by GLPK.
 *
 * The LP is written from the method page and shares nothing with the program. A converged bound
 * equals the optimum to 1e-7, and no bound of any iteration is above it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { cobre, DEADLINE_MS, scratch } from './cobre-shell.mjs';
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

const training = (patience) => ({
    forward_passes: 2,
    stopping_rules: [{ type: 'iteration_limit', limit: 400 },
                     { type: 'bound_stalling', iterations: patience, tolerance: 1e-12 }],
});

/** The lower bound of each iteration. */
async function bounds(dir) {
    const child = spawn(cobre, ['run', dir, '--output-format', 'json-lines'],
                        { stdio: ['ignore', 'pipe', 'pipe'], timeout: DEADLINE_MS });
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes) => { out += bytes; });
    child.stderr.on('data', (bytes) => { err += bytes; });
    const status = await new Promise((resolve) => child.on('close', resolve));
    assert.equal(status, 0, `${dir}: ${out.slice(-2000)} ${err}`);
    return out.split('\n').filter((line) => line.includes('"type":"progress"'))
        .map((line) => JSON.parse(line)).filter((event) => 'lower_bound' in event)
        .map((event) => event.lower_bound);
}

/** Run a case; returns how far its last bound is below the optimum, which no bound may exceed. */
async function shortfall(c, dir, exact, patience) {
    const room = TOLERANCE * Math.max(1, Math.abs(exact));
    writeCase(dir, c, training(patience));
    const found = await bounds(dir);
    assert.ok(found.length > 0, 'no iteration');
    for (const bound of found)
        assert.ok(bound <= exact + room, `a bound of ${bound} above the optimum`);
    return exact - found.at(-1) <= room ? 0 : exact - found.at(-1);
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
