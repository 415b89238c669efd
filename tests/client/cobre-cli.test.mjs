/*
 * cobre-cli.test.mjs - the command line of cobre: its output, its exit status, and the files of a
 * run that is stopped, killed, or out of disk space.
 *
 * No test expects that root is denied a permission. Every wait has a deadline.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { allFiles, assertUnfinished, bin, cases, children, cobre, copyCase, DEADLINE_MS, editJson, limit, object, record, run,
    schemaOf, scratch, start, statusOf } from './cobre-shell.mjs';

describe('cobre validate', () => {
    test('a valid case: counts for people, the tool\'s object for machines', () => {
        const dir = copyCase('two-towns');
        const words = run(['validate', dir]);
        assert.equal(words.status, 0);
        assert.match(words.stdout, /^Valid case: 2 buses, 0 hydros, \d thermals, 1 lines\n/);
        assert.match(words.stdout, /^ {2}buses: 2\n {2}hydros: 0\n {2}thermals: \d\n {2}lines: 1\n/m);
        assert.equal(words.stderr, '');
        const verdict = object(run(['validate', dir, '--json']));
        schemaOf('validate')(verdict);
        assert.equal(verdict.valid, true);
        assert.equal(verdict.summary.layers_completed, 5);
    });

    test('a broken case: each finding on a line with its place and a suggestion', () => {
        const dir = copyCase('two-towns');
        editJson(dir, 'system/lines.json', (file) => { file.lines[0].source_bus_id = 77; });
        const words = run(['validate', dir]);
        assert.equal(words.status, 1);
        assert.match(words.stdout, new RegExp(`^Validation: 1 errors, 0 warnings in ${dir}\n`));
        assert.match(words.stdout, /^error: \[MissingReference\] system\/lines\.json \(line 0.*\): /m);
        assert.match(words.stdout, /^ {2}-> \S/m);
        assert.equal(words.stderr, 'error: the case has 1 error\n');
        const done = run(['validate', '--json', dir]);
        assert.equal(done.status, 1);
        const verdict = object(done);
        schemaOf('validate')(verdict);
        assert.equal(Number(verdict.errors[0].context.referenced_value), 77);
    });

    test('a case directory that does not exist', () => {
        const file = path.join(scratch, 'plain-file');
        const fifo = path.join(scratch, 'fifo');
        fs.writeFileSync(file, 'x');
        assert.equal(spawnSync('mkfifo', [fifo]).status, 0);
        for (const place of [path.join(scratch, 'nowhere'), file, fifo, '/dev/null', `${file}/below`])
            for (const command of ['validate', 'run']) {
                const value = record(run([command, place, '--json']), 'MissingFile', 2);
                assert.equal(value.context.file, place);
                assert.equal(run([command, place]).stdout, '');
            }
    });

    test('a config.json that is no regular file is reported, not waited for', () => {
        const ways = {
            fifo: (to) => spawnSync('mkfifo', [to]),
            directory: (to) => fs.mkdirSync(to),
            outside: (to) => fs.symlinkSync('/etc/passwd', to),
            dangling: (to) => fs.symlinkSync('nowhere', to),
            loop: (to) => fs.symlinkSync('config.json', to),
            device: (to) => fs.symlinkSync('/dev/zero', to),
        };
        for (const [name, make] of Object.entries(ways)) {
            const dir = copyCase('merit-order');
            fs.rmSync(path.join(dir, 'config.json'));
            make(path.join(dir, 'config.json'));
            const done = run(['validate', dir, '--json']);
            assert.equal(done.status, 1, name);
            const verdict = object(done);
            assert.equal(verdict.errors[0].kind, 'MissingFile', name);
            assert.equal(verdict.errors[0].context.file, 'config.json');
            record(run(['run', dir, '--json']), 'MissingFile', 1);
            assert.ok(!fs.existsSync(path.join(dir, 'output')));
        }
    });

    test('names from files cannot control the terminal', () => {
        const dir = copyCase('two-towns');
        editJson(dir, 'system/lines.json', (file) => {
            file.lines[0].name = 'a\u001b[2J\u009b31m\u0007b';
            file.lines[0].source_bus_id = 77;
        });
        const done = run(['validate', dir]);
        assert.equal(done.status, 1);
        assert.match(done.stdout, /a\?\[2J\?+31m\?b/);
    });

    test('names of any bytes still give JSON', () => {
        const dir = Buffer.concat([Buffer.from(`${scratch}/`), Buffer.from([0xff, 0xfe, 0x63])]);
        const shell = (args) => spawnSync('/bin/sh', ['-c', `"$0" ${args} "$(printf '%b' "$1")"`, cobre,
                                                      `${scratch}/\\0377\\0376c`],
                                          { encoding: 'utf8', timeout: DEADLINE_MS });
        record(shell('validate --json'), 'MissingFile', 2);
        fs.mkdirSync(dir);
        for (const name of fs.readdirSync(path.join(cases, 'merit-order')))
            fs.cpSync(path.join(cases, 'merit-order', name),
                      Buffer.concat([dir, Buffer.from(`/${name}`)]).toString('latin1')
                          .replace(/^.*$/s, () => path.join(scratch, `copy-${name}`)),
                      { recursive: true });
        for (const name of fs.readdirSync(path.join(cases, 'merit-order')))
            fs.renameSync(path.join(scratch, `copy-${name}`),
                          Buffer.concat([dir, Buffer.from(`/${name}`)]));
        const done = shell('run --quiet --json');
        assert.equal(done.status, 0, done.stderr);
        assert.equal(object(done).output_dir, `${scratch}/??c/output`);
    });
});

describe('the command line', () => {
    test('invalid options are reported, with one object for --json, and nothing is done', () => {
        const dir = copyCase('merit-order');
        const lines = [[['run'], 'missing CASE'], [['run', dir, dir], 'unexpected argument'],
                       [['run', dir, '--threads', '0'], '--threads'],
                       [['run', dir, '--threads', 'many'], '--threads'],
                       [['run', dir, '--threads'], '--threads'],
                       [['run', dir, '--thread=2'], "did you mean '--threads'"],
                       [['validate', dir, '--output', 'x'], '--output'],
                       [['rum', dir], "did you mean 'run'"]];
        for (const [args, words] of lines) {
            const plain = run(args);
            assert.equal(plain.status, 2, `${args}`);
            assert.equal(plain.stdout, '');
            assert.ok(plain.stderr.includes(words), plain.stderr);
            const done = run([...args, '--json']);
            assert.equal(done.status, 2);
            if (args.at(-1) !== '--threads')
                assert.equal(object(done).kind, 'SchemaViolation');
        }
        for (const threads of ['0', 'x', '1e3', '99999999999999999999', '-1', ' 2'])
            assert.match(run(['run', dir], { env: { COBRE_THREADS: threads } }).stderr,
                         /COBRE_THREADS wants a whole number from 1 to 1024/);
        assert.ok(!fs.existsSync(path.join(dir, 'output')));
        assert.equal(run(['run', dir, '--quiet'], { env: { COBRE_THREADS: '2' } }).status, 0);
    });

    test('help and version', () => {
        for (const args of [['--help'], ['run', '--help'], ['validate', '-h'], ['serve', '--help']]) {
            const done = run(args);
            assert.equal(done.status, 0);
            assert.match(done.stdout, /^Usage: cobre /);
            assert.equal(done.stderr, '');
        }
        assert.match(run(['--version']).stdout, /2\.0\.0/);
    });

    test('standard output that cannot be written is a failure', () => {
        const dir = copyCase('merit-order');
        for (const args of [['validate', dir], ['validate', dir, '--json'], ['--help'],
                            ['run', dir, '--quiet', '--json']]) {
            const full = fs.openSync('/dev/full', 'w');
            const done = run(args, { stdio: ['ignore', full, 'pipe'] });
            fs.closeSync(full);
            assert.equal(done.status, 2, `${args}`);
            assert.match(done.stderr, /^error: standard output cannot be written: /m);
        }
        assert.ok(fs.existsSync(path.join(dir, 'output', 'training', '_SUCCESS')));
    });

    test('without DuckDB there is no run, and the reason is printed', () => {
        const done = run(['run', copyCase('merit-order'), '--quiet', '--json'],
                         { env: { CAUSEWAY_DUCKDB: '/nowhere/libduckdb.so' } });
        assert.match(record(done, 'InternalError', 4).message, /\/nowhere\/libduckdb\.so/);
    });

    test('the server opens no directory when its option names none', () => {
        const done = spawnSync(path.join(bin, 'cobre-mcp'), ['--allowed-dirs', ''],
                               { encoding: 'utf8', input: '', timeout: DEADLINE_MS });
        assert.equal(done.status, 2);
        assert.match(done.stderr, /there must be an allowed directory/);
        assert.equal(done.stdout, '');
    });
});

describe('cobre run', () => {
    test('words and progress on standard error, without escape codes without a terminal', () => {
        const dir = copyCase('merit-order', { training: limit(5), simulation: { num_scenarios: 4 } });
        const done = run(['run', dir]);
        assert.equal(done.status, 0, done.stderr);
        assert.equal(done.stdout, '');
        assert.ok(!done.stderr.includes('\u001b') && !done.stderr.includes('\r'));
        assert.match(done.stderr, /^Training   starting\.\.\. \(max 5 iterations\)$/m);
        assert.equal(done.stderr.match(/^Training +\d+\/5 iter {2}LB: 2\.99460e6 /gm).length, 5);
        assert.equal(done.stderr.match(/^Simulation +\d+\/4 scenarios/gm).length, 4);
        assert.match(done.stderr, /^Training complete in .*s \(5 iterations, iteration_limit\)$/m);
        assert.match(done.stderr, new RegExp(`^Output written to ${dir}/output/$`, 'm'));
        assert.equal(run(['run', dir, '--quiet']).stderr, '');
    });

    test('what the study is built from, and a warning when the seed is not given', () => {
        const dir = copyCase('four-stages', { training: limit(1), simulation: { num_scenarios: 1 } });
        const given = run(['run', dir]);
        assert.match(given.stderr, /^Hydro models\n {2}Production: +\d+ constant, \d+ by planes \(FPHA\)\n {2}Evaporation: +\d+ of \d+ plants\n$/m);
        assert.match(given.stderr, /^Model provenance\n {2}Estimation: +user_stats_white_noise\n {2}Statistics: +user_file\n/m);
        assert.doesNotMatch(given.stderr, /tree_seed/);
        editJson(dir, 'config.json', (config) => delete config.training.tree_seed);
        assert.match(run(['run', dir]).stderr, /^warning: training\.tree_seed is not given: .* seed 42$/m);
        assert.equal(run(['run', dir, '--quiet']).stderr, '');
    });

    test('the object is the tool\'s, and the same for any number of threads', () => {
        const dir = copyCase('four-stages', { training: limit(8), simulation: { num_scenarios: 10 } });
        const check = schemaOf('run');
        const results = ['1', '2', '5'].map((threads) => {
            const value = object(run(['run', dir, '--json', '--threads', threads,
                                      '--output', path.join(scratch, `threads-${threads}`)]));
            check(value);
            assert.equal(value.output_dir, path.join(scratch, `threads-${threads}`));
            const { wall_time_ms: _, ...training } = value.training;
            return training;
        });
        assert.deepEqual(results[1], results[0]);
        assert.deepEqual(results[2], results[0]);
        assert.ok(!fs.existsSync(path.join(dir, 'output')));
    });

    test('--output is made with its parents, also from a relative path', () => {
        const dir = copyCase('merit-order');
        const value = object(run(['run', dir, '--json', '--quiet', '--output', 'a/b/c'],
                                 { cwd: scratch }));
        assert.equal(value.output_dir, path.join(scratch, 'a', 'b', 'c'));
        const file = path.join(scratch, 'in-the-way');
        fs.writeFileSync(file, 'x');
        for (const place of [file, `${file}/below`, '', '/proc/nowhere/out']) {
            const failed = record(run(['run', dir, '--json', '--output', place]),
                                  'CheckpointFailed', 2);
            assert.equal(failed.context.operation, 'write');
            assert.equal(failed.context.checkpoint_path, place);
            assert.ok(failed.context.detail.length > 0);
        }
    });

    test('warnings of the case are printed before the run', () => {
        const dir = copyCase('merit-order');
        editJson(dir, 'system/thermals.json', (file) => { file.thermals[0].gnl_config = { lag_stages: 2 }; });
        const done = run(['run', dir]);
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stderr, /^warning: \[IncompatibleSettings\] system\/thermals\.json /m);
        assert.ok(done.stderr.indexOf('warning: ') < done.stderr.indexOf('Training '));
    });

    test('an invalid case writes nothing', () => {
        const dir = copyCase('two-towns');
        editJson(dir, 'system/lines.json', (file) => { file.lines[0].source_bus_id = 77; });
        fs.rmSync(path.join(dir, 'penalties.json'));
        const value = record(run(['run', dir, '--json']), 'MissingFile', 1);
        assert.equal(value.errors.length, 1);
        assert.deepEqual(value.errors[0].context, value.context);
        assert.ok(!fs.existsSync(path.join(dir, 'output')));
    });

    test('an LP without a solution: stage, iteration, phase and status; no marker', () => {
        const dir = copyCase('must-release', { modeling: { inflow_non_negativity: { method: 'none' } } });
        editJson(dir, 'system/hydros.json', (file) => {
            file.hydros[0].reservoir = { min_storage_hm3: 5e8, max_storage_hm3: 6e8 };
        });
        editJson(dir, 'initial_conditions.json', (file) => {
            file.storage = [{ hydro_id: 0, value_hm3: 0 }];
        });
        const output = path.join(dir, 'output');
        const value = record(run(['run', dir, '--json']), 'SolverFailure', 3);
        assert.deepEqual(Object.keys(value.context), ['stage', 'iteration', 'opening', 'phase',
                                                      'solver_status', 'active_penalty_slacks', 'hydros', 'constraints']);
        assert.equal(value.context.stage, 0);
        assert.equal(value.context.iteration, 1);
        assert.equal(value.context.solver_status, 'infeasible');
        assert.equal(value.context.hydros.length, 1);
        assert.match(value.context.hydros[0], /^hydro 0 '.+' lacks 5e\+08 hm3$/);
        assert.ok(value.message.endsWith(value.context.hydros[0]), value.message);
        assert.equal(statusOf(output, 'training'), 'failed');
        assertUnfinished(output);
    });

    test('two phases, or one, or none, as config.json has them', () => {
        const dir = copyCase('merit-order', { simulation: { enabled: false } });
        const output = path.join(dir, 'output');
        assert.equal(object(run(['run', dir, '--json', '--quiet'])).simulation, null);
        assert.ok(fs.existsSync(path.join(output, 'training', '_SUCCESS')));
        assert.ok(!fs.existsSync(path.join(output, 'simulation', '_SUCCESS')));
        editJson(dir, 'config.json', (config) => { config.training.enabled = false; });
        const none = object(run(['run', dir, '--json', '--quiet']));
        assert.equal(none.status, 'completed');
        assert.equal(none.training, null);
        assert.equal(none.simulation, null);
        schemaOf('run')(none);
        assert.ok(fs.existsSync(path.join(output, 'training', '_SUCCESS')), 'an older training stays');
        const fresh = path.join(dir, 'fresh');
        assert.equal(object(run(['run', dir, '--json', '--quiet', '--output', fresh])).status, 'completed');
        editJson(dir, 'config.json', (config) => {
            config.simulation.enabled = true;
            config.policy = { path: path.join(output, 'policy') };
        });
        const apart = path.join(dir, 'apart');
        assert.equal(object(run(['run', dir, '--json', '--quiet', '--output', apart])).status, 'completed');
        assert.equal(run(['export', apart, 'thermals', '--entity', 'Coal']).status, 0, 'names are known there, too');
    });

    test('a simulation that has no training before it finds no policy', () => {
        const dir = copyCase('merit-order', { training: { enabled: false } });
        assert.equal(object(run(['validate', dir, '--json'])).valid, true);
        const value = record(run(['run', dir, '--json']), 'CheckpointFailed', 1);
        assert.deepEqual(Object.keys(value.context), ['checkpoint_path', 'operation', 'detail']);
        assert.equal(value.context.checkpoint_path, path.join(dir, 'output', 'policy'));
        assert.equal(value.context.operation, 'read');
        assert.ok(!fs.existsSync(path.join(dir, 'output', 'simulation')));
    });

    test('a full disk: the failure is reported, no marker is left, the next run works', () => {
        const dir = copyCase('four-stages', { training: limit(3), simulation: { num_scenarios: 3 } });
        const output = path.join(dir, 'output');
        for (const blocks of [0, 4, 8, 12]) {
            const done = spawnSync('/bin/sh', ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, cobre, 'run',
                                               dir, '--json', '--quiet'],
                                   { encoding: 'utf8', timeout: DEADLINE_MS });
            if (done.status === 0)
                break;
            record(done, 'CheckpointFailed', 2);
            assert.ok(!fs.existsSync(path.join(output, 'simulation', '_SUCCESS')));
            assert.deepEqual(allFiles(output).filter((name) => name.endsWith('.tmp')), []);
        }
        assert.equal(object(run(['run', dir, '--json', '--quiet'])).status, 'completed');
    });
});

describe('a run that is stopped or killed', () => {
    const long = { training: limit(1_000_000) };
    const longSimulation = { training: limit(2), simulation: { num_scenarios: 100_000 } };

    for (const [signal, status] of [['SIGHUP', 129], ['SIGINT', 130], ['SIGTERM', 143]])
        test(`${signal} in the training: the iteration is finished, what is done is on disk`, async () => {
            const dir = copyCase('four-stages', long);
            const output = path.join(dir, 'output');
            const going = start(['run', dir, '--json']);
            await going.progress(/ 3\/1000000 iter/);
            going.child.kill(signal);
            const done = await going.end();
            assert.equal(done.status, status, done.stderr);
            const value = object(done);
            schemaOf('run')(value);
            assert.equal(value.status, 'partial');
            assert.equal(value.training.termination_reason, 'shutdown');
            assert.ok(value.training.iterations >= 3);
            assert.equal(value.simulation, null);
            assert.match(done.stderr, /^Training stopped in /m);
            assert.equal(statusOf(output, 'training'), 'partial');
            assertUnfinished(output);
        });

    test('two signals do not wait for the iteration', async () => {
        /* One iteration of this takes long: 400 passes over the stages. */
        const dir = copyCase('four-stages', { training: { forward_passes: 400, ...limit(1_000_000) } });
        const going = start(['run', dir, '--json']);
        await going.progress(/starting/);
        going.child.kill('SIGTERM');
        await new Promise((resolve) => setTimeout(resolve, 50));
        going.child.kill('SIGINT');
        const done = await going.end();
        assert.equal(done.status, 143, done.stderr);
        const value = object(done);
        assert.equal(value.status, 'partial');
        schemaOf('run')(value);
        assertUnfinished(path.join(dir, 'output'));
    });

    test('a signal in the simulation: completed scenarios stay, without a marker', async () => {
        const dir = copyCase('four-stages', longSimulation);
        const output = path.join(dir, 'output');
        const going = start(['run', dir, '--json']);
        await going.progress(/^Simulation +5\/100000 /m);
        going.child.kill('SIGINT');
        const done = await going.end();
        assert.equal(done.status, 130, done.stderr);
        const value = object(done);
        schemaOf('run')(value);
        assert.equal(value.status, 'partial');
        assert.ok(value.simulation.scenarios >= 5 && value.simulation.scenarios < 100_000);
        assert.equal(fs.readdirSync(path.join(output, 'simulation', 'costs')).length,
                     value.simulation.scenarios);
        assert.equal(statusOf(output, 'simulation'), 'partial');
        assert.ok(!fs.existsSync(path.join(output, 'simulation', '_SUCCESS')));
        assert.ok(fs.existsSync(path.join(output, 'training', '_SUCCESS')));
    });

    for (const [phase, config, pattern] of [['training', long, / 4\/1000000 iter/],
                                            ['simulation', longSimulation, / 5\/100000 scen/]])
        test(`killed in the ${phase}: nothing looks finished and the next run works at once`, async () => {
            const dir = copyCase('four-stages', config);
            const output = path.join(dir, 'output');
            /* An earlier run was completed: its markers must not remain. */
            const before = copyCase('four-stages', { training: limit(2),
                                                     simulation: { num_scenarios: 2 } });
            object(run(['run', before, '--json', '--quiet', '--output', output]));
            const going = start(['run', dir, '--json']);
            await going.progress(pattern);
            going.child.kill('SIGKILL');
            assert.equal((await going.end()).signal, 'SIGKILL');
            assert.ok(!fs.existsSync(path.join(output, 'simulation', '_SUCCESS')));
            assert.ok(!fs.existsSync(path.join(output, 'simulation', 'metadata.json')));
            assert.equal(fs.existsSync(path.join(output, 'training', '_SUCCESS')),
                         phase === 'simulation');
            const value = object(run(['run', before, '--json', '--quiet', '--output', output]));
            assert.equal(value.status, 'completed');
            assert.equal(value.simulation.scenarios, 2);
            assert.deepEqual(fs.readdirSync(path.join(output, 'simulation', 'costs')).sort(),
                             ['scenario_id=0000', 'scenario_id=0001']);
            assert.deepEqual(allFiles(output).filter((name) => name.endsWith('.tmp')), []);
            assert.equal(statusOf(output, 'training'), 'complete');
        });

    test('a second run of the same output directory is refused and changes nothing', async () => {
        const dir = copyCase('four-stages', long);
        const other = copyCase('merit-order');
        const output = path.join(dir, 'output');
        const going = start(['run', dir, '--json']);
        await going.progress(/ 3\/1000000 iter/);
        const value = record(run(['run', other, '--json', '--output', output]),
                             'IncompatibleSettings', 1);
        assert.ok(value.message.includes(output));
        going.child.kill('SIGINT');
        assert.equal(object(await going.end()).status, 'partial');
        assert.equal(run(['run', other, '--quiet', '--output', output]).status, 0);
    });

    test('a closed log does not end a run', async () => {
        const dir = copyCase('merit-order', { training: limit(50) });
        const child = spawn(cobre, ['run', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
        children.push(child);
        const ended = new Promise((resolve) => child.on('exit', (status) => resolve(status)));
        child.stderr.destroy();
        const deadline = new Promise((resolve) => setTimeout(resolve, DEADLINE_MS, 'late').unref());
        assert.equal(await Promise.race([ended, deadline]), 0);
        assert.ok(fs.existsSync(path.join(dir, 'output', 'simulation', '_SUCCESS')));
    });
});
