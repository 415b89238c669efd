/*
 * casparian-altered.test.mjs - parsers that are altered while they are in use: what was approved is
 * what runs, and a module is nothing but its own text.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { place, serve, until } from './casparian.mjs';

/* Whole seconds, which utimes sets exactly. Its file is done when the test has set the time of its
 * last access to RELEASED. */
const WRITTEN = 1700000000, RELEASED = 1000000000;
const parser = (word, more = '') => `import os
name = "words"
version = "1.0.0"
outputs = {"words": {"columns": [{"name": "word", "type": "string"}]}}


def parse(path):
    ${more}
    while path.endswith("first.txt") and int(os.stat(path).st_atime) != ${RELEASED}:
        pass
    yield {"word": "${word}"}
`;

let self, server;

beforeEach(() => {
    self = place();
    fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
    for (const name of ['first', 'second']) {
        self.write(`in/${name}.txt`, 'text\n');
        fs.utimesSync(path.join(self.dir, 'in', `${name}.txt`), WRITTEN, WRITTEN);
    }
});
afterEach(async () => {
    await server?.close();
    self.remove();
});

const start = (...args) => serve(self, ['--allow-dev-plugins', '--allow-tool-approval', ...args]);

/** Alter the plugin after the job has begun with its first file, and let it go on. */
async function runAltered(ref, alter) {
    const { approval_id: id } = await server.ask('run_request', { plugin_ref: ref, input_dir: 'in', output: 'out' });
    const { job_id: job } = await server.ask('approval_decide', { approval_id: id, decision: 'approve' });
    await until(async () => {
        const { status, progress } = await server.ask('job_status', { job_id: job, wait_ms: 500 });
        assert.ok(status === 'queued' || status === 'running', status);
        return progress?.phase === 'parsing';
    }, 'the first file');
    alter();
    fs.utimesSync(path.join(self.dir, 'in/first.txt'), RELEASED, WRITTEN);
    const done = await server.end(job);
    assert.equal(done.status, 'completed', JSON.stringify(done));
    const { rows } = await server.ask('query', { sql: 'SELECT word FROM words', redaction: { mode: 'none' } });
    return rows.flat();
}

describe('a parser that is altered while its job runs', () => {
    beforeEach(() => fs.writeFileSync(path.join(self.home, 'config.toml'), '[plugins.words]\nisolation = "exec"\n'));

    test('runs as it was approved, as a module', async () => {
        self.write('words.py', parser('approved'));
        server = await start();
        const words = await runAltered({ path: 'words.py' }, () => self.write('words.py', parser('other')));
        assert.deepEqual(words, ['approved', 'approved']);
    });
    test('runs as it was approved, as a folder', async () => {
        self.write('words/casparian.toml', 'name = "words"\nversion = "1.0.0"\nprotocol_version = "0.1"\nruntime_kind = "python_shim"\nentrypoint = "words.py"\n');
        self.write('words/words.py', parser('x').replace('"x"', 'more.text.word').replace('import os', 'import os, more.text'));
        self.write('words/more/text.py', 'word = "approved"\n');
        server = await start();
        const words = await runAltered({ path: 'words' }, () => {
            self.write('words/more/text.py', 'word = "other"\n');
            self.write('words/more/new.py', '');
        });
        assert.deepEqual(words, ['approved', 'approved']);
        assert.deepEqual(fs.readdirSync(path.join(self.home, 'tmp')), [], 'the copy is left');
    });
});

describe('what is next to a module', () => {
    test('is not imported: it is no part of what was approved', async () => {
        self.write('words.py', parser('x', 'import helper').replaceAll('first.txt', 'none'));
        self.write('helper.py', '');
        server = await start();
        const { errors } = await server.ask('preview', { plugin_ref: { path: 'words.py' }, files: ['in/second.txt'] });
        assert.match(errors[0].error, /^ModuleNotFoundError: .*words\.py:8.*a folder with casparian\.toml/);
    });
    test('is not read: other inputs may be there', async (t) => {
        self.write('words.py', parser('x', `open(${JSON.stringify(path.join(self.dir, 'other.txt'))})`).replaceAll('first.txt', 'none'));
        self.write('other.txt', 'other');
        server = await start();
        const { job_id: job } = await server.ask('backtest_start', { plugin_ref: { path: 'words.py' }, input_dir: 'in' });
        const { partial_result: result } = await server.end(job);
        if (!result.sandbox.includes('landlock'))
            return t.skip('plugins are not kept from other files here');
        assert.equal(result.files_failed, 2);
        assert.match(result.errors[0].error, /^PermissionError/);
    });
});
