/*
 * portarium-rest.mjs - a control plane of one's own for the tests of its REST interface and of its
 * page: a workspace from a file, tokens, the server, requests, and a reader of its events.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
export const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'portarium');

const NOOP = {
    schemaVersion: 1, workflowId: 'wf-noop', workspaceId: 'ws-1', name: 'No operation', version: 1, active: true, executionTier: 'Auto',
    actions: [{ actionId: 'one', order: 1, portFamily: 'SoftwareDev', operation: 'control:noop', input: { n: '${parameters.n}' } }],
};
const WAIT = { ...NOOP, workflowId: 'wf-wait', name: 'Wait', actions: [{ actionId: 'one', order: 1, portFamily: 'SoftwareDev', operation: 'control:wait', input: { durationMs: '${parameters.ms}' } }] };
const GATE = { ...NOOP, workflowId: 'wf-gate', name: 'Deploy', executionTier: 'HumanApprove', actions: [{ ...NOOP.actions[0], actionId: 'deploy', input: { target: '${parameters.target}' } }] };

/** What the tests begin with. */
export const CONTENT = {
    workspaces: [
        { workspaceId: 'ws-1', name: 'First', workflows: [NOOP, WAIT, GATE] },
        { workspaceId: 'ws-2', name: 'Second', workflows: [{ ...NOOP, workspaceId: 'ws-2' }] },
    ],
};

function run(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

/** A plane: { base, token(subject, roles, workspace), ask(method, path, options), close() }. */
export const plane = (content = CONTENT, ...args) => planeOn(undefined, content, ...args);

/** The same on a database that stays. @param url undefined: a file of its own, which goes */
export async function planeOn(url, content = CONTENT, ...args) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portarium-'));
    const db = url ?? `sqlite:${path.join(dir, 'p.db')}`;
    fs.writeFileSync(path.join(dir, 'apply.json'), JSON.stringify(content));
    run('admin', 'apply', path.join(dir, 'apply.json'), '--db', db);
    const self = { tokens: {}, log: '', db, dir };
    self.token = (subject, roles, workspace = 'ws-1') =>
        self.tokens[`${workspace}/${subject}`] ??= run('tokens', 'create', '--db', db, '--workspace', workspace, '--subject', subject, '--roles', roles);
    let child;
    const start = async () => {
        child = spawn(program, ['serve', '--db', db, '--port', '0', '--metrics', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
        self.log = '';
        child.stderr.setEncoding('utf8');
        child.stderr.on('data', (text) => { self.log += text; });
        while (!/serving http:\S+\n/.test(self.log))
            await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(() => assert.fail(self.log))]);
        self.base = new URL(/serving (http:\S+)\n/.exec(self.log)[1]).origin;
    };
    await start();
    /* Killed, and started again. @param between what happens in between */
    self.restart = async (between = () => {}) => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
        between();
        await start();
    };
    self.ask = (method, where, { token = self.token('otto', 'operator'), body = undefined, headers = {}, signal = undefined } = {}) =>
        ask(self.base, method, where, token, body, headers, signal);
    self.close = async () => {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await gone, [0, null]);
        fs.rmSync(dir, { recursive: true, force: true });
    };
    return self;
}

async function ask(base, method, where, token, body, headers, signal) {
    const answer = await fetch(base + where, {
        method, signal, body: body === undefined ? undefined : JSON.stringify(body),
        headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined };
}

/** The first `count` events of a stream, as {id, event, data}. */
export async function events(plane, where, count, headers = {}) {
    const stop = new AbortController();
    const answer = await fetch(plane.base + where, { headers: { Authorization: `Bearer ${plane.token('otto', 'operator')}`, ...headers }, signal: stop.signal });
    assert.equal(answer.headers.get('content-type').split(';')[0], 'text/event-stream');
    const found = [];
    let text = '';
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
            const lines = text.slice(0, end).split('\n');
            text = text.slice(end + 2);
            const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
            if (of('data') !== undefined)
                found.push({ id: Number(of('id')), event: of('event'), data: JSON.parse(of('data')) });
        }
        if (found.length >= count)
            break;
    }
    stop.abort();
    return found.slice(0, count);
}
