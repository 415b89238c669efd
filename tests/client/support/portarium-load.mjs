/*
 * portarium-load.mjs - a workspace with mixed workflows, a server on a database of one's own, and
 * people and agents who start, decide, work, resolve and cancel until the load ends.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

import { folder, kill, root, until } from '../universe.mjs';
import { checkChain, checkHistory } from './portarium-history.mjs';
import { Sink } from './portarium-sink.mjs';
import { Agent, Person } from './portarium-workers.mjs';

const program = path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'portarium');
const ROLES = { otto: 'operator', ada: 'approver', bea: 'approver', root: 'admin', audrey: 'auditor' };
const ENDS = new Set(['RunSucceeded', 'RunFailed', 'RunCancelled']); /* events */
const AGENTS = ['ag-1', 'ag-2'];
export const LEASE_MS = 3000;

/* ---- what there is --------------------------------------------------------------------------- */

const action = (order, operation, more = {}) =>
    ({ actionId: `a${order}`, order, portFamily: 'SoftwareDev', operation, ...more });
const once_ = (order, more = {}) =>
    action(order, 'incident:write', { portFamily: 'MonitoringIncident', input: { n: '${parameters.n}' }, retry: { maxAttempts: 10, initialBackoffMs: 5, maxBackoffMs: 20 }, ...more });
const blind = (order, more = {}) => action(order, 'risk:write', { portFamily: 'ComplianceGrc', input: { n: '${parameters.n}' }, retry: { maxAttempts: 1 }, ...more });
const workflow = (id, actions, executionTier = 'Auto') =>
    ({ schemaVersion: 1, workflowId: id, workspaceId: 'ws-1', name: id, version: 1, active: true, executionTier, actions });

const WORKFLOWS = [
    workflow('wf-builtin', [action(1, 'event:emit'), action(2, 'control:wait', { input: { durationMs: 20 } }), action(3, 'workitem:create', { input: { title: 'Look' } })]),
    workflow('wf-once', [once_(1), once_(2)]),
    workflow('wf-blind', [blind(1)]),
    workflow('wf-graph', [once_(1), blind(2, { dependsOn: [] }), action(3, 'control:wait', { dependsOn: ['a1', 'a2'], input: { durationMs: 10 } }), once_(4, { dependsOn: ['a3'] })]),
    workflow('wf-gate', [once_(1, { executionTierOverride: 'HumanApprove' }), action(2, 'control:noop')]),
    workflow('wf-pull', [
        action(1, 'agent:task', { portFamily: 'ItsmItOps', input: { n: '${parameters.n}' }, retry: { maxAttempts: 10, initialBackoffMs: 5, maxBackoffMs: 20 } }),
        action(2, 'control:noop', { input: '${actions.a1.output}' }),
    ]),
    workflow('wf-manual', [action(1, 'control:noop', { executionTierOverride: 'ManualOnly', timeoutMs: 50 }), once_(2)]),
    /* Longer than any test: those that are not cancelled do not end while the end is looked at. */
    workflow('wf-cancel', [action(1, 'control:wait', { input: { durationMs: 30 * 86_400_000 } })]),
];

/** An adapter; `idempotent` in its binding is a promise to know keys again. */
const adapter = (family, operation, binding) => ({
    schemaVersion: 1, adapterId: `ad-${family}`, workspaceId: 'ws-1', providerSlug: 'sink', portFamily: family, enabled: true,
    capabilityMatrix: [{ operation, requiresAuth: false }],
    executionPolicy: { tenantIsolationMode: 'PerTenantWorker', egressAllowlist: ['127.0.0.0/8'], credentialScope: 'capabilityMatrix', sandboxVerified: true, sandboxAvailable: true },
    binding,
});
const MACHINE = {
    machineId: 'm-1', endpointUrl: 'https://m.example.com', active: true, displayName: 'm-1', capabilities: ['agent:task'],
    executionPolicy: { isolationMode: 'PerTenantWorker', egressAllowlist: [], workloadIdentity: 'Required' }, authConfig: { kind: 'bearer', secretRef: 'M' },
};

function run(...args) {
    const done = spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
}

/* ---- the server ------------------------------------------------------------------------------ */

const servers = [];
export const killAll = () => Promise.all(servers.map((server) => { server.child.kill('SIGCONT'); return kill(server); }));

/** A workspace whose runs change a sink, and the tokens of its people. */
export class Plane {
    constructor(db, sink) {
        const dir = folder(), file = path.join(dir, 'seed.json');
        const users = Object.entries(ROLES).map(([userId, role]) => ({ userId, email: `${userId}@example.com`, roles: [role] }));
        fs.writeFileSync(file, JSON.stringify({ workspaces: [{ workspaceId: 'ws-1', name: 'First', users, workflows: WORKFLOWS }] }));
        run('admin', 'apply', file, '--db', db.url);
        Object.assign(this, { db, sink, dir, tokens: {} });
        for (const [who, role] of Object.entries(ROLES))
            this.makeToken(who, role);
    }

    makeToken(who, role, ...more) {
        this.tokens[who] = run('tokens', 'create', '--db', this.db.url, '--workspace', 'ws-1', '--subject', who, '--roles', role, ...more);
    }

    /** Start it; `fault` is POINT:COUNT. */
    async start(fault) {
        const child = spawn(program, ['serve', '--port', '0', '--db', this.db.url, '--log-level', 'warning', '--evidence-key', path.join(this.dir, 'key'), '--key-file', path.join(this.dir, 'seal'), '--webhook-host', 'localhost'],
            { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, CAUSEWAY_LEASE_MS: String(LEASE_MS), ...(fault ? { CAUSEWAY_FAULT: fault } : {}) } });
        const server = { child, base: null, log: '', gone: once(child, 'exit') };
        servers.push(server);
        child.stderr.setEncoding('utf8');
        child.stderr.on('data', (text) => { server.log += text; });
        while (!/serving http:\S+\n/.test(server.log)) {
            const ended = await Promise.race([once(child.stderr, 'data').then(() => null), server.gone]);
            if (ended && fault && ended[1] === 'SIGKILL')
                return server; /* at its point already */
            assert.equal(ended, null, server.log);
        }
        server.base = new URL(/serving (http:\S+)\n/.exec(server.log)[1]).origin;
        return server;
    }

    async ask(server, who, method, where, body, headers = {}) {
        const answer = await fetch(`${server.base}/v1/workspaces/ws-1${where}`, {
            method, signal: AbortSignal.timeout(60_000), body: body && JSON.stringify(body),
            headers: { Authorization: `Bearer ${this.tokens[who]}`, ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
        });
        const text = await answer.text();
        return { status: answer.status, retryAfter: answer.headers.get('retry-after'), json: /json/.test(answer.headers.get('content-type') ?? '') && text ? JSON.parse(text) : null };
    }

    async create(server, where, body) {
        const { status, json } = await this.ask(server, 'root', 'POST', where, body);
        assert.equal(status, 201, JSON.stringify(json));
        return json;
    }

    /** What the workspace needs besides workflows: adapters, agents, two approvers for each gate,
     *  and a webhook for the ends of runs. */
    async prepare(server) {
        const at = `http://127.0.0.1:${this.sink.port}`;
        for (const one of [
            adapter('MonitoringIncident', 'incident:write', { kind: 'http', url: `${at}/once`, idempotent: true }),
            adapter('ComplianceGrc', 'risk:write', { kind: 'http', url: `${at}/blind`, idempotent: false }),
            adapter('ItsmItOps', 'agent:task', { kind: 'pull', idempotent: true }),
        ])
            await this.create(server, '/adapter-registrations', one);
        await this.create(server, '/policies', { policyId: 'two', name: 'two', sodConstraints: [{ kind: 'DistinctApprovers', minimumApprovers: 2 }] });
        await this.create(server, '/machines', MACHINE);
        for (const agentId of AGENTS) {
            await this.create(server, '/agents', { schemaVersion: 1, agentId, machineId: 'm-1', displayName: agentId, policyTier: 'HumanApprove' });
            this.makeToken(agentId, 'operator', '--agent', agentId, '--owner', 'otto');
        }
        const { secret } = await this.create(server, '/webhooks', { url: 'https://localhost/hook', types: [...ENDS] });
        this.sink.secret = secret;
        this.db.sql(`UPDATE webhooks SET json = replace(json, 'https://localhost', 'http://localhost:${this.sink.port}')`);
    }

    close() {
        fs.rmSync(this.dir, { recursive: true, force: true });
    }
}

/** A database, a sink and a workspace, which go with the test. */
export async function begin(context, makeDatabase) {
    const db = makeDatabase(), sink = await Sink.open();
    let plane;
    context.after(async () => {
        await killAll();
        sink.close();
        plane?.close();
        db.close();
    });
    plane = new Plane(db, sink);
    return { db, sink, plane };
}

/* ---- the load -------------------------------------------------------------------------------- */

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** People at work; what was acknowledged to them is kept. `server()` is whom they ask now. */
export class Load {
    started = new Map(); /* run to its number */
    cancelled = new Set();
    decisions = [];      /* [approval, who, decision] */
    unanswered = [];     /* [n, body] */
    refusals = [];       /* of starts: { status, retryAfter, json } */
    checkpoints = 0;
    number = 0;

    constructor(plane, server) {
        Object.assign(this, { plane, server });
        this.agents = AGENTS.map((id) => new Agent(plane, id));
        this.persons = ['ada', 'bea'].map((id) => new Person(plane, id));
        this.workers = [...this.agents, ...this.persons];
    }

    begin(writers = 6) {
        this.over = false;
        this.people = [
            ...Array.from({ length: writers }, () => this.repeat(() => this.write())),
            this.repeat(() => this.decide('ada')), this.repeat(() => this.decide('bea')), this.repeat(() => this.certify()),
            ...this.workers.map((worker, i) => this.repeat(() => worker.work(this.server(i)))),
        ];
    }

    async end() {
        this.over = true;
        await Promise.all(this.people);
    }

    /** Wait for answers that are not there yet. */
    async more(count = 15) {
        const enough = this.started.size + count;
        await until(() => this.started.size >= enough, 'answers');
    }

    /** End the load, see that all is well, end the server. A refusal says when to come again;
     *  `type` is that of its problem. */
    async finish(server, what, type = /\/service-unavailable$/) {
        await this.end();
        for (const { status, retryAfter, json } of this.refusals) {
            assert.equal(status, 503, JSON.stringify(json));
            assert.match(json.type, type);
            assert.ok(json.retryAfterSeconds >= 1);
            assert.equal(retryAfter, String(json.retryAfterSeconds));
        }
        await this.settle(server);
        console.log(`# ${what}: ${this.refusals.length} refused ${JSON.stringify(await this.verify(server))}`);
        server.child.kill('SIGTERM');
        assert.deepEqual(await server.gone, [0, null], server.log);
    }

    /** A request that fails is not the end: the server was killed. */
    async repeat(work) {
        while (!this.over) {
            await work().catch((error) => { if (error instanceof assert.AssertionError) throw error; });
            await pause(5);
        }
    }

    async write(n = ++this.number) {
        const workflowId = WORKFLOWS[n % WORKFLOWS.length].workflowId, body = { workflowId, parameters: { n } };
        await this.send(n, body);
    }

    async send(n, body) {
        const answer = await this.plane.ask(this.server(n), 'otto', 'POST', '/runs', body, { 'Idempotency-Key': `key-${n}` }).catch(() => null);
        if (answer?.status !== 201) {
            this.unanswered.push([n, body]);
            if (answer)
                this.refusals.push(answer);
            await pause(100); /* who is refused does not ask again at once */
            return;
        }
        const id = answer.json.runId;
        assert.ok(!this.started.has(id), `run ${id} was started twice`);
        this.started.set(id, n);
        if (body.workflowId !== 'wf-cancel')
            return;
        const { status } = await this.plane.ask(this.server(n), 'otto', 'POST', `/runs/${id}/cancel`, { rationale: 'enough' });
        if (status === 200)
            this.cancelled.add(id);
    }

    /** Start again what was not answered, each with its key. */
    async resend() {
        const again = this.unanswered.splice(0);
        while (again.length > 0)
            await Promise.all(again.splice(0, 8).map(([n, body]) => this.send(n, body)));
    }

    async decide(who) {
        const server = this.server(who === 'ada' ? 0 : 1);
        const { json } = await this.plane.ask(server, who, 'GET', '/approvals?status=Pending&limit=20');
        for (const { approvalId, decisions = [] } of json?.items ?? []) {
            if (decisions.some(({ userId }) => userId === who))
                continue;
            const decision = Number.parseInt(approvalId.slice(-2), 16) % 5 === 0 ? 'Denied' : 'Approved';
            const { status } = await this.plane.ask(server, who, 'POST', `/approvals/${approvalId}/decide`, { decision, rationale: 'looked at it' });
            if (status === 200)
                this.decisions.push([approvalId, who, decision]);
        }
    }

    async certify() {
        const { status } = await this.plane.ask(this.server(0), 'audrey', 'GET', '/evidence/checkpoint');
        if (status === 200)
            this.checkpoints++;
    }

    /** A person looks at what nobody knows: the system that was changed knows it. */
    async resolve(server) {
        for (const { run, action } of this.blocked()) {
            const outcome = this.plane.sink.count('/blind', `${run}:${action}`) > 0 ? 'succeeded' : 'retry';
            await this.plane.ask(server, 'otto', 'POST', `/runs/${run}/actions/${action}/resolve`, { outcome, rationale: 'looked at the system' });
            await this.plane.ask(server, 'otto', 'POST', `/runs/${run}/interventions`, { interventionType: 'resume', rationale: 'resolved' }).catch(() => {});
        }
    }

    blocked() {
        return this.plane.db.sql("SELECT a.run_id AS run, a.id AS id FROM run_actions a JOIN runs r ON r.workspace = a.workspace AND r.id = a.run_id WHERE r.status = 'Paused' AND a.state = 'Failed'")
            .map(({ run, id }) => ({ run, action: id.slice(run.length + 1) }));
    }

    open() {
        return Number(this.plane.db.sql("SELECT COUNT(*) AS n FROM runs WHERE status NOT IN ('Succeeded', 'Failed', 'Cancelled') AND workflow_id <> 'wf-cancel'")[0].n);
    }

    /** Everything that can end ends: people go on deciding, resolving and repeating. A lease that
     *  is lost may have to expire first, and after a clock was set back time is half as fast. */
    async settle(server) {
        this.server = () => server;
        await this.resend();
        await until(async () => {
            await this.decide('ada');
            await this.decide('bea');
            for (const worker of this.workers)
                await worker.work(server);
            await this.resolve(server);
            return this.open() === 0;
        }, 'all runs to end', 150_000 + 100 * this.open()).catch((error) => {
            const left = this.plane.db.sql("SELECT json FROM runs WHERE status NOT IN ('Succeeded', 'Failed', 'Cancelled') AND workflow_id <> 'wf-cancel' LIMIT 3");
            throw new Error(`${error.message}: ${JSON.stringify(left)} ${server.log.slice(-2000)}`);
        });
    }

    /* ---- what is true at the end ------------------------------------------------------------- */

    /** All rows of a table, in the order of its first column, which is unique. */
    rows(columns, table) {
        const rows = [], key = columns.split(',')[0];
        for (let page; page === undefined || page.length > 0; rows.push(...page)) {
            const after = page ? `AND ${key} > '${page.at(-1)[key]}'` : '';
            page = this.plane.db.sql(`SELECT ${columns} FROM ${table} WHERE workspace = 'ws-1' ${after} ORDER BY ${key} LIMIT 500`);
        }
        return rows;
    }

    /** Nothing acknowledged is lost, nothing is done twice, each history is one that is allowed.
     *  @return figures */
    async verify(server) {
        const { json } = await this.plane.ask(server, 'audrey', 'GET', '/evidence/verify');
        assert.equal(json.ok, true, JSON.stringify(json));
        const entries = this.rows('seq, json', 'evidence').map((row) => JSON.parse(row.json));
        checkChain(entries);
        const events = this.rows('seq, type, aggregate, run_id, json', 'outbox').map((row) => {
            const { id, actionid, actionId, data, payload } = JSON.parse(row.json);
            return { id, seq: Number(row.seq), type: row.type, aggregate: row.aggregate, runId: row.run_id, actionId: actionid ?? actionId ?? data?.actionId, payload: payload ?? data?.payload };
        });
        const runs = this.rows('id, status, workflow_id, json', 'runs'), approvals = this.rows('id, status, json', 'approvals');
        checkHistory({ events, runs, approvals });
        this.checkAcknowledged(runs, approvals);
        this.checkWork(runs);
        await this.checkDelivered(events);
        const doubled = this.checkEffects(runs);
        const work = this.workers.map(({ completed }) => completed.length).reduce((a, b) => a + b);
        return {
            runs: runs.length, acknowledged: this.started.size + this.cancelled.size + this.decisions.length + work, work, entries: entries.length,
            effects: this.plane.sink.requests.size, doubled, checkpoints: this.checkpoints, escalated: events.filter(({ type }) => type === 'HumanTaskEscalated').length,
            delivered: this.plane.sink.events.size,
        };
    }

    /** Reports that were acknowledged are those that count, and their runs go on. */
    checkWork(runs) {
        const stored = new Map(runs.map((one) => [one.id, one]));
        for (const [id, lease] of this.agents.flatMap(({ completed }) => completed))
            assert.equal(JSON.parse(stored.get(id).json).output?.lease, lease, `the report of ${lease} on ${id} is lost`);
        for (const [task, id] of this.persons.flatMap(({ completed }) => completed))
            assert.equal(stored.get(id).status, 'Succeeded', `the completion of ${task} is lost`);
    }

    /** The webhook gets each event that it wants, in order. */
    async checkDelivered(events) {
        const { sink } = this.plane, wanted = events.filter(({ type }) => ENDS.has(type)).map(({ id }) => id);
        await until(() => sink.events.size >= wanted.length, 'the events to be delivered', 60_000 + 50 * wanted.length);
        assert.deepEqual([...sink.events.keys()], wanted);
    }

    checkAcknowledged(runs, approvals) {
        const stored = new Map(runs.map((one) => [one.id, one])), numbers = new Set();
        for (const { json } of runs) {
            const { n } = JSON.parse(json).parameters;
            assert.ok(!numbers.has(n), `${n} was started twice`);
            numbers.add(n);
        }
        for (const [id, n] of this.started)
            assert.equal(JSON.parse(stored.get(id)?.json ?? '{}').parameters?.n, n, `run ${id} is lost`);
        for (const id of this.cancelled)
            assert.equal(stored.get(id).status, 'Cancelled');
        const decided = new Map(approvals.map((one) => [one.id, JSON.parse(one.json).decisions ?? []]));
        for (const [id, who, decision] of this.decisions)
            assert.ok(decided.get(id)?.some((one) => one.userId === who && one.decision === decision), `the decision of ${who} on ${id} is lost`);
    }

    /** What succeeded was done, what is blind was done once at most. */
    checkEffects(runs) {
        const { sink } = this.plane;
        const doubled = [...sink.requests].filter(([id, count]) => id.startsWith('/blind ') && count > 1);
        assert.deepEqual(doubled, []);
        for (const { id, status, workflow_id: of } of runs) {
            for (const [path, name] of { 'wf-once': [['/once', 'a1'], ['/once', 'a2']], 'wf-blind': [['/blind', 'a1']], 'wf-graph': [['/once', 'a1'], ['/blind', 'a2'], ['/once', 'a4']], 'wf-gate': [['/once', 'a1']], 'wf-pull': [['/once', 'a1']], 'wf-manual': [['/once', 'a2']] }[of] ?? [])
                assert.ok(status !== 'Succeeded' || sink.count(path, `${id}:${name}`) > 0, `${name} of ${id} succeeded and was never done`);
            if (of !== 'wf-gate' || sink.count('/once', `${id}:a1`) === 0)
                continue;
            /* What nobody knew the outcome of, and a person has tried again, is asked for again. */
            const approvals = this.plane.db.sql(`SELECT id, status FROM approvals WHERE run_id = '${id}'`);
            const again = this.plane.db.sql(`SELECT seq FROM evidence WHERE run_id = '${id}' AND json LIKE '%Action a1 resolved as retry%'`);
            const approved = approvals.filter((one) => ['Approved', 'Executing', 'Executed'].includes(one.status));
            assert.ok(approved.length > 0, `${id} passed its gate without a decision: ${JSON.stringify(approvals)}`);
            assert.equal(approvals.length, 1 + again.length, `${id}, which is ${status}, was asked for ${JSON.stringify(approvals)}, and tried again by ${JSON.stringify(again)}`);
        }
        return doubled.length;
    }
}
