/*
 * cobre-commands.test.mjs - the way of a planner: init, inspect, summary, report, compare, export,
 * version; and the forms of an answer.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import Ajv2020 from 'ajv/dist/2020.js';
import { tableFromIPC } from 'apache-arrow';

import { allFiles, cobre, copyCase, DEADLINE_MS, editJson, limit, object, record, run, schemaOf, scratch, start } from './cobre-shell.mjs';

const ENVELOPE = ['$schema', 'command', 'success', 'exit_code', 'cobre_version', 'errors', 'warnings', 'data', 'summary'];

/** The envelope on standard output, its invariants checked. */
function envelope(done, command) {
    const value = object(done);
    assert.deepEqual(Object.keys(value).filter((key) => key !== 'type'), ENVELOPE);
    assert.equal(value.$schema, 'urn:cobre:response:v1');
    assert.equal(value.command, command);
    assert.equal(value.exit_code, done.status);
    assert.equal(value.success, done.status === 0);
    assert.equal(value.success, value.errors.length === 0);
    assert.match(value.cobre_version, /^\d+\.\d+\.\d+$/);
    for (const error of value.errors)
        assert.deepEqual(Object.keys(error), ['kind', 'message', 'context', 'suggestion']);
    return value;
}

let places = 0;
const place = () => path.join(scratch, `place-${places++}`);

describe('cobre init', () => {
    test('the templates are listed, and each makes a case that validates and runs', () => {
        const list = run(['init', '--list']);
        assert.equal(list.status, 0);
        assert.equal(list.stderr, '');
        const names = list.stdout.trimEnd().split('\n').map((line) => {
            assert.match(line, /^\S[^ ]{0,15} *  \S/);
            assert.equal(line.slice(16, 18), '  ');
            return line.slice(0, 16).trim();
        });
        assert.ok(names.includes('1dtoy') && names.length >= 2, names);
        assert.deepEqual(object(run(['init', '--list', '--json'])).templates.map(({ name }) => name), names);
        for (const name of names) {
            const dir = place();
            const made = run(['init', '--template', name, dir]);
            assert.equal(made.status, 0, made.stderr);
            assert.equal(made.stdout, '');
            assert.match(made.stderr, new RegExp(`^Created ${dir} case directory from template '${name}':$`, 'm'));
            const files = allFiles(dir).filter((file) => fs.statSync(path.join(dir, file)).isFile()).sort();
            for (const file of files)
                assert.ok(made.stderr.includes(`\n  ${file}\n`), `${file} is not named`);
            assert.equal(run(['validate', dir]).status, 0);
            editJson(dir, 'config.json', (config) => {
                config.training.stopping_rules = [{ type: 'iteration_limit', limit: 3 }];
                config.simulation.num_scenarios = 3;
            });
            assert.equal(object(run(['run', dir, '--json', '--quiet'])).status, 'completed');
        }
    });

    test('1dtoy is the standard, of ten files', () => {
        const dir = place();
        const value = object(run(['init', dir, '--json']));
        assert.equal(value.template, '1dtoy');
        assert.equal(value.case_directory, dir);
        assert.equal(value.files.length, 10);
        assert.deepEqual(value.files, allFiles(dir).filter((file) => fs.statSync(path.join(dir, file)).isFile()).sort());
        assert.ok(!value.files.some((file) => file.endsWith('.csv')));
    });

    test('a directory with something in it is left alone, without --force', () => {
        const dir = place();
        fs.mkdirSync(dir);
        fs.writeFileSync(path.join(dir, 'mine.txt'), 'x');
        const refused = record(run(['init', dir, '--json']), 'IncompatibleSettings', 2);
        assert.equal(refused.context.file, dir);
        assert.match(refused.suggestion, /--force/);
        assert.deepEqual(allFiles(dir), ['mine.txt']);
        assert.equal(run(['init', dir, '--force']).status, 0);
        assert.equal(fs.readFileSync(path.join(dir, 'mine.txt'), 'utf8'), 'x');
        assert.equal(run(['validate', dir]).status, 0);
    });

    test('an unknown template, no directory, a place that cannot be made', () => {
        const unknown = record(run(['init', '--template', '2dtoy', place(), '--json']), 'InvalidEnum', 1);
        assert.equal(unknown.context.value, '2dtoy');
        assert.ok(unknown.context.allowed_values.includes('1dtoy'));
        record(run(['init', '--json']), 'SchemaViolation', 2);
        const file = place();
        fs.writeFileSync(file, 'x');
        for (const bad of [file, `${file}/below`, '/proc/nowhere/case'])
            record(run(['init', bad, '--json']), 'MissingFile', 2);
    });
});

describe('cobre inspect', () => {
    test('counts and files for people, the tool\'s object for machines', () => {
        const dir = copyCase('two-rivers');
        const words = run(['inspect', dir]);
        assert.equal(words.status, 0, words.stderr);
        assert.match(words.stdout, /^ {2}stages: +12\n {2}buses: +2\n {2}hydros: +3\n {2}thermals: +4\n {2}lines: +1\n/m);
        assert.match(words.stdout, /^ {4}system\/hydros\.json$/m);
        const value = object(run(['inspect', dir, '--json']));
        schemaOf('inspect-case')(value);
        assert.equal(value.entities.hydros, 3);
        assert.equal(value.stages, 12);
        fs.writeFileSync(path.join(dir, 'system', 'hydros.json'), '{');
        record(run(['inspect', dir, '--json']), 'ParseError', 1);
        assert.equal(envelope(run(['inspect', dir, '--output-format', 'json']), 'inspect').errors[0].kind, 'ParseError');
    });
});

describe('cobre summary', () => {
    test('a run in its own words, again from its output directory', () => {
        const dir = copyCase('four-stages', { training: limit(6), simulation: { num_scenarios: 8 } });
        const words = run(['run', dir]).stderr;
        const again = run(['summary', path.join(dir, 'output')]);
        assert.equal(again.status, 0, again.stderr);
        assert.equal(again.stdout, '');
        for (const label of ['Lower bound:', 'Upper bound:', 'Gap:', 'Policy rows:', 'LP solves:', 'Backend:', 'Time split:', 'Expected cost:']) {
            const line = words.split('\n').find((text) => text.includes(label));
            assert.ok(line && again.stderr.includes(`${line}\n`), `${label} ${line}`);
        }
        const value = object(run(['summary', path.join(dir, 'output'), '--json']));
        assert.equal(value.status, 'complete');
        assert.equal(value.training.iterations, 6);
        assert.equal(value.simulation.scenarios, 8);
        assert.ok(value.simulation.cost_summary.mean > 0);
        const { data } = envelope(run(['summary', path.join(dir, 'output'), '--output-format', 'json']), 'summary');
        assert.deepEqual(data, value);
    });

    test('no output directory, an empty one, broken metadata', () => {
        record(run(['summary', place(), '--json']), 'OutputNotFound', 2);
        const dir = place();
        fs.mkdirSync(path.join(dir, 'training'), { recursive: true });
        const empty = record(run(['summary', dir, '--json']), 'OutputNotFound', 2);
        assert.equal(empty.context.expected_content, 'training/metadata.json');
        for (const text of ['{', '[]', '"x"']) {
            fs.writeFileSync(path.join(dir, 'training', 'metadata.json'), text);
            assert.match(record(run(['summary', dir, '--json']), 'OutputCorrupted', 2).message, /training\/metadata\.json/);
        }
    });
});

describe('the output of a simulation alone', () => {
    test('summary and report show what is there; compare wants a training', () => {
        const dir = copyCase('four-stages', { training: limit(6), simulation: { num_scenarios: 8 } });
        assert.equal(run(['run', dir, '--quiet']).status, 0);
        editJson(dir, 'config.json', (config) => {
            config.training.enabled = false;
            config.policy = { path: path.join(dir, 'output', 'policy') };
        });
        const apart = path.join(dir, 'apart');
        assert.equal(run(['run', dir, '--quiet', '--output', apart]).status, 0);
        const value = object(run(['summary', apart, '--json']));
        assert.deepEqual([value.status, value.training, value.simulation.scenarios], ['complete', null, 8]);
        const words = run(['summary', apart]);
        assert.match(words.stderr, /Expected cost:/);
        assert.doesNotMatch(words.stderr, /Lower bound:/);
        assert.equal(words.status, 0);
        const report = object(run(['report', apart, '--json', '--section', 'costs,convergence']));
        assert.deepEqual([report.status, report.training], ['complete', null]);
        assert.deepEqual(report.simulation, metadata(apart, 'simulation'));
        assert.ok(report.sections.costs.categories.length > 0);
        assert.match(report.sections.convergence.absent, /convergence\.parquet/);
        const { data } = envelope(run(['report', apart, '--output-format', 'json']), 'report');
        assert.equal(data.training, null);
        assert.equal(data.metadata.finished_at, report.simulation.completed_at);
        assert.equal(run(['report', apart]).status, 0);
        assert.match(fs.readFileSync(path.join(apart, 'report.html'), 'utf8'), /"training":null/);
        record(run(['compare', apart, path.join(dir, 'output'), '--json']), 'OutputNotFound', 2);
    });
});

/* One run of four-stages for all tests that only read. */
let shared;
function finishedRun() {
    if (!shared) {
        const dir = copyCase('four-stages', { training: limit(6), simulation: { num_scenarios: 8 } });
        assert.equal(run(['run', dir, '--quiet']).status, 0);
        shared = path.join(dir, 'output');
    }
    return shared;
}

const metadata = (output, phase) => JSON.parse(fs.readFileSync(path.join(output, phase, 'metadata.json'), 'utf8'));

describe('cobre report', () => {
    test('--json is the metadata of both phases, and --section adds numbers', () => {
        const output = finishedRun();
        const value = object(run(['report', output, '--json']));
        assert.deepEqual(value, { output_directory: output, status: 'complete', training: metadata(output, 'training'),
                                  simulation: metadata(output, 'simulation') });
        assert.ok(!fs.existsSync(path.join(output, 'report.html')), '--json writes no page');
        const { sections } = object(run(['report', output, '--json', '--section', 'costs,convergence']));
        assert.deepEqual(Object.keys(sections), ['convergence', 'costs']);
        assert.deepEqual(sections.convergence.iteration, [1, 2, 3, 4, 5, 6]);
        const mean = sections.costs.categories.reduce((all, one) => all + one.mean.reduce((a, b) => a + b, 0), 0);
        assert.ok(Math.abs(mean / value.simulation.cost_summary.mean - 1) < 1e-5);
        /* The ends of the distribution are the cheapest and the dearest scenario. */
        const { probability, cost } = sections.costs.distribution;
        assert.deepEqual([probability.length, probability[0], probability.at(-1)], [51, 0, 100]);
        assert.ok(Math.abs(cost[0] / value.simulation.cost_summary.min - 1) < 1e-6);
        assert.ok(Math.abs(cost.at(-1) / value.simulation.cost_summary.max - 1) < 1e-6);
    });

    test('the envelope, and what is refused', () => {
        const output = finishedRun();
        const { data } = envelope(run(['report', output, '--output-format', 'json']), 'report');
        assert.equal(data.case_name, 'four-stages');
        assert.equal(data.training.iterations, 6);
        assert.equal(data.training.threads_per_rank, 1);
        assert.match(data.metadata.started_at, /Z$/);
        record(run(['report', place(), '--json']), 'OutputNotFound', 2);
        const wrong = record(run(['report', output, '--json', '--section', 'costs,coasts']), 'InvalidEnum', 1);
        assert.equal(wrong.context.value, 'coasts');
        assert.ok(wrong.context.allowed_values.includes('marginal_cost'));
        const lost = run(['report', output, '--output', path.join(place(), 'below', 'x.html')]);
        assert.equal(lost.status, 2);
        assert.match(lost.stderr, /^error: The report cannot be written to /);
        assert.equal(run(['report', output, '--entities', '0']).status, 2);
    });

    test('one file, written whole, its path printed', () => {
        const output = finishedRun(), file = `${place()}.html`;
        const done = run(['report', output, '--output', file]);
        assert.deepEqual([done.status, done.stdout, done.stderr], [0, `${file}\n`, '']);
        const text = fs.readFileSync(file, 'utf8');
        assert.ok(text.length < 300_000, `${text.length} bytes`);
        assert.match(text, /default-src 'none'/);
        assert.doesNotMatch(text, /(src|href)=["']?(https?:)?\/\//);
        assert.deepEqual(fs.readdirSync(path.dirname(file)).filter((name) => name.endsWith('.tmp')), []);
    });
});

describe('cobre schema export', () => {
    test('17 schemas that compile, and hold for the files of an example', () => {
        const dir = place();
        const done = run(['schema', 'export', '--output-dir', dir]);
        assert.deepEqual([done.status, done.stdout, done.stderr], [0, '', `Exported 17 schema files to ${dir}\n`]);
        const names = ['buses', 'config', 'correlation', 'energy_contracts', 'exchange_factors', 'generic_constraints', 'hydros',
            'initial_conditions', 'lines', 'load_factors', 'non_controllable_factors', 'non_controllable_sources', 'penalties',
            'production_models', 'pumping_stations', 'stages', 'thermals'];
        assert.deepEqual(fs.readdirSync(dir).sort(), names.map((name) => `${name}.schema.json`));
        const ajv = new Ajv2020({ strict: false, validateFormats: false });
        const check = Object.fromEntries(names.map((name) =>
            [name, ajv.compile(JSON.parse(fs.readFileSync(path.join(dir, `${name}.schema.json`), 'utf8')))]));
        const example = copyCase('two-rivers');
        for (const [file, name] of [['config.json', 'config'], ['stages.json', 'stages'], ['penalties.json', 'penalties'],
            ['initial_conditions.json', 'initial_conditions'], ['system/hydros.json', 'hydros'], ['system/thermals.json', 'thermals'],
            ['system/buses.json', 'buses'], ['system/lines.json', 'lines'], ['scenarios/load_factors.json', 'load_factors']])
            assert.ok(check[name](JSON.parse(fs.readFileSync(path.join(example, file), 'utf8'))), `${file}: ${JSON.stringify(check[name].errors)}`);
        assert.equal(check.buses({ buses: [{ id: 'one', name: 'x' }] }), false);
        const value = object(run(['schema', 'export', '--output-dir', dir, '--json']));
        assert.deepEqual(value, { output_directory: dir, files: names.map((name) => `${name}.schema.json`) });
    });

    test('a place that cannot be written', () => {
        const file = place();
        fs.writeFileSync(file, 'x');
        record(run(['schema', 'export', '--output-dir', file, '--json']), 'MissingFile', 2);
        assert.match(run(['schema']).stderr, /incomplete command 'schema'\n\nCommands:\n {2}schema export /);
    });
});

describe('cobre compare', () => {
    test('two runs of a study: the second less the first', () => {
        const a = finishedRun(), dir = copyCase('four-stages', { training: limit(3), simulation: { num_scenarios: 8 } });
        assert.equal(run(['run', dir, '--quiet']).status, 0);
        const b = path.join(dir, 'output');
        const value = object(run(['compare', a, b, '--json']));
        const [first, second] = [a, b].map((output) => object(run(['summary', output, '--json'])));
        assert.deepEqual([value.run_a, value.run_b, value.compatible], [a, b, true]);
        assert.deepEqual([value.training.iterations_a, value.training.iterations_b], [6, 3]);
        const delta = second.training.final_lower_bound - first.training.final_lower_bound;
        assert.equal(value.training.final_lb_delta, delta);
        assert.ok(Math.abs(value.training.final_lb_delta_pct - delta / first.training.final_lower_bound) < 1e-12);
        assert.equal(value.simulation.mean_cost_b, second.simulation.cost_summary.mean);
        assert.deepEqual(envelope(run(['compare', a, b, '--output-format', 'json']), 'compare').data, value);
        const words = run(['compare', a, b]);
        assert.match(words.stdout, /^Iterations +6 +3 +-3 +-50\.000%$/m);
        assert.match(words.stdout, /^Lower bound, \$ +\S+ +\S+ +\S+ +[+-]\d+\.\d{3}%$/m);
        const same = object(run(['compare', a, a, '--json']));
        assert.deepEqual([same.training.final_lb_delta, same.simulation.mean_cost_delta_pct], [0, 0]);
    });

    test('runs of other studies are not compared', () => {
        const dir = copyCase('merit-order');
        assert.equal(run(['run', dir, '--quiet']).status, 0);
        const wrong = record(run(['compare', finishedRun(), path.join(dir, 'output'), '--json']), 'IncompatibleRuns', 1);
        assert.equal(wrong.context.field, 'num_stages');
        assert.deepEqual([wrong.context.run_a_value, wrong.context.run_b_value], [4, 2]);
        record(run(['compare', finishedRun(), place(), '--json']), 'OutputNotFound', 2);
    });

    test('runs of as many entities that are not the same ones are not compared', () => {
        const other = place(), file = path.join(other, 'training', 'dictionaries', 'entities.csv');
        fs.cpSync(finishedRun(), other, { recursive: true });
        const text = fs.readFileSync(file, 'utf8');
        const compare = (changed) => {
            assert.notEqual(changed, text);
            fs.writeFileSync(file, changed);
            return run(['compare', finishedRun(), other, '--json']);
        };
        const renamed = record(compare(text.replace('Serra Azul', 'Serra Alta')), 'IncompatibleRuns', 1);
        assert.deepEqual([renamed.context.field, renamed.context.run_a_value, renamed.context.run_b_value],
            ['training/dictionaries/entities.csv', "hydro 10 'Serra Azul'", "hydro 10 'Serra Alta'"]);
        assert.match(renamed.message, /Serra Azul.*Serra Alta/);
        assert.match(record(compare(text.replace(/^0,10,/m, '0,17,')), 'IncompatibleRuns', 1).message, /hydro 10 .*hydro 17 /);
        assert.match(record(compare(text.replace(/[^\n]+\n$/, '')), 'IncompatibleRuns', 1).message, /nothing/);
        record(compare('what,is,this\n'), 'OutputCorrupted', 2);
    });
});

describe('cobre export', () => {
    test('the flags are the filters of the tool', () => {
        const output = finishedRun();
        const value = object(run(['export', output, 'hydros', '--stages', '1-2', '--scenarios', '3', '--entity', 'Serra Azul',
                                  '--columns', 'scenario_id,stage_id,storage_final_hm3', '--json']));
        schemaOf('export-results')(value);
        assert.ok(value.file_path.startsWith(path.join(output, 'exports', 'hydros')), value.file_path);
        assert.equal(value.rows, 4); /* two stages of two blocks */
        const lines = fs.readFileSync(value.file_path, 'utf8').trimEnd().split('\n');
        assert.equal(lines[0], 'scenario_id,stage_id,storage_final_hm3');
        assert.deepEqual(lines.slice(1).map((line) => line.split(',').slice(0, 2)), [['3', '1'], ['3', '1'], ['3', '2'], ['3', '2']]);
        assert.equal(fs.statSync(value.file_path).size, value.size_bytes);
        for (const format of ['csv', 'json', 'arrow']) {
            const { file_path: file } = object(run(['export', output, 'hydros', '--columns', 'stage_id,storage_hm3', '--format', format, '--json']));
            const bytes = fs.readFileSync(file), names = format === 'arrow' ? tableFromIPC(bytes).schema.fields.map(({ name }) => name)
                : format === 'json' ? Object.keys(JSON.parse(bytes)[0]) : String(bytes).split('\n')[0].split(',');
            assert.deepEqual(names, ['stage_id', 'storage_hm3'], `${format}: the names asked for`);
        }
        const words = run(['export', output, 'convergence', '--format', 'json']);
        assert.equal(words.status, 0, words.stderr);
        assert.equal(JSON.parse(fs.readFileSync(words.stdout.trimEnd(), 'utf8')).length, 6);
        const arrow = object(run(['export', output, 'convergence', '--format', 'arrow', '--json']));
        const table = tableFromIPC(fs.readFileSync(arrow.file_path));
        assert.equal(table.numRows, 6);
        assert.deepEqual([...table.getChild('iteration')], [1, 2, 3, 4, 5, 6]);
    });

    test('what is refused: table, range, entity, column', () => {
        const output = finishedRun();
        assert.ok(record(run(['export', output, 'rivers', '--json']), 'InvalidEnum', 1).context.allowed_values.includes('hydros'));
        for (const range of ['x', '3-', '-', '1-2-3'])
            assert.equal(record(run(['export', output, 'hydros', `--stages=${range}`, '--json']), 'SchemaViolation', 1).context.field, '--stages');
        record(run(['export', output, 'hydros', '--stages', '3-1', '--json']), 'OutOfRange', 1);
        record(run(['export', output, 'hydros', '--entity', 'Nowhere', '--json']), 'MissingReference', 1);
        record(run(['export', output, 'hydros', '--columns', 'depth', '--json']), 'InvalidEnum', 1);
        record(run(['export', output, 'hydros', '--columns', 'stage_id,stage_id', '--format', 'json', '--json']), 'SchemaViolation', 1);
        record(run(['export', place(), 'hydros', '--json']), 'OutputNotFound', 2);
        record(run(['export', output, 'lines', '--json']), 'OutputNotFound', 2);
    });
});

describe('the forms of an answer', () => {
    test('the envelope of run and validate', () => {
        const dir = copyCase('merit-order');
        const ran = envelope(run(['run', dir, '--output-format', 'json', '--quiet']), 'run');
        assert.equal(ran.data.output_directory, path.join(dir, 'output'));
        assert.deepEqual(ran.data.solver, { backend: 'own', fallbacks: 0 });
        assert.ok(Math.abs(ran.data.training.final_lower_bound - 2994600) < 1e-3);
        assert.ok(ran.data.simulation.scenarios > 0);
        assert.equal(ran.summary.status, 'completed');
        assert.ok(Number.isInteger(ran.summary.total_time_ms));
        const valid = envelope(run(['validate', dir, '--output-format=json']), 'validate');
        assert.equal(valid.data.case_directory, dir);
        assert.equal(valid.data.layers_completed, 5);
        assert.match(valid.data.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        assert.deepEqual(Object.keys(valid.summary), ['files_checked', 'entities_validated', 'error_count', 'warning_count']);
        editJson(dir, 'system/thermals.json', (file) => { file.thermals[0].bus_id = 99; });
        const invalid = envelope(run(['validate', dir, '--output-format', 'json']), 'validate');
        assert.equal(invalid.exit_code, 1);
        assert.equal(invalid.errors[0].kind, 'MissingReference');
        assert.equal(invalid.data.entities_validated, null);
        assert.equal(invalid.summary.error_count, 1);
        assert.equal(envelope(run(['run', dir, '--output-format', 'json']), 'run').data, null);
        assert.equal(envelope(run(['run', place(), '--output-format', 'json']), 'run').exit_code, 2);
    });

    test('--json and --output-format: the flag decides', () => {
        const value = object(run(['version', '--json', '--output-format', 'json']));
        assert.equal(value.version, '2.0.0');
        assert.equal(value.$schema, undefined);
        assert.ok(value.libraries.some(({ name }) => name === 'Clp'), JSON.stringify(value.libraries));
        const { data } = envelope(run(['version', '--output-format', 'json']), 'version');
        assert.deepEqual(Object.keys(data), ['version', 'git_commit', 'build_date', 'compiler', 'solver_backend',
            'solver_version', 'mpi_available', 'features']);
        const words = run(['version']);
        assert.match(words.stdout, /^cobre {3}v2\.0\.0\nsolver: clp \S+\ncomm: {3}local\nzstd: {3}enabled\narch: {3}\S+\nbuild: {2}(release|debug) \(/);
        const wrong = run(['validate', place(), '--output-format', 'json-lines']);
        assert.equal(wrong.status, 2);
        const unknown = envelope(run(['validate', place(), '--output-format', 'json', '--colour']), 'cobre');
        assert.equal(unknown.errors[0].kind, 'SchemaViolation');
        assert.match(wrong.stderr, /--output-format wants human or json, not 'json-lines'/);
    });

    test('a stream of lines: started, progress, terminated, result', () => {
        const dir = copyCase('four-stages', { training: limit(5), simulation: { num_scenarios: 4 } });
        const done = run(['run', dir, '--output-format', 'json-lines']);
        assert.equal(done.status, 0);
        assert.equal(done.stderr, '');
        const lines = done.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
        assert.deepEqual(lines.map(({ type }) => type), ['started', ...Array(9).fill('progress'), 'terminated', 'result']);
        for (const line of lines)
            assert.equal(Object.keys(line)[0], 'type');
        assert.deepEqual(Object.keys(lines[0]), ['type', 'case', 'stages', 'hydros', 'thermals', 'ranks',
            'threads_per_rank', 'timestamp', 'cobre_version']);
        assert.equal(lines[0].case, dir);
        assert.deepEqual(Object.keys(lines[1]), ['type', 'iteration', 'lower_bound', 'upper_bound', 'upper_bound_std',
            'ci_95', 'gap', 'wall_time_ms', 'iteration_time_ms']);
        assert.deepEqual(lines.slice(1, 6).map(({ iteration }) => iteration), [1, 2, 3, 4, 5]);
        assert.deepEqual(Object.keys(lines[10]), ['type', 'reason', 'iterations', 'final_lb', 'final_ub', 'total_time_ms', 'total_cuts']);
        assert.equal(lines[10].reason, 'iteration_limit');
        assert.equal(lines[10].final_lb, lines[5].lower_bound);
        assert.deepEqual(lines.slice(6, 10).map((line) => [line.phase, line.scenarios_complete, line.scenarios_total]),
            [1, 2, 3, 4].map((n) => ['simulation', n, 4]));
        const { type, ...result } = lines[11];
        assert.deepEqual(Object.keys(result), ENVELOPE);
        assert.equal(result.success, true);
        assert.equal(result.data.training.final_lower_bound, lines[10].final_lb);
        const short = run(['run', dir, '--output-format', 'json-lines', '--no-progress']);
        assert.deepEqual(short.stdout.trimEnd().split('\n').map((line) => JSON.parse(line).type), ['started', 'terminated', 'result']);
        editJson(dir, 'config.json', (config) => { config.training.enabled = false; });
        const alone = run(['run', dir, '--output-format', 'json-lines', '--no-progress']);
        const [started, terminated, last] = alone.stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
        assert.deepEqual([started.type, last.type, last.success], ['started', 'result', true]);
        assert.deepEqual(terminated, { type: 'terminated', reason: 'iteration_limit', iterations: 0, final_lb: 0, final_ub: 0,
                                       total_time_ms: 0, total_cuts: 0 });
        const quiet = run(['run', dir, '--output-format', 'json-lines', '--quiet']);
        assert.deepEqual([quiet.status, quiet.stdout, quiet.stderr], [0, '', '']);
    });

    test('a stopped run is a failure of the envelope, with its data', async () => {
        const dir = copyCase('four-stages', { training: limit(1_000_000) });
        const going = start(['run', dir, '--output-format', 'json']);
        await going.progress(/ 3\/1000000 iter/);
        going.child.kill('SIGINT');
        const value = envelope(await going.end(), 'run');
        assert.equal(value.exit_code, 130);
        assert.equal(value.summary.status, 'partial');
        assert.equal(value.data.training.termination_reason, 'shutdown');
        assert.equal(value.errors[0].context.signal, 'SIGINT');
    });
});

describe('a terminal', () => {
    /** Run under a terminal of util-linux's script(1); the bytes it showed. */
    function onTerminal(args, env = {}) {
        const clean = { ...process.env, TERM: 'xterm', COLUMNS: '', ...env };
        for (const name of ['NO_COLOR', 'FORCE_COLOR', 'COBRE_COLOR'].filter((key) => !(key in env)))
            delete clean[name];
        const line = [cobre, ...args].map((word) => `'${word}'`).join(' ');
        const done = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8', timeout: DEADLINE_MS, env: clean });
        assert.equal(done.error, undefined);
        assert.equal(done.status, 0, done.stdout);
        return done.stdout;
    }

    test('progress is a bar there, in colours, and neither elsewhere', () => {
        const dir = copyCase('four-stages', { training: limit(5), simulation: { num_scenarios: 4 } });
        const shown = onTerminal(['run', dir]);
        assert.match(shown, /\rTraining   [█░]{10,40} 5\/5 iter/);
        assert.match(shown, /\u001b\[1m/);
        assert.doesNotMatch(shown, /starting\.\.\./);
        const plain = onTerminal(['run', dir], { NO_COLOR: '1' });
        assert.doesNotMatch(plain, /\u001b\[\d*m/);
        assert.match(plain, /\u001b\[K/);
        assert.doesNotMatch(onTerminal(['--color', 'never', 'run', dir]), /\u001b\[\d*m/);
        assert.match(run(['--color', 'always', 'run', dir]).stderr, /\u001b\[1m/);
        assert.match(run(['run', dir], { env: { FORCE_COLOR: '1' } }).stderr, /\u001b\[1m/);
        assert.equal(onTerminal(['run', dir, '--quiet']), '');
    });
});
