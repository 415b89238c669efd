/*
 * universe-edits.test.mjs - states and commands as editors send them: a state that does not hold
 * together is refused with its repair, or repaired; PUT keeps the time; null, order and roots
 * follow one rule.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { rest, start, stop } from './universe.mjs';

const body = (id, more = {}) => ({
    id, name: id, mass: 1, radius: 1, color: '#ffffff', children: [], parentId: null,
    orbitalDistance: 0, orbitalSpeed: 0, orbitalPhase: 0, ...more,
});
const add = (id, more = {}) => {
    const { id: _, children, ...payload } = body(id, more);
    return { type: 'addStar', id, payload };
};
const disk = (id, centralStarId) => ({
    id, systemId: centralStarId, centralStarId, innerRadius: 1, outerRadius: 5, thickness: 0.3, particleCount: 100,
    baseColor: '#D4A574', highlightColor: '#FFD700', opacity: 0.5, brightness: 0.5, clumpiness: 0.3,
    rotationSpeedMultiplier: 0.3, seed: 1, style: 'moderate',
});
const field = (id, hostStarId) => ({
    id, systemId: hostStarId, hostStarId, innerRadius: 1, outerRadius: 5, thickness: 0.3, particleCount: 100,
    baseColor: '#D4A574', highlightColor: '#FFD700', opacity: 0.5, brightness: 0.5, clumpiness: 0.3,
    rotationSpeedMultiplier: 0.3, beltType: 'main', regionLabel: 'r', isIcy: false, seed: 1, style: 'thin',
});
const marker = (id, parentId, secondaryId) => body(id, {
    parentId, bodyType: 'lagrangePoint',
    lagrangePoint: { primaryId: parentId, secondaryId, pointIndex: 4, stable: true, pairType: 'starPlanet' },
});
const state = (stars, more = {}) => ({
    stars: Object.fromEntries(stars.map((one) => [one.id, one])), rootIds: stars.filter((one) => !one.parentId).map((one) => one.id), ...more,
});

describe('edits', () => {
    let server;
    let count = 0;
    before(async () => { server = await start('memory'); });
    after(async () => { await stop(server); });

    async function universe(initial = {}) {
        const id = `u-${count++}`;
        const created = await rest(server, 'POST', '/universes', { name: id, state: initial, id });
        assert.equal(created.status, 201, created.text);
        return `/universes/${id}`;
    }
    const send = (at, command) => rest(server, 'POST', `${at}/commands`, command);

    describe('a state whose disk, field and marker name bodies that are gone (U7)', () => {
        const broken = state([
            body('sun', { children: ['L4', 'trojan', 'moon'] }), marker('L4', 'sun', 'gone'),
            body('trojan', { parentId: 'sun', lagrangeHostId: 'gone' }), body('moon', { parentId: 'sun' }),
        ], {
            protoplanetaryDisks: { d1: disk('d1', 'gone'), d2: disk('d2', 'sun') },
            smallBodyFields: { f1: field('f1', 'gone') },
        });

        test('is refused with the entity, the repair and the flag', async () => {
            const at = await universe();
            const { status, json } = await rest(server, 'PUT', at, { state: broken });
            assert.equal(status, 400);
            assert.match(json.error, /'gone'/);
            assert.match(json.error, /(protoplanetaryDisks 'd1'|smallBodyFields 'f1'|stars 'L4'|stars 'trojan')/);
            assert.match(json.error, /\?repair=true/);
            assert.match(json.error, /--validation lenient/);
        });

        test('is repaired by ?repair=true, which lists what it did', async () => {
            const at = await universe();
            const { status, json, text } = await rest(server, 'PUT', `${at}?repair=true`, { state: broken });
            assert.equal(status, 200, text);
            assert.deepEqual(Object.keys(json.state.protoplanetaryDisks), ['d2']);
            assert.deepEqual(json.state.smallBodyFields, {});
            assert.deepEqual(Object.keys(json.state.stars).sort(), ['moon', 'sun', 'trojan']);
            assert.deepEqual(json.state.stars.sun.children, ['trojan', 'moon']);
            assert.equal('lagrangeHostId' in json.state.stars.trojan, false);
            assert.equal(json.repairs.length, 4, JSON.stringify(json.repairs));
            for (const named of ["protoplanetaryDisks 'd1'", "smallBodyFields 'f1'", "stars 'L4'", "stars 'trojan'"])
                assert.ok(json.repairs.some((words) => words.startsWith(named)), named);
            /* and what is served is sound: it can be put back as it is */
            const again = await rest(server, 'PUT', `${at}?repair=true`, { state: json.state });
            assert.deepEqual([again.status, again.json.repairs], [200, []]);
            assert.equal((await rest(server, 'PUT', at, { state: json.state })).status, 200);
        });

        test('can be created with ?repair=true as well', async () => {
            const { status, json } = await rest(server, 'POST', '/universes?repair=true', { name: 'r', state: broken });
            assert.equal(status, 201);
            assert.equal(json.repairs.length, 4);
        });

        test('no repair is made of a value out of range', async () => {
            const at = await universe();
            const { status, json } = await rest(server, 'PUT', `${at}?repair=true`, { state: state([body('a', { mass: -1 })]) });
            assert.equal(status, 400);
            assert.doesNotMatch(json.error, /repair/);
            assert.equal((await rest(server, 'PUT', `${at}?repair=perhaps`, { state: {} })).status, 400);
        });

        test('children and roots that disagree are repaired too', async () => {
            const at = await universe();
            const odd = { stars: { a: body('a', { children: ['b', 'never'] }), b: body('b') }, rootIds: ['a', 'a'] };
            const refused = await rest(server, 'PUT', at, { state: odd });
            assert.equal(refused.status, 400);
            assert.match(refused.json.error, /\?repair=true/);
            const { status, json } = await rest(server, 'PUT', `${at}?repair=true`, { state: odd });
            assert.equal(status, 200);
            assert.ok(json.repairs.length >= 2, JSON.stringify(json.repairs));
            assert.deepEqual(json.state.rootIds.sort(), ['a', 'b']);
        });
    });

    test('PUT without a time keeps the time, with one it sets it (U8)', async () => {
        const at = await universe();
        await send(at, { type: 'tick', dt: 42 });
        const kept = await rest(server, 'PUT', at, { state: state([body('a')]) });
        assert.equal(kept.json.state.time, 42);
        assert.equal((await rest(server, 'GET', `${at}/summary`)).json.time, 42);
        const set = await rest(server, 'PUT', at, { state: { time: 7 } });
        assert.equal(set.json.state.time, 7);
        assert.equal((await rest(server, 'PUT', at, { state: { time: 0 } })).json.state.time, 0);
    });

    test('a type of blanks is no command (U12)', async () => {
        const at = await universe();
        for (const type of ['  ', '\t\n', '\u00a0', '\u3000 ']) {
            assert.equal((await send(at, { type })).status, 400, JSON.stringify(type));
            assert.equal((await rest(server, 'POST', `${at}/commands:batch`, [{ type }])).status, 400);
        }
        assert.equal((await send(at, { type: ' tick' })).status, 422);
    });

    describe('null for an optional member removes it, at any depth (U13)', () => {
        const ring = { innerRadiusMultiplier: 1.5, outerRadiusMultiplier: 3, thickness: 0.1, opacity: 0.6, albedo: 0.8, color: '#ffffff', density: 0.6 };

        test('in a body that is added, changed, put and replaced', async () => {
            const at = await universe();
            const withNull = { ...ring, warpFactor: null, seed: 3 }, wanted = { ...ring, seed: 3 };
            assert.equal((await send(at, add('a', { ring: withNull }))).status, 200);
            assert.equal((await send(at, add('b', {}))).status, 200);
            assert.equal((await send(at, { type: 'updateStar', id: 'b', payload: { ring: withNull } })).status, 200);
            assert.equal((await send(at, add('c', { ring }))).status, 200);
            assert.equal((await send(at, { type: 'updateRing', planetId: 'c', patch: { warpFactor: null, seed: 3 } })).status, 200);
            const { json } = await rest(server, 'GET', at);
            for (const id of ['a', 'b', 'c'])
                assert.deepEqual(json.state.stars[id].ring, wanted, id);
            const put = await rest(server, 'PUT', at, { state: state([body('d', { ring: withNull })]) });
            assert.deepEqual(put.json.state.stars.d.ring, wanted);
            await send(at, { type: 'replaceSnapshot', snapshot: state([body('e', { ring: withNull })]) });
            assert.deepEqual((await rest(server, 'GET', at)).json.state.stars.e.ring, wanted);
        });

        test('but what no shape knows is kept as it came', async () => {
            const at = await universe();
            await send(at, add('a', { note: { keep: null, list: [null, 1] } }));
            const { json } = await rest(server, 'GET', at);
            assert.deepEqual(json.state.stars.a.note, { keep: null, list: [null, 1] });
        });
    });

    describe('lists (U14)', () => {
        test('what a removal takes along is listed in the order of the state', async () => {
            const at = await universe();
            await send(at, add('sun'));
            const ids = ['m', 'c', 'x', 'a', 'k'];
            await send(at, { type: 'setProtoplanetaryDisks', disks: Object.fromEntries(ids.map((id) => [id, disk(id, 'sun')])) });
            await send(at, { type: 'setSmallBodyFields', fields: Object.fromEntries(ids.map((id) => [id, field(id, 'sun')])) });
            const { json } = await rest(server, 'GET', at);
            const { json: removed } = await send(at, { type: 'removeStar', id: 'sun' });
            assert.deepEqual(removed.events[0].removedDiskIds, Object.keys(json.state.protoplanetaryDisks));
            assert.deepEqual(removed.events[0].removedFieldIds, Object.keys(json.state.smallBodyFields));
        });

        test('groups without rootGroupIds are their own roots', async () => {
            const at = await universe();
            const groups = {
                g: { id: 'g', name: 'g', parentGroupId: null, children: [{ id: 'h', type: 'group' }] },
                h: { id: 'h', name: 'h', parentGroupId: 'g', children: [] },
                i: { id: 'i', name: 'i', parentGroupId: null, children: [] },
            };
            const put = await rest(server, 'PUT', at, { state: { groups } });
            assert.equal(put.status, 200, put.text);
            assert.deepEqual(put.json.state.rootGroupIds.sort(), ['g', 'i']);
            const replaced = await send(at, { type: 'replaceSnapshot', snapshot: { stars: {}, rootIds: [], groups } });
            assert.equal(replaced.status, 200, replaced.text);
            /* who lists roots lists them all */
            assert.equal((await rest(server, 'PUT', at, { state: { groups, rootGroupIds: ['g'] } })).status, 400);
        });
    });

    test('every schema that is published has types (P10)', async () => {
        const { tools } = await client();
        const untyped = [];
        const walk = (node, where) => {
            if (Array.isArray(node))
                return node.forEach((one, i) => walk(one, `${where}/${i}`));
            if (node === null || typeof node !== 'object')
                return undefined;
            if (('enum' in node || 'const' in node) && !('type' in node) && !where.endsWith('/properties'))
                untyped.push(where);
            return Object.entries(node).forEach(([name, value]) => walk(value, `${where}/${name}`));
        };
        for (const tool of tools)
            walk(tool.inputSchema, tool.name);
        assert.deepEqual(untyped, []);
    });

    async function client() {
        const strict = await start('memory', '--strict-schema');
        try {
            const connection = new Client({ name: 'test', version: '1' });
            await connection.connect(new StreamableHTTPClientTransport(strict.url));
            const listed = await connection.listTools();
            await connection.close();
            return listed;
        } finally {
            await stop(strict);
        }
    }
});
