/*
 * casparian-races.test.mjs - paths that change between the check and the use: a thread puts links
 * to the outside in the place of an input and of its folder, and takes them away, without end.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { place, serve } from './casparian.mjs';

const ROUNDS = 25;
const SECRET = 'curlew-outside-5520';
const PARSER = `name = "words"
version = "1.0.0"
outputs = {"words": {"columns": [{"name": "text", "type": "string"}]}}


def parse(path):
    with open(path) as file:
        yield {"text": file.read()}
`;

/* Puts each link in the place of its name and back, until the flag is set. What a run makes where
 * nothing is for a moment is removed. */
const SWAPPER = `
const fs = require('node:fs');
const { workerData: { flag, names } } = require('node:worker_threads');
const move = (from, to) => {
    while (!Atomics.load(flag, 0)) {
        try {
            return fs.renameSync(from, to);
        } catch (error) {
            if (!['ENOTEMPTY', 'EISDIR', 'EEXIST'].includes(error.code))
                throw error;
            try {
                fs.rmSync(to, { recursive: true, force: true });
            } catch { /* it is written to now: once more */ }
        }
    }
};
while (!Atomics.load(flag, 0)) {
    for (const name of names) {
        move(name, name + '.mine');
        move(name + '.link', name);
        move(name, name + '.link');
        move(name + '.mine', name);
    }
    Atomics.add(flag, 1, 1);
}
`;

describe('links that come and go', () => {
    let self, server, worker, flag, isSealed, received = '';

    /** Call a tool and keep what comes, a refusal too. */
    const call = async (name, args) => {
        const reply = await server.call(name, args);
        received += JSON.stringify(reply);
        return reply.isError ? undefined : reply.structuredContent;
    };
    const end = async (job) => {
        const ended = await server.end(job);
        received += JSON.stringify(ended);
        return ended;
    };

    before(async () => {
        self = place();
        fs.mkdirSync(self.home, { recursive: true, mode: 0o700 });
        fs.writeFileSync(path.join(self.home, 'config.toml'), '[mcp]\nrate_limit_rpm = 0\nexpensive_rpm = 0\n');
        self.write('words.py', PARSER);
        self.write('in/a.txt', 'inside\n');
        self.write('in/d/b.txt', 'inside\n');
        self.write('../outside/a.txt', `${SECRET}\n`);
        self.write('../outside/d/b.txt', `${SECRET}\n`);
        for (const name of ['a.txt', 'd'])
            fs.symlinkSync(path.join(self.top, 'outside', name), path.join(self.dir, 'in', `${name}.link`));
        server = await serve(self, ['--allow-dev-plugins', '--allow-tool-approval']);
        const { job_id: first } = await server.ask('backtest_start', { plugin_ref: { path: 'words.py' }, input_dir: 'in/d' });
        isSealed = (await server.end(first)).result.sandbox.includes('landlock');
        flag = new Int32Array(new SharedArrayBuffer(8));
        worker = new Worker(SWAPPER, { eval: true, workerData: { flag, names: ['a.txt', 'd'].map((name) => path.join(self.dir, 'in', name)) } });
        await new Promise((resolve) => { worker.once('online', resolve); });
    });
    after(async () => {
        if (flag)
            Atomics.store(flag, 0, 1);
        await worker?.terminate();
        await server?.close();
        self.remove();
    });

    test('a scan lists and hashes nothing outside', async () => {
        const hash = createHash('sha256').update(`${SECRET}\n`).digest('hex');
        for (let i = 0; i < ROUNDS; i++) {
            for (const target of ['in', 'in/a.txt', 'in/d', 'in/d/b.txt'])
                await call('scan', { path: target, hash_mode: 'sha256' });
        }
        assert.ok(received.includes(createHash('sha256').update('inside\n').digest('hex')), 'nothing was hashed');
        assert.ok(!received.includes(hash), 'a file outside was hashed');
        assert.ok(!received.includes(`${self.top}/outside`), 'a path outside was told');
    });
    test('a preview shows nothing outside', async (t) => {
        if (!isSealed)
            return t.skip('plugins are not kept from other files here');
        let shown = 0;
        for (let i = 0; i < ROUNDS; i++) {
            const seen = await call('preview', { plugin_ref: { path: 'words.py' }, files: ['in/a.txt', 'in/d/b.txt'], redaction: { mode: 'none' } });
            shown += seen?.outputs.words?.row_count ?? 0;
        }
        assert.ok(shown > 0, 'nothing was read');
        assert.ok(!received.includes(SECRET));
    });
    test('backtests and runs read nothing outside', async (t) => {
        if (!isSealed)
            return t.skip('plugins are not kept from other files here');
        const what = { plugin_ref: { path: 'words.py' }, input_dir: 'in' };
        for (let i = 0; i < ROUNDS / 5; i++) {
            const tested = await call('backtest_start', { ...what, redaction: { mode: 'none' } });
            if (tested)
                await end(tested.job_id);
            const asked = await call('run_request', { ...what, output: './out', force: true });
            const decided = asked && await call('approval_decide', { approval_id: asked.approval_id, decision: 'approve' });
            if (decided?.job_id)
                await end(decided.job_id);
        }
        const { rows } = await server.ask('query', { sql: 'SELECT DISTINCT text FROM words__all', redaction: { mode: 'none' } });
        received += JSON.stringify(rows);
        assert.ok(!received.includes(SECRET));
        assert.ok(!JSON.stringify(self.audit()).includes(SECRET));
        for (const file of fs.readdirSync(path.join(self.dir, 'out'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile()))
            assert.ok(!fs.readFileSync(path.join(file.parentPath, file.name)).includes(SECRET), file.name);
    });
    test('a target that becomes a link is not written through', async () => {
        const before = fs.readdirSync(path.join(self.top, 'outside'), { recursive: true }).sort();
        for (let i = 0; i < ROUNDS / 5; i++) {
            const asked = await call('run_request', { plugin_ref: { path: 'words.py' }, input_dir: 'words.py', output: './in/d/out', force: true });
            const decided = asked && await call('approval_decide', { approval_id: asked.approval_id, decision: 'approve' });
            if (decided?.job_id)
                await end(decided.job_id);
        }
        assert.deepEqual(fs.readdirSync(path.join(self.top, 'outside'), { recursive: true }).sort(), before);
    });
    test('the links did come and go', () => {
        assert.ok(Atomics.load(flag, 1) > 100, `${Atomics.load(flag, 1)} times`);
    });
});
