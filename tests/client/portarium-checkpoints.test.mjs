/*
 * portarium-checkpoints.test.mjs - `serve --checkpoints`: the file has each checkpoint once, after
 * a kill, a piece of one, a move and a folder that was away; evidence is held against it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { CONTENT, plane, planeOn, program } from './portarium-rest.mjs';
import { until } from './support/until.mjs';
import { DATABASES } from './universe.mjs';

const portarium = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });

function folder(context) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-checkpoints-'));
    context.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    return { dir, key: path.join(dir, 'key.pem'), file: path.join(dir, 'checkpoints') };
}

/** The checkpoints of a workspace in a file, as texts. The plane makes some of its own. */
const notes = (file, workspace) => fs.readFileSync(file, 'utf8').split(/\n\n(?=portarium\/)|\n\n$/)
    .filter((text) => text.startsWith(`portarium/${workspace}\n`) && /\n\u2014 /.test(text)).map((text) => `${text}\n`);

const sizes = (texts) => texts.map((text) => Number(text.split('\n')[1]));

/** Wait until the file has these, and look that it has each once, in their order. */
async function arrive(file, workspace, made) {
    await until(() => made.every((text) => notes(file, workspace).includes(text)), `the checkpoints of ${workspace}`);
    const all = sizes(notes(file, workspace));
    assert.deepEqual(all, [...new Set(all)].toSorted((one, other) => one - other));
}

async function checkpoint(server, workspace) {
    const item = await server.ask('POST', `/v1/workspaces/${workspace}/work-items`, { token: server.token('otto', 'operator', workspace), body: { title: 'Look' } });
    assert.equal(item.status, 201, item.text);
    const made = await server.ask('GET', `/v1/workspaces/${workspace}/evidence/checkpoint`, { token: server.token('ute', 'auditor', workspace) });
    assert.equal(made.status, 200, made.text);
    return made.text;
}

for (const makeDatabase of DATABASES) {
    test(`each checkpoint is in the file once, on ${makeDatabase.name}`, async (context) => {
        const { key, file } = folder(context);
        const db = makeDatabase();
        context.after(() => db.close());
        const server = await planeOn(db.url, CONTENT, '--evidence-key', key, '--checkpoints', file);
        context.after(() => server.close());
        const made = { 'ws-1': [], 'ws-2': [] };
        for (let i = 0; i < 3; i++) {
            for (const workspace of Object.keys(made))
                made[workspace].push(await checkpoint(server, workspace));
        }
        for (const workspace of Object.keys(made))
            await arrive(file, workspace, made[workspace]);
        assert.equal(fs.statSync(file).mode & 0o777, 0o600);

        /* A kill, with one checkpoint more and a piece of one at the end. */
        made['ws-1'].push(await checkpoint(server, 'ws-1'));
        await server.restart(() => fs.appendFileSync(file, 'portarium/ws-2\n4\nAAAA'));
        made['ws-2'].push(await checkpoint(server, 'ws-2'));
        for (const workspace of Object.keys(made))
            await arrive(file, workspace, made[workspace]);

        /* Moved away: the next one begins a new file. */
        fs.renameSync(file, `${file}.old`);
        const next = await checkpoint(server, 'ws-1');
        await until(() => fs.existsSync(file), 'the new file');
        await arrive(file, 'ws-1', [next]);
        assert.ok(!made['ws-1'].some((text) => notes(file, 'ws-1').includes(text)));
    });
}

test('evidence is held against the last checkpoint of its workspace', async (context) => {
    const { dir, key, file } = folder(context);
    const server = await plane(CONTENT, '--evidence-key', key, '--checkpoints', file);
    context.after(() => server.close());
    for (const workspace of ['ws-1', 'ws-2', 'ws-1', 'ws-2'])
        await arrive(file, workspace, [await checkpoint(server, workspace)]);
    const publicKey = path.join(dir, 'public.pem');
    fs.writeFileSync(publicKey, portarium('evidence', 'key', '--evidence-key', key).stdout);
    const verify = (workspace) => portarium('evidence', 'verify', '--db', server.db, '--workspace', workspace, '--since', file, '--key', publicKey);
    for (const workspace of ['ws-1', 'ws-2']) {
        const size = sizes(notes(file, workspace)).at(-1);
        assert.match(verify(workspace).stdout, new RegExp(`consistent: with the checkpoint of ${size} entries\\n$`));
    }
    fs.writeFileSync(file, notes(file, 'ws-2').join('\n'));
    assert.match(verify('ws-1').stderr, /is a checkpoint of portarium\/ws-2, not of workspace ws-1/);
    fs.writeFileSync(file, 'nothing\n');
    assert.match(verify('ws-1').stderr, /has no checkpoint/);
});

test('what cannot be is refused at the start', (context) => {
    const { dir, key, file } = folder(context);
    const refused = (...args) => {
        const done = portarium('serve', '--db', `sqlite:${path.join(dir, 'p.db')}`, '--port', '0', ...args);
        assert.notEqual(done.status, 0);
        return done.stderr;
    };
    assert.match(refused('--checkpoints', file), /--checkpoints: checkpoints are signed with --evidence-key, which is missing/);
    assert.match(refused('--checkpoints', file, '--evidence-key', key, '--read-only'), /--checkpoints stores something, which --read-only refuses/);
    assert.match(refused('--checkpoints', path.join(dir, 'no', 'file'), '--evidence-key', key), /no\/file cannot be opened: No such file or directory/);
    assert.match(refused('--checkpoints', dir, '--evidence-key', key), /cannot be opened: Is a directory/);
    assert.match(refused('--checkpoints', '/dev/null', '--evidence-key', key), /\/dev\/null is not a regular file/);
});

test('a file that cannot be written is caught up with later', async (context) => {
    const { dir, key } = folder(context);
    const sub = path.join(dir, 'sub'), file = path.join(sub, 'checkpoints');
    fs.mkdirSync(sub);
    const server = await plane(CONTENT, '--evidence-key', key, '--checkpoints', file);
    context.after(() => server.close());
    fs.renameSync(sub, `${sub}-away`);
    const made = [await checkpoint(server, 'ws-1'), await checkpoint(server, 'ws-1')];
    await until(() => /cannot be opened: No such file/.test(server.log), 'the warning');
    fs.renameSync(`${sub}-away`, sub);
    await arrive(file, 'ws-1', made);
    assert.equal(server.log.match(/cannot be opened/g).length, 1);
});
