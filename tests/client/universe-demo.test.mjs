/*
 * universe-demo.test.mjs - the demonstration of the contract (14.4), sent by an agent over MCP:
 * fifty commands that build Sol, eight planets, eleven moons, two rings, two groups, two fields, a
 * disk and a nebula. All are accepted, one changes nothing; a viewer sees each; where bodies are
 * afterwards is what the formulas say.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { DATABASES, Viewer, call, connect, createAnew, disconnect, range, rest, start, stop } from './universe.mjs';

/* name, distance, speed, phase, e, more */
const PLANETS = [
    ['Mercury', 20, 4.1, 47, 0.206], ['Venus', 35, 1.6, 131, 0.007], ['Earth', 50, 1.0, 0, 0.017, { semiMajorAxis: 51, orbitRotZ: 1.5 }],
    ['Mars', 75, 0.53, 211, 0.093], ['Jupiter', 160, 0.084, 34, 0.049, { semiMajorAxis: 165, orbitRotX: 1.3, orbitRotZ: -2.4 }],
    ['Saturn', 290, 0.034, 169, 0.056, { semiMajorAxis: 295, orbitRotX: 2.5, orbitRotZ: 5.5 }], ['Uranus', 480, 0.012, 303, 0.047],
    ['Neptune', 700, 0.006, 260, 0.009, { semiMajorAxis: 710 }],
];
const MOONS = [
    ['Luna', 'earth', 4], ['Phobos', 'mars', 2], ['Deimos', 'mars', 3.5], ['Io', 'jupiter', 9], ['Europa', 'jupiter', 12],
    ['Ganymede', 'jupiter', 16], ['Callisto', 'jupiter', 22], ['Titan', 'saturn', 14], ['Enceladus', 'saturn', 7],
    ['Miranda', 'uranus', 6], ['Triton', 'neptune', 10],
];

function body(name, bodyType, parentId, distance, speed, phase = 0, more = {}) {
    return {
        type: 'addStar', id: name.toLowerCase(),
        payload: {
            name, bodyType, mass: 1, radius: 1, color: '#C0A080', parentId, orbitalDistance: distance, orbitalSpeed: speed,
            orbitalPhase: phase, ...more,
        },
    };
}

function field(id, inner, outer, beltType) {
    return {
        id, systemId: 'sol', hostStarId: 'sol', innerRadius: inner, outerRadius: outer, thickness: 2, particleCount: 2000,
        baseColor: '#8B7355', highlightColor: '#C0A080', opacity: 0.6, brightness: 0.5, clumpiness: 0.3, rotationSpeedMultiplier: 1,
        beltType, regionLabel: id, isIcy: beltType === 'kuiper', seed: 42, style: 'moderate',
    };
}

const DISK = {
    id: 'dust', systemId: 'sol', centralStarId: 'sol', innerRadius: 1, outerRadius: 5, thickness: 0.3, particleCount: 5000,
    baseColor: '#D4A574', highlightColor: '#FFD700', opacity: 0.5, brightness: 0.5, clumpiness: 0.3, rotationSpeedMultiplier: 0.3,
    seed: 7, style: 'moderate',
};
const NEBULA = {
    id: 'veil', name: 'Veil', position: { x: 200, y: 80, z: -300 }, radius: 150, density: 0.5, brightness: 0.5, baseColor: '#4A90E2',
    accentColor: '#E25822', noiseScale: 1, noiseDetail: 3, seed: 3,
};

const COMMANDS = [
    body('Sol', 'star', null, 0, 0),
    ...PLANETS.map(([name, distance, speed, phase, eccentricity, more]) =>
        body(name, 'planet', 'sol', distance, speed, phase, { eccentricity, ...more })),
    ...MOONS.map(([name, parent, distance]) => body(name, 'moon', parent, distance, 3)),
    { type: 'updateRing', planetId: 'saturn', patch: { outerRadiusMultiplier: 2.6 } },
    { type: 'updateRing', planetId: 'uranus', patch: { opacity: 0.3 } },
    { type: 'addGroup', id: 'milky-way', payload: { name: 'Milky Way', children: [], parentGroupId: null } },
    { type: 'addGroup', id: 'local', payload: { name: 'Local', children: [], parentGroupId: 'milky-way' } },
    { type: 'addToGroup', groupId: 'local', child: { id: 'sol', type: 'system' } },
    { type: 'addToGroup', groupId: 'local', child: { id: 'sol', type: 'system' } }, /* again */
    { type: 'setSmallBodyFields', fields: { main: field('main', 90, 130, 'main'), kuiper: field('kuiper', 750, 900, 'kuiper') } },
    { type: 'updateSmallBodyField', id: 'main', patch: { particleCount: 3000 } },
    { type: 'addProtoplanetaryDisk', disk: DISK },
    { type: 'updateProtoplanetaryDisk', id: 'dust', patch: { opacity: 0.4 } },
    { type: 'setNebulae', nebulae: { veil: NEBULA } },
    { type: 'updateNebula', id: 'veil', patch: { density: 0.7 } },
    ...range(1, 10).map((i) => ({ type: 'updateStar', id: PLANETS[i % 8][0].toLowerCase(), payload: { mass: i } })),
    { type: 'updateGroup', id: 'local', payload: { color: '#FFFFFF' } },
    ...Array(7).fill({ type: 'tick', dt: 1.5 }),
];
const STILL = 25; /* where the second addToGroup stands */

/* The first group without a position is at (-40, 0, 0); boxes of edge 8 + 2 for one child, which
 * lies 0.35 edges off the middle in x and z: twice, as Sol's group is in a group. */
const SOL = [-40 - 2 * 0.35 * 10, 0, -2 * 0.35 * 10];

/** Where a body is: ellipse about the parent, turned about z, y, x. */
function place(stars, id, time) {
    const star = stars[id];
    if (star.orbitalDistance === 0)
        return star.parentId === null ? SOL : place(stars, star.parentId, time);
    const a = star.semiMajorAxis ?? star.orbitalDistance, e = star.eccentricity ?? 0;
    const angle = (time * star.orbitalSpeed + star.orbitalPhase) * Math.PI / 180;
    let [x, y, z] = [a * Math.cos(angle), 0, a * Math.sqrt(1 - e * e) * Math.sin(angle)];
    const turn = (u, v, degrees) => {
        const by = (degrees ?? 0) * Math.PI / 180;
        return [u * Math.cos(by) - v * Math.sin(by), u * Math.sin(by) + v * Math.cos(by)];
    };
    [x, y] = turn(x, y, star.orbitRotZ);
    [z, x] = turn(z, x, star.orbitRotY);
    [y, z] = turn(y, z, star.orbitRotX);
    const [px, py, pz] = place(stars, star.parentId, time);
    return [x + px, y + py, z + pz];
}

for (const makeDatabase of DATABASES) {
    describe(`the demonstration on ${makeDatabase.name}`, () => {
        let db, server;

        before(async () => {
            db = makeDatabase();
            server = await start(db.url);
            await createAnew(server, 'demo');
        });
        after(async () => {
            await stop(server);
            db.close();
        });

        test('fifty commands build Sol and all that is about it', async () => {
            assert.equal(COMMANDS.length, 50);
            const peer = await connect(server);
            const viewer = await Viewer.open(server, 'demo');
            const told = [];
            for (const [i, command] of COMMANDS.entries()) {
                const { isError, json, text } = await call(peer, 'send_universe_command', { universeId: 'demo', command });
                assert.equal(isError, false, text);
                if (i === STILL)
                    assert.deepEqual(json.events.map(({ type }) => type), ['childAlreadyInGroup']);
                else
                    told.push(command);
            }
            await viewer.until(() => viewer.versions.length === 49, 'all that changed something');
            assert.deepEqual(viewer.of('command').map(({ data }) => data), told);
            assert.deepEqual(viewer.versions, range(1, 49));
            viewer.close();

            const { json: state, text } = await call(peer, 'get_universe_state', { universeId: 'demo' });
            await disconnect(peer);
            assert.equal(Object.keys(state.stars).length, 20);
            assert.equal(state.time, 10.5);
            assert.deepEqual(state.rootIds, ['sol']);
            assert.deepEqual(state.stars.sol.children, PLANETS.map(([name]) => name.toLowerCase()));
            assert.deepEqual(state.stars.jupiter.children, ['io', 'europa', 'ganymede', 'callisto']);
            assert.equal(Object.values(state.stars).filter(({ ring }) => ring).length, 2);
            assert.deepEqual(state.stars.saturn.ring, {
                innerRadiusMultiplier: 1.5, outerRadiusMultiplier: 2.6, thickness: 0.1, opacity: 0.6, albedo: 0.8, color: '#C0A080', density: 0.6,
            });
            assert.deepEqual(state.rootGroupIds, ['milky-way']);
            assert.deepEqual(state.groups.local.children, [{ id: 'sol', type: 'system' }]);
            assert.equal(state.smallBodyFields.main.particleCount, 3000);
            assert.equal(Object.keys(state.smallBodyFields).length, 2);
            assert.deepEqual(state.protoplanetaryDisks, { dust: { ...DISK, opacity: 0.4 } });
            assert.deepEqual(state.nebulae, { veil: { ...NEBULA, density: 0.7 } });
            assert.ok(text.length > 6000 && text.length < 10_000, `${text.length} bytes`);
        });

        test('each body is where the formulas say, at any time', async () => {
            const { stars } = (await rest(server, 'GET', '/universes/demo')).json.state;
            for (const time of [0, 10.5, -365.25, 1e6]) {
                const { json } = await rest(server, 'GET', `/universes/demo/positions?time=${time}`);
                assert.equal(json.ids.length, 20);
                json.ids.forEach((id, i) => place(stars, id, time).forEach((value, axis) => {
                    const off = Math.abs(json.positions[i][axis] - value);
                    assert.ok(off < 1e-6, `${id} at ${time}: ${off}`);
                }));
            }
        });

        test('a command is written as the list shows it, in any universe', async () => {
            const peer = await connect(server);
            await createAnew(server, 'blank');
            await createAnew(server, 'copy', (await rest(server, 'GET', '/universes/demo')).json.state);
            for (const universeId of ['blank', 'copy']) {
                const { result } = await call(peer, 'list_universe_commands', { universeId });
                const shown = [...result.content[0].text.matchAll(/```jsonl\n([^]*?)\n```/g)].flatMap(([, lines]) => lines.split('\n'));
                const { commandTypes } = JSON.parse(result.content[1].text);
                assert.deepEqual([...new Set(shown.map((line) => JSON.parse(line).type))], commandTypes);
                for (const line of shown) {
                    const { isError, text } = await call(peer, 'send_universe_command',
                        { universeId, command: JSON.parse(line), return: 'delta' });
                    assert.equal(isError, false, `${line}: ${text}`);
                }
            }
            await disconnect(peer);
        });

        test('another server finds it as it was left', async () => {
            const left = (await rest(server, 'GET', '/universes/demo')).json;
            await stop(server);
            server = await start(db.url);
            assert.deepEqual((await rest(server, 'GET', '/universes/demo')).json, left);
        });
    });
}
