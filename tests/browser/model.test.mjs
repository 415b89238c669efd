/*
 * model.test.mjs - the page's model against the server: whatever commands do, the page that follows
 * the stream has what the server has.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Api } from '../../servers/universe/web/api.js';
import { MAPS, Model } from '../../servers/universe/web/model.js';
import { Session } from '../../servers/universe/web/session.js';
import { addStar, create, rest, send, start, stop, until } from '../client/universe.mjs';
import { commands as sol } from './sol.mjs';

let server, sessions = [];

before(async () => {
    server = await start('memory');
});

after(async () => {
    sessions.forEach((session) => session.close());
    await stop(server);
});

async function watch(id) {
    const model = new Model(), told = { words: [], events: [], deleted: false, failed: [], model };
    const session = new Session(new Api(server.base), model, id, {
        state: (word) => told.words.push(word), event: (event) => told.events.push(event), places() {}, progress() {},
        deleted: () => { told.deleted = true; }, failed: (error) => told.failed.push(error),
    });
    sessions.push(session);
    session.open();
    await until(() => model.version >= 0 && told.words.includes('connected'), 'the state and the stream');
    return { ...told, session, told };
}

/** The model is the server's state, member for member. */
async function assertSame(model, id) {
    const { json, headers } = await rest(server, 'GET', `/universes/${id}/state`);
    const version = Number(/\d+/.exec(headers.get('etag'))[0]);
    await until(() => model.version === version, `version ${version}, which is ${model.version}`);
    for (const map of MAPS)
        assert.deepEqual(Object.fromEntries(model[map]), json[map], map);
    assert.deepEqual(model.rootIds, json.rootIds);
    assert.deepEqual(model.rootGroupIds, json.rootGroupIds);
    assert.equal(model.time, json.time);
}

const group = (id, name, parentGroupId, children = []) => ({ type: 'addGroup', id, payload: { name, parentGroupId, children } });
const ROGUE = { seed: 1, initialPosition: { x: 1, y: 2, z: 3 }, velocity: { x: 1, y: 0, z: 0 } };
const DISK = { id: 'disk', systemId: 'sun', centralStarId: 'sun', innerRadius: 1, outerRadius: 5, thickness: 0.3, particleCount: 100,
    baseColor: '#D4A574', highlightColor: '#FFD700', opacity: 0.5, brightness: 0.5, clumpiness: 0.3, rotationSpeedMultiplier: 0.3, seed: 1,
    style: 'moderate' };

const SEQUENCE = [
    addStar('sun'), addStar('far'), addStar('planet', 'sun'), addStar('moon', 'planet'), addStar('rogue', null, { isRoguePlanet: true, roguePlanet: ROGUE }),
    { type: 'updateStar', id: 'planet', payload: { name: 'Renamed', eccentricity: 0.2 } },
    { type: 'updateStar', id: 'planet', payload: { eccentricity: null } },
    { type: 'updateRing', planetId: 'planet', patch: { opacity: 0.3 } }, { type: 'updateRing', planetId: 'planet', patch: { density: 0.1 } },
    { type: 'removeRing', planetId: 'planet' },
    group('g', 'G', null, [{ id: 'far', type: 'system' }]), group('h', 'H', 'g'), group('k', 'K', null),
    { type: 'updateGroup', id: 'h', payload: { name: 'HH', position: { x: 1, y: 2, z: 3 } } },
    { type: 'moveToGroup', childId: 'far', childType: 'system', targetGroupId: 'h' },
    { type: 'moveToGroup', childId: 'k', childType: 'group', targetGroupId: 'h' },
    { type: 'addToGroup', groupId: 'k', child: { id: 'sun', type: 'system' } },
    { type: 'removeFromGroup', groupId: 'k', childId: 'sun' }, { type: 'moveToGroup', childId: 'k', childType: 'group', targetGroupId: null },
    { type: 'attachStar', childId: 'far', parentId: 'planet' }, { type: 'detachStar', childId: 'moon' },
    { type: 'attachStar', childId: 'moon', parentId: 'far' }, { type: 'tick', dt: 2.5 }, { type: 'tick' },
    { type: 'addProtoplanetaryDisk', disk: DISK }, { type: 'updateProtoplanetaryDisk', id: 'disk', patch: { opacity: 0.9 } },
    ...sol,
    { type: 'updateSmallBodyField', id: 'main', patch: { opacity: 0.1 } }, { type: 'removeSmallBodyField', id: 'kuiper' },
    { type: 'updateNebula', id: 'veil', patch: { density: 0.1 } }, { type: 'removeNebula', id: 'veil' },
    { type: 'removeGroup', id: 'g' }, { type: 'removeStar', id: 'jupiter' }, { type: 'removeStar', id: 'sun' },
    { type: 'removeProtoplanetaryDisk', id: 'disk' }, { type: 'setNebulae', nebulae: {} }, { type: 'setProtoplanetaryDisks', disks: {} },
    { type: 'removeStar', id: 'sol' },
];

test('the page follows every command', async () => {
    await create(server, 'all');
    const { model, failed } = await watch('all');
    for (const command of SEQUENCE) {
        const { status, json, text } = await rest(server, 'POST', '/universes/all/commands?return=minimal', command);
        assert.ok(status === 200, `${command.type} ${command.id ?? ''}: ${text}`);
        await until(() => model.version === json.version, `${command.type} ${command.id ?? ''}, version ${json.version}`);
        await assertSame(model, 'all');
    }
    assert.deepEqual(failed, []);
});

test('many commands at once, and a page that comes in between', async () => {
    await create(server, 'busy');
    const early = await watch('busy');
    const writing = Promise.all(Array.from({ length: 60 }, (_, i) => send(server, 'busy', i % 3 ? addStar(`b${i}`) : { type: 'tick' })));
    const late = await watch('busy');
    await writing;
    await assertSame(early.model, 'busy');
    await assertSame(late.model, 'busy');
});

test('pages that come while time runs count no tick twice, and round as the server does', async () => {
    await create(server, 'ticking');
    const pages = [await watch('ticking')];
    const writing = (async () => {
        for (let i = 0; i < 120; i++)
            await send(server, 'ticking', { type: 'tick', dt: 0.1 });
    })();
    for (let i = 0; i < 8; i++)
        pages.push(await watch('ticking'));
    await writing;
    for (const { model } of pages)
        await assertSame(model, 'ticking');
});

test('a broken stream is taken up again without a gap', async () => {
    await create(server, 'cut');
    const { model, session, words, events } = await watch('cut');
    await send(server, 'cut', addStar('one'));
    await until(() => model.stars.has('one'), 'the first body');
    session.drop();
    await send(server, 'cut', addStar('two', 'one'));
    await send(server, 'cut', { type: 'updateStar', id: 'one', payload: { name: 'First' } });
    await until(() => model.version === 3, 'what came while it was broken');
    await assertSame(model, 'cut');
    assert.ok(words.filter((word) => word === 'connected').length >= 2);
    assert.deepEqual(events.map(({ version }) => version), [1, 2, 3]);
});

test('a replaced state, a restored one and a generated one are fetched again', async () => {
    await create(server, 'refetched');
    const { model } = await watch('refetched');
    await send(server, 'refetched', addStar('one'));
    for (const [method, where, body] of [
        ['PUT', '/universes/refetched', { state: { time: 7 } }],
        ['POST', '/universes/refetched/generate', { seed: 'universe', stylePreset: 'sparse' }],
        ['POST', '/universes/refetched/restore', { version: 1 }],
        ['POST', '/universes/refetched/commands', { type: 'replaceSnapshot', snapshot: { stars: {}, rootIds: [] } }],
    ]) {
        const { status, text } = await rest(server, method, where, body);
        assert.equal(status, 200, text);
        await assertSame(model, 'refetched');
    }
});

test('a universe that is deleted is reported', async () => {
    await create(server, 'gone');
    const { told } = await watch('gone');
    assert.equal((await rest(server, 'DELETE', '/universes/gone')).status, 204);
    await until(() => told.deleted, 'the word that it is gone');
});

test('a large universe comes in parts, and while it does commands are not lost', { timeout: 240_000 }, async () => {
    await create(server, 'large');
    for (let part = 0; part < 3; part++) {
        const batch = Array.from({ length: 7000 }, (_, i) => (i === 0 ? addStar(`s${part}`) : addStar(`b${part}-${i}`, `s${part}`)));
        const { status, text } = await rest(server, 'POST', '/universes/large/commands:batch?return=minimal', batch);
        assert.equal(status, 200, text);
    }
    const { model } = await watch('large');
    await send(server, 'large', { type: 'removeStar', id: 's1' });
    await send(server, 'large', addStar('late'));
    await until(() => model.stars.size === 14001, 'all bodies but those removed');
    await assertSame(model, 'large');
});
