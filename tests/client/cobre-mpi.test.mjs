/*
 * cobre-mpi.test.mjs - cobre-mpi: the same bits as cobre run with 1, 2 and 3 ranks; stopped and
 * killed runs, which one process resumes to the same bits; errors.
 *
 * It needs Open MPI; where the build has no cobre-mpi, the tests are skipped and say so.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { allFiles, bin, children, copyCase, editJson, limit, run, statusOf } from './cobre-shell.mjs';

const program = path.join(bin, 'cobre-mpi');
const DEADLINE_MS = 240_000;
const ENDLESS = 1_000_000;

/* Open MPI in a container: as root, more ranks than processors, no network, no ptrace; the library
 * itself leaks what it allocates at its start. */
const environment = {
    ...process.env,
    OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
    OMPI_MCA_rmaps_base_oversubscribe: '1', OMPI_MCA_plm: 'isolated', OMPI_MCA_btl: 'vader,self',
    OMPI_MCA_btl_vader_single_copy_mechanism: 'none', OMPI_MCA_mpi_yield_when_idle: '1',
    OMPI_MCA_hwloc_base_binding_policy: 'none',
    ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:detect_leaks=0`,
};

const hasMpi = fs.existsSync(program) && spawnSync('mpirun', ['--version']).status === 0;
const options = { skip: hasMpi ? false : 'cobre-mpi is not built: install libopenmpi-dev and openmpi-bin, and build again' };

const commandOf = (ranks, args) => ['--oversubscribe', '-n', String(ranks), program, ...args];

function runRanks(ranks, args, env = {}) {
    const done = spawnSync('mpirun', commandOf(ranks, args),
                           { encoding: 'utf8', timeout: DEADLINE_MS, killSignal: 'SIGKILL', env: { ...environment, ...env } });
    assert.equal(done.error, undefined, `${args}: ${done.error}`);
    return done;
}

/** Start; `until(done)` waits for a condition, `end()` for the end of mpirun. */
function startRanks(ranks, args, env = {}) {
    const child = spawn('mpirun', commandOf(ranks, args), { stdio: ['ignore', 'pipe', 'pipe'], env: { ...environment, ...env } });
    children.push(child);
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes) => { out += bytes; });
    child.stderr.on('data', (bytes) => { err += bytes; });
    const ended = new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout: out, stderr: err })));
    const deadline = Date.now() + DEADLINE_MS;
    const until = async (condition, what) => {
        while (!condition(err)) {
            assert.ok(Date.now() < deadline && child.exitCode === null, `no ${what}: ${out} ${err.slice(-800)}`);
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    return { child, until, end: () => ended };
}

/** mpirun adds words of its own to standard error, never to standard output. */
function object(done) {
    assert.match(done.stdout, /^\{.*\}\n/, `no object: ${done.stdout} ${done.stderr}`);
    return JSON.parse(done.stdout.split('\n')[0]);
}

const digestOf = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/** Policy and simulation: all files but those with times or the date. */
function bitsOf(output) {
    const digests = (folder, pattern) => allFiles(path.join(output, folder)).filter((name) => pattern.test(name)).sort()
        .map((name) => [name, digestOf(path.join(output, folder, name))]);
    const { created_at: _, ...metadata } = JSON.parse(fs.readFileSync(path.join(output, 'policy', 'metadata.json'), 'utf8'));
    return {
        metadata,
        policy: digests('policy', /^(cuts|basis)\/.*\.bin$/),
        simulation: fs.existsSync(path.join(output, 'simulation')) ? digests('simulation', /^(?!solver).*\.parquet$/) : [],
    };
}

const rankTimes = ['training', 'timing', 'mpi_ranks.parquet'];

const trainingOf = (output) => JSON.parse(fs.readFileSync(path.join(output, 'training', 'metadata.json'), 'utf8'));

function sameFigures(answer, expected) {
    const { wall_time_ms: _, ...figures } = answer.training;
    const { wall_time_ms: __, ...others } = expected.training;
    assert.deepEqual(figures, others);
}

/** One process, undisturbed. */
function runAlone(dir, output) {
    const done = run(['run', dir, '--output', output, '--json', '--quiet'], { timeout: DEADLINE_MS });
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout);
}

/** A case that does not end by itself, and saves each iteration. */
function endlessCase() {
    return copyCase('four-stages', {
        training: { ...limit(ENDLESS), forward_passes: 3 },
        simulation: { enabled: false, num_scenarios: 1 },
        policy: { mode: 'resume', checkpointing: { enabled: true, initial_iteration: 1, interval_iterations: 1 } },
    });
}

const savedOf = (output) => {
    try {
        return JSON.parse(fs.readFileSync(path.join(output, 'policy', 'metadata.json'), 'utf8')).completed_iterations;
    } catch {
        return 0; /* not saved yet, or being replaced */
    }
};

/** Resumed by one process, the run ends as one that was never stopped. */
function resumesToTheSameBits(dir, output) {
    const iterations = savedOf(output) + 2;
    editJson(dir, 'config.json', (now) => Object.assign(now.training, limit(iterations)));
    const resumed = runAlone(dir, output);
    assert.equal(resumed.training.iterations, iterations);
    sameFigures(resumed, runAlone(dir, path.join(dir, 'undisturbed')));
    assert.deepEqual(bitsOf(output), bitsOf(path.join(dir, 'undisturbed')));
}

describe('the same bits', options, () => {
    test('1, 2 and 3 ranks of 2 threads, each file of the policy and the simulation', () => {
        const dir = copyCase('four-stages', {
            training: { ...limit(8), forward_passes: 4 },
            simulation: { enabled: true, num_scenarios: 21 },
        });
        const expected = runAlone(dir, path.join(dir, 'alone'));
        const bits = bitsOf(path.join(dir, 'alone'));
        assert.ok(bits.policy.length > 0 && bits.simulation.length > 21);
        for (const ranks of [1, 2, 3]) {
            const output = path.join(dir, `ranks-${ranks}`);
            const done = runRanks(ranks, ['run', dir, '--output', output, '--threads', '2', '--json', '--quiet']);
            assert.equal(done.status, 0, done.stderr);
            sameFigures(object(done), expected);
            assert.deepEqual(bitsOf(output), bits);
            const { distribution } = trainingOf(output);
            assert.equal(distribution.backend, 'mpi');
            assert.equal(distribution.world_size, ranks);
            assert.equal(distribution.ranks_participated, ranks);
            assert.equal(distribution.num_nodes, 1);
            assert.equal(distribution.threads_per_rank, 2);
            assert.match(distribution.mpi_library, /^Open MPI v\d/);
            assert.match(distribution.mpi_standard, /^\d\.\d$/);
            assert.equal(distribution.thread_level, 'funneled');
            assert.ok(fs.existsSync(path.join(output, ...rankTimes)));
        }
        assert.ok(!fs.existsSync(path.join(dir, 'alone', ...rankTimes)));
        assert.deepEqual(trainingOf(path.join(dir, 'alone')).distribution,
                         { backend: 'local', world_size: 1, ranks_participated: 1, num_nodes: 1, threads_per_rank: 1 });
    });

    test('cut selection, upper bound, and a stopping rule that simulates', () => {
        const dir = copyCase('four-stages', {
            training: {
                forward_passes: 3,
                stopping_rules: [{ type: 'iteration_limit', limit: 10 },
                                 { type: 'simulation', replications: 5, period: 2, bound_window: 2, distance_tol: 0.5, bound_tol: 0.5 }],
                cut_selection: { enabled: true, method: 'level1', threshold: 0, check_frequency: 2 },
            },
            upper_bound_evaluation: { enabled: true, initial_iteration: 3, interval_iterations: 3 },
            simulation: { enabled: false, num_scenarios: 1 },
        });
        const expected = runAlone(dir, path.join(dir, 'alone'));
        const done = runRanks(3, ['run', dir, '--output', path.join(dir, 'ranks'), '--json', '--quiet']);
        assert.equal(done.status, 0, done.stderr);
        sameFigures(object(done), expected);
        assert.deepEqual(bitsOf(path.join(dir, 'ranks')), bitsOf(path.join(dir, 'alone')));
        const bounds = (output) => digestOf(path.join(dir, output, 'training', 'inner_bound.parquet'));
        assert.equal(bounds('ranks'), bounds('alone'));
    });
});

describe('a run that does not reach its end', options, () => {
    test('stopped through mpirun by SIGUSR1: partial, and one process resumes to the same bits', async () => {
        const dir = endlessCase();
        const output = path.join(dir, 'stopped');
        const going = startRanks(2, ['run', dir, '--output', output, '--json', '--quiet']);
        await going.until(() => savedOf(output) >= 2, 'second iteration');
        going.child.kill('SIGUSR1');
        const done = await going.end();
        assert.equal(done.status, 138, done.stderr);
        const answer = object(done);
        assert.equal(answer.status, 'partial');
        assert.equal(answer.training.termination_reason, 'shutdown');
        assert.equal(savedOf(output), answer.training.iterations);
        assert.equal(statusOf(output, 'training'), 'partial');
        resumesToTheSameBits(dir, output);
    });

    test('SIGTERM to mpirun, which passes it on before it kills: partial, and the same bits', async () => {
        const dir = endlessCase();
        const output = path.join(dir, 'terminated');
        const going = startRanks(2, ['run', dir, '--output', output, '--json', '--quiet'],
                                 { OMPI_MCA_odls_base_sigkill_timeout: '8' });
        await going.until(() => savedOf(output) >= 2, 'second iteration');
        going.child.kill('SIGTERM');
        const done = await going.end();
        assert.notEqual(done.status, 0);
        assert.equal(statusOf(output, 'training'), 'partial');
        resumesToTheSameBits(dir, output);
    });

    test('a rank that is killed ends the job, and the last checkpoint is good', async () => {
        const dir = endlessCase();
        const output = path.join(dir, 'killed');
        const going = startRanks(3, ['run', dir, '--output', output, '--json', '--quiet']);
        await going.until(() => savedOf(output) >= 2, 'second iteration');
        const ranks = spawnSync('pgrep', ['-P', String(going.child.pid)], { encoding: 'utf8' }).stdout.trim().split('\n');
        assert.equal(ranks.length, 3);
        process.kill(Number(ranks[2]), 'SIGKILL');
        const done = await going.end();
        assert.notEqual(done.status, 0);
        assert.ok(savedOf(output) >= 2);
        resumesToTheSameBits(dir, output);
    });
});

describe('errors', options, () => {
    test('a stage without a solution: the record of one process, on all ranks', () => {
        const dir = copyCase('must-release', { modeling: { inflow_non_negativity: { method: 'none' } } });
        editJson(dir, 'system/hydros.json', (now) => {
            now.hydros[0].reservoir = { min_storage_hm3: 5e8, max_storage_hm3: 6e8 };
        });
        editJson(dir, 'initial_conditions.json', (now) => {
            now.storage = [{ hydro_id: 0, value_hm3: 0 }];
        });
        const alone = run(['run', dir, '--output', path.join(dir, 'alone'), '--json', '--quiet']);
        assert.equal(alone.status, 3, alone.stdout);
        const done = runRanks(3, ['run', dir, '--output', path.join(dir, 'ranks'), '--json', '--quiet']);
        assert.equal(done.status, 3, done.stderr);
        const record = object(done);
        assert.equal(record.kind, 'SolverFailure');
        assert.deepEqual(record, JSON.parse(alone.stdout));
        assert.equal(done.stdout, alone.stdout);
    });

    test('a case that is not valid: its findings, once', () => {
        const dir = copyCase('four-stages', { training: { forward_passes: 0 } });
        const done = runRanks(2, ['run', dir, '--json']);
        assert.equal(done.status, 1, done.stderr);
        assert.equal(object(done).kind, 'OutOfRange');
        assert.equal(done.stderr.match(/error: \[OutOfRange\]/g).length, 1, done.stderr);
    });

    test('an output directory in use: refused, on all ranks', async () => {
        const dir = endlessCase();
        const output = path.join(dir, 'busy');
        const going = startRanks(2, ['run', dir, '--output', output, '--quiet']);
        await going.until(() => savedOf(output) >= 1, 'first iteration');
        const done = runRanks(2, ['run', dir, '--output', output, '--json', '--quiet']);
        assert.equal(done.status, 1, done.stderr);
        assert.equal(object(done).kind, 'IncompatibleSettings');
        going.child.kill('SIGUSR1');
        await going.end();
    });

    test('ranks of different cases: MpiError, before anything is written', () => {
        const [one, other] = [1, 2].map((passes) => copyCase('four-stages', { training: { ...limit(2), forward_passes: passes } }));
        const line = (dir) => [program, 'run', dir, '--json', '--quiet'];
        const done = spawnSync('mpirun', ['--oversubscribe', '-n', '1', ...line(one), ':', '-n', '1', ...line(other)],
                               { encoding: 'utf8', timeout: DEADLINE_MS, killSignal: 'SIGKILL', env: environment });
        assert.equal(done.status, 4, done.stderr);
        const { kind, context } = object(done);
        assert.equal(kind, 'MpiError');
        assert.equal(context.operation, 'agree');
        assert.equal(context.rank, 1);
        assert.match(context.detail, /study of rank 1/);
        assert.ok(![one, other].some((dir) => fs.existsSync(path.join(dir, 'output'))));
    });

    test('a case that one rank cannot find: MpiError with its reason', () => {
        const dir = copyCase('four-stages', { training: limit(2) });
        const line = (where) => [program, 'run', where, '--json', '--quiet'];
        const done = spawnSync('mpirun', ['--oversubscribe', '-n', '1', ...line(dir), ':', '-n', '1', ...line(`${dir}-absent`)],
                               { encoding: 'utf8', timeout: DEADLINE_MS, killSignal: 'SIGKILL', env: environment });
        assert.equal(done.status, 4, done.stderr);
        const { kind, context } = object(done);
        assert.equal(kind, 'MpiError');
        assert.equal(context.operation, 'end');
        assert.equal(context.rank, 1);
        assert.equal(context.error_code, 2);
    });

    test('version: this program has MPI', () => {
        const done = runRanks(1, ['version', '--json']);
        assert.equal(done.status, 0, done.stderr);
        assert.equal(object(done).mpi_available, true);
    });
});
