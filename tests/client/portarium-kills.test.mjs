/*
 * portarium-kills.test.mjs - a control plane is killed at each step of its work and at random,
 * under a load of mixed workflows: nothing acknowledged is lost, no effect is doubled, the chain
 * verifies, and each history is one that is allowed.
 *
 * PORTARIUM_KILLS says how often, over both databases (40).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DATABASES, kill, postgres, until } from './universe.mjs';
import { LEASE_MS, Load, begin } from './support/portarium-load.mjs';
import { freeze } from './support/freeze.mjs';

/* Attempts that a server performs at once, and those of the test: the others wait in its queue. */
const IN_FLIGHT = 16, STARTED = 20;
const KILLS = Math.ceil(Number(process.env.PORTARIUM_KILLS ?? 40) / 2);

/**
 * How often a point may be passed before it kills, at most; "-made" is before its commit, "-stored"
 * after it.
 */
const POINTS = {
    'step-begun': 40, 'step-made': 40, 'attempt-stored': 10, 'dispatch-begun': 10, 'dispatch-done': 10, 'result-made': 10,
    'result-stored': 10, 'gate-made': 3, 'decision-made': 4, committed: 60, 'timer-begun': 2, 'timer-made': 2, 'timer-fired': 2,
    'claim-made': 3, 'work-made': 3, 'completion-made': 3, 'webhook-taken': 2, 'webhook-posted': 5, 'feed-read': 60, 'checkpoint-made': 3,
};
const REACHED = Object.keys(POINTS);

/** The fault of a round: in every third one the server is killed from outside. */
function faultOf(round) {
    if (round % 3 === 0)
        return undefined;
    const point = REACHED[(round - Math.floor(round / 3)) % REACHED.length];
    return `${point}:${1 + Math.floor(Math.random() * POINTS[point])}`;
}

/** Work until the server is killed, at its point or after a number of answers. */
async function untilKilled(server, load, fault) {
    const enough = load.started.size + 5 + Math.floor(Math.random() * 20);
    const isGone = () => server.child.signalCode !== null || server.child.exitCode !== null;
    await until(() => isGone() || (fault === undefined && load.started.size >= enough), `the kill at ${fault ?? 'random'}`);
    await kill(server);
    assert.equal(server.child.signalCode, 'SIGKILL', server.log);
}

for (const makeDatabase of DATABASES) {
    test(`${KILLS} times killed at every step, on ${makeDatabase.name}`, async (context) => {
        const { plane } = await begin(context, makeDatabase);
        let server = await plane.start();
        await plane.prepare(server);
        await kill(server);
        const load = new Load(plane, () => server);
        const met = new Map();
        for (let round = 1; round <= KILLS; round++) {
            const fault = faultOf(round);
            server = await plane.start(fault);
            load.begin();
            await untilKilled(server, load, fault);
            await load.end();
            const where = fault?.split(':')[0] ?? 'random';
            met.set(where, (met.get(where) ?? 0) + 1);
        }
        server = await plane.start();
        await load.settle(server);
        const figures = await load.verify(server);
        console.log(`# ${makeDatabase.name}: ${KILLS} kills ${JSON.stringify(Object.fromEntries(met))} ${JSON.stringify(figures)}`);
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    });
}

test('one of two on one PostgreSQL is killed again and again: the other ends its runs', async (context) => {
    const { plane } = await begin(context, postgres);
    const pair = [await plane.start(), await plane.start()];
    await plane.prepare(pair[0]);
    const load = new Load(plane, (n) => pair[n % 2]);
    load.begin();
    for (let round = 1; round <= Math.max(3, Math.floor(KILLS / 4)); round++) {
        await untilKilled(pair[round % 2], load, undefined);
        pair[round % 2] = await plane.start();
    }
    await load.end();
    await load.settle(pair[0]);
    console.log(`# two replicas: ${JSON.stringify(await load.verify(pair[1]))}`);
    for (const server of pair) {
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    }
});

const busySessions = (db) => db.sql(`SELECT state FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`);
const isBetween = (db) => until(() => busySessions(db).every(({ state }) => state !== 'active'), 'the statements to end')
    .then(() => busySessions(db).length === 0);
const isHeld = (db) => db.sql("SELECT workspace FROM heads WHERE workspace = 'ws-1' FOR UPDATE SKIP LOCKED").length === 0;

test('one that was frozen past its lease writes nothing of what another has taken', async (context) => {
    const { db, sink, plane } = await begin(context, postgres);
    const frozen = await plane.start();
    await plane.prepare(frozen);
    const load = new Load(plane, () => frozen);
    sink.holds = true;
    for (let n = 1; n <= STARTED; n++)
        await load.send(n, { workflowId: 'wf-blind', parameters: { n } });
    await until(() => sink.held.length === IN_FLIGHT, 'the requests in flight');
    const begun = () => Number(db.sql('SELECT COUNT(*) AS n FROM action_attempts')[0].n);
    await until(() => begun() === STARTED, 'the attempts in the queue');
    await freeze(frozen.child.pid, () => isBetween(db), 'no transaction to be open');
    sink.release(); /* the answers lie in the sockets of the one that is frozen */
    const other = await plane.start();
    await until(() => load.blocked().length === STARTED, `the leases of ${LEASE_MS} ms to be taken over`);
    await load.settle(other); /* what was in the queue is repeated, the rest was done */
    frozen.child.kill('SIGCONT');
    const late = () => db.sql("SELECT json FROM evidence WHERE json LIKE '%A late result of action%'").length;
    await until(() => late() === IN_FLIGHT, 'the late results to be noted');
    await load.verify(other);
    for (const server of [frozen, other]) {
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    }
});

test('one that was frozen within a transaction loses it, and the other continues', async (context) => {
    const { db, plane } = await begin(context, postgres);
    const frozen = await plane.start();
    await plane.prepare(frozen);
    let asked = frozen;
    const load = new Load(plane, () => asked);
    load.begin();
    await freeze(frozen.child.pid, () => isHeld(db), 'the head of the workspace to be held');
    const other = asked = await plane.start();
    await until(async () => {
        const n = ++load.number;
        await load.send(n, { workflowId: 'wf-builtin', parameters: { n } });
        return [...load.started.values()].includes(n);
    }, 'a run that the other starts');
    frozen.child.kill('SIGCONT');
    await load.end();
    await load.settle(other);
    await load.verify(other);
    for (const server of [frozen, other]) {
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    }
});
