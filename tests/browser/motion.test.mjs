/*
 * motion.test.mjs - the page's arithmetic: the closed form of motion, the layout of groups and
 * systems, the first view, particles, the clock, the cutting of streams, the list of universes. The
 * expected values are worked out by hand from the rules.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventCutter } from '../../servers/universe/web/api.js';
import { Clock } from '../../servers/universe/web/clock.js';
import { boxEdge, hexagon, layOut, pitchOf, spread } from '../../servers/universe/web/layout.js';
import { matching, mergeNewest } from '../../servers/universe/web/panes/chooser.js';
import { frame, medianPlace } from '../../servers/universe/web/scene/frame.js';
import { Best } from '../../servers/universe/web/scene/best.js';
import { angleAt, cometActivity, pathOf, placeOn, rotate } from '../../servers/universe/web/motion.js';
import { Meter } from '../../servers/universe/web/meter.js';
import { fieldParticles, lcg, nebulaParticles, seedOf } from '../../servers/universe/web/particles.js';

function assertNear(actual, expected, tolerance = 1e-12) {
    const size = Math.max(1, ...expected.map(Math.abs));
    actual.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) <= tolerance * size, `${actual} is not ${expected}`));
}

/* Distance 10, speed 5, phase 30 and time 12 make an angle of 90 degrees. */
const BOUND = { parentId: 'x', orbitalDistance: 10, orbitalSpeed: 5, orbitalPhase: 30 };
const ROGUE = { isRoguePlanet: true, parentId: null, orbitalDistance: 0 };
const STRAIGHT = { initialPosition: { x: 1, y: 2, z: 3 }, velocity: { x: 0.1, y: 0, z: -0.2 } };

const VECTORS = [
    ['circle', BOUND, 12, [6.1e-16, 0, 10]],
    ['ellipse: b = a sqrt(1 - e e)', { ...BOUND, eccentricity: 0.5 }, 12, [6.1e-16, 0, 8.660254037844386]],
    ['turned about Z, Y and X, and moved', {
        ...BOUND, semiMajorAxis: 8, eccentricity: 0.3, orbitRotX: 10, orbitRotY: 20, orbitRotZ: 40, orbitOffsetX: 1, orbitOffsetY: 2,
        orbitOffsetZ: 3 }, 12, [3.6101313791407823, 0.7547208128905067, 10.062329214202391]],
    ['a rogue goes straight', { ...ROGUE, roguePlanet: STRAIGHT }, 50, [6, 2, -7]],
    ['a rogue on a curve', {
        ...ROGUE, roguePlanet: { ...STRAIGHT, pathCurvature: 0.5, semiMajorAxis: 100, eccentricity: 0.4, pathPeriod: 300, orbitRotX: 5,
            orbitRotY: 90, orbitRotZ: 45 } }, 50, [80.3725393319377, 40.30222215594891, -29.139380484326978]],
    ['no distance: at the parent, whatever the axis', { ...BOUND, orbitalDistance: 0, semiMajorAxis: 7 }, 12, [0, 0, 0]],
];

for (const [name, star, time, expected] of VECTORS)
    test(`motion: ${name}`, () => assertNear(placeOn(pathOf(star), time), expected));

test('motion: whole turns cost no precision', () => {
    /* 1e9 s at 7 degrees a second: 7e9 degrees = 19444444 turns and 160 degrees */
    assert.equal(angleAt(7, 0, 1e9), 160);
});

test('motion: an angle beyond the range of a number is 0', () => {
    const curved = { ...STRAIGHT, pathCurvature: 0.5 };
    for (const roguePlanet of [{ ...curved, pathPeriod: 0 }, { ...curved, pathPeriod: 1e-310 }]) {
        const path = pathOf({ ...ROGUE, roguePlanet });
        assert.equal(path.speed, 0);
        assertNear(placeOn(path, 12), [101, 2, 3]);
    }
    assert.equal(pathOf({ ...ROGUE, roguePlanet: { ...curved, semiMajorAxis: 0 } }).speed, 0);
    assert.equal(angleAt(1e300, 30, 1e15), 0);
});

test('motion: rotations are applied Z, then Y, then X', () => {
    /* Z takes x to y, X takes y to z */
    assertNear(rotate([1, 0, 0], 90, 0, 90), [0, 0, 1]);
    assertNear(rotate([1, 0, 0], 0, 90, 0), [0, 0, -1]);
});

test('comets: the tail grows towards the star and ends half a falloff beyond it', () => {
    assert.deepEqual(cometActivity(0, 10), { activity: 1.5, opacity: 1 });
    assert.deepEqual(cometActivity(10, 10), { activity: 1, opacity: 1 });
    const { activity, opacity } = cometActivity(15, 10);
    assertNear([activity, opacity], [0.3, 0]);
});

test('layout: groups take a grid of five, what is in them a square in their box', () => {
    const groups = new Map();
    for (let i = 0; i < 7; i++)
        groups.set(`g${i}`, { id: `g${i}`, name: 'g', children: [] });
    groups.get('g0').children = ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'system' }));
    groups.set('here', { id: 'here', name: 'h', children: [], position: { x: 5, y: 6, z: 7 } });
    const { boxes, systems } = layOut(groups, [...groups.keys()]);
    assert.deepEqual(boxes.get('g0').position, [-40, 0, 0]);
    assert.deepEqual(boxes.get('g6').position, [-20, 0, 20]);
    assert.deepEqual(boxes.get('here').position, [5, 6, 7]);
    assert.equal(boxEdge(4), 12);
    /* edge 12, two in a row: spacing 0.7 * 12 / 2 = 4.2, the first at -0.35 * 12 = -4.2 */
    assertNear(systems.get('a'), [-40 - 4.2, 0, -4.2]);
    assertNear(systems.get('d'), [-40, 0, 0]);
});

test('layout: groups that contain each other end', () => {
    const groups = new Map([['a', { children: [{ id: 'b', type: 'group' }] }], ['b', { children: [{ id: 'a', type: 'group' }] }]]);
    assert.equal(layOut(groups, ['a']).boxes.size, 2);
});

test('layout: systems without a group are on a grid of hexagons, each at least a pitch from the next', () => {
    const ids = Array.from({ length: 200 }, (_, i) => `s${i}`), places = [...spread(ids, 10).values()];
    assert.deepEqual(places[0], [0, 0, 0]);
    assertNear(places[1], [10, 0, 0]);
    for (let i = 0; i < places.length; i++) {
        for (let k = 0; k < i; k++)
            assert.ok(Math.hypot(places[i][0] - places[k][0], places[i][2] - places[k][2]) > 10 - 1e-9, `${i} is too close to ${k}`);
    }
    /* 200 cells are the middle and 7 full rings (169 cells), and a part of the eighth */
    assert.ok(Math.max(...places.map(([x, , z]) => Math.hypot(x, z))) <= 80 + 1e-9);
    assert.deepEqual(hexagon(0), [0, 0]);
});

test('layout: the pitch has few values, and half of the systems have room', () => {
    assert.equal(pitchOf([]), 12);
    const pitches = new Set();
    for (let size = 1; size <= 100; size += 0.5) {
        const pitch = pitchOf([size, size, size]);
        assert.ok(pitch >= 2 * size && pitch <= Math.max(12, size * 2.2 * 1.25 + 1e-9), `${size}: ${pitch}`);
        pitches.add(pitch);
    }
    assert.ok(pitches.size <= 16);
});

const AXES = { right: [1, 0, 0], up: [0, 1, 0], back: [0, 0, 1] };

test('first view: one body far away does not move it', () => {
    const places = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [1e6, 1e6, 1e6], [1, 1, 0]];
    assert.deepEqual(medianPlace(places), [1, 0, 0]);
});

test('first view: a star and what orbits it, and not the one comet that goes far', () => {
    const ring = (r) => [[r, 0, 0], [-r, 0, 0]];
    const children = [...Array.from({ length: 99 }, () => ring(10)), ring(1e6)];
    const { target, distance } = frame([{ place: [0, 0, 0], radius: 1, children: 100 }], children, { axes: AXES, lens: { x: 0.5, y: 0.5 }, scale: 700 });
    assert.deepEqual(target, [0, 0, 0]);
    /* 10 across at a tangent of 0.5 * 0.94 */
    assertNear([distance], [10 / 0.47], 1e-9);
});

test('list of universes: the newest few, put before what is known; what is gone from among them is gone', () => {
    const item = (id) => ({ id, name: `Name of ${id}` }), ids = (list) => list.map(({ id }) => id).join('');
    const known = [...'edcba'].map(item);
    assert.equal(ids(mergeNewest(known, [...'gfec'].map(item), false)), 'gfecba');
    assert.equal(ids(mergeNewest(known, [...'xy'].map(item), true)), 'xy');
    assert.equal(mergeNewest(known, [...'zyx'].map(item), false), null);
    const named = [{ id: '1', name: 'Old Sol' }, { id: '2', name: 'Sol' }, { id: 'sol-3', name: 'Third' }, { id: '4', name: 'Vega' }];
    assert.deepEqual(matching(named, ' SOL ').map(({ id }) => id), ['2', '1', 'sol-3']);
    assert.equal(matching(named, '').length, 4);
});

test('clock: a preview ends with a tick, and the window stays at the universe\'s time when ticks end', () => {
    const clock = new Clock();
    clock.reset(0, 0);
    clock.advance(250);
    assertNear([clock.time], [0.25], 1e-9);
    clock.hear(5, 300);
    for (let now = 320; now <= 8000; now += 20)
        clock.advance(now);
    assertNear([clock.time], [5], 1e-3);
    assert.equal(clock.runs(8000), false);
    clock.play(8000);
    assert.equal(clock.runs(8000), true);
    clock.advance(8250);
    assert.ok(clock.time > 5.2);
    clock.sync();
    assert.equal(clock.advance(8500), 5);
});

test('particles: the generator is the one of the rules', () => {
    const next = lcg(1);
    /* 1664525 + 1013904223 = 1015568748 */
    assert.equal(next(), 1015568748 / 4294967295);
    /* "ab": 31 * 97 + 98 */
    assert.equal(seedOf('ab'), 31 * 97 + 98);
});

test('particles: the same for every viewer, and where they belong', () => {
    const field = { innerRadius: 10, outerRadius: 20, thickness: 1, particleCount: 500, clumpiness: 0.5, seed: 'x', beltType: 'main' };
    const one = fieldParticles(field), two = fieldParticles(field);
    assert.deepEqual(one.places, two.places);
    assert.ok(one.count > 300 && one.count <= 500);
    for (let i = 0; i < one.count; i++) {
        const r = one.places[i * 4];
        assert.ok(r >= 14 - 1e-3 && r <= 20 + 1e-3, `${r} is not between 0.4 and 1 of the way out`);
    }
    assert.notDeepEqual(fieldParticles({ ...field, seed: 'y' }).places, one.places);
});

test('particles: a nebula stays within its ellipsoid', () => {
    const { places, count } = nebulaParticles({ radius: 150, seed: 3, dimensions: { x: 10, y: 20, z: 30 } });
    assert.ok(count > 0);
    for (let i = 0; i < count; i++)
        assert.ok((places[i * 4] / 10) ** 2 + (places[i * 4 + 1] / 20) ** 2 + (places[i * 4 + 2] / 30) ** 2 <= 1.001);
});

test('clock: runs between ticks at the rate at which they come', () => {
    const clock = new Clock();
    clock.reset(0, 0);
    for (let i = 1; i <= 20; i++) { /* 10 ticks a second, of 0.3 s each: 3 s a second */
        clock.hear(i * 0.3, i * 100);
        clock.advance(i * 100);
    }
    assertNear([clock.rate(2000)], [3], 1e-9);
    /* at 2050 half way from the last but one tick, 5.7, to the last, 6 */
    const before = clock.advance(2050), after = clock.advance(2100);
    assert.ok(after > before && Math.abs(before - 5.85) < 0.1 && Math.abs(after - 6) < 0.1, `${before}, ${after}`);
    assert.ok(clock.follows(2100));
});

test('clock: never goes back, nor beyond what was said, when ticks end', () => {
    const clock = new Clock();
    clock.reset(0, 0);
    clock.previews = false;
    for (let now = 16, last = 0; now <= 8000; now += 16) {
        if (now <= 2000 && Math.floor(now / 100) > Math.floor((now - 16) / 100))
            clock.hear(Math.floor(now / 100) * 0.3, now);
        const time = clock.advance(now);
        assert.ok(time >= last && time <= clock.serverTime && time - last < 0.2, `${last}, then ${time}`);
        last = time;
    }
    assertNear([clock.time], [6], 1e-3);
});

test('clock: one tick alone is drawn as a sweep, not a jump', () => {
    const clock = new Clock();
    clock.reset(0, 0);
    clock.previews = false;
    clock.advance(5000);
    clock.hear(10, 5000);
    let last = 0;
    for (let now = 5016; now <= 7400; now += 16) {
        const time = clock.advance(now);
        assert.ok(time >= last && time - last < 1, `${last}, then ${time}`);
        last = time;
    }
    assertNear([last], [10], 1e-2);
});

test('the best few of many are those that sorting finds', () => {
    const next = lcg(7), all = Array.from({ length: 5000 }, (_, slot) => ({ slot, score: Math.fround(next()) })), best = new Best(40);
    for (const { slot, score } of all)
        best.offer(slot, score);
    all.sort((a, b) => b.score - a.score);
    assert.deepEqual([...best.take()], all.slice(0, 40).map(({ slot }) => slot));
    best.offer(3, 0.5);
    best.offer(4, 0.7);
    assert.deepEqual([...best.take()], [4, 3]);
    assert.deepEqual([...best.take()], []);
});

test('commands a second are of the last five whole seconds', () => {
    const meter = new Meter();
    for (let now = 100500; now < 105500; now += 1000)
        meter.heard(10, now);
    assert.equal(meter.rate(105600), 10);
    assert.equal(meter.rate(107600), 6);
    assert.equal(meter.rate(1e6), 0);
});

test('clock: without ticks the viewer moves time, and a pause holds it', () => {
    const clock = new Clock();
    clock.reset(100, 0);
    clock.localSpeed = 10;
    for (let now = 100; now <= 1000; now += 100)
        clock.advance(now);
    assertNear([clock.time], [110], 1e-9);
    clock.paused = true;
    assertNear([clock.advance(1100)], [110], 1e-9);
    clock.hear(200, 1200);
    assertNear([clock.advance(1250)], [110], 1e-9);
    clock.play(1300);
    assert.equal(clock.advance(1300), 200);
});

test('streams: events are cut wherever the network cuts them', () => {
    const text = ':connected\r\n\r\nretry: 2000\n\nevent: command\nid: 7\ndata: {"a":\ndata: 1}\n\n: hb\n\ndata: x\r\n\r\n';
    for (let size = 1; size < text.length; size++) {
        const events = [];
        const cutter = new EventCutter((event) => events.push(event));
        for (let at = 0; at < text.length; at += size)
            cutter.feed(text.slice(at, at + size));
        assert.deepEqual(events, [{ id: '7', type: 'command', data: '{"a":\n1}' }, { id: '7', type: 'message', data: 'x' }]);
        assert.equal(cutter.retry, 2000);
    }
});
