/*
 * cobre-lasting.test.mjs - the saved policy of cobre run: a run that is killed, stopped or out of
 * disk space is resumed to the same bits as one that nothing disturbed.
 *
 * COBRE_KILLS says how often a run is killed (12).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { allFiles, assertUnfinished, cobre, copyCase, DEADLINE_MS, editJson, limit, object, record, run, start, statusOf } from './cobre-shell.mjs';

const KILLS = Number(process.env.COBRE_KILLS ?? 12);
const KILLS_A_TRAINING = 3;
const ITERATIONS = 20;

/** A small case that saves after each iteration. */
function savingCase(mode, more = {}) {
    return copyCase('four-stages', {
        training: { ...limit(ITERATIONS), forward_passes: 2 },
        simulation: { enabled: false, num_scenarios: 7 },
        policy: { mode, checkpointing: { enabled: true, initial_iteration: 1, interval_iterations: 1 } },
        ...more,
    });
}

const digestOf = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/** What may not differ: the files of the policy but for times, and the bounds. */
function resultOf(output) {
    const files = allFiles(path.join(output, 'policy')).filter((name) => /^(cuts|basis)\/.*\.bin$/.test(name)).sort();
    const { created_at: _, ...metadata } = JSON.parse(fs.readFileSync(path.join(output, 'policy', 'metadata.json'), 'utf8'));
    return {
        metadata,
        files: files.map((name) => [name, digestOf(path.join(output, 'policy', name))]),
    };
}

function finish(dir, output, args = []) {
    const done = run(['run', dir, '--output', output, '--json', '--quiet', ...args]);
    assert.equal(done.status, 0, done.stderr);
    return object(done);
}

/** The undisturbed run: its result, its answer, and how long it took. */
function undisturbed(dir) {
    const output = path.join(dir, 'undisturbed');
    const began = Date.now();
    const answer = finish(dir, output);
    assert.equal(answer.training.iterations, ITERATIONS);
    return { result: resultOf(output), answer, output, tookMs: Date.now() - began };
}

function assertSame(expected, output, answer) {
    assert.deepEqual(resultOf(output), expected.result);
    for (const member of ['iterations', 'final_lower_bound', 'final_upper_bound', 'final_gap', 'termination_reason', 'total_cuts'])
        assert.equal(answer.training[member], expected.answer.training[member], member);
    assert.equal(statusOf(output, 'training'), 'complete');
}

/** The rows of the convergence record. */
function convergenceOf(output) {
    const done = run(['export', output, 'convergence', '--format', 'json']);
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(fs.readFileSync(done.stdout.trimEnd(), 'utf8'));
}

const policyMode = (output) =>
    JSON.parse(fs.readFileSync(path.join(output, 'training', 'metadata.json'), 'utf8')).configuration.policy_mode;

describe('a run that does not reach its end', () => {
    test(`killed ${KILLS} times, resumed: the policy and the bounds of an undisturbed run`, async (context) => {
        const dir = savingCase('resume');
        const expected = undisturbed(dir);
        let saved = 0;
        for (let kills = 0; kills < KILLS;) {
            const output = path.join(dir, `killed-${kills}`);
            for (let i = 0; i < KILLS_A_TRAINING && kills < KILLS; i++, kills++) {
                const going = start(['run', dir, '--output', output, '--quiet', '--threads', String(1 + kills % 2)]);
                await new Promise((resolve) => setTimeout(resolve, Math.random() * expected.tookMs));
                going.child.kill('SIGKILL');
                await going.end();
                saved += fs.existsSync(path.join(output, 'policy', 'metadata.json')) ? 1 : 0;
            }
            assertSame(expected, output, finish(dir, output, ['--threads', String(1 + kills % 2)]));
            assert.deepEqual(fs.readdirSync(output).filter((name) => /^policy\./.test(name)), []);
            fs.rmSync(output, { recursive: true });
        }
        assert.ok(saved > 0, 'no run was killed after its first checkpoint');
        context.diagnostic(`${KILLS} kills, ${saved} of them after a checkpoint`);
    });

    test('stopped by SIGTERM: the iteration is finished and saved, the answer is partial', async () => {
        const dir = savingCase('resume');
        const expected = undisturbed(dir);
        const output = path.join(dir, 'stopped');
        const going = start(['run', dir, '--output', output, '--json']);
        await going.progress(/ 3\/20 iter/);
        going.child.kill('SIGTERM');
        const done = await going.end();
        assert.equal(done.status, 143, done.stderr);
        const partial = object(done);
        assert.equal(partial.status, 'partial');
        const metadata = JSON.parse(fs.readFileSync(path.join(output, 'policy', 'metadata.json'), 'utf8'));
        assert.equal(metadata.completed_iterations, partial.training.iterations);
        assert.ok(partial.training.iterations < ITERATIONS);
        assertSame(expected, output, finish(dir, output));
        assert.equal(policyMode(output), 'resume');
    });

    test('a training that had ended is resumed: nothing is left to do, and nothing changes', () => {
        const dir = savingCase('resume');
        const expected = undisturbed(dir);
        const again = run(['run', dir, '--output', expected.output, '--json']);
        assert.equal(again.status, 0, again.stderr);
        assert.match(again.stderr, /warning: .*none left/);
        assertSame(expected, expected.output, object(again));
    });

    test('without resume.bin the records of the iterations stay, and without records the bounds', () => {
        const dir = savingCase('resume');
        const { output } = undisturbed(dir);
        const first = object(run(['run', dir, '--output', output, '--json'])).training;
        fs.rmSync(path.join(output, 'policy', 'resume.bin'));
        editJson(dir, 'config.json', (config) => Object.assign(config.training, limit(ITERATIONS + 2)));
        assert.equal(object(run(['run', dir, '--output', output, '--json'])).training.iterations, ITERATIONS + 2);
        const rows = convergenceOf(output);
        assert.deepEqual(rows.map(({ iteration }) => iteration), Array.from({ length: ITERATIONS + 2 }, (_, i) => i + 1));
        assert.equal(rows[ITERATIONS - 1].lower_bound, first.final_lower_bound);

        const last = rows.at(-1);
        fs.rmSync(path.join(output, 'policy', 'resume.bin'));
        fs.rmSync(path.join(output, 'training', 'convergence.parquet'));
        const none = object(run(['run', dir, '--output', output, '--json'])).training;
        assert.deepEqual([none.iterations, none.final_lower_bound, none.final_upper_bound], [ITERATIONS + 2, last.lower_bound, last.upper_bound_mean]);
    });

    test('a disk that is full: CheckpointFailed, and the last policy is still good', () => {
        const dir = savingCase('resume', { training: { ...limit(ITERATIONS), forward_passes: 16 } });
        const expected = undisturbed(dir);
        const output = path.join(dir, 'full');
        let failures = 0;
        for (let blocks = 40; blocks < 400; blocks += 10) {
            const done = spawnSync('/bin/sh', ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, cobre, 'run', dir, '--output', output,
                                               '--json', '--quiet'], { encoding: 'utf8', timeout: DEADLINE_MS });
            if (done.status === 0)
                break;
            const { context, suggestion } = record(done, 'CheckpointFailed', 2);
            assert.equal(context.operation, 'write');
            if (context.checkpoint_path !== path.join(output, 'policy'))
                continue;
            failures++;
            assertUnfinished(output);
            if (fs.existsSync(path.join(output, 'training', 'metadata.json')))
                assert.equal(statusOf(output, 'training'), 'failed');
            assert.equal(/still there/.test(suggestion), fs.existsSync(path.join(output, 'policy', 'metadata.json')));
            assert.deepEqual(fs.readdirSync(output).filter((name) => /^policy\./.test(name)), []);
        }
        assert.ok(failures > 0, 'the policy never met the limit');
        assertSame(expected, output, finish(dir, output));
    });
});

describe('a run that begins from a policy', () => {
    test('resume without a policy starts at iteration 1, with a warning', () => {
        const dir = savingCase('resume');
        const done = run(['run', dir, '--json']);
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stderr, /warning: .*no saved policy to resume from/);
        assert.equal(object(done).training.iterations, ITERATIONS);
    });

    test('a warm start counts from 1 and begins at the bound of the policy', () => {
        const dir = savingCase('fresh');
        const output = path.join(dir, 'output');
        const first = finish(dir, output);
        editJson(dir, 'config.json', (config) => {
            config.policy.mode = 'warm_start';
            config.training.stopping_rules = limit(2).stopping_rules;
        });
        const second = finish(dir, output);
        assert.equal(second.training.iterations, 2);
        assert.ok(second.training.final_lower_bound >= first.training.final_lower_bound * (1 - 1e-9));
        assert.equal(second.training.total_cuts, first.training.total_cuts + 3 * 2 * 2);
        assert.equal(policyMode(output), 'warm_start');
        const metadata = JSON.parse(fs.readFileSync(path.join(output, 'policy', 'metadata.json'), 'utf8'));
        assert.equal(metadata.warm_start_cuts, ITERATIONS * 2);
        assert.deepEqual(metadata.warm_start_counts, [ITERATIONS * 2, ITERATIONS * 2, ITERATIONS * 2, 0]);
    });

    const CHANGES = {
        'a cost': (dir) => editJson(dir, 'system/thermals.json', ({ thermals }) => { thermals[0].cost_per_mwh /= 2; }),
        'the first storage': (dir) => editJson(dir, 'initial_conditions.json', ({ storage }) => { storage[0].value_hm3 *= 0.9; }),
        'a risk measure': (dir) => editJson(dir, 'stages.json', ({ stages }) => {
            stages[0].risk_measure = { cvar: { alpha: 0.5, lambda: 0.5 } };
        }),
    };
    for (const mode of ['resume', 'warm_start'])
        test(`${mode} says that the case has changed, and only then`, () => {
            const changed = /warning: The case has changed since the saved policy was trained/;
            for (const [what, change] of Object.entries({ nothing: () => {}, ...CHANGES })) {
                const dir = savingCase('fresh', { training: { ...limit(2), forward_passes: 2 } });
                finish(dir, path.join(dir, 'output'));
                editJson(dir, 'config.json', (config) => {
                    config.policy.mode = mode;
                    config.training = { ...config.training, ...limit(3), forward_passes: 3 };
                    config.training.solver = { backend: 'clp' };
                });
                change(dir);
                const done = run(['run', dir, '--json']);
                assert.equal(done.status, 0, done.stderr);
                assert.equal(changed.test(done.stderr), what !== 'nothing', `${what}: ${done.stderr}`);
            }
        });

    test('a simulation alone has the costs of one that follows the training', () => {
        const dir = savingCase('fresh', { simulation: { enabled: true, num_scenarios: 7 } });
        const output = path.join(dir, 'output');
        finish(dir, output);
        const costs = () => allFiles(path.join(output, 'simulation', 'costs')).filter((name) => name.endsWith('.parquet')).sort()
            .map((name) => digestOf(path.join(output, 'simulation', 'costs', name)));
        const before = costs();
        assert.equal(before.length, 7);
        editJson(dir, 'config.json', (config) => { config.training.enabled = false; });
        const alone = finish(dir, output);
        assert.equal(alone.training, null);
        assert.equal(alone.simulation.scenarios, 7);
        assert.deepEqual(costs(), before);
    });

    test('a policy that is missing, damaged or of another case is refused, and stays', () => {
        const dir = savingCase('warm_start');
        const output = path.join(dir, 'output');
        const missing = record(run(['run', dir, '--json']), 'CheckpointFailed', 1);
        assert.deepEqual(missing.context.operation, 'read');
        assert.equal(missing.context.checkpoint_path, path.join(output, 'policy'));
        editJson(dir, 'config.json', (config) => { config.policy.mode = 'fresh'; });
        finish(dir, output);
        for (const mode of ['warm_start', 'resume']) {
            editJson(dir, 'config.json', (config) => { config.policy.mode = mode; });
            const file = path.join(output, 'policy', 'cuts', 'stage_001.bin');
            const good = fs.readFileSync(file);
            fs.writeFileSync(file, good.subarray(0, good.length - 1));
            const damaged = record(run(['run', dir, '--json']), 'CheckpointFailed', 1);
            assert.match(damaged.context.detail, /^cuts\/stage_001\.bin: /);
            fs.writeFileSync(file, good);
        }
        editJson(dir, 'system/hydros.json', (file) => { file.hydros[0].id += 1; });
        editJson(dir, 'initial_conditions.json', (file) => { file.storage[0].hydro_id += 1; });
        const other = run(['run', dir, '--json']);
        assert.equal(other.status, 1, other.stderr);
        assert.ok(fs.existsSync(path.join(output, 'training', '_SUCCESS')), 'the older results stay');
        assert.ok(fs.existsSync(path.join(output, 'policy', 'metadata.json')));
    });

    test('exports.states: the visited states have files of their own, and a resume reads them', () => {
        const dir = savingCase('resume', { exports: { states: true } });
        const expected = undisturbed(dir);
        const states = allFiles(path.join(expected.output, 'policy', 'states')).sort();
        assert.deepEqual(states, ['stage_000.bin', 'stage_001.bin', 'stage_002.bin']);
        assert.equal(expected.result.metadata.total_visited_states, 3 * 2 * ITERATIONS);
        const output = path.join(dir, 'halfway');
        editJson(dir, 'config.json', (config) => { config.training.stopping_rules = limit(7).stopping_rules; });
        finish(dir, output);
        editJson(dir, 'config.json', (config) => { config.training.stopping_rules = limit(ITERATIONS).stopping_rules; });
        assertSame(expected, output, finish(dir, output));
        for (const name of states)
            assert.equal(digestOf(path.join(output, 'policy', 'states', name)),
                         digestOf(path.join(expected.output, 'policy', 'states', name)));
    });

    test('policy.path may be below another folder, and absolute', () => {
        for (const place of ['runs/a', path.join(fs.mkdtempSync('/tmp/cobre-policy-'), 'policy')]) {
            const dir = savingCase('fresh');
            editJson(dir, 'config.json', (config) => { config.policy.path = place; });
            finish(dir, path.join(dir, 'output'));
            const full = path.resolve(dir, 'output', place);
            assert.ok(fs.existsSync(path.join(full, 'metadata.json')));
            fs.rmSync(full, { recursive: true });
        }
    });

    test('policy.path is no folder of the results, which a run writes and clears', () => {
        for (const place of ['simulation', './training/policy/', 'hydro_models']) {
            const dir = savingCase('fresh', { simulation: { enabled: true, num_scenarios: 2 } });
            editJson(dir, 'config.json', (config) => { config.policy.path = place; });
            const refused = record(run(['run', dir, '--json']), 'CheckpointFailed', 2);
            assert.ok(refused.message.includes(`'${place}' is a folder of the results`), refused.message);
        }
    });

    test('what is no policy is not replaced', () => {
        const dir = savingCase('fresh');
        const output = path.join(dir, 'output');
        fs.mkdirSync(path.join(output, 'policy'), { recursive: true });
        fs.writeFileSync(path.join(output, 'policy', 'thesis.txt'), 'words');
        const refused = record(run(['run', dir, '--json']), 'CheckpointFailed', 2);
        assert.match(refused.context.detail, /thesis\.txt/);
        assert.equal(fs.readFileSync(path.join(output, 'policy', 'thesis.txt'), 'utf8'), 'words');
    });
});

/** The first two stages of four-stages, whose future is a stage of another policy. */
function firstStages(boundary) {
    const dir = copyCase('four-stages', { training: limit(150), simulation: { enabled: false }, policy: { boundary } });
    editJson(dir, 'stages.json', (file) => { file.stages = file.stages.slice(0, 2); });
    editJson(dir, 'scenarios/load_factors.json', (file) => {
        file.load_factors = file.load_factors.filter((entry) => entry.stage_id < 2);
    });
    return dir;
}

describe('a boundary policy', () => {
    test('is the future of the last stage: the first stages alone reach the bound of the whole', () => {
        const whole = copyCase('four-stages', { training: limit(150), simulation: { enabled: false } });
        const bound = finish(whole, path.join(whole, 'output')).training.final_lower_bound;
        const part = firstStages({ path: path.join(whole, 'output', 'policy'), source_stage: 1 });
        const found = finish(part, path.join(part, 'output')).training.final_lower_bound;
        assert.ok(Math.abs(found - bound) <= 1e-6 * bound, `${found} and ${bound}`);
    });

    test('that is not there, or lacks the stage, is refused', () => {
        record(run(['run', firstStages({ path: 'nowhere', source_stage: 1 }), '--json']), 'CheckpointFailed', 1);
        const whole = savingCase('fresh');
        finish(whole, path.join(whole, 'output'));
        const part = firstStages({ path: path.join(whole, 'output', 'policy'), source_stage: 4 });
        const refused = record(run(['run', part, '--json']), 'IncompatibleSettings', 1);
        assert.equal(refused.context.settings, 'policy.boundary');
    });
});
