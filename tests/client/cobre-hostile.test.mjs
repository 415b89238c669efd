/*
 * cobre-hostile.test.mjs - what cobre does in bad surroundings: case directories that change while
 * they are read or run, output directories that cannot be written or are in use by another
 * program, and Parquet files whose sizes are lies.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';

import { allFiles, cobre, copyCase, DEADLINE_MS, limit, object, record, run, scratch, start } from './cobre-shell.mjs';
import { writeParquet } from './support/cobre-parquet.mjs';
import { workshop } from './support/cobre.mjs';

const shop = workshop('hostile');
after(() => shop.close());

const long = { training: limit(1_000_000) };

/** Stop a run that has come this far. */
async function stop(going, pattern) {
    await going.progress(pattern);
    going.child.kill('SIGINT');
    return going.end();
}

describe('a case directory that changes', () => {
    test('a run has read its case when it begins: later changes change nothing', async () => {
        const dir = copyCase('four-stages', long);
        const going = start(['run', dir, '--json']);
        await going.progress(/ 1\/1000000 iter/);
        for (const name of allFiles(dir).filter((file) => !file.startsWith('output') && /\.(json|parquet)$/.test(file)))
            fs.writeFileSync(path.join(dir, name), name.endsWith('json') ? '{"training":' : 'PAR1');
        fs.rmSync(path.join(dir, 'system'), { recursive: true });
        const done = await stop(going, / 6\/1000000 iter/);
        const { training } = object(done);
        assert.ok(done.status === 130 && training.iterations >= 6, done.stderr);
        const undisturbed = copyCase('four-stages', { training: limit(training.iterations), simulation: { enabled: false } });
        const expected = object(run(['run', undisturbed, '--json'])).training;
        assert.equal(training.final_lower_bound, expected.final_lower_bound);
        assert.equal(training.final_upper_bound, expected.final_upper_bound);
    });

    test('a case directory that is removed with its output ends the run with an error', async () => {
        const dir = copyCase('four-stages', long);
        const going = start(['run', dir, '--json']);
        await going.progress(/ 2\/1000000 iter/);
        fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
        going.child.kill('SIGINT');
        record(await going.end(), 'CheckpointFailed', 2);
        assert.ok(!fs.existsSync(dir));
    });

    test('files that are replaced while they are read: each answer is of some whole state', () => {
        const dir = copyCase('merit-order');
        const files = ['config.json', 'system/thermals.json', 'scenarios/load_seasonal_stats.parquet'].map((name) => path.join(dir, name));
        const swap = 'while [ -e "$1" ] || [ -e "$1.away" ]; do for f in "$@"; do mv "$f" "$f.away"; head -c 40 "$f.away" >"$f"; mv -f "$f.away" "$f"; done; done';
        const race = `sh -c '${swap.replaceAll("'", `'\\''`)}' sh ${files.join(' ')} & swapper=$!
            for i in $(seq 20); do "${cobre}" validate "${dir}" --json 2>/dev/null; echo "status $?"; done; kill $swapper`;
        const done = spawnSync('/bin/bash', ['-c', race], { encoding: 'utf8', timeout: 5 * DEADLINE_MS }); /* 20 programs */
        assert.equal(done.error, undefined);
        const lines = done.stdout.trim().split('\n');
        assert.equal(lines.length, 40, done.stdout);
        for (let i = 0; i < lines.length; i += 2) {
            const { valid, errors } = JSON.parse(lines[i]);
            assert.equal(lines[i + 1], `status ${valid ? 0 : 1}`);
            assert.equal(valid, errors.length === 0);
            for (const { kind } of errors)
                assert.ok(['MissingFile', 'ParseError', 'SchemaViolation'].includes(kind), kind);
        }
    });
});

describe('an output directory that cannot be written', () => {
    /** A place that is made in `output`, below which nothing may have been changed. */
    const places = {
        'a file': (output) => fs.writeFileSync(output, 'mine'),
        'a link to nowhere': (output) => fs.symlinkSync('/nonexistent/place', output),
        'a link to another directory': (output) => fs.symlinkSync(scratch, output),
        'a file in place of training': (output) => { fs.mkdirSync(output); fs.writeFileSync(path.join(output, 'training'), 'mine'); },
        'a link in place of training': (output) => { fs.mkdirSync(output); fs.symlinkSync(scratch, path.join(output, 'training')); },
        'a file in place of policy': (output) => { fs.mkdirSync(output); fs.writeFileSync(path.join(output, 'policy'), 'mine'); },
        'a directory in place of the lock': (output) => fs.mkdirSync(path.join(output, '.lock'), { recursive: true }),
    };
    for (const [what, make] of Object.entries(places))
        test(what, () => {
            const dir = copyCase('merit-order');
            const output = path.join(dir, 'output');
            make(output);
            const before = fs.readdirSync(scratch).sort();
            const { context } = record(run(['run', dir, '--json']), 'CheckpointFailed', 2);
            assert.equal(context.operation, 'write');
            assert.ok(context.checkpoint_path.startsWith(output), context.checkpoint_path);
            assert.deepEqual(fs.readdirSync(scratch).sort(), before);
            for (const name of ['', 'training', 'policy'].map((below) => path.join(output, below)))
                if (fs.existsSync(name) && fs.statSync(name).isFile())
                    assert.equal(fs.readFileSync(name, 'utf8'), 'mine');
        });

    test('a file system that takes no files', () => {
        const dir = copyCase('merit-order');
        for (const output of ['/proc/cobre-output', '/sys/cobre-output'])
            record(run(['run', dir, '--json', '--output', output]), 'CheckpointFailed', 2);
    });

    test('one that another program holds: the server refuses, and runs when it is free', async () => {
        const dir = shop.copyCase('four-stages', 'held', { iterations: 1_000_000 });
        const client = await shop.connect('2025-11-25', 'stdio', ['--allow-write']);
        const call = (as) => client.callTool({ name: 'cobre/run', arguments: { case_dir: as } });
        const going = start(['run', dir, '--json']);
        await going.progress(/ 2\/1000000 iter/);
        const refused = await call(dir);
        assert.equal(refused.isError, true);
        const { kind, message } = JSON.parse(refused.content[0].text);
        assert.equal(kind, 'IncompatibleSettings');
        assert.ok(message.includes(path.join(dir, 'output')), message);
        going.child.kill('SIGINT');
        assert.equal(object(await going.end()).status, 'partial');
        shop.editConfig(dir, (config) => { config.training = { ...config.training, ...limit(2) }; });
        assert.equal(JSON.parse((await call(dir)).content[0].text).status, 'completed');
    });
});

describe('Parquet files whose sizes are lies', () => {
    const most = 2 ** 31 - 1;
    const claims = [{ unpacked: most }, { packed: most }, { values: most }, { unpacked: -1 }, { packed: -1 }, { values: -1 },
                    { chunk: most }, { at: most }, { at: 0 }, { rows: most }, { rows: most, values: most },
                    { unpacked: most, packed: most, values: most, rows: most, chunk: most }];
    for (const claim of claims)
        test(JSON.stringify(claim), () => {
            const dir = copyCase('merit-order');
            const file = 'scenarios/load_seasonal_stats.parquet';
            writeParquet(path.join(dir, file), [
                { name: 'bus_id', type: 'i32', values: [0, 0] }, { name: 'stage_id', type: 'i32', values: [0, 1] },
                { name: 'mean_mw', type: 'f64', values: [100, 100] }, { name: 'std_mw', type: 'f64', values: [0, 0] }], claim);
            const done = run(['validate', dir, '--json']);
            const { valid, errors } = object(done);
            if (valid) /* what the reader does not go by may say anything */
                assert.ok(!('rows' in claim), done.stdout);
            else
                assert.deepEqual(errors.map((error) => [error.kind, error.context.file]), [['ParseError', file]]);
        });
});
