/*
 * portarium-abuse-decisions.test.mjs - nobody decides who may not, nothing passes a gate that is
 * not approved, and a decision counts once: on both databases, with two servers on PostgreSQL.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';

import { CONTENT, program } from './portarium-rest.mjs';
import { DATABASES, folder, kill, postgres, until } from './universe.mjs';

const [NOOP, , GATE] = CONTENT.workspaces[0].workflows;
const action = (order, more) => ({ actionId: `a${order}`, order, portFamily: 'SoftwareDev', operation: 'control:noop', ...more });
const WHEN = {
    ...GATE, workflowId: 'wf-when', name: 'With conditions', executionTier: 'Auto',
    actions: [action(1, { operation: 'control:approve' }), action(2, { when: 'run.parameters.go == true || actions.a1.state == "Succeeded"' })],
};
const SEED = { workspaces: [{ workspaceId: 'ws-1', name: 'First', workflows: [NOOP, GATE, WHEN] }, { workspaceId: 'ws-2', name: 'Second', workflows: [] }] };
const servers = [];
after(() => Promise.all(servers.map(kill)));

function cli(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

function seed(db) {
    const dir = folder(), file = path.join(dir, 'seed.json');
    fs.writeFileSync(file, JSON.stringify(SEED));
    cli('admin', 'apply', file, '--db', db.url);
    fs.rmSync(dir, { recursive: true, force: true });
}

const token = (db, subject, roles, ...more) => cli('tokens', 'create', '--db', db.url, '--workspace', 'ws-1', '--subject', subject, '--roles', roles, ...more);

async function serve(db) {
    const child = spawn(program, ['serve', '--port', '0', '--db', db.url, '--log-level', 'warning'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const server = { child, log: '' };
    servers.push(server);
    child.stderr.setEncoding('utf8').on('data', (text) => { server.log += text; });
    while (!/serving http:\S+\n/.test(server.log))
        await Promise.race([once(child.stderr, 'data'), once(child, 'exit').then(() => assert.fail(server.log))]);
    server.base = new URL(/serving (http:\S+)\n/.exec(server.log)[1]).origin;
    return server;
}

async function ask(server, user, method, where, body, workspace = 'ws-1') {
    const answer = await fetch(`${server.base}/v1/workspaces/${workspace}${where}`, {
        method, body: body && JSON.stringify(body),
        headers: { Authorization: `Bearer ${user}`, ...(body && { 'Content-Type': 'application/json' }) },
    });
    return { status: answer.status, json: JSON.parse(await answer.text() || 'null') };
}

/** A run of the workflow that waits at its gate. */
async function gated(server, user, workflowId = 'wf-gate', parameters = { target: 'x' }) {
    const { json: run } = await ask(server, user, 'POST', '/runs', { workflowId, parameters });
    const approval = await until(async () => (await ask(server, user, 'GET', `/approvals?runId=${run.runId}&status=Pending`)).json.items[0], 'an approval');
    return { run: run.runId, approval };
}

const decide = (server, user, approval, more = {}) => ask(server, user, 'POST', `/approvals/${approval.approvalId}/decide`, { decision: 'Approved', rationale: 'fine', ...more });

async function become(server, user, run, status) {
    await until(async () => (await ask(server, user, 'GET', `/runs/${run}?wait=5`)).json.status === status, `${run} to be ${status}`);
}

for (const makeDatabase of DATABASES) {
    test(`who may not decide is refused, on ${makeDatabase.name}`, async () => {
        const db = makeDatabase();
        seed(db);
        const server = await serve(db);
        const both = token(db, 'otto', 'operator,approver'), anna = token(db, 'anna', 'approver'), ada = token(db, 'ada', 'admin');
        const { run, approval } = await gated(server, both);
        assert.equal((await decide(server, both, approval)).status, 403); /* it is otto's run */
        for (const body of [{ requestedByUserId: 'x' }, { decidedByUserId: 'anna' }, { sodConstraints: [] }, { previousApprovers: ['anna'] }, { actor: { userId: 'anna' } }])
            assert.ok([403, 422].includes((await decide(server, both, approval, body)).status));
        assert.equal((await decide(server, token(db, 'bot', 'admin,approver', '--agent', 'ag-1', '--owner', 'olga'), approval)).status, 403);
        assert.equal((await decide(server, token(db, 'ute', 'auditor'), approval)).status, 403);
        assert.equal((await decide(server, token(db, 'ole', 'operator'), approval)).status, 403);

        /* a token that was valid a moment ago, and has just been used */
        const gone = token(db, 'gregor', 'approver');
        assert.equal((await ask(server, gone, 'GET', '/approvals')).status, 200);
        const listed = JSON.parse(cli('tokens', 'list', '--db', db.url, '--workspace', 'ws-1', '--json'));
        const rows = listed.items ?? listed.tokens ?? listed;
        cli('tokens', 'revoke', '--db', db.url, '--workspace', 'ws-1', rows.find(({ subject }) => subject === 'gregor').id);
        assert.ok([401, 403].includes((await decide(server, gone, approval)).status));

        /* of another subject, and of another approval */
        assert.equal((await decide(server, anna, approval, { subjectHash: '0'.repeat(64) })).status, 409);
        const other = await gated(server, both, 'wf-gate', { target: 'y' });
        assert.equal((await decide(server, anna, approval, { subjectHash: other.approval.subjectHash })).status, 409);
        assert.equal((await ask(server, anna, 'POST', `/approvals/${approval.approvalId}/decide`, { decision: 'Approved', rationale: 'fine' }, 'ws-2')).status, 403);
        assert.equal((await ask(server, anna, 'GET', `/runs/${run}`)).json.status, 'WaitingForApproval');

        /* after it was decided, and after its run was cancelled */
        assert.equal((await decide(server, anna, approval, { subjectHash: approval.subjectHash })).status, 200);
        await become(server, anna, run, 'Succeeded');
        for (const decision of ['Approved', 'Denied', 'RequestChanges'])
            assert.equal((await decide(server, ada, approval, { decision })).status, 409);
        assert.equal((await ask(server, both, 'POST', `/runs/${other.run}/cancel`, {})).status, 200);
        assert.equal((await decide(server, anna, other.approval)).status, 409);
        assert.equal((await ask(server, anna, 'GET', `/runs/${other.run}`)).json.status, 'Cancelled');
        await kill(server);
        db.close();
    });

    test(`nothing passes a gate but its approval, on ${makeDatabase.name}`, async () => {
        const db = makeDatabase();
        seed(db);
        const server = await serve(db);
        const otto = token(db, 'otto', 'operator'), ada = token(db, 'ada', 'admin'), anna = token(db, 'anna', 'approver');
        const { run, approval } = await gated(server, otto, 'wf-when', { go: true });
        const tries = [
            ['POST', `/runs/${run}/interventions`, { interventionType: 'resume', rationale: 'go on, please' }],
            ['POST', `/runs/${run}/actions/a1/resolve`, { outcome: 'succeeded', rationale: 'go on, please' }],
            ['POST', `/runs/${run}/actions/a1/complete`, { schemaVersion: 1, runId: run, actionId: 'a1', completionToken: 'x'.repeat(22), outcome: 'Succeeded', completedAtIso: '2026-01-02T03:04:05.000Z' }],
            ['POST', `/approvals/${approval.approvalId}/resubmit`, { note: 'again' }],
            ['POST', `/agent-actions/${approval.approvalId}/execute`, { flowRef: 'control:approve' }],
            ['POST', `/agent-actions/${approval.approvalId}/complete`, { executionId: 'e', outcome: 'executed' }],
        ];
        for (const user of [otto, ada]) {
            for (const one of tries) {
                const { status, json } = await ask(server, user, ...one);
                assert.ok(status >= 400 && status < 500, `${one[1]}: ${status} ${JSON.stringify(json)}`);
            }
        }
        /* pause and resume, handoff and resume; another version without a gate */
        for (const [interventionType, target] of [['handoff', 'ada'], ['pause'], ['resume'], ['resume']])
            await ask(server, ada, 'POST', `/runs/${run}/interventions`, { interventionType, target, rationale: 'look at this' });
        const open = { actions: [action(1), action(2)] };
        assert.equal((await ask(server, ada, 'PATCH', '/workflows/wf-when', open)).status, 200);
        for (const path of ['/freeze', '/unfreeze'])
            assert.equal((await ask(server, ada, 'POST', path, { rationale: 'a drill of the team' })).status, 200);
        const second = await serve(db);
        const { json } = await ask(second, ada, 'GET', `/runs/${run}?view=full&wait=1`);
        assert.equal(json.status, 'WaitingForApproval');
        assert.deepEqual(json.actions.map(({ state }) => state), ['WaitingForApproval', 'Pending']);
        assert.equal((await decide(second, anna, approval)).status, 200);
        await kill(second);
        /* it was paused meanwhile, which the approval does not end */
        await until(async () => (await ask(server, otto, 'POST', `/runs/${run}/interventions`, { interventionType: 'resume', rationale: 'go on, please' })).status === 200, 'the run to be resumed');
        await become(server, otto, run, 'Succeeded');
        await kill(server);
        db.close();
    });
}

test('of 100 decisions at two servers one wins, on PostgreSQL', async () => {
    const db = postgres();
    seed(db);
    const pair = [await serve(db), await serve(db)];
    const otto = token(db, 'otto', 'operator');
    const people = Array.from({ length: 10 }, (_, i) => token(db, `p${i}`, 'approver'));
    const { run, approval } = await gated(pair[0], otto);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) =>
        decide(pair[i % 2], people[i % 10], approval, { decision: i % 3 ? 'Approved' : 'Denied' })));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1, JSON.stringify(answers.map(({ status }) => status)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 409]);
    await become(pair[1], otto, run, won[0].json.decisions[0].decision === 'Denied' ? 'Failed' : 'Succeeded');
    assert.equal(Number(db.sql(`SELECT COUNT(*) AS n FROM approval_decisions WHERE approval_id = '${approval.approvalId}'`)[0].n), 1);
    const { json } = await ask(pair[0], otto, 'GET', `/approvals/${approval.approvalId}`);
    assert.equal(json.decisions.length, 1);
    await Promise.all(pair.map(kill));
    db.close();
});
