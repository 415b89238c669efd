/*
 * portarium-clock.test.mjs - the database's clock is set a day forth and a day back, under load and
 * while the plane is down: runs go on, nothing acknowledged is lost, no effect is doubled, events
 * and evidence stay in order, and the evidence says that the clock was set.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { DATABASES, folder, kill, sqlite, until } from './universe.mjs';
import { Load, begin } from './support/portarium-load.mjs';

const DAY_S = 86_400;

/** A clock for the planes of this test, which it sets by a number of seconds. */
function clock(context) {
    const dir = folder(), file = path.join(dir, 'clock');
    const set = (seconds) => {
        fs.writeFileSync(`${file}.new`, String(seconds * 1000));
        fs.renameSync(`${file}.new`, file);
    };
    set(0);
    process.env.CAUSEWAY_CLOCK = file;
    context.after(() => {
        delete process.env.CAUSEWAY_CLOCK;
        fs.rmSync(dir, { recursive: true, force: true });
    });
    return set;
}

/** The steps that the evidence has, in seconds, each as often as a process saw it. */
function steps(plane) {
    return plane.db.sql("SELECT json FROM evidence WHERE json LIKE '%The database''s clock went%' ORDER BY seq").map(({ json }) => {
        const [, way, seconds] = /clock went (forth|back) by (\d+) s/.exec(JSON.parse(json).summary);
        return (way === 'back' ? -1 : 1) * Number(seconds);
    });
}

/** Whether `seconds` is that step, as far as a loaded machine measures it. */
const isAbout = (seconds, step) => Math.abs(seconds - step) <= 60;

/** A plane at work, with a clock of its own: { set, plane, load, server }. */
async function work(context, makeDatabase) {
    const set = clock(context);
    const { plane } = await begin(context, makeDatabase);
    const self = { set, plane, server: await plane.start() };
    await plane.prepare(self.server);
    self.load = new Load(plane, () => self.server);
    self.load.begin();
    await self.load.more();
    return self;
}

/** A run that ends by its timer, which would wait for the clock. */
async function waitsAndEnds(load, server, what) {
    const n = ++load.number;
    const json = await until(async () => { /* a loaded plane may be busy at first */
        const answer = await load.plane.ask(server, 'otto', 'POST', '/runs', { workflowId: 'wf-builtin', parameters: { n } }, { 'Idempotency-Key': `key-${n}` });
        return answer.status === 201 && answer.json;
    }, 'a run to start');
    load.started.set(json.runId, n);
    await until(async () => (await load.plane.ask(server, 'otto', 'GET', `/runs/${json.runId}`)).json?.status === 'Succeeded', what);
}

/** Nothing is lost, nothing is doubled. (Refusals for the rate are no matter here.) */
async function finish(load, server, what) {
    await load.end();
    await load.settle(server);
    console.log(`# ${what}: ${JSON.stringify(await load.verify(server))}`);
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.gone, [0, null], server.log);
}

for (const makeDatabase of DATABASES) {
    test(`the clock is set a day forth and back under load, on ${makeDatabase.name}`, async (context) => {
        const { set, plane, load, server } = await work(context, makeDatabase);
        const seen = [];
        for (const at of [DAY_S, 0, -DAY_S, 0]) {
            const by = at - (seen.at(-1)?.at ?? 0);
            set(at);
            seen.push({ at, by });
            await load.more();
            await until(() => steps(plane).some((step, i) => i === seen.length - 1 && isAbout(step, by)), `the evidence of ${by} s, has ${steps(plane)}`);
            await waitsAndEnds(load, server, `a run after the clock was set by ${by} s`);
        }
        await finish(load, server, `clock on ${plane.db.name}`);
    });

    test(`the clock is set a day back while the plane is down, on ${makeDatabase.name}`, async (context) => {
        const self = await work(context, makeDatabase);
        const { set, plane, load } = self;
        await kill(self.server); /* its leases, and timers that are due, are of the time before */
        await load.end();
        set(-DAY_S);
        self.server = await plane.start();
        load.begin();
        await load.more();
        await waitsAndEnds(load, self.server, 'a run');
        await until(() => steps(plane).some((step) => isAbout(step, -DAY_S)), 'the evidence of it');
        await finish(load, self.server, `clock back on ${plane.db.name}`);
    });

    test(`an approval expires once, by a time that does not go back, on ${makeDatabase.name}`, async (context) => {
        const set = clock(context);
        const { plane } = await begin(context, makeDatabase);
        const server = await plane.start();
        await plane.prepare(server);
        const { json: run } = await plane.ask(server, 'otto', 'POST', '/runs', { workflowId: 'wf-gate', parameters: { n: 1 } });
        const { planId } = await until(async () => (await plane.ask(server, 'ada', 'GET', `/approvals?runId=${run.runId}`)).json?.items?.[0], 'the gate');
        const dueAtIso = new Date(Date.now() + 3600_000).toISOString();
        const made = await plane.create(server, '/approvals', { runId: run.runId, planId, prompt: 'In time', dueAtIso });
        const statusOf = async (id) => (await plane.ask(server, 'ada', 'GET', `/approvals/${id}`)).json.status;
        set(DAY_S);
        await until(async () => await statusOf(made.approvalId) === 'Expired', 'the approval to expire');
        set(0);
        await until(() => steps(plane).length === 2, 'the evidence of both steps');
        const { status } = await plane.ask(server, 'ada', 'POST', `/approvals/${made.approvalId}/decide`, { decision: 'Approved', rationale: 'too late' });
        assert.equal(status, 409);
        assert.equal(await statusOf(made.approvalId), 'Expired');
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    });
}

test('a step is in the evidence of each of 450 workspaces, once', async (context) => {
    const set = clock(context);
    const { db, plane } = await begin(context, sqlite);
    const server = await plane.start();
    db.sql(`INSERT INTO heads (workspace, evidence_seq, evidence_at, event_seq, frozen)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 450) SELECT 'w-' || i, 0, 0, 0, 0 FROM n`);
    set(DAY_S);
    const noted = () => db.sql("SELECT workspace, COUNT(*) AS n FROM evidence WHERE workspace LIKE 'w-%' GROUP BY workspace");
    await until(() => noted().length === 450, 'the evidence');
    await new Promise((resolve) => { setTimeout(resolve, 2500); }); /* two more turns */
    assert.deepEqual(noted().filter(({ n }) => Number(n) !== 1), []);
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.gone, [0, null], server.log);
});
