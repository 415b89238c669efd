/*
 * universe-reference.test.mjs - the server against the reference, a second reducer written from the
 * contract alone: commands by chance, good and bad, over REST, in batches and over MCP; after each
 * the verdict and the events must agree, and every so often the whole state, what has changed since
 * an older one, and where all bodies are. The reference is a client as well: what the event stream
 * and the log tell must make of an old state the present one. And a server that is stopped or
 * killed comes back with the state that the reference has.
 *
 * UNIVERSE_SEEDS and UNIVERSE_COMMANDS say how many sequences and how many commands in each (4 and
 * 450); UNIVERSE_SEED is the first seed. A difference is shown as the shortest list of commands
 * that still shows it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { Commands, chanceOf } from './support/universe-commands.mjs';
import { worldPosition } from './support/universe-motion.mjs';
import { BELOW, TYPES, apply, brokenInvariant, fromJson, toJson } from './support/universe-reference.mjs';
import { Viewer, call, connect, create, disconnect, kill, program, rest, sqlite, start, stop } from './universe.mjs';

const SEEDS = Number(process.env.UNIVERSE_SEEDS ?? 4);
const COMMANDS = Number(process.env.UNIVERSE_COMMANDS ?? 450);
const FIRST_SEED = Number(process.env.UNIVERSE_SEED ?? 1);
const AT_ONCE = 4;
const STATE_EVERY = 40;
const SHRINKING_MS = 60_000;
const PRECISION = 1e-12;

const RULES = {
    strict: { strict: true, defaultDt: 1 },
    lenient: { strict: false, defaultDt: 1 },
};

class Difference extends Error {}

const show = (value) => JSON.stringify(value) ?? String(value);

function expectEqual(actual, expected, what) {
    if (!isDeepStrictEqual(actual, expected))
        throw new Difference(`${what}\n  server:    ${show(actual)}\n  reference: ${show(expected)}`);
}

/* What goes with a body comes after all that is below it, in no order that the contract fixes. */
function sorted(events, expected) {
    const rest = (ids, from) => [...ids.slice(0, from), ...ids.slice(from).sort()];
    return events.map((event, i) => (event.type !== 'starRemoved' ? event : {
        ...event, removedIds: rest(event.removedIds, expected[i]?.[BELOW] ?? 0), removedFieldIds: rest(event.removedFieldIds, 0),
        removedDiskIds: rest(event.removedDiskIds, 0), removedBeltIds: rest(event.removedBeltIds, 0),
    }));
}

/* ---- a universe at the server, and the same in the reference --------------------------------- */

class Twin {
    static async open(server, id, rules, { peer = null, state = {} } = {}) {
        await create(server, id, state);
        return Object.assign(new Twin(), { server, id, rules, peer, state: fromJson(state), version: 0, done: [] });
    }

    get path() {
        return `/universes/${this.id}`;
    }

    /** Take over what the reference says. */
    take(outcome) {
        this.state = outcome.state;
        if (outcome.verdict === 'applied') {
            this.version++;
            this.done.push({ version: this.version, command: outcome.command });
        }
    }

    expectAccepted(answer, events, what) {
        if (answer.status !== 200)
            throw new Difference(`${what}: accepted by the reference, ${answer.status} ${answer.text}`);
        expectEqual(sorted(answer.json.events, events), sorted(events, events), `${what}: events`);
        expectEqual(answer.json.version, this.version, `${what}: version`);
        expectEqual(answer.json.time, this.state.time, `${what}: time`);
    }

    expectRejected(answer, outcome, what) {
        if (answer.status !== 422)
            throw new Difference(`${what}: ${show(outcome.events)} by the reference, ${answer.status} ${answer.text}`);
        const { error, universeId, reason, events, version } = answer.json;
        expectEqual({ error, universeId, version, count: events.length }, {
            error: 'Command rejected', universeId: this.id, version: this.version, count: 1,
        }, what);
        expectEqual(reason, events[0].type, what);
        const { reason: why, path, ...bare } = events[0];
        const isNamed = reason === 'invalidCommand' && typeof why === 'string' && why !== '' && typeof path === 'string';
        if (!outcome.events.some((one) => isDeepStrictEqual(one, isNamed ? bare : events[0])))
            throw new Difference(`${what}: rejection\n  server:    ${show(events[0])}\n  reference: ${outcome.events.map(show).join(' or ')}`);
    }

    async send(command, viaMcp = false) {
        const before = this.state;
        const outcome = apply(this.state, command, this.rules);
        if (outcome.verdict === 'repaired')
            return this.sendBroken(command, outcome);
        this.take(outcome);
        const answer = viaMcp ? await this.sendMcp(command) : await this.sendRest(command);
        if (outcome.verdict === 'rejected')
            this.expectRejected(answer, outcome, 'verdict');
        else
            this.expectAccepted(answer, outcome.events, 'verdict');
        if (answer.json?.delta)
            expectEqual(toJson(withDelta(before, answer.json)), toJson(this.state), 'the state before with the delta');
        return outcome;
    }

    /** A snapshot whose hierarchy is repaired: all else is kept, and so is each parent that can
     *  be. */
    async sendBroken(command, { state: wanted }) {
        const answer = await this.sendRest(command);
        if (answer.status !== 200)
            throw new Difference(`repairs: ${answer.status} ${answer.text}`);
        const [{ type, repairs }] = answer.json.events;
        expectEqual([type, repairs?.length > 0], ['snapshotReplaced', true], 'repairs: event');
        const { json } = await rest(this.server, 'GET', this.path);
        this.take({ verdict: 'applied', state: fromJson(json.state), command });
        const broken = brokenInvariant(this.state, this.rules);
        if (broken)
            throw new Difference(`repairs: left ${broken} broken`);
        expectEqual(withoutHierarchy(this.state), withoutHierarchy(wanted), 'repairs: entities');
        for (const [id, { parentId }] of this.state.stars) {
            if (parentId !== null)
                expectEqual(parentId, wanted.stars.get(id).parentId, `repairs: parent of ${id}`);
        }
        return { verdict: 'repaired' };
    }

    sendRest(command) {
        const how = this.version % 8 === 0 ? 'delta' : 'minimal';
        return rest(this.server, 'POST', `${this.path}/commands?return=${how}`, command);
    }

    async sendMcp(command) {
        const { isError, json, text } = await call(this.peer, 'send_universe_command', { universeId: this.id, command, return: 'delta' });
        return { status: isError ? 422 : 200, json, text };
    }

    /** All or none: the reference goes back where one is rejected. */
    async sendBatch(commands) {
        const before = { state: this.state, version: this.version, done: this.done.length };
        const events = [];
        let failed = null;
        for (const [at, command] of commands.entries()) {
            const outcome = apply(this.state, command, this.rules);
            if (outcome.verdict === 'rejected') {
                failed = { at, outcome };
                break;
            }
            this.take(outcome);
            events.push(...outcome.events);
        }
        if (failed) {
            this.done.length = before.done;
            Object.assign(this, { state: before.state, version: before.version });
        }
        const answer = await rest(this.server, 'POST', `${this.path}/commands:batch?return=minimal`, commands);
        if (!failed)
            return this.expectAccepted(answer, events, `a batch of ${commands.length}`);
        this.expectRejected(answer, failed.outcome, `a batch of ${commands.length}, ${failed.at}`);
        expectEqual(answer.json.at, failed.at, 'which of the batch');
    }

    async expectState() {
        const { json } = await rest(this.server, 'GET', this.path);
        expectEqual(json.version, this.version, 'version');
        const actual = json.state, expected = toJson(this.state);
        for (const field of Object.keys(expected)) {
            if (isDeepStrictEqual(actual[field], expected[field]))
                continue;
            if (Array.isArray(expected[field]) || typeof expected[field] !== 'object')
                expectEqual(actual[field], expected[field], field);
            for (const id of new Set([...Object.keys(actual[field]), ...Object.keys(expected[field])]))
                expectEqual(actual[field][id], expected[field][id], `${field} ${id}`);
        }
        expectEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), 'fields');
        const broken = brokenInvariant(fromJson(actual), this.rules);
        if (broken)
            throw new Difference(`the state breaks ${broken}`);
    }

    /** An earlier state with what has changed since is the present one; unless a snapshot replaced
     *  everything. */
    async expectSince({ version, state }) {
        const { status, json } = await rest(this.server, 'GET', `${this.path}/state?since=${version}`);
        const isReplaced = this.done.some((one) => one.version > version && one.command.type === 'replaceSnapshot');
        if (isReplaced && status === 410)
            return;
        expectEqual([status, json.version], [200, this.version], `since ${version}`);
        expectEqual(toJson(withDelta(state, json)), toJson(this.state), `since ${version}: state`);
    }

    async expectPositions(time) {
        const { json, status, text } = await rest(this.server, 'GET', `${this.path}/positions?time=${time}`);
        if (status !== 200)
            throw new Difference(`positions: ${status} ${text}`);
        expectEqual([...json.ids].sort(), [...this.state.stars.keys()].sort(), 'bodies with a position');
        json.ids.forEach((id, i) => {
            const { place, scale } = worldPosition(this.state, id, time);
            if (!Number.isFinite(scale) || scale > 1e12)
                return; /* spoilt on purpose: no place that a double can tell */
            const off = Math.hypot(...place.map((value, axis) => value - json.positions[i][axis]));
            if (!(off <= PRECISION * Math.max(scale, 1e-300)))
                throw new Difference(`position of ${id} at ${time}\n  server:    ${json.positions[i]}\n  reference: ${place}`);
        });
    }
}

function withoutHierarchy(state) {
    const json = toJson(state), bare = (map) => Object.fromEntries(Object.entries(map).map(([id, entity]) =>
        [id, { ...entity, children: 0, parentId: 0, parentGroupId: 0 }]));
    return { ...json, stars: bare(json.stars), groups: bare(json.groups), rootIds: 0, rootGroupIds: 0 };
}

/** A state of the reference with what a delta says. */
function withDelta(state, { time, delta }) {
    const json = toJson(state);
    for (const [field, value] of Object.entries(delta)) {
        if (field === 'removed')
            continue;
        json[field] = Array.isArray(value) ? value : { ...json[field], ...value };
    }
    for (const [field, ids] of Object.entries(delta.removed))
        json[field] = Object.fromEntries(Object.entries(json[field]).filter(([id]) => !ids.includes(id)));
    return fromJson({ ...json, time });
}

/* ---- sequences ------------------------------------------------------------------------------- */

let universes = 0;

/** Times whose angles stay small enough for the precision that is asked for. */
const someTime = (chance) => (chance.chance(0.2) ? 0 : Math.round((chance.next() - 0.3) * 20_000 * 1000) / 1000);

/** Send `count` commands by chance; what was sent goes to `log`. */
async function play(twin, seed, count, log) {
    const chance = chanceOf(seed ^ 0x5bd1e995), commands = new Commands(seed);
    let { version, state } = twin;
    for (let next = STATE_EVERY; log.length < count;) {
        const door = chance.next();
        if (door < 0.05 && twin.peer) {
            log.push(commands.next(twin.state));
            await twin.send(log.at(-1), true);
        } else if (door < 0.12) {
            await playBatch(twin, commands, 2 + chance.below(30), chance.chance(0.15), log);
        } else {
            log.push(commands.next(twin.state));
            await twin.send(log.at(-1));
        }
        if (log.length < next)
            continue;
        next = log.length + STATE_EVERY;
        await twin.expectState();
        await twin.expectSince({ version, state });
        await twin.expectPositions(someTime(chance));
        ({ version, state } = twin);
    }
    await twin.expectState();
    await twin.expectPositions(0);
}

/** A batch of commands that the reference takes; `isLost`: the first that it rejects is sent with
 *  them. */
async function playBatch(twin, commands, length, isLost, log) {
    const batch = [];
    let { state } = twin, last = null;
    while (batch.length < length && !last) {
        const command = commands.next(state), outcome = apply(state, command, twin.rules);
        if (outcome.verdict === 'applied' || outcome.verdict === 'unchanged')
            batch.push(command);
        else
            last = command;
        ({ state } = outcome);
    }
    if (last && isLost && apply(state, last, twin.rules).verdict === 'rejected') {
        log.push({ batch: [...batch, last] });
        await twin.sendBatch([...batch, last]);
        return;
    }
    log.push(...batch);
    if (batch.length > 0)
        await twin.sendBatch(batch);
    if (last) {
        log.push(last);
        await twin.send(last);
    }
}

/** Whether these commands show a difference: its words, or null. */
async function difference(server, rules, log) {
    const twin = await Twin.open(server, `shrink-${++universes}`, rules);
    try {
        for (const entry of log) {
            if (entry.batch)
                await twin.sendBatch(entry.batch);
            else
                await twin.send(entry);
        }
        await twin.expectState();
        for (const time of [0, 100.5])
            await twin.expectPositions(time);
        return null;
    } catch (error) {
        if (!(error instanceof Difference))
            throw error;
        return error.message;
    } finally {
        await rest(server, 'DELETE', twin.path);
    }
}

/** Leave out what is not needed to show it, halves first. What is shown must stay of its kind: its
 *  first word. */
async function shrink(server, rules, log) {
    let list = log, words = await difference(server, rules, list);
    if (!words)
        return { list, words: 'only over the doors of the first run' };
    const kind = words.split(/[ :]/)[0], deadline = Date.now() + SHRINKING_MS;
    for (let size = Math.ceil(list.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
        for (let at = 0; at < list.length && Date.now() < deadline;) {
            const fewer = [...list.slice(0, at), ...list.slice(at + size)];
            const still = fewer.length > 0 ? await difference(server, rules, fewer) : null;
            if (still?.startsWith(kind))
                [list, words] = [fewer, still];
            else
                at += size;
        }
    }
    return { list, words };
}

/** One seed, all of it. */
async function compare(server, rules, name, seed, peer) {
    const twin = await Twin.open(server, `${name}-${seed}`, rules, { peer });
    const log = [];
    try {
        await play(twin, seed, COMMANDS, log);
    } catch (error) {
        if (!(error instanceof Difference))
            throw error;
        const { list, words } = await shrink(server, rules, log);
        assert.fail(`${name}, seed ${seed}, command ${log.length}: ${error.message}\n`
            + `shrunk to ${list.length}: ${words}\n${list.map((entry) => `  ${show(entry)}`).join('\n')}`);
    }
    await rest(server, 'DELETE', twin.path);
    return log;
}

for (const [name, rules] of Object.entries(RULES)) {
    test(`${name}: ${SEEDS} sequences of ${COMMANDS} commands do to the server what they do to the reference`, async () => {
        const server = await start('memory', '--validation', name);
        const peer = await connect(server);
        const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i);
        const types = new Set();
        let count = 0;
        const failures = [];
        await Promise.all(Array.from({ length: AT_ONCE }, async () => {
            for (let seed = seeds.shift(); seed !== undefined && failures.length === 0; seed = seeds.shift()) {
                const log = await compare(server, rules, name, seed, peer).catch((error) => { failures.push(error); return []; });
                count += log.length;
                log.forEach(({ type }) => types.add(type));
            }
        }));
        if (failures.length > 0) {
            await kill(server);
            throw failures[0];
        }
        assert.deepEqual(TYPES.filter((type) => !types.has(type)), [], 'commands that were never sent');
        console.log(`# ${name}: ${SEEDS} seeds, ${count} commands`);
        await disconnect(peer);
        await stop(server);
    });
}

/* ---- starts ---------------------------------------------------------------------------------- */

for (const [name, rules] of Object.entries(RULES)) {
    test(`${name}: a server that is started again has the state of the reference`, async () => {
        const db = sqlite(), args = ['--validation', name, '--snapshot-entries', '100'];
        let server = await start(db.url, ...args);
        const twin = await Twin.open(server, 'u-again', rules);
        for (const [i, end] of [kill, stop].entries()) {
            await play(twin, FIRST_SEED + 2000 + i, Math.ceil(COMMANDS / 3), []);
            await end(server);
            server = await start(db.url, ...args);
            twin.server = server;
            await twin.expectState();
            await twin.expectPositions(33.25);
        }
        await stop(server);
        const check = spawnSync(program, ['replay', 'u-again', '--check', '--quiet', '--db', db.url], { encoding: 'utf8', timeout: 60_000 });
        assert.equal(check.status, 0, check.stdout + check.stderr);
        db.close();
    });
}

/* ---- the reference as a client --------------------------------------------------------------- */

/** A state that the reference makes of commands; none of them may be refused. */
function replayed(state, commands) {
    for (const command of commands) {
        const outcome = apply(state, command, RULES.strict);
        assert.equal(outcome.verdict, 'applied', `${show(command)}: ${show(outcome.events)}`);
        ({ state } = outcome);
    }
    return state;
}

/** The commands that a viewer was told up to a version, after another. */
async function told(viewer, from, to) {
    await viewer.until(() => viewer.versions.at(-1) >= to, `version ${to}`);
    return viewer.of('command').filter(({ id }) => id > from && id <= to).map(({ data }) => data);
}

async function wholeLog(server, id) {
    const entries = [];
    for (let complete = false; !complete;) {
        const { json } = await rest(server, 'GET', `/universes/${id}/history?after=${entries.at(-1)?.version ?? 0}&limit=500`);
        entries.push(...json.entries);
        complete = json.entries.length === 0;
    }
    return entries;
}

describe('who was told of each change has the state', () => {
    const half = Math.max(1, Math.floor(COMMANDS / 2));
    let server, twin, peer, viewer, late, snapshot;

    before(async () => {
        server = await start('memory');
        peer = await connect(server);
        twin = await Twin.open(server, 'u-told', RULES.strict, { peer });
        viewer = await Viewer.open(server, 'u-told');
        await play(twin, FIRST_SEED + 1000, half, []);
        late = await Viewer.open(server, 'u-told');
        ({ json: snapshot } = await rest(server, 'GET', '/universes/u-told'));
        await play(twin, FIRST_SEED + 1001, half, []);
        assert.ok(twin.version > snapshot.version && snapshot.version > 0);
    });
    after(async () => {
        viewer.close();
        late.close();
        await disconnect(peer);
        await stop(server);
    });

    test('by the stream from the beginning', async () => {
        const commands = await told(viewer, 0, twin.version);
        assert.deepEqual(commands, twin.done.map(({ command }) => command));
        assert.deepEqual(viewer.versions, twin.done.map(({ version }) => version));
        assert.deepEqual(toJson(replayed(fromJson(), commands)), toJson(twin.state));
    });

    test('by a snapshot and the stream after it', async () => {
        const commands = await told(late, snapshot.version, twin.version);
        assert.deepEqual(toJson(replayed(fromJson(snapshot.state), commands)), toJson(twin.state));
    });

    test('by a stream that was cut off and resumed', async () => {
        const again = await Viewer.open(server, 'u-told', { after: snapshot.version });
        const commands = await told(again, 0, twin.version);
        assert.deepEqual(again.of('resync'), []);
        assert.deepEqual(toJson(replayed(fromJson(snapshot.state), commands)), toJson(twin.state));
        again.close();
    });

    test('by the log', async () => {
        const entries = await wholeLog(server, 'u-told');
        assert.deepEqual(entries.map(({ version, command }) => ({ version, command })), twin.done);
    });

});
