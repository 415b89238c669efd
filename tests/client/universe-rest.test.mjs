/*
 * universe-rest.test.mjs - the routes of universe next to /mcp: each status and body of the
 * contract's table, versions and ETags, parts of states, positions, history, and what comes in that
 * must not.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';

import {
    DATABASES, addStar, call, connect, create, createAnew, disconnect, program, range, rest, send, sqlite, start, stop,
} from './universe.mjs';

const EMPTY = {
    stars: {}, rootIds: [], groups: {}, rootGroupIds: [], belts: {}, smallBodyFields: {}, protoplanetaryDisks: {},
    nebulae: {}, time: 0,
};
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const BODY_MAX = 4 << 20;

for (const makeDatabase of DATABASES) {
    describe(`REST of universe on ${makeDatabase.name}`, () => {
        let db, server;

        before(async () => {
            db = makeDatabase();
            server = await start(db.url, '--max-body-bytes', String(BODY_MAX));
        });
        after(async () => {
            await stop(server);
            db.close();
        });
        records(() => server);
        versions(() => server);
        commands(() => server);
        reading(() => server);
        replacing(() => server);
        badInput(() => server);
    });
}

test('a list does not load what it has no room for', async () => {
    const db = sqlite();
    const stars = Object.fromEntries(range(1, 32_000).map((n) => [`s-${n}`, { id: `s-${n}`, ...addStar(`s-${n}`).payload, name: 'n'.repeat(1000),
        orbitalPhase: 0, children: [] }]));
    const done = spawnSync(program, ['import', '-', '--id', 'u-big', '--db', db.url, '--quiet'], { timeout: 120_000,
        input: JSON.stringify({ stars, rootIds: Object.keys(stars), time: 0 }) });
    assert.equal(done.status, 0, `${done.stderr}`);
    const server = await start(db.url);
    await create(server, 'u-small');
    await send(server, 'u-small', addStar('one'));
    for (let round = 0; round < 2; round++) {
        const { json } = await rest(server, 'GET', '/universes');
        assert.deepEqual(json.map(({ id, state, stateOmitted }) => [id, state?.time, stateOmitted]), [['u-small', 0, undefined], ['u-big', undefined, true]]);
        assert.equal((await rest(server, 'GET', '/readyz')).json.bodies, 1);
    }
    await stop(server);
    db.close();
});

/** Answers that must be equal in status and body. */
async function expect(server, request, status, json) {
    const answer = await rest(server, ...request);
    assert.equal(answer.status, status, answer.text);
    if (json !== undefined)
        assert.deepEqual(answer.json, json);
    return answer;
}

function records(place) {
    test('a record is created, read, renamed, given another state, and deleted', async () => {
        const server = place();
        const made = await expect(server, ['POST', '/universes', { name: '  Home ', state: {} }], 201);
        const record = made.json;
        assert.deepEqual(Object.keys(record).sort(), ['createdAt', 'id', 'name', 'state', 'updatedAt', 'version']);
        assert.match(record.id, UUID);
        assert.match(record.createdAt, TIME);
        assert.match(record.updatedAt, TIME);
        assert.equal(record.name, 'Home');
        assert.equal(record.version, 0);
        assert.deepEqual(record.state, EMPTY);
        assert.equal(made.headers.get('location'), `/universes/${record.id}`);
        assert.equal(made.headers.get('etag'), '"v0"');

        const where = `/universes/${record.id}`;
        await expect(server, ['GET', where], 200, record);
        const named = await expect(server, ['PUT', where, { name: 'Away' }], 200);
        assert.equal(named.json.name, 'Away');
        assert.deepEqual(named.json.state, EMPTY);
        const set = await expect(server, ['PUT', where, { state: { time: 12.5 } }], 200);
        assert.deepEqual(set.json.state, { ...EMPTY, time: 12.5 });
        assert.ok(set.json.version > record.version);
        assert.equal(set.json.createdAt, record.createdAt);
        await expect(server, ['GET', where], 200, set.json);

        const gone = await expect(server, ['DELETE', where], 204);
        assert.equal(gone.text, '');
        for (const [method, more] of [['GET', ''], ['PUT', ''], ['DELETE', ''], ['GET', '/state'], ['GET', '/summary'],
            ['GET', '/positions'], ['GET', '/history'], ['GET', '/events'], ['GET', '/clock'], ['POST', '/commands'],
            ['POST', '/commands:batch'], ['POST', '/restore'], ['POST', '/generate'], ['POST', '/clock']]) {
            const bodies = { '/commands': { type: 'tick' }, '/commands:batch': [{ type: 'tick' }], '/restore': { version: 0 } };
            const body = method === 'GET' || method === 'DELETE' ? undefined : bodies[more] ?? {};
            await expect(server, [method, where + more, body], 404, { error: 'Universe not found', universeId: record.id });
        }
    });

    test('what a record lacks is said in the words of the contract', async () => {
        const server = place();
        const name = '"name" is required and must be a non-empty string';
        const state = '"state" is required and must be a JSON object';
        for (const [body, error] of [[{ state: {} }, name], [{ name: '  ', state: {} }, name], [{ name: 3, state: {} }, name],
            [[], name], [{ name: 'a' }, state], [{ name: 'a', state: [] }, state], [{ name: 'a', state: null }, state]])
            await expect(server, ['POST', '/universes', body], 400, { error });
        await createAnew(server, 'u-put');
        const put = (body) => rest(server, 'PUT', '/universes/u-put', body);
        assert.equal((await put({ name: '' })).json.error, '"name" must be a non-empty string when provided');
        assert.equal((await put({ state: 7 })).json.error, '"state" must be a JSON object when provided');
        assert.equal((await rest(server, 'GET', '/universes/u-put')).json.version, 0);
    });

    test('an id of the client is kept, and taken once', async () => {
        const server = place();
        await createAnew(server, 'u-own');
        await expect(server, ['POST', '/universes', { id: 'u-own', name: 'again', state: {} }], 409);
        const odd = 'Ω/α β?#%25';
        const made = await expect(server, ['POST', '/universes', { id: odd, name: 'odd', state: {} }], 201);
        assert.equal(made.json.id, odd);
        await expect(server, ['GET', made.headers.get('location')], 200, made.json);
        await expect(server, ['DELETE', made.headers.get('location')], 204);
    });

    test('the list is newest first, full or in short, whole or in pages', async () => {
        const server = place();
        for (const old of (await rest(server, 'GET', '/universes?view=summary')).json)
            await rest(server, 'DELETE', `/universes/${encodeURIComponent(old.id)}`);
        await expect(server, ['GET', '/universes'], 200, []);
        const made = [];
        for (const id of ['l-1', 'é/€ %', 'l-3', '日本', 'l-5']) {
            made.unshift(await create(server, id));
            await new Promise((resolve) => { setTimeout(resolve, 3); });
        }
        await expect(server, ['GET', '/universes'], 200, made);
        const short = (await expect(server, ['GET', '/universes?view=summary'], 200)).json;
        assert.deepEqual(short.map(({ id }) => id), made.map(({ id }) => id));
        assert.equal(short[0].state, undefined);
        assert.equal(short[0].bodies, 0);

        const paged = [];
        let cursor = '';
        do {
            const page = await expect(server, ['GET', `/universes?view=summary&limit=2${cursor}`], 200);
            assert.ok(page.json.length <= 2);
            paged.push(...page.json.map(({ id }) => id));
            const next = page.headers.get('next-cursor');
            /* it comes in a header and goes into a query, whatever the id */
            assert.match(next ?? '', /^[\w.]*$/);
            cursor = next && `&cursor=${next}`;
        } while (cursor);
        assert.deepEqual(paged, made.map(({ id }) => id));
        for (const query of ['view=half', 'limit=0', 'limit=x', 'cursor=nonsense'])
            await expect(server, ['GET', `/universes?${query}`], 400);
    });

    test('what is no route is 404 as JSON, and another method 405 with those that are', async () => {
        const server = place();
        const unknown = await expect(server, ['GET', '/nowhere'], 404);
        assert.equal(typeof unknown.json.error, 'string');
        const other = await expect(server, ['PATCH', '/universes', {}], 405);
        assert.deepEqual(other.headers.get('allow').split(/, */).filter((one) => one !== 'HEAD' && one !== 'OPTIONS').sort(),
            ['GET', 'POST']);
    });
}

function versions(place) {
    test('every change has its ETag; If-None-Match saves the body', async () => {
        const server = place();
        await createAnew(server, 'u-v');
        await send(server, 'u-v', { type: 'tick' });
        for (const where of ['/universes/u-v', '/universes/u-v/state']) {
            const answer = await expect(server, ['GET', where], 200);
            assert.equal(answer.headers.get('etag'), '"v1"');
            const again = await expect(server, ['GET', where, undefined, { 'If-None-Match': '"v1"' }], 304);
            assert.equal(again.text, '');
            await expect(server, ['GET', where, undefined, { 'If-None-Match': '"v0"' }], 200);
        }
    });

    test('another version than the client has seen: 412 by If-Match, 409 by the query', async () => {
        const server = place();
        await createAnew(server, 'u-v');
        await send(server, 'u-v', { type: 'tick' });
        const where = '/universes/u-v/commands', tick = { type: 'tick' };
        const conflict = { error: 'versionConflict', universeId: 'u-v', expectedVersion: 0, version: 1 };
        await expect(server, ['POST', where, tick, { 'If-Match': '"v0"' }], 412, conflict);
        await expect(server, ['POST', `${where}?expectedVersion=0`, tick], 409, conflict);
        await expect(server, ['PUT', '/universes/u-v', { name: 'x' }, { 'If-Match': '"v0"' }], 412, conflict);
        await expect(server, ['POST', '/universes/u-v/restore', { version: 0 }, { 'If-Match': '"v0"' }], 412, conflict);
        await expect(server, ['POST', where, tick, { 'If-Match': 'v1' }], 412);
        await expect(server, ['POST', `${where}?expectedVersion=-2`, tick], 400);
        await expect(server, ['POST', where, tick, { 'If-Match': '"v1"' }], 200);
        await expect(server, ['POST', `${where}?expectedVersion=2`, tick], 200);
        await expect(server, ['POST', where, tick, { 'If-Match': '*' }], 200);
        assert.equal((await rest(server, 'GET', '/universes/u-v')).json.version, 4);
        await expect(server, ['GET', '/universes/u-v', undefined, { 'If-None-Match': '*' }], 304);
        await expect(server, ['DELETE', '/universes/u-v', undefined, { 'If-Match': '"v0"' }], 412, { ...conflict, version: 4 });
        await expect(server, ['DELETE', '/universes/u-v?expectedVersion=0'], 409, { ...conflict, version: 4 });
        await expect(server, ['DELETE', '/universes/u-v', undefined, { 'If-Match': '"v4"' }], 204);
    });

    test('If-Match with several tags, weak ones, and *', async () => {
        const server = place();
        await createAnew(server, 'u-m');
        await send(server, 'u-m', { type: 'tick' });
        const where = '/universes/u-m', tick = { type: 'tick' };
        const ifMatch = (value) => ({ 'If-Match': value });
        /* at versions 1, 2, 3 */
        for (const value of ['"v0", "v1"', '"abc", "v2"', '"v3" , W/"v3","v7"'])
            await expect(server, ['POST', `${where}/commands`, tick, ifMatch(value)], 200);
        const conflict = { error: 'versionConflict', universeId: 'u-m', version: 4 };
        for (const value of ['W/"v4"', '"abc"', '""', '"4"'])
            await expect(server, ['POST', `${where}/commands`, tick, ifMatch(value)], 412, conflict);
        await expect(server, ['POST', `${where}/commands`, tick, ifMatch('"v9", "v3"')], 412, { ...conflict, expectedVersion: 9 });
        for (const value of ['v4', '"v4', '*, "v4"', '"v4" "v5"'])
            await expect(server, ['POST', `${where}/commands`, tick, ifMatch(value)], 412);
        /* whatever the condition, what is not there is 404 (13.2.1) */
        for (const value of ['"v9"', '"abc"', '*'])
            await expect(server, ['POST', '/universes/u-none/commands', tick, ifMatch(value)], 404);
        await expect(server, ['DELETE', where, undefined, ifMatch('"v9", W/"v4"')], 412, { ...conflict, expectedVersion: 9 });
        await expect(server, ['DELETE', where, undefined, ifMatch('"v9", "v4"')], 204);
    });

    test('a PUT that changes nothing honours If-Match all the same', async () => {
        const server = place();
        await createAnew(server, 'u-p');
        const conflict = { error: 'versionConflict', universeId: 'u-p', expectedVersion: 3, version: 0 };
        await expect(server, ['PUT', '/universes/u-p', {}, { 'If-Match': '"v3"' }], 412, conflict);
        await expect(server, ['PUT', '/universes/u-p?expectedVersion=3', {}], 409, conflict);
        assert.equal((await expect(server, ['PUT', '/universes/u-p', {}, { 'If-Match': '"v3", "v0"' }], 200)).json.version, 0);
    });

    test('If-None-Match: a change is refused where it has been seen; GET knows lists', async () => {
        const server = place();
        await createAnew(server, 'u-n');
        const where = '/universes/u-n', tick = { type: 'tick' };
        const ifNone = (value) => ({ 'If-None-Match': value });
        for (const value of ['*', '"v0"', 'W/"v0"', '"a", "v0"']) {
            await expect(server, ['POST', `${where}/commands`, tick, ifNone(value)], 412,
                { error: 'versionConflict', universeId: 'u-n', version: 0 });
        }
        await expect(server, ['POST', `${where}/commands`, tick, ifNone('"v7", "v8"')], 200);
        for (const path of [where, `${where}/state`, `${where}/summary`, `${where}/positions`]) {
            for (const value of ['"v1"', '"a", "v1"', 'W/"v1"', '"v0",W/"v1", "v2"', '*']) {
                const answer = await expect(server, ['GET', path, undefined, ifNone(value)], 304);
                assert.equal(answer.headers.get('etag'), '"v1"'); /* RFC 9110, 15.4.5 */
            }
            for (const value of ['"v0"', 'W/"v1"', 'v1'])
                await expect(server, ['GET', path, undefined, { 'If-Match': value }], 412);
            for (const value of ['"v1"', '"v0", "v1"', '*'])
                await expect(server, ['GET', path, undefined, { 'If-Match': value }], 200);
            for (const value of ['"v0", "v2"', '"v11"', 'v1', '"a,v1"'])
                await expect(server, ['GET', path, undefined, ifNone(value)], 200);
        }
    });

    test('of many who change the same version one wins', async () => {
        const server = place();
        await createAnew(server, 'u-race');
        const answers = await Promise.all(range(1, 20).map((n) =>
            rest(server, 'POST', '/universes/u-race/commands?expectedVersion=0', addStar(`s-${n}`))));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(409)]);
        const { json } = await rest(server, 'GET', '/universes/u-race');
        assert.equal(json.version, 1);
        assert.equal(Object.keys(json.state.stars).length, 1);
    });
}

function commands(place) {
    test('the four ways to be answered', async () => {
        const server = place();
        await createAnew(server, 'u-r');
        const say = async (how, command) =>
            (await expect(server, ['POST', `/universes/u-r/commands?return=${how}`, command], 200)).json;
        const events = (id) => [{ type: 'starAdded', id }];
        const auto = await say('auto', addStar('a'));
        assert.deepEqual([auto.events, auto.version, Object.keys(auto.nextState.stars)], [events('a'), 1, ['a']]);
        const full = await say('full', addStar('b'));
        assert.deepEqual([full.version, Object.keys(full.nextState.stars).sort()], [2, ['a', 'b']]);
        const delta = await say('delta', addStar('c'));
        assert.deepEqual(delta, {
            version: 3, time: 0, events: events('c'),
            delta: {
                stars: { c: (await rest(server, 'GET', '/universes/u-r')).json.state.stars.c }, removed: {}, rootIds: ['a', 'b', 'c'],
            },
        });
        assert.deepEqual(await say('minimal', addStar('d')), { version: 4, time: 0, events: events('d') });
        await expect(server, ['POST', '/universes/u-r/commands?return=all', { type: 'tick' }], 400);
    });

    test('what is rejected is 422 with its reason, and leaves nothing behind', async () => {
        const server = place();
        await createAnew(server, 'u-no');
        await send(server, 'u-no', addStar('sol'));
        const where = '/universes/u-no/commands';
        for (const [command, event] of [
            [{ type: 'updateStar', id: 'x', payload: {} }, { type: 'starNotFound', id: 'x' }],
            [addStar('sol'), { type: 'starAlreadyExists', id: 'sol' }],
            [addStar('p', 'nobody'), { type: 'parentNotFound', id: 'p', parentId: 'nobody' }],
            [{ type: 'attachStar', childId: 'sol', parentId: 'sol' }, { type: 'attachFailed', reason: 'cycle', childId: 'sol', parentId: 'sol' }],
            [{ type: 'detachStar', childId: 'sol' }, { type: 'detachFailed', reason: 'notAttached', childId: 'sol' }],
            [{ type: 'updateStar', id: 'sol', payload: { parentId: 'y' } }, { type: 'invalidPatch', id: 'sol', field: 'parentId' }],
            [{ type: 'removeRing', planetId: 'sol' }, { type: 'ringNotFound', planetId: 'sol' }],
            [{ type: 'explode' }, { type: 'unknownCommand', command: { type: 'explode' } }],
        ])
            await expect(server, ['POST', where, command], 422,
                { error: 'Command rejected', universeId: 'u-no', reason: event.type, events: [event], version: 1 });
        const history = (await rest(server, 'GET', '/universes/u-no/history')).json;
        assert.deepEqual(history.entries.map(({ command }) => command), [addStar('sol')]);
        assert.equal((await rest(server, 'GET', '/universes/u-no')).json.version, 1);
    });

    test('what changes nothing succeeds without a version', async () => {
        const server = place();
        await createAnew(server, 'u-still');
        for (const command of [{ type: 'tick', dt: 0 }, { type: 'removeNebula', id: 'n' }, { type: 'removeSmallBodyField', id: 'f' },
            { type: 'removeProtoplanetaryDisk', id: 'd' }])
            assert.equal((await send(server, 'u-still', command)).version, 0);
    });

    test('a batch stands or falls as one', async () => {
        const server = place();
        await createAnew(server, 'u-batch');
        const where = '/universes/u-batch/commands:batch';
        const done = await expect(server, ['POST', `${where}?return=minimal`, [addStar('a'), addStar('b', 'a'), { type: 'tick' }]], 200);
        assert.deepEqual(done.json, { version: 3, time: 1, events: [{ type: 'starAdded', id: 'a' }, { type: 'starAdded', id: 'b' }] });
        const failed = await expect(server, ['POST', where, [addStar('c'), addStar('c')]], 422);
        assert.equal(failed.json.reason, 'starAlreadyExists');
        assert.equal(failed.json.at, 1);
        const first = await expect(server, ['POST', where, [addStar('a'), addStar('c')]], 422);
        assert.equal(first.json.at, 0);
        assert.deepEqual(Object.keys((await rest(server, 'GET', '/universes/u-batch')).json.state.stars), ['a', 'b']);
        for (const body of [[], {}, [7], [{ type: '' }], Array(10_001).fill({ type: 'tick' })])
            await expect(server, ['POST', where, body], 400);
        await expect(server, ['POST', `${where}?return=minimal`, Array(10_000).fill({ type: 'tick' })], 200, { version: 10_003, time: 10_001, events: [] });
    });
}

function reading(place) {
    test('a state in parts, in pages, and since a version', async () => {
        const server = place();
        await createAnew(server, 'u-parts');
        for (const id of ['a', 'b', 'c', 'd', 'e'])
            await send(server, 'u-parts', addStar(id));
        await send(server, 'u-parts', { type: 'removeStar', id: 'b' });
        await send(server, 'u-parts', { type: 'updateStar', id: 'c', payload: { mass: 9 } });
        const { json: { state } } = await rest(server, 'GET', '/universes/u-parts');
        const get = (query) => expect(server, ['GET', `/universes/u-parts/state${query}`], 200);
        assert.deepEqual((await get('')).json, state);
        assert.deepEqual((await get('?fields=time,rootIds')).json, { rootIds: ['a', 'c', 'd', 'e'], time: 0 });
        assert.deepEqual(Object.keys((await get('?fields=stars&ids=c,e,none')).json.stars), ['c', 'e']);

        const seen = [];
        let cursor = '';
        for (let pages = 0; cursor !== null; pages++) {
            assert.ok(pages < 5);
            const page = await get(`?fields=stars&limit=3${cursor}`);
            seen.push(...Object.keys(page.json.stars));
            cursor = page.headers.get('next-cursor') && `&cursor=${page.headers.get('next-cursor')}`;
        }
        assert.deepEqual(seen.sort(), ['a', 'c', 'd', 'e']);

        const { json: delta } = await get('?since=4');
        assert.deepEqual(delta, {
            version: 7, time: 0, events: [],
            delta: { stars: { c: state.stars.c, e: state.stars.e }, removed: { stars: ['b'] }, rootIds: state.rootIds },
        });
        assert.deepEqual((await get('?since=7')).json.delta, { removed: {} });
        for (const query of ['fields=none', 'since=x', 'limit=0', 'cursor=-1'])
            await expect(server, ['GET', `/universes/u-parts/state?${query}`], 400);
        await expect(server, ['GET', '/universes/u-parts/state?since=8'], 410);
        await rest(server, 'PUT', '/universes/u-parts', { state: {} });
        await expect(server, ['GET', '/universes/u-parts/state?since=7'], 410);
    });

    test('a state of megabytes is whole wherever it is given', async () => {
        const server = place();
        const where = '/universes/u-large';
        const note = '\u00e9"\\\\'.repeat(450);
        await createAnew(server, 'u-large');
        for (let batch = 0; batch < 3; batch++) {
            const commands = Array.from({ length: 500 }, (_, i) => addStar(`s-${500 * batch + i}`, null, { note }));
            await expect(server, ['POST', `${where}/commands:batch?return=minimal`, commands], 200);
        }
        const { text, json: state, headers } = await expect(server, ['GET', `${where}/state`], 200);
        assert.ok(text.length > 4.5e6, `only ${text.length}`);
        assert.equal(headers.get('content-length'), null); /* it is written while it is sent */
        assert.equal(state.rootIds.length, 1500);
        assert.equal(Object.keys(state).length, 9);
        for (const id of state.rootIds)
            assert.equal(state.stars[id].note, note);
        const { json: page } = await expect(server, ['GET', `${where}/state?fields=stars&limit=2000`], 200);
        assert.deepEqual(page.stars, state.stars);
        const { json: fields } = await expect(server, ['GET', `${where}/state?fields=rootIds,stars`], 200);
        assert.deepEqual(fields, { stars: state.stars, rootIds: state.rootIds });

        const record = await expect(server, ['GET', where], 200);
        assert.deepEqual(record.json.state, state);
        assert.equal(record.headers.get('etag'), headers.get('etag'));
        assert.equal(record.json.name, 'Test');
        const known = { 'If-None-Match': headers.get('etag') };
        assert.equal((await rest(server, 'GET', `${where}/state`, undefined, known)).status, 304);
        const head = await rest(server, 'HEAD', `${where}/state`);
        assert.equal(head.status, 200);
        assert.equal(head.text, '');
        assert.equal(head.headers.get('etag'), headers.get('etag'));

        const told = await expect(server, ['POST', `${where}/commands?return=full`, { type: 'tick', dt: 2 }], 200);
        assert.deepEqual(told.json.nextState, { ...state, time: 2 });
        assert.equal(told.json.version, record.json.version + 1);
        assert.deepEqual(told.json.events, []);
        assert.equal(told.headers.get('etag'), `"v${told.json.version}"`);
    });

    test('masses in kilograms, which JavaScript writes without an exponent below 1e21, come and go', async () => {
        const server = place();
        await createAnew(server, 'u-heavy');
        for (const [id, mass] of [['ceres', 9.38e20], ['mimas', 3.75e19], ['sol', 1.98847e30], ['dust', 18446744073709551615]])
            await send(server, 'u-heavy', addStar(id, null, { mass }));
        const { stars } = (await rest(server, 'GET', '/universes/u-heavy/state')).json;
        assert.deepEqual(Object.values(stars).map(({ mass }) => mass).sort((one, other) => one - other), [2 ** 64, 3.75e19, 9.38e20, 1.98847e30]);
        assert.equal((await rest(server, 'PUT', '/universes/u-heavy', { state: (await rest(server, 'GET', '/universes/u-heavy/state')).json })).status, 200);
    });

    test('the summary counts', async () => {
        const server = place();
        await createAnew(server, 'u-sum');
        await send(server, 'u-sum', addStar('sol', null, { bodyType: 'star' }));
        await send(server, 'u-sum', addStar('earth', 'sol', { bodyType: 'planet' }));
        const { json } = await expect(server, ['GET', '/universes/u-sum/summary'], 200);
        assert.equal(json.counts.stars, 2);
        assert.equal(json.bodyTypes.star, 1);
        assert.equal(json.bodyTypes.planet, 1);
        assert.equal(json.roots, 1);
        assert.equal(json.version, 2);
        const { length } = (await rest(server, 'GET', '/universes/u-sum/state')).text;
        /* an estimate */
        assert.ok(Math.abs(json.bytes - length) <= length / 10, `${json.bytes} of ${length}`);
    });

    test('positions by the formulas of the contract', async () => {
        const server = place();
        await createAnew(server, 'u-pos');
        const orbit = { orbitalDistance: 10, orbitalSpeed: 5, orbitalPhase: 30 };
        await send(server, 'u-pos', addStar('sol'));
        await send(server, 'u-pos', addStar('circle', 'sol', orbit));
        await send(server, 'u-pos', addStar('half', 'sol', { ...orbit, eccentricity: 0.5 }));
        await send(server, 'u-pos', addStar('turned', 'sol', {
            ...orbit, semiMajorAxis: 8, eccentricity: 0.3, orbitRotX: 10, orbitRotY: 20, orbitRotZ: 40, orbitOffsetX: 1,
            orbitOffsetY: 2, orbitOffsetZ: 3,
        }));
        const expected = {
            sol: [0, 0, 0], circle: [6.123233995736766e-16, 0, 10], half: [6.123233995736766e-16, 0, 8.660254037844386],
            turned: [3.6101313791407823, 0.7547208128905067, 10.062329214202391],
        };
        const { json } = await expect(server, ['GET', '/universes/u-pos/positions?time=12'], 200);
        assert.equal(json.time, 12);
        assert.equal(json.ids[0], 'sol'); /* pre-order */
        assert.deepEqual(json.ids.toSorted(), Object.keys(expected).sort());
        json.ids.forEach((id, i) => json.positions[i].forEach((value, axis) =>
            assert.ok(Math.abs(value - expected[id][axis]) < 1e-11, `${id} ${json.positions[i]}`)));
        const ids = (await expect(server, ['GET', '/universes/u-pos/positions?format=ids'], 200)).json;
        const binary = await fetch(`${server.base}/universes/u-pos/positions?time=12&format=f32`);
        assert.equal(binary.headers.get('content-type'), 'application/octet-stream');
        assert.equal(binary.headers.get('etag'), '"v4"');
        const floats = new Float32Array(await binary.arrayBuffer());
        assert.equal(floats.length, 3 * ids.length);
        ids.forEach((id, i) => expected[id].forEach((value, axis) =>
            assert.ok(Math.abs(floats[3 * i + axis] - value) < 1e-5)));

        const range_ = (await expect(server, ['GET', '/universes/u-pos/positions?times=0:10:5&ids=circle'], 200)).json;
        assert.deepEqual(range_.map(({ time }) => time), [0, 5, 10]);
        for (const query of ['time=NaN', 'time=1e400', 'times=0:1', 'times=1:0:1', 'times=0:1:0', 'times=0:1e9:1', 'format=f64'])
            await expect(server, ['GET', `/universes/u-pos/positions?${query}`], 400);
        await expect(server, ['GET', '/universes/u-pos/positions?root=nobody'], 404);
    });

    test('history tells what was accepted, in order', async () => {
        const server = place();
        await createAnew(server, 'u-h');
        const sent = [addStar('a'), { type: 'tick', dt: 2 }, { type: 'tick', dt: 0.5 }, addStar('b')];
        for (const command of sent)
            await send(server, 'u-h', command);
        const { json } = await expect(server, ['GET', '/universes/u-h/history'], 200);
        assert.equal(json.complete, true);
        assert.deepEqual(json.entries.map(({ version }) => version), [1, 2, 3, 4]);
        assert.deepEqual(json.entries.map(({ command }) => command), sent);
        assert.deepEqual(json.entries.map(({ time }) => time), [0, 2, 2.5, 2.5]);
        const page = (await expect(server, ['GET', '/universes/u-h/history?after=1&limit=2'], 200)).json;
        assert.deepEqual(page.entries.map(({ version }) => version), [2, 3]);
        await expect(server, ['GET', '/universes/u-h/history?limit=1001'], 400);
    });
}

function replacing(place) {
    test('an earlier version is restored as a new one', async () => {
        const server = place();
        await createAnew(server, 'u-back');
        await send(server, 'u-back', addStar('a'));
        const then = (await rest(server, 'GET', '/universes/u-back')).json.state;
        await send(server, 'u-back', { type: 'tick', dt: 5 });
        await send(server, 'u-back', { type: 'removeStar', id: 'a' });
        const { json } = await expect(server, ['POST', '/universes/u-back/restore', { version: 1 }], 200);
        assert.deepEqual(json.nextState, then);
        assert.equal(json.version, 4);
        await expect(server, ['POST', '/universes/u-back/restore', { version: 9 }], 404);
        for (const body of [{}, { version: 'one' }, { version: 1.5 }, []])
            await expect(server, ['POST', '/universes/u-back/restore', body], 400);
    });

    test('a universe is grown from a seed, the same each time, its clock untouched', async () => {
        const server = place();
        const config = { seed: 'universe', stylePreset: 'sparse', topologyPreset: 'classic' };
        const grown = [];
        for (const id of ['u-seed-1', 'u-seed-2']) {
            await createAnew(server, id);
            await send(server, id, { type: 'tick', dt: 3 });
            await expect(server, ['POST', `/universes/${id}/generate`, { ...config, dryRun: true }], 200);
            assert.equal((await rest(server, 'GET', `/universes/${id}`)).json.version, 1);
            const { json } = await expect(server, ['POST', `/universes/${id}/generate?return=full`, config], 200);
            assert.equal(json.version, 2);
            grown.push(json.nextState);
        }
        assert.deepEqual(grown[0], grown[1]);
        assert.equal(grown[0].time, 3);
        await expect(server, ['POST', '/universes/u-seed-1/generate', { stylePreset: 'huge' }], 400);
        await expect(server, ['POST', '/universes/u-seed-1/generate', []], 400);
    });

    test('the clock of the server ticks while it runs', async () => {
        const server = place();
        await createAnew(server, 'u-clock');
        const where = '/universes/u-clock/clock';
        assert.equal((await expect(server, ['GET', where], 200)).json.running, false);
        await expect(server, ['POST', where, { running: true, timeScale: 10, hz: 20 }], 200, { running: true, timeScale: 10, hz: 20 });
        let time = 0;
        for (let i = 0; i < 500 && time === 0; i++) {
            await new Promise((resolve) => { setTimeout(resolve, 20); });
            time = (await rest(server, 'GET', '/universes/u-clock/state?fields=time')).json.time;
        }
        assert.ok(time > 0);
        await expect(server, ['POST', where, { running: false }], 200);
        for (const body of [{ timeScale: 51 }, { timeScale: -1 }, { hz: 0 }, { hz: 21 }, { running: 'yes' }, []])
            await expect(server, ['POST', where, body], 400);
    });
}

/** One request whose bytes are ours, and the first line of its answer. */
async function raw(server, bytes) {
    const { port } = server.url;
    const socket = net.connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (more) => { text += more; });
    socket.on('error', () => {}); /* the server may close before it has read all */
    const closed = once(socket, 'close');
    socket.write(bytes);
    await closed;
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

function badInput(place) {
    const nested = (depth) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);

    test('what is no JSON is 400, whatever the route', async () => {
        const server = place();
        await createAnew(server, 'u-bad');
        for (const [method, where] of [['POST', '/universes'], ['PUT', '/universes/u-bad'], ['POST', '/universes/u-bad/commands'],
            ['POST', '/universes/u-bad/commands:batch'], ['POST', '/universes/u-bad/restore'],
            ['POST', '/universes/u-bad/generate'], ['POST', '/universes/u-bad/clock']]) {
            for (const body of ['{"type":', '', 'NaN', '{"type":"tick","dt":NaN}', '{"type":"tick","dt":1e400}', '\u0000',
                '{"type":"tick"} {}', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), nested(100_000)]) {
                const { status, json, text } = await rest(server, method, where, body, { 'Content-Type': 'application/json' });
                assert.equal(status, 400, `${method} ${where} ${String(body).slice(0, 40)}: ${text}`);
                assert.equal(typeof json.error, 'string');
            }
        }
        assert.equal((await rest(server, 'GET', '/universes/u-bad')).json.version, 0);
    });

    test('what the body is instead is said', async () => {
        const server = place();
        await createAnew(server, 'u-bad');
        for (const [method, where, body, words] of [
            ['POST', '/universes/u-bad/commands', '{"type":"tick","dt":1e400}', /not JSON.*byte 20/],
            ['POST', '/universes/u-bad/commands', '{}', /^Request body must be a JSON object with a non-empty "type" string property$/],
            ['POST', '/universes/u-bad/commands', '', /^Request body must be a JSON object with a non-empty "type" string property$/],
            ['PUT', '/universes/u-bad', '[]', /must be a JSON object/],
            ['POST', '/universes/u-bad/generate', '{"dryRun":"yes"}', /"dryRun" is true or false/],
            ['POST', '/universes', '{"name":"n","state":{"stars":null}}', /stars must be an object/],
            ['POST', '/universes', '{"name":"n","state":{},"id":".."}', /no URL could name it/],
        ]) {
            const { status, json, text } = await rest(server, method, where, body, { 'Content-Type': 'application/json' });
            assert.equal(status, 400, `${where} ${body}: ${text}`);
            assert.match(json.error, words);
        }
        assert.equal((await rest(server, 'GET', '/universes/u-bad')).json.version, 0);
        const packed = await rest(server, 'POST', '/universes/u-bad/commands', '{}', { 'Content-Encoding': 'gzip' });
        assert.equal(packed.status, 415);
    });

    test('a rejection says what would be taken', async () => {
        const server = place();
        await createAnew(server, 'u-bad');
        const reasonOf = async (payload) => {
            const { status, json } = await rest(server, 'POST', '/universes/u-bad/commands', { type: 'addStar', id: 'a', payload });
            assert.equal(status, 422);
            return json.events[0];
        };
        const { payload } = addStar('a');
        const { mass, ...less } = payload;
        assert.equal(mass, 1);
        assert.deepEqual(await reasonOf(less), { type: 'invalidCommand', path: '/payload/mass',
            reason: 'is missing; the object needs name, mass, radius, color, parentId, orbitalDistance, orbitalSpeed' });
        assert.deepEqual(await reasonOf({ ...payload, bodyType: 'Planet' }), { type: 'invalidCommand', path: '/payload/bodyType',
            reason: 'must be one of "star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole"' });
        assert.deepEqual(await reasonOf({ ...payload, parentId: 5 }),
            { type: 'invalidCommand', path: '/payload/parentId', reason: 'must be an id, a string, or null' });
    });

    test('a body beyond the limit is 413, by its length or as it comes', async () => {
        const server = place();
        const big = JSON.stringify({ type: 'tick', filler: 'x'.repeat(BODY_MAX) });
        const named = await raw(server, 'POST /universes/u-bad/commands HTTP/1.1\r\nHost: localhost\r\n'
            + 'Content-Type: application/json\r\nConnection: close\r\nContent-Length: 524288000\r\n\r\n');
        assert.equal(named.status, 413, named.text);
        assert.match(named.text, /\{"error":"/);
        const chunk = 'x'.repeat(1 << 16);
        const chunked = await raw(server, 'POST /universes/u-bad/commands HTTP/1.1\r\nHost: localhost\r\n'
            + 'Content-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
            + `10000\r\n${chunk}\r\n`.repeat(80));
        assert.equal(chunked.status, 413, chunked.text);
        assert.equal((await rest(server, 'POST', '/universes', big).catch(() => ({ status: 413 }))).status, 413);
        await expect(server, ['GET', '/health'], 200);
    });

    test('ids that are no ids', async () => {
        const server = place();
        for (const id of ['__proto__', 'constructor', '0', '-1', '../health', '%00', 'u'.repeat(129), 'ü'.repeat(70), 'u'.repeat(4000)]) {
            const where = `/universes/${id === '%00' ? id : encodeURIComponent(id)}`;
            for (const [method, more, body] of [['GET', ''], ['GET', '/events'], ['POST', '/commands', { type: 'tick' }], ['DELETE', '']]) {
                const { status, json } = await rest(server, method, where + more, body);
                assert.ok([400, 404].includes(status), `${method} ${id.slice(0, 40)}: ${status}`);
                assert.equal(typeof json.error, 'string');
            }
        }
        const long = await raw(server, `GET /universes/${'u'.repeat(1 << 20)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        assert.ok([400, 404, 414, 431].includes(long.status), long.text.slice(0, 200));
        for (const id of ['u'.repeat(129), '', 'a\u0000b', 7, 'u'.repeat(1 << 20)])
            await expect(server, ['POST', '/universes', { id, name: 'n', state: {} }], 400);
        await expect(server, ['POST', '/universes', { id: 'u'.repeat(128), name: 'n', state: {} }], 201);
        await expect(server, ['DELETE', `/universes/${'u'.repeat(128)}`], 204);
        const peer = await connect(server);
        for (const universeId of ['__proto__', 'u'.repeat(1 << 20), '']) {
            const { isError, json } = await call(peer, 'get_universe_state', { universeId });
            assert.equal(isError, true);
            assert.equal(json.universeId, universeId);
        }
        await disconnect(peer);
    });

    test('bodies may be called as the prototype is', async () => {
        const server = place();
        await createAnew(server, 'u-proto');
        for (const id of ['__proto__', 'constructor', '1', '0'])
            await send(server, 'u-proto', addStar(id));
        const { text } = await rest(server, 'GET', '/universes/u-proto/state');
        const { stars, rootIds } = JSON.parse(text);
        assert.deepEqual(rootIds, ['__proto__', 'constructor', '1', '0']);
        for (const id of rootIds)
            assert.equal(Object.getOwnPropertyDescriptor(stars, id).value.id, id);
        await send(server, 'u-proto', { type: 'removeStar', id: '__proto__' });
        assert.equal(({}).polluted, undefined);
    });

    test('commands that would spoil a state are rejected, and never stored', async () => {
        const server = place();
        await createAnew(server, 'u-spoil');
        await send(server, 'u-spoil', addStar('sol'));
        const star = (more) => addStar('p', 'sol', more);
        for (const command of [
            star({ mass: -1 }), star({ radius: 'large' }), star({ eccentricity: 1 }), star({ eccentricity: -0.1 }),
            star({ mass: null }), star({ color: 5 }), star({ name: undefined }), addStar('x'.repeat(1 << 20)), addStar(''),
            addStar('a\u0000b'),
            { type: 'tick', dt: '1' }, { type: 'tick', dt: 1e300 }, { type: 'tick', dt: null }, { type: 'addStar' },
            { type: 'addStar', id: 7, payload: {} }, { type: 'addStar', star: {} }, { type: 'removeStar', starId: 'sol' },
            { type: 'setNebulae', nebulae: [] }, { type: 'setSmallBodyFields', fields: { a: { id: 'b' } } },
            { type: 'replaceSnapshot', snapshot: { stars: { a: { id: 'b' } }, rootIds: ['a'] } },
            { type: 'replaceSnapshot', snapshot: { stars: {}, rootIds: ['ghost'] } }, { type: 'x'.repeat(100_000) },
            { type: '__proto__' }, { type: 'toString' },
        ]) {
            const { status, json, text } = await rest(server, 'POST', '/universes/u-spoil/commands', command);
            assert.equal(status, 422, `${JSON.stringify(command).slice(0, 100)}: ${text.slice(0, 200)}`);
            assert.equal(json.events.length, 1);
        }
        const twice = await rest(server, 'POST', '/universes/u-spoil/commands', '{"type":"tick","dt":1,"dt":2}', { 'Content-Type': 'application/json' });
        assert.equal(twice.status, 422, twice.text); /* its readers may not agree which dt holds */
        for (const body of [{}, { type: 7 }, { type: '' }, [], '"tick"', 'null', '7'])
            await expect(server, ['POST', '/universes/u-spoil/commands', body], 400);
        assert.equal((await rest(server, 'GET', '/universes/u-spoil/history')).json.entries.length, 1);
    });

    test('states that are none are refused whole', async () => {
        const server = place();
        const body = addStar('a').payload;
        const a = { ...body, id: 'a', children: [] };
        for (const state of [
            { stars: [] }, { stars: { a: 7 } }, { stars: { a: { ...a, id: 'b' } }, rootIds: ['a'] }, { time: 'noon' },
            { stars: { a: { ...a, parentId: 'a', children: ['a'] } }, rootIds: [] }, { stars: { a }, rootIds: ['a', 'a'] },
            { stars: { a: { ...a, parentId: 'b', children: ['b'] }, b: { ...a, id: 'b', parentId: 'a', children: ['a'] } }, rootIds: [] },
            { stars: { a: { ...a, children: ['gone'] } }, rootIds: ['a'] }, { groups: { g: { id: 'g' } } },
        ])
            await expect(server, ['POST', '/universes', { id: 'u-never', name: 'n', state }], 400);
        await expect(server, ['GET', '/universes/u-never'], 404);
    });

    test('over MCP a rejection says what to do', async () => {
        const server = place();
        const peer = await connect(server);
        await createAnew(server, 'u-mcp');
        for (const [command, hint] of [[{ type: 'Tick' }, /list_universe_commands/], [{ type: 'removeStar', id: 'x' }, /get_universe_state/],
            [{ type: 'addStar', id: 'x', payload: {} }, /list_universe_commands/], [{ type: 'detachStar', childId: 'x' }, /is a root already/]]) {
            const { isError, json } = await call(peer, 'send_universe_command', { universeId: 'u-mcp', command });
            assert.equal(isError, true);
            assert.match(json.hint, hint);
        }
        const { isError, json } = await call(peer, 'get_universe_state', { universeId: 'u-mcp', limit: 1, cursor: 'next' });
        assert.equal(isError, true);
        assert.equal(json.field, '/cursor');
        await disconnect(peer);
    });

    test('the same over MCP: an error that names the universe, never stored', async () => {
        const server = place();
        await createAnew(server, 'u-mcp');
        const peer = await connect(server);
        for (const command of [{ type: 'explode' }, { type: '' }, { type: 7 }, {}, { type: 'tick', dt: 'x' }, addStar('p', 'ghost')]) {
            const { isError, json, text } = await call(peer, 'send_universe_command', { universeId: 'u-mcp', command });
            assert.equal(isError, true, text);
            assert.equal(json.universeId, 'u-mcp');
        }
        await disconnect(peer);
        assert.equal((await rest(server, 'GET', '/universes/u-mcp')).json.version, 0);
    });
}
