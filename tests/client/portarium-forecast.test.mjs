/*
 * portarium-forecast.test.mjs - what runs:plan and policies:simulate say is what then happens:
 * random small workflows and policies, held against the runs and against a second reading of the
 * rules in this file. Over REST, on both databases, in each environment.
 *
 * PORTARIUM_SEED repeats the numbers of a run that failed.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { planeOn } from './portarium-rest.mjs';
import { until } from './support/until.mjs';
import { DATABASES, folder } from './universe.mjs';

const WS = '/v1/workspaces/ws-1';
const CASES = 8;
const TIERS = ['Auto', 'Assisted', 'HumanApprove', 'ManualOnly'];
/* The first tier that an environment asks approval for; in dev it only logs. */
const THRESHOLD = { dev: 4, staging: 2, prod: 1 };
const EFFECTS = ['Allow', 'RequireApproval', 'Deny'];
const SEED = Number(process.env.PORTARIUM_SEED ?? Date.now() % 1_000_000);

/* ---- random things --------------------------------------------------------------------------- */

/** Numbers of a seed: mulberry32. */
class Dice {
    constructor(seed) {
        this.state = seed;
    }

    next() {
        this.state = (this.state + 0x6d2b79f5) | 0;
        let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    }

    below = (n) => Math.floor(this.next() * n);
    one = (list) => list[this.below(list.length)];
    chance = (p) => this.next() < p;
}

const number = (value) => {
    if (typeof value !== 'number')
        throw new Error('no number');
    return value;
};

/* Conditions: a text, and what it means. One that throws cannot be evaluated. */
const ATOMS = [
    (dice) => { const k = dice.below(10); return [`run.parameters.n > ${k}`, ({ parameters }) => number(parameters?.n) > k]; },
    (dice) => { const kind = dice.one(['red', 'green', 'blue']); return [`run.parameters.kind == '${kind}'`, ({ parameters }) => parameters?.kind === kind]; },
    () => ["run.parameters.kind in 'red and green'", ({ parameters }) => { if (!parameters?.kind) throw new Error('no text'); return 'red and green'.includes(parameters.kind); }],
    () => ['run.parameters.none >= 1', () => number(undefined)],
    (dice) => { const tier = dice.one(TIERS); return [`action.tier == '${tier}'`, ({ action }) => TIERS[action.tier] === tier]; },
    (dice) => { const what = dice.one(['control:noop', 'event:emit', 'control:approve']); return [`action.operation == "${what}"`, ({ action }) => action.operation === what]; },
    () => ["actor.roles contains 'operator'", () => true],
    () => ["actor.id == 'anna'", () => false],
    () => ["env != 'prod'", ({ environment }) => environment !== 'prod'],
];

function condition(dice, atoms = ATOMS) {
    const [text, means] = dice.one(atoms)(dice);
    if (dice.chance(0.2))
        return [`!(${text})`, (context) => !means(context)];
    if (dice.chance(0.4)) {
        const [more, also] = dice.one(atoms)(dice);
        return dice.chance(0.5) ? [`${text} && ${more}`, (context) => means(context) && also(context)]
            : [`${text} || ${more}`, (context) => means(context) || also(context)];
    }
    return [text, means];
}

function policy(dice, policyId) {
    const rules = Array.from({ length: 1 + dice.below(2) }, (_, i) => {
        const [text, means] = condition(dice);
        return { ruleId: `r${i}`, condition: text, effect: dice.one([...EFFECTS, 'Allow', 'RequireApproval']), means };
    });
    return { policyId, name: policyId, priority: dice.below(3), rules };
}

/* Only what the engine does itself. A `when` may look at parameters, or at the first action. */
const WHENS = [ATOMS[0], ...['Succeeded', 'Skipped'].map((state) => () => [`actions.a1.state == '${state}'`, ({ states }) => {
    if (!states.a1)
        throw new Error('a1 has not ended');
    return states.a1 === state;
}])];

function workflow(dice, id) {
    const tier = dice.below(3);
    const actions = Array.from({ length: 1 + dice.below(4) }, (_, i) => {
        const own = dice.chance(0.3) ? tier + dice.below(4 - tier) : undefined;
        const action = { actionId: `a${i + 1}`, order: i + 1, portFamily: 'SoftwareDev', operation: dice.one(['control:noop', 'event:emit', 'control:approve']) };
        if (own !== undefined)
            action.executionTierOverride = TIERS[own];
        if (dice.chance(0.1))
            action.manual = true;
        const when = i > 0 && dice.chance(0.4) ? condition(dice, WHENS) : undefined;
        if (when)
            [action.when] = when;
        return { action, tier: Math.max(tier, own ?? tier), when: when?.[1] };
    });
    return { id, actions, body: { schemaVersion: 1, workflowId: id, workspaceId: 'ws-1', name: id, version: 1, active: true, executionTier: TIERS[tier], actions: actions.map(({ action }) => action) } };
}

/* ---- a second reading of the rules ----------------------------------------------------------- */

function judged(rule, context) {
    try {
        return rule.means(context) ? EFFECTS.indexOf(rule.effect) : 0;
    } catch {
        return 2; /* what cannot be evaluated denies */
    }
}

/** The strictest of tier, operation, environment and policies: an index of EFFECTS. */
function effectOf({ action, tier }, parameters, policies, environment) {
    const asks = tier === 2 || action.operation === 'control:approve' || tier >= THRESHOLD[environment];
    const context = { parameters, environment, action: { tier, operation: action.operation } };
    return Math.max(asks ? 1 : 0, ...policies.flatMap(({ rules }) => rules).map((rule) => judged(rule, context)));
}

const isManual = ({ action, tier }) => action.manual || tier === 3;

function decisionOf(item, ...rest) {
    const effect = effectOf(item, ...rest);
    return effect === 2 ? 'Denied' : isManual(item) ? 'Manual' : ['Allow', 'NeedsApproval'][effect];
}

/** 'go', 'skip' or 'fail'. */
function whenOf({ when }, parameters, states) {
    try {
        return !when || when({ parameters, states }) ? 'go' : 'skip';
    } catch {
        return 'fail';
    }
}

/* ---- the plane ------------------------------------------------------------------------------- */

class People {
    constructor(plane) {
        this.plane = plane;
    }

    async ask(who, role, method, where, body) {
        for (;;) {
            const answer = await this.plane.ask(method, WS + where, { token: this.plane.token(who, role), body });
            if (answer.status !== 429) {
                assert.ok(answer.status < 300, `${where}: ${answer.text}`);
                return answer.json;
            }
        }
    }

    start = (body) => this.ask('otto', 'operator', 'POST', '/runs', body);
    plan = (body) => this.ask('otto', 'operator', 'POST', '/runs:plan', body);
    get = (where) => this.ask('otto', 'operator', 'GET', where);
    admin = (method, where, body) => this.ask('ada', 'admin', method, where, body);

    /** Approve and complete whatever the run asks for. @return the run as it ends */
    async finish(runId) {
        const done = new Set();
        return until(async () => {
            const run = await this.get(`/runs/${runId}?view=full`);
            if (['Succeeded', 'Failed', 'Cancelled'].includes(run.status))
                return run;
            for (const { approvalId } of run.pendingApprovals.filter((one) => !done.has(one.approvalId))) {
                done.add(approvalId);
                await this.ask('anna', 'approver', 'POST', `/approvals/${approvalId}/decide`, { decision: 'Approved', rationale: 'fine' });
            }
            for (const { humanTaskId, actionId } of run.actions.filter((one) => one.state === 'WaitingForManualCompletion' && !done.has(one.humanTaskId))) {
                done.add(humanTaskId);
                const { completionToken } = await this.get(`/human-tasks/${humanTaskId}`);
                await this.ask('otto', 'operator', 'POST', `/human-tasks/${humanTaskId}/complete`,
                    { schemaVersion: 1, runId, actionId, completionToken, outcome: 'Succeeded', completedAtIso: '2026-01-02T03:04:05.000Z' });
            }
            return undefined;
        }, `${runId} to end`);
    }

    /** What became of each action: Allow, NeedsApproval, Manual, Denied, Skipped, Failed;
     *  undefined: it was not reached. An approval comes with the rule that asked. */
    async outcomes(run) {
        const { items } = await this.get(`/approvals?runId=${run.runId}&limit=200`);
        return Object.fromEntries(run.actions.map((action) => {
            const approval = items.find(({ approvalId }) => approvalId === action.approvalId);
            const isDenied = run.failure?.actionId === action.actionId && run.failure.class === 'policy-deny';
            if (action.state === 'Skipped' || (action.state === 'Failed' && !isDenied))
                return [action.actionId, { what: action.state }];
            if (approval)
                return [action.actionId, { what: 'NeedsApproval', ...approval.raisedBy }];
            if (action.humanTaskId)
                return [action.actionId, { what: 'Manual' }];
            return [action.actionId, isDenied ? { what: 'Denied' } : action.state === 'Succeeded' ? { what: 'Allow' } : undefined];
        }));
    }
}

const sent = ({ rules, ...policy }) => ({ ...policy, rules: rules.map(({ ruleId, condition: text, effect }) => ({ ruleId, condition: text, effect })) });

/** What must become of each action, by this file. */
function expected(flow, parameters, policies, environment) {
    const out = {}, states = {};
    for (const item of flow.actions) {
        const id = item.action.actionId, when = whenOf(item, parameters, states);
        states[id] = when === 'skip' ? 'Skipped' : 'Succeeded';
        out[id] = { go: decisionOf(item, parameters, policies, environment), skip: 'Skipped', fail: 'Failed' }[when];
        if (['Denied', 'Failed'].includes(out[id]))
            break; /* nothing follows */
    }
    return out;
}

/** A plan, and the run that it is of. */
async function forecast(people, flow, parameters, policies, environment) {
    const body = { workflowId: flow.id, ...(parameters && { parameters }) };
    const { actions: planned } = await people.plan(body);
    const run = await people.finish((await people.start(body)).runId);
    const happened = await people.outcomes(run), must = expected(flow, parameters, policies, environment);
    assert.equal(planned.length, flow.actions.length);
    for (const [i, item] of flow.actions.entries()) {
        const { actionId, effectiveTier, decision, policyId, ruleId } = planned[i], real = happened[actionId];
        const isOpen = whenOf(item, parameters, {}) !== 'go'; /* before the run */
        assert.deepEqual([actionId, effectiveTier], [item.action.actionId, TIERS[item.tier]]);
        assert.equal(decision, isOpen ? 'Depends' : decisionOf(item, parameters, policies, environment), `the plan of ${actionId}`);
        assert.equal(real?.what, must[actionId], `what became of ${actionId}`);
        if (real?.what === 'NeedsApproval' && !isOpen)
            assert.deepEqual([real.policyId, real.ruleId], [policyId, ruleId], `the rule that asked about ${actionId}`);
    }
    return { run, happened };
}

/** A policy is simulated on the runs, then stored; the same runs once more end as was said. */
async function simulate(people, flow, requests, policies, next, environment) {
    const { changes } = await people.admin('POST', '/policies:simulate', { policy: sent(next) });
    const would = (runId, actionId) => changes.find((one) => one.runId === runId && one.actionId === actionId);
    const stored = policies.some(({ policyId }) => policyId === next.policyId);
    await people.admin(stored ? 'PATCH' : 'POST', stored ? `/policies/${next.policyId}` : '/policies', sent(next));
    const names = { Allow: 'Allow', RequireApproval: 'NeedsApproval', Deny: 'Denied' };
    const after = [...policies.filter(({ policyId }) => policyId !== next.policyId), next];
    for (const { parameters, run: old, happened: before } of requests) {
        const { happened } = await forecast(people, flow, parameters, after, environment);
        for (const item of flow.actions) {
            const { actionId } = item.action, said = would(old.runId, actionId), was = before[actionId]?.what;
            if (!happened[actionId] || !was || ['Skipped', 'Failed'].includes(was))
                continue; /* it was not judged both times */
            const then = happened[actionId].what;
            if (then === 'Manual')
                assert.notEqual(said?.would, 'Deny', actionId);
            else
                assert.equal(then, said ? names[said.would] : was, `what the simulation said of ${actionId}`);
        }
    }
    return after;
}

/* ---- tests ----------------------------------------------------------------------------------- */

for (const [makeDatabase, environment] of [[DATABASES[0], 'prod'], [DATABASES[0], 'dev'], [DATABASES[1], 'staging']]) {
    describe(`plans and simulations are what then happens, on ${makeDatabase.name}, in ${environment}`, () => {
        const dice = new Dice(SEED + environment.length);
        let db, dir, plane, people;

        before(async () => {
            db = makeDatabase();
            dir = folder();
            plane = await planeOn(db.url, { workspaces: [{ workspaceId: 'ws-1', name: 'First', workflows: [] }] },
                '--environment', environment, '--key-file', path.join(dir, 'key'));
            people = new People(plane);
        });
        after(async () => {
            await plane?.close();
            db.close();
            fs.rmSync(dir, { recursive: true, force: true });
        });

        async function oneCase(n) {
            const flow = workflow(dice, `wf-${n}`);
            let policies = Array.from({ length: dice.below(3) }, (_, i) => policy(dice, `p${n}-${i}`));
            await people.admin('POST', '/workflows', flow.body);
            for (const one of policies)
                await people.admin('POST', '/policies', sent(one));
            const requests = [];
            for (const parameters of [{ n: dice.below(10), kind: dice.one(['red', 'green', 'blue']) }, { n: dice.below(10) }, undefined])
                requests.push({ parameters, ...await forecast(people, flow, parameters, policies, environment) });
            const next = policy(dice, policies.length > 0 && dice.chance(0.5) ? policies[0].policyId : `p${n}-new`);
            policies = await simulate(people, flow, requests, policies, next, environment);
            for (const { policyId } of policies)
                await people.admin('PATCH', `/policies/${policyId}`, { active: false });
            return { flow: flow.body, policies: policies.map(sent) };
        }

        test(`${CASES} random workflows and policies, PORTARIUM_SEED=${SEED}`, async () => {
            for (let n = 1; n <= CASES; n++) {
                await oneCase(n).catch((error) => {
                    error.message = `case ${n} of PORTARIUM_SEED=${SEED}: ${error.message}`;
                    throw error;
                });
            }
        });

        /* A run's policies see "[secret]" in place of a secret, and so must those of its plan. */
        test('a plan judges a secret parameter as the run does', async () => {
            const secret = "run.parameters.kind == 'red'";
            const asks = { policyId: 'secrets', name: 'secrets', priority: 0, rules: [{ ruleId: 'r', condition: secret, effect: 'Deny', means: () => false }] };
            const step = (order, more) => ({ action: { actionId: `a${order}`, order, portFamily: 'SoftwareDev', operation: 'control:noop', ...more }, tier: 0 });
            const actions = [step(1), { ...step(2, { when: secret }), when: () => false }];
            const body = { schemaVersion: 1, workflowId: 'wf-secret', workspaceId: 'ws-1', name: 'wf-secret', version: 1, active: true, executionTier: 'Auto', actions: actions.map(({ action }) => action),
                parametersSchema: { type: 'object', properties: { kind: { type: 'string', maxLength: 16, writeOnly: true } } } };
            await people.admin('POST', '/workflows', body);
            await people.admin('POST', '/policies', sent(asks));
            for (const parameters of [{ kind: 'red' }, {}, undefined])
                await forecast(people, { id: 'wf-secret', actions, body }, parameters, [asks], environment);
            await people.admin('PATCH', '/policies/secrets', { active: false });
        });
    });
}
