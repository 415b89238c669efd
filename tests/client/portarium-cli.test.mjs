/*
 * portarium-cli.test.mjs - the commands that ask a plane: on a database, on a served plane, on a
 * terminal, in a pipe; what they end with, and what they say when something is wrong. Every wait
 * has a deadline.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';

import { CONTENT, plane, program } from './portarium-rest.mjs';

const DEADLINE_MS = 60_000;
const RLO = '\u202e', ESC = '\u001b';
const ONE = { workspaces: [CONTENT.workspaces[0]] };

let server, dir;

before(async () => {
    server = await plane(ONE);
    dir = server.dir;
});
after(() => server.close());

/** The environment of a command, without what would change it. */
function environment(more) {
    const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PORTARIUM_')));
    return { ...clean, TZ: 'UTC', ...more };
}

/** Where a command runs: on the database itself, or on the plane with someone's token. */
const here = () => ({ PORTARIUM_DATABASE_URL: server.db });
const as = (subject, roles) => ({ PORTARIUM_BASE_URL: server.base, PORTARIUM_TOKEN: server.token(subject, roles) });
const otto = () => as('otto', 'operator');
const anna = () => as('anna', 'approver');

function run(args, where, options = {}) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: DEADLINE_MS, cwd: dir, env: environment(where), ...options });
    assert.equal(done.error, undefined, `${args}: ${done.error}`);
    return done;
}

function succeed(args, where, options) {
    const done = run(args, where, options);
    assert.equal(done.status, 0, `${args}: ${done.stdout}${done.stderr}`);
    return done.stdout;
}

const json = (args, where, options) => JSON.parse(succeed([...args, '--json'], where, options));

/** It ends with that status, and says why: in words, and as JSON. */
function fail(status, words, args, where, options) {
    const done = run([...args, '--json'], where, options);
    assert.equal(done.status, status, `${args}: ${done.stdout}${done.stderr}`);
    assert.match(done.stderr, words);
    assert.match(JSON.parse(done.stdout.trimEnd().split('\n').at(-1)).error, words);
}

async function until(what, look) {
    for (const end = Date.now() + DEADLINE_MS; Date.now() < end; await sleep(50)) {
        const found = look();
        if (found)
            return found;
    }
    return assert.fail(`${what} did not come`);
}

const gateOf = (id, where) => until('the gate', () => json(['runs', 'get', id], where).pendingApprovals[0]?.approvalId);

/** A command that keeps running: its output so far, and the promise of its status. */
function begin(args, where) {
    const child = spawn(program, args, { cwd: dir, env: environment(where), stdio: ['ignore', 'pipe', 'pipe'] });
    const self = { child, out: '', err: '', ended: once(child, 'exit').then(([code]) => code) };
    child.stdout.setEncoding('utf8').on('data', (text) => { self.out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { self.err += text; });
    return self;
}

/** The same command line with a terminal for its output. */
function onTerminal(args, where) {
    const script = 'import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';
    const done = spawnSync('python3', ['-c', script, program, ...args], { encoding: 'utf8', timeout: DEADLINE_MS, cwd: dir,
        env: environment({ ...where, TERM: 'xterm', COLUMNS: '200' }), stdio: ['ignore', 'pipe', 'pipe'] });
    assert.equal(done.error, undefined);
    return { status: done.status, out: done.stdout.replaceAll('\r\n', '\n') };
}

for (const [name, starter, approver] of [['a database', here, anna], ['a served plane', otto, anna]]) {
    test(`a run's story on ${name}: plan, start, look, approve, watch`, async () => {
        const plan = json(['runs', 'plan', 'wf-gate', '--set', 'target=prod'], starter());
        assert.deepEqual(plan.actions.map(({ actionId, decision }) => [actionId, decision]), [['deploy', 'NeedsApproval']]);
        const id = succeed(['runs', 'start', 'wf-gate', '--set', 'target=prod'], starter()).trim();
        assert.match(id, /^run-[0-9a-f-]{36}$/);
        const gate = await gateOf(id, starter());
        assert.equal(json(['approvals', 'list', '--run', id, '--status', 'Pending'], starter())[0].approvalId, gate);
        const shown = succeed(['approvals', 'get', gate], starter());
        const { subjectHash, requestedByUserId } = json(['approvals', 'get', gate], starter());
        for (const part of [`subjectHash: ${subjectHash}`, `requestedByUserId: ${requestedByUserId}`, 'target: prod', 'raisedBy:'])
            assert.ok(shown.includes(part), part);
        const watch = begin(['runs', 'watch', id], starter());
        await until('the watch', () => watch.out.includes('WaitingForApproval'));
        const decided = run(['approvals', 'approve', gate, '--rationale', 'looked at it'], approver());
        assert.equal(decided.status, 0, decided.stderr);
        assert.equal(decided.stdout, `${gate}  Approved\n`);
        assert.ok(decided.stderr.includes(`subjectHash: ${subjectHash}`));
        assert.equal(await watch.ended, 0, watch.err);
        const lines = watch.out.trimEnd().split('\n');
        assert.ok(lines.length >= 2 && lines.every((line) => /^\d{4}-\d\d-\d\dT[\d:.]+Z  run-\S+  \d\/1  \w+/.test(line)), watch.out);
        assert.equal(new Set(lines.map((line) => line.slice(line.indexOf('  ')))).size, lines.length, 'a line for each change');
        assert.match(lines.at(-1), /1\/1  Succeeded$/);
        assert.equal(json(['approvals', 'get', gate], starter()).rationale, 'looked at it');
        fail(1, /decided|Approved|Executed/, ['approvals', 'deny', gate, '--rationale', 'too late'], approver());
    });
}

test('the example of workspaces is applied, and its run ends as the README has it', async () => {
    const where = { PORTARIUM_DATABASE_URL: `sqlite:${path.join(dir, 'example.db')}` };
    const apply = () => succeed(['admin', 'apply', path.join(import.meta.dirname, '../../examples/portarium/workspaces.json')], where).trim();
    assert.equal(apply(), '4 created, 0 changed, 0 unchanged');
    assert.equal(apply(), '0 created, 0 changed, 3 unchanged');
    const ada = succeed(['tokens', 'create', '--workspace', 'ws-1', '--subject', 'ada', '--roles', 'approver'], where).trim();
    const served = begin(['serve', '--port', '0'], where);
    const { runId } = json(['runs', 'start', 'release', '--set', 'version=1.0.0'], where);
    const approval = await gateOf(runId, where);
    succeed(['approvals', 'approve', approval, '--rationale', 'It was tried.'], { ...where, PORTARIUM_TOKEN: ada });
    assert.match(succeed(['runs', 'watch', runId], where), /Succeeded/);
    served.child.kill();
    assert.equal(await served.ended, 0, served.err);
});

test('machines and agents that are applied again are unchanged; an agent that is another is refused', () => {
    const file = path.join(dir, 'fleet.json'), where = { PORTARIUM_DATABASE_URL: `sqlite:${path.join(dir, 'fleet.db')}` };
    const machine = (machineId, active, more = {}) => ({
        schemaVersion: 1, machineId, endpointUrl: 'https://m.example', active, displayName: 'M', capabilities: ['a:b', 'c:d'],
        executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' }, authConfig: { kind: 'bearer', secretRef: 'M' }, ...more,
    });
    const agent = { schemaVersion: 1, agentId: 'a-1', machineId: 'm-1', displayName: 'A', capabilities: ['a:b'], policyTier: 'Auto', allowedTools: [] };
    const of = (machines, agents) => fs.writeFileSync(file, JSON.stringify({ workspaces: [{ workspaceId: 'ws-1', name: 'One', machines, agents }] }));
    const apply = () => succeed(['admin', 'apply', file], where).trim();
    of([machine('m-1', true), machine('m-2', false)], [agent]);
    assert.equal(apply(), '4 created, 0 changed, 0 unchanged');
    const entries = new DatabaseSync(path.join(dir, 'fleet.db')).prepare('SELECT COUNT(*) AS n FROM evidence').get().n;
    assert.equal(apply(), '0 created, 0 changed, 3 unchanged');
    assert.equal(new DatabaseSync(path.join(dir, 'fleet.db')).prepare('SELECT COUNT(*) AS n FROM evidence').get().n, entries);
    of([machine('m-1', true), machine('m-2', false, { displayName: 'Other' })], [agent]);
    assert.equal(apply(), '1 created, 0 changed, 2 unchanged');
    of([], [{ ...agent, capabilities: ['a:b', 'c:d'] }]);
    fail(1, /agents\[0\].*quarantined/, ['admin', 'apply', file], where);
});

test('start --wait ends with the run: 3 when it is cancelled or denied', async () => {
    const waiting = begin(['runs', 'start', 'wf-wait', '--set', 'ms=600000', '--wait'], otto());
    const id = await until('the run', () => /(run-[0-9a-f-]{36})/.exec(waiting.out)?.[1]);
    assert.equal(json(['runs', 'cancel', id, '--rationale', 'not needed'], otto()).status, 'Cancelled');
    assert.equal(await waiting.ended, 3, waiting.err);
    assert.match(waiting.out, /Cancelled\n$/);
    assert.equal(run(['runs', 'watch', id], here()).status, 3);
    const gated = begin(['runs', 'start', 'wf-gate', '--set', 'target=t', '--wait', '--json'], here());
    const gate = await until('the gate', () => /"approvalId":"(apr-[0-9a-f-]+)"/.exec(gated.out)?.[1]);
    succeed(['approvals', 'deny', gate, '--rationale', 'no'], anna());
    assert.equal(await gated.ended, 3, gated.err);
    const documents = gated.out.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(documents.at(-1).status, 'Failed');
});

test('a watch has a time limit, and ends by a signal; the run continues', async () => {
    const id = succeed(['runs', 'start', 'wf-wait', '--set', 'ms=600000'], otto()).trim();
    fail(2, /--timeout/, ['runs', 'watch', id, '--timeout', '1'], here());
    const watch = begin(['runs', 'watch', id], otto());
    await until('a line', () => watch.out);
    watch.child.kill('SIGINT');
    assert.equal(await watch.ended, 130);
    assert.notEqual(json(['runs', 'get', id], otto()).status, 'Cancelled');
    assert.equal(json(['runs', 'intervene', id, 'pause', '--rationale', 'wait a moment'], otto()).status, 'Paused');
    fail(1, /rationale/, ['runs', 'intervene', id, 'pause', '--rationale', 'short'], otto());
    succeed(['runs', 'cancel', id], otto());
});

test('parameters come from a file, standard input and --set, which counts more', () => {
    const file = path.join(dir, 'parameters.json');
    fs.writeFileSync(file, JSON.stringify({ n: 1, text: 'a' }));
    const started = json(['runs', 'start', 'wf-noop', '--input', file, '--set', 'n=2', '--set', 'flag=true', '--set', 'word=x=y'], here());
    assert.deepEqual(started.parameters, { n: 2, text: 'a', flag: true, word: 'x=y' });
    assert.deepEqual(json(['runs', 'start', 'wf-noop', '--input', '-'], here(), { input: '{"n":"3"}' }).parameters, { n: '3' });
    assert.deepEqual(json(['runs', 'start', 'wf-noop', '--set', 'n="3"'], here()).parameters, { n: '3' });
    fail(1, /NAME=VALUE/, ['runs', 'start', 'wf-noop', '--set', 'n'], here());
    fail(1, /twice/, ['runs', 'start', 'wf-noop', '--set', 'n=1', '--set', 'n=2'], here());
    fail(1, /not JSON/, ['runs', 'start', 'wf-noop', '--input', '-'], here(), { input: 'n: 3' });
    fail(1, /object/, ['runs', 'start', 'wf-noop', '--input', '-'], here(), { input: '[1]' });
    fail(2, /absent\.json/, ['runs', 'start', 'wf-noop', '--input', 'absent.json'], here());
    const twice = [1, 2].map(() => json(['runs', 'start', 'wf-noop', '--set', 'n=1', '--idempotency-key', 'once-1'], otto()).runId);
    assert.equal(twice[0], twice[1]);
});

test('lists follow pages to their limit, and filter', () => {
    const database = new DatabaseSync(server.db.slice('sqlite:'.length));
    const insert = database.prepare('INSERT INTO work_items (workspace, id, revision, created_at, json, title, status) VALUES (?, ?, 1, ?, ?, ?, ?)');
    database.exec(`PRAGMA busy_timeout = ${DEADLINE_MS}`);
    database.exec('BEGIN IMMEDIATE');
    for (let i = 0; i < 450; i++) {
        const id = `wi-many-${String(i).padStart(4, '0')}`, status = i % 2 ? 'Open' : 'Blocked';
        insert.run('ws-1', id, i + 1, JSON.stringify({ workItemId: id, title: `Item ${i}`, status }), `Item ${i}`, status);
    }
    database.exec('COMMIT');
    database.close();
    for (const where of [here(), otto()]) {
        const all = json(['work-items', 'list', '--limit', '410', '--search', 'wi-many'], where);
        assert.equal(all.length, 410);
        assert.equal(new Set(all.map(({ workItemId }) => workItemId)).size, 410);
        assert.equal(json(['work-items', 'list', '--search', 'wi-many'], where).length, 50);
        const blocked = json(['work-items', 'list', '--status', 'Blocked', '-L', '1000'], where);
        assert.equal(blocked.length, 225);
        assert.ok(blocked.every(({ status }) => status === 'Blocked'));
        const table = run(['work-items', 'list', '--limit', '3'], where);
        assert.equal(table.stdout.trimEnd().split('\n').length, 4);
        assert.match(table.stderr, /--limit/);
    }
    assert.equal(json(['work-items', 'update', 'wi-many-0001', '--status', 'Closed', '--owner', 'otto'], otto()).status, 'Closed');
    fail(1, /nothing to change/, ['work-items', 'update', 'wi-many-0001'], otto());
    fail(1, /status/, ['work-items', 'update', 'wi-many-0002', '--status', 'Nowhere'], otto());
});

test('workflows and policies are stored, get versions, and are archived', () => {
    const workflow = path.join(dir, 'workflow.json'), policy = path.join(dir, 'policy.json');
    const noop = { ...ONE.workspaces[0].workflows[0], workflowId: 'wf-mine', name: 'Mine' };
    const admin = as('root', 'admin');
    delete noop.version;
    fs.writeFileSync(workflow, JSON.stringify(noop));
    assert.equal(succeed(['workflows', 'apply', workflow], admin), 'wf-mine  version 1\n');
    fs.writeFileSync(workflow, JSON.stringify({ ...noop, name: 'Mine, changed' }));
    assert.equal(succeed(['workflows', 'apply', workflow], here()), 'wf-mine  version 2\n');
    assert.equal(json(['workflows', 'get', 'wf-mine'], otto()).name, 'Mine, changed');
    assert.equal(json(['workflows', 'archive', 'wf-mine'], admin).active, false);
    assert.deepEqual(json(['workflows', 'list', '--active', 'false'], otto()).map(({ workflowId }) => workflowId), ['wf-mine']);
    fail(1, /./, ['runs', 'start', 'wf-mine'], otto());
    fs.writeFileSync(policy, JSON.stringify({ policyId: 'p-1', name: 'Careful', active: false, rules: [{ ruleId: 'all', condition: 'true', effect: 'RequireApproval', rationale: 'all' }] }));
    assert.equal(succeed(['policies', 'apply', policy], admin), 'p-1  version 1\n');
    assert.equal(json(['policies', 'list'], admin).length, 1);
    assert.equal(typeof json(['policies', 'simulate', policy, '--last', '100'], admin), 'object');
    fail(2, /role/, ['policies', 'apply', policy], otto());
});

test('what others wrote is shown, never obeyed', async () => {
    const evil = `${ESC}[2J${RLO}gnp\u0007\u009b31m\nforged: line \u{e0041}`;
    const id = json(['runs', 'start', 'wf-gate', '--input', '-'], here(), { input: JSON.stringify({ target: evil }) }).runId;
    const gate = await gateOf(id, here());
    const outputs = [
        ...[here(), otto()].map((where) => succeed(['approvals', 'get', gate], where)),
        succeed(['runs', 'get', id], otto()),
        succeed(['runs', 'get', id, '--json'], otto()),
        onTerminal(['approvals', 'get', gate], otto()).out.replaceAll(/\u001b\[[01]m/g, ''),
    ];
    for (const text of outputs) {
        // eslint-disable-next-line no-control-regex
        assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
        assert.match(text, /\\u202egnp/);
        assert.doesNotMatch(text, /^\s*forged/m);
    }
    assert.equal(JSON.parse(outputs[3]).parameters.target, evil, 'JSON has the same value');
    const decided = run(['approvals', 'request-changes', gate, '--rationale', 'what is this?'], anna());
    assert.equal(decided.status, 0, decided.stderr);
    assert.ok(!decided.stderr.includes(RLO) && !decided.stderr.includes(ESC));
    fail(2, /\\u202e/, ['runs', 'get', `x${RLO}`], otto());
});

test('a decision is for the subject that was seen, by someone who may decide', async () => {
    const id = succeed(['runs', 'start', 'wf-gate', '--set', 'target=a'], otto()).trim();
    const gate = await gateOf(id, otto());
    for (const [args, option] of [[['approvals', 'approve', gate], 'rationale'], [['approvals', 'deny', gate, '--rationale', ''], 'rationale'], [['admin', 'freeze'], 'rationale'],
        [['runs', 'resolve', id, 'one', '--rationale', 'x'], 'outcome'], [['tokens', 'create'], 'subject'], [['evidence', 'export'], 'run']]) {
        const done = run([...args, '--json'], anna());
        assert.deepEqual([done.status, JSON.parse(done.stdout).status], [2, 'E_PARAMS'], done.stderr);
        assert.match(done.stderr, new RegExp(`^portarium: --${option} is required: `));
    }
    fail(1, /subject/, ['approvals', 'approve', gate, '--rationale', 'yes', '--subject-hash', '0'.repeat(64)], anna());
    fail(2, /./, ['approvals', 'approve', gate, '--rationale', 'mine'], otto());
    assert.equal(json(['approvals', 'request-changes', gate, '--rationale', 'other target'], anna()).status, 'RequestChanges');
    const again = json(['approvals', 'resubmit', gate, '--note', 'changed', '--set', 'target=b'], otto());
    assert.equal(again.status, 'Pending');
    const hash = json(['approvals', 'get', gate], anna()).subjectHash;
    assert.equal(json(['approvals', 'approve', gate, '--rationale', 'good', '--subject-hash', hash], anna()).status, 'Approved');
    assert.equal(run(['runs', 'watch', id], otto()).status, 0);
});

test('on a terminal: times of this place, a table, one line that ends with the run', async () => {
    const id = succeed(['runs', 'start', 'wf-noop', '--set', 'n=1'], otto()).trim();
    assert.equal(run(['runs', 'watch', id], otto()).status, 0);
    const piped = succeed(['runs', 'list', '--limit', '1'], otto());
    assert.match(piped, /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/);
    const shown = onTerminal(['runs', 'list', '--limit', '1'], { ...otto(), TZ: 'Asia/Tokyo' });
    const created = json(['runs', 'get', id], otto()).createdAtIso;
    const there = new Date(Date.parse(created) + 9 * 3600_000).toISOString().slice(0, 19).replace('T', ' ');
    assert.ok(shown.out.includes(there), `${there} in ${shown.out}`);
    assert.ok(shown.out.includes(id));
    const watch = onTerminal(['runs', 'watch', id], otto());
    assert.equal(watch.status, 0);
    assert.match(watch.out, /Succeeded/);
});

test('events are followed from an id, on both ways, and over a broken connection', async () => {
    const first = JSON.parse(succeed(['events', 'tail', '--after', '0', '--limit', '1', '--json'], otto()));
    assert.deepEqual(JSON.parse(succeed(['events', 'tail', '--after', '0', '--limit', '1', '--json'], here())), first);
    const tails = [begin(['events', 'tail', '--after', '0', '--json'], here()), begin(['events', 'tail', '--after', '0', '--json'], otto())];
    const id = succeed(['runs', 'start', 'wf-noop', '--set', 'n=1'], otto()).trim();
    for (const tail of tails) {
        await until('the end of the run', () => tail.out.split('\n').some((line) => line.includes(id) && line.includes('RunSucceeded')));
        tail.child.kill('SIGINT');
        assert.equal(await tail.ended, 130, tail.err);
        const ids = tail.out.trimEnd().split('\n').map((line) => JSON.parse(line).id);
        assert.equal(new Set(ids).size, ids.length);
    }
    assert.equal(tails[0].out.split('\n')[0], tails[1].out.split('\n')[0]);
});

test('a reader that has gone ends the command without a word, whether there are further events or not', () => {
    for (const where of [here(), otto()]) {
        const { error, stdout, stderr } = spawnSync('sh', ['-c', `"${program}" events tail | sleep 1`], { encoding: 'utf8', timeout: DEADLINE_MS, env: environment(where) });
        assert.deepEqual([error, stdout, stderr], [undefined, '', '']);
    }
    const done = spawnSync('sh', ['-c', `"${program}" events tail --after 0 | head -n 1; "${program}" work-items list --limit 1000 | head -n 1`],
        { encoding: 'utf8', timeout: DEADLINE_MS, env: environment(here()) });
    assert.equal(done.error, undefined);
    assert.equal(done.status, 0);
    assert.equal(done.stdout.trimEnd().split('\n').length, 2);
    assert.doesNotMatch(done.stderr, /Sanitizer|assert/);
});

test('status, freeze and backup', () => {
    const admin = as('root', 'admin');
    const [local, remote] = [here(), admin].map((where) => json(['admin', 'status'], where));
    assert.equal(local.schemaVersion, remote.schemaVersion);
    assert.equal(local.database, 'sqlite');
    assert.equal(local.runs.Succeeded, json(['runs', 'list', '--status', 'Succeeded', '--limit', '10000'], here()).length);
    assert.equal(json(['admin', 'freeze', '--rationale', 'an incident'], admin).frozen, true);
    assert.equal(json(['admin', 'status'], here()).frozen, true);
    assert.equal(json(['admin', 'unfreeze', '--rationale', 'it is over'], here()).frozen, false);
    fail(2, /role/, ['admin', 'freeze', '--rationale', 'an incident'], otto());
    const copy = path.join(dir, 'copy.db');
    const { bytes } = json(['admin', 'backup', copy], here());
    assert.equal(fs.statSync(copy).size, bytes);
    assert.equal(fs.statSync(copy).mode & 0o777, 0o600);
    assert.deepEqual(json(['runs', 'list'], { PORTARIUM_DATABASE_URL: `sqlite:${copy}` }), json(['runs', 'list'], here()));
    assert.match(succeed(['evidence', 'verify', '--workspace', 'ws-1', '--db', `sqlite:${copy}`], {}), /valid|verif|ok/i);
    fail(1, /already/, ['admin', 'backup', copy], here());
    fail(2, /pg_dump/, ['admin', 'backup', path.join(dir, 'x.db'), '--db', 'postgres://host/db'], {});
    fail(2, /absent\.db/, ['admin', 'backup', path.join(dir, 'x.db'), '--db', 'sqlite:absent.db'], {});
    assert.ok(!fs.existsSync(path.join(dir, 'x.db')));
});

test('the other lists, and the workspaces', () => {
    for (const what of ['agents', 'machines', 'human-tasks']) {
        assert.deepEqual(json([what, 'list'], otto()), []);
        assert.equal(succeed([what, 'list'], here()).trimEnd().split('\n').length, 1);
    }
    assert.deepEqual(json(['workspaces', 'list'], here()).map(({ workspaceId }) => workspaceId), ['ws-1']);
    assert.deepEqual(json(['workspaces', 'list'], otto()).map(({ workspaceId }) => workspaceId), ['ws-1']);
});

test('errors name the way out', async () => {
    fail(2, /requires a token: set PORTARIUM_TOKEN/, ['runs', 'list'], { PORTARIUM_BASE_URL: server.base });
    fail(2, /does not accept the token in PORTARIUM_TOKEN/, ['runs', 'list'], { PORTARIUM_BASE_URL: server.base, PORTARIUM_TOKEN: 'ptm_no' });
    fail(2, /PORTARIUM_TOKEN is not a valid token/, ['runs', 'list'], { ...here(), PORTARIUM_TOKEN: 'ptm_no' });
    fail(2, /Run nope not found/, ['runs', 'get', 'nope'], here());
    fail(2, /Run nope not found/, ['runs', 'get', 'nope'], otto());
    fail(2, /cannot be reached/, ['runs', 'list'], { ...otto(), PORTARIUM_BASE_URL: 'http://127.0.0.1:1' });
    fail(2, /cannot be reached/, ['events', 'tail'], { ...otto(), PORTARIUM_BASE_URL: 'http://127.0.0.1:1' });
    fail(1, /http or https/, ['runs', 'list', '--base-url', 'ftp://x'], {});
    fail(1, /two planes/, ['runs', 'list', '--base-url', 'http://x', '--db', 'sqlite:y'], {});
    fail(2, /no database absent\.db/, ['runs', 'list', '--db', 'sqlite:absent.db'], {});
    assert.ok(!fs.existsSync(path.join(dir, 'absent.db')), 'a command makes no database');
    assert.match(run(['runs', 'strat'], here()).stderr, /start/);
    assert.equal(run(['runs', 'strat'], here()).status, 2);
    assert.equal(run(['runs', 'list', '--limit', '0'], here()).status, 2);
    fail(2, /ws-other/, ['runs', 'list', '--workspace', 'ws-other'], otto());
});

test('a workspace that there is not has no tokens and nothing unbroken', () => {
    for (const args of [['tokens', 'list'], ['evidence', 'verify']])
        fail(2, /^error: Workspace nowhere not found\.|^Workspace nowhere not found\./, [...args, '--workspace', 'nowhere'], here());
    assert.match(succeed(['evidence', 'verify'], here()), /^unbroken: \d+ entries/);
    assert.equal(json(['evidence', 'verify', '-w', 'ws-1'], here()).ok, true);
});

test('a file to apply is what it seems to be, or is refused', () => {
    const file = path.join(dir, 'odd.json'), db = ['--db', `sqlite:${path.join(dir, 'odd.db')}`];
    const odd = [['', /odd\.json is not JSON/], ['[]', /no list "workspaces"/], ['{"workspaces":[5]}', /needs workspaceId and name/],
        ['{"workspaces":[{"workspaceId":"a","name":"A","policy":[]}]}', /a: policy: there is no such member/],
        ['{"workspaces":[{"workspaceId":"a","name":"A","policies":{}}]}', /a: policies must be a list/]];
    for (const [text, words] of odd) {
        fs.writeFileSync(file, text);
        fail(1, words, ['admin', 'apply', file, ...db], {});
    }
    fail(1, /zero: limit/, ['admin', 'apply', '/dev/zero', ...db], {});
    fail(2, /directory/i, ['admin', 'apply', dir, ...db], {});
    fail(2, /none\.json cannot be opened: No such file/, ['admin', 'apply', path.join(dir, 'none.json'), ...db], {});
    assert.deepEqual(json(['workspaces', 'list', ...db], {}), []);
});

test('a command makes no database, and no tables in one that is not a plane’s', () => {
    const file = path.join(dir, 'not-there.db');
    for (const args of [['tokens', 'list'], ['tokens', 'create', '--subject', 'a'], ['tokens', 'revoke', 't'], ['evidence', 'verify'], ['evidence', 'export', '--run', 'r'], ['runs', 'list']])
        fail(2, /there is no database \S*not-there\.db/, args, { PORTARIUM_DATABASE_URL: `sqlite:${file}` });
    assert.ok(!fs.existsSync(file));
    fs.writeFileSync(file, '');
    for (const args of [['tokens', 'list'], ['evidence', 'verify'], ['runs', 'list']])
        fail(2, /has no control plane: portarium admin apply makes one/, args, { PORTARIUM_DATABASE_URL: `sqlite:${file}` });
    const database = new DatabaseSync(file);
    assert.deepEqual(database.prepare('SELECT name FROM sqlite_master').all(), []);
    database.close();
});

test('what is no id names nothing else, and an empty key is no key', () => {
    for (const id of ['..', '.', ''])
        for (const where of [here(), otto()])
            fail(2, /There is nothing of that id|not found/, ['runs', 'get', id], where);
    fail(2, /There is nothing of that id|not found/, ['runs', 'list', '--workspace', '..'], otto());
    for (const where of [here(), otto()])
        fail(1, /--idempotency-key is empty/, ['runs', 'start', 'wf-noop', '--set', 'n=1', '--idempotency-key', ''], where);
});

test('a server that is no control plane is named as such', async () => {
    const other = http.createServer((request, answer) => answer.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>no</p>'));
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const list = begin(['runs', 'list'], { ...otto(), PORTARIUM_BASE_URL: `http://127.0.0.1:${other.address().port}` });
    assert.equal(await list.ended, 2);
    assert.match(list.err, /404 and no explanation: is it a control plane/);
    other.close();
});

test('a database of two workspaces asks for one; one of a newer schema is refused', () => {
    const two = path.join(dir, 'two.db'), file = path.join(dir, 'two.json');
    fs.writeFileSync(file, JSON.stringify(CONTENT));
    succeed(['admin', 'apply', file, '--db', `sqlite:${two}`], {});
    const where = { PORTARIUM_DATABASE_URL: `sqlite:${two}` };
    fail(1, /--workspace .*ws-[12], ws-[12]/, ['workflows', 'list'], where);
    fail(1, /--workspace .* is required/, ['tokens', 'list'], where);
    assert.equal(json(['workflows', 'list', '-w', 'ws-2'], where).length, 1);
    assert.equal(json(['workspaces', 'list'], where).length, 2);
    const database = new DatabaseSync(two);
    database.exec("INSERT INTO db_migrations (number, name, sha256, run_at) VALUES (999, '999-later.sql', 'x', 1)");
    database.close();
    fail(2, /999/, ['workflows', 'list', '-w', 'ws-2'], where);
});

test('a plane that stops is reported, and the reader of events and of a run continues with the next one', async () => {
    const other = await plane(ONE);
    const where = { PORTARIUM_BASE_URL: other.base, PORTARIUM_TOKEN: other.token('otto', 'operator') };
    const port = new URL(other.base).port, db = path.join(other.dir, 'kept.db');
    const tail = begin(['events', 'tail', '--after', '0', '--json'], where);
    await until('events', () => tail.out);
    const gated = succeed(['runs', 'start', 'wf-gate', '--set', 'target=x'], where).trim(), watch = begin(['runs', 'watch', gated], where);
    await until('the gate', () => watch.out.includes('WaitingForApproval'));
    succeed(['admin', 'backup', db], { PORTARIUM_DATABASE_URL: other.db });
    const kept = path.join(dir, 'kept.db');
    fs.copyFileSync(db, kept);
    await other.close();
    await until('the loss', () => /connection was lost/.test(tail.err) && /connection was lost/.test(watch.err));
    const again = spawn(program, ['serve', '--db', `sqlite:${kept}`, '--port', port], { stdio: 'ignore', env: environment({}) });
    try {
        await until('the plane', () => run(['runs', 'list'], where).status === 0);
        const id = succeed(['runs', 'start', 'wf-noop', '--set', 'n=1'], where).trim();
        await until('the new events', () => tail.out.includes(id));
        const ids = tail.out.slice(0, tail.out.lastIndexOf('\n')).split('\n').map((line) => JSON.parse(line).id);
        assert.equal(new Set(ids).size, ids.length, 'none twice');
        succeed(['runs', 'cancel', gated], where);
        assert.equal(await watch.ended, 3, watch.err);
    } finally {
        tail.child.kill('SIGINT');
        again.kill('SIGTERM');
        await once(again, 'exit');
    }
    assert.equal(await tail.ended, 130);
});

test('a plan tells that the workspace is frozen', async () => {
    const admin = as('root', 'admin'), plan = ['runs', 'plan', 'wf-noop', '--set', 'n=1'];
    const says = /^The workspace is frozen: until an admin unfreezes it, nothing is dispatched\.$/m;
    assert.equal(json(plan, otto()).frozen, false);
    assert.doesNotMatch(succeed(plan, otto()), says);
    succeed(['admin', 'freeze', '--rationale', 'incident 7'], admin);
    assert.equal(json(plan, otto()).frozen, true);
    assert.match(succeed(plan, otto()), says);
    succeed(['admin', 'unfreeze', '--rationale', 'it is over'], admin);
    assert.doesNotMatch(succeed(plan, otto()), says);
});
