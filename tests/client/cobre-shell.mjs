/*
 * cobre-shell.mjs - what the tests of cobre's command line share: copies of cases, runs of the
 * program, and what its answers have in common.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';

import Ajv2020 from 'ajv/dist/2020.js';

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, '..', '..');
export const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
export const cobre = path.join(bin, 'cobre');
export const cases = path.join(root, 'examples', 'cases');
export const DEADLINE_MS = 60_000;

export const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cobre-cli-')));
let serial = 0;
export const children = [];

afterEach(() => {
    for (const child of children.splice(0))
        child.kill('SIGKILL');
});

after(() => fs.rmSync(scratch, { recursive: true, force: true }));

/** A private copy of an example case; `config` is merged into its config.json. */
export function copyCase(name, config = {}) {
    const dir = path.join(scratch, `${serial++}`, name);
    fs.cpSync(path.join(cases, name), dir, { recursive: true });
    editJson(dir, 'config.json', (now) => {
        for (const [section, members] of Object.entries(config))
            now[section] = { ...now[section], ...members };
    });
    return dir;
}

export function editJson(dir, file, edit) {
    const full = path.join(dir, file);
    const value = JSON.parse(fs.readFileSync(full, 'utf8'));
    edit(value);
    fs.writeFileSync(full, JSON.stringify(value));
}

export const limit = (iterations) => ({ stopping_rules: [{ type: 'iteration_limit', limit: iterations }] });

/** Run to the end. `env` is added to the environment without cobre's variables. */
export function run(args, { env = {}, ...options } = {}) {
    const clean = { ...process.env };
    for (const name of ['COBRE_THREADS', 'COBRE_COLOR', 'FORCE_COLOR', 'NO_COLOR'])
        delete clean[name];
    const done = spawnSync(cobre, args, { encoding: 'utf8', timeout: DEADLINE_MS,
                                          env: { ...clean, ...env }, ...options });
    assert.equal(done.error, undefined, `${args}: ${done.error}`);
    return done;
}

/** Start; `progress(pattern)` waits for a line of standard error, `end()` for the end. */
export function start(args) {
    const child = spawn(cobre, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes) => { out += bytes; });
    child.stderr.on('data', (bytes) => { err += bytes; });
    const ended = new Promise((resolve) => {
        child.on('close', (status, signal) => resolve({ status, signal, stdout: out, stderr: err }));
    });
    const within = (promise, what) => Promise.race([promise, new Promise((_, reject) => {
        setTimeout(() => reject(new Error(`waited for ${what}: ${err.slice(-500)}`)), DEADLINE_MS)
            .unref();
    })]);
    const progress = async (pattern) => {
        const deadline = Date.now() + DEADLINE_MS;
        while (!pattern.test(err)) {
            assert.ok(Date.now() < deadline && child.exitCode === null,
                      `no ${pattern} in: ${err.slice(-500)}`);
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    };
    return { child, progress, end: () => within(ended, 'the end') };
}

/** The one object on standard output. */
export function object(done) {
    assert.match(done.stdout, /^\{.*\}\n$/, `not one line: ${done.stdout} ${done.stderr}`);
    return JSON.parse(done.stdout);
}

export function record(done, kind, status) {
    const value = object(done);
    assert.equal(done.status, status, done.stderr);
    assert.equal(value.kind, kind, done.stdout);
    assert.equal(typeof value.message, 'string');
    assert.equal(typeof value.context, 'object');
    assert.ok(value.suggestion === null || typeof value.suggestion === 'string');
    assert.match(done.stderr, /error: /);
    return value;
}

export function allFiles(dir) {
    return fs.readdirSync(dir, { recursive: true });
}

/** No marker of a completed phase is below an output directory. */
export function assertUnfinished(output) {
    assert.deepEqual(allFiles(output).filter((name) => path.basename(name) === '_SUCCESS'), []);
}

export function statusOf(output, phase) {
    return JSON.parse(fs.readFileSync(path.join(output, phase, 'metadata.json'), 'utf8')).status;
}

/** The compiled output schema of a tool. */
export function schemaOf(tool) {
    const tools = path.join(root, 'servers', 'cobre', 'tools');
    const schema = JSON.parse(fs.readFileSync(path.join(tools, `${tool}.json`), 'utf8')).outputSchema;
    const defs = JSON.parse(fs.readFileSync(path.join(tools, '_defs.json'), 'utf8'));
    const check = new Ajv2020({ strict: false }).compile({ ...schema, $defs: defs });
    return (value) => assert.ok(check(value), JSON.stringify(check.errors));
}
