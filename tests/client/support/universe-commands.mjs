/*
 * universe-commands.mjs - commands by chance: mostly such as a client would send to a universe in
 * that state, and of every kind of bad one some. One seed gives one sequence for one sequence of
 * states.
 */

/** Numbers by chance (mulberry32): { next() in [0, 1), below(n), pick(list), chance(p) }. */
export function chanceOf(seed) {
    let state = seed >>> 0;
    const next = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let z = Math.imul(state ^ (state >>> 15), state | 1);
        z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
        return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
    };
    const below = (n) => Math.floor(next() * n);
    return { next, below, pick: (list) => list[below(list.length)], chance: (p) => next() < p };
}

const ODD_IDS = [
    '__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '7', '-1', '1e3', 'NaN', 'null', 'a b', 'a/b', 'a.b', '"', '\\',
    '\u00e9', 'e\u0301', '\u03a9\u03b2', '\u{1fa90}', '\u2028', '\u0001', 'a\u0000b', 'A', 'a', 'id', 'children', 'x'.repeat(256),
    '6f1f9a6e-5c0e-4d0c-9d0e-6d6f1b6f3a10', '6F1F9A6E-5C0E-4D0C-9D0E-6D6F1B6F3A10',
];
const WORDS = ['Sol', 'Terra', '', 'caf\u00e9', '\u{1f600}', 'a\tb', '"quoted"', 'NaN', '__proto__', 'x'.repeat(300)];
const COLORS = ['#4A90E2', '#FFF4EA', '#000000', '#abcdef', '#ABC', 'red', 'rgb(1, 2, 3)', ''];
const UNKNOWN = [
    'note', '__proto__', 'constructor', 'toJSON', 'x-\u03a9', 'Mass', 'parent', 'units', 'length', '1', 'time', 'dt', 'version',
    'generator', 'a\u0000b',
];
const BAD = [
    null, undefined, true, false, '', 'NaN', 'Infinity', '5', -1, 0, 1, 1.5, 1e308, -1e308, 1e-320, 1e15, [], {}, [null], [[]],
    { id: 'x' }, ['__proto__'], { ['__proto__']: 1 }, 'x'.repeat(257), 'x'.repeat(2000), { x: 1, y: 2 }, { x: 1, y: 2, z: 3 }, 'star',
];

const AXES = ['X', 'Y', 'Z'];

/** What makes commands: next(state) for a state of the reference. */
export class Commands {
    constructor(seed, { bodiesMax = 50 } = {}) {
        this.chance = chanceOf(seed);
        this.bodiesMax = bodiesMax;
        this.serial = 0;
    }

    next(state) {
        const command = sent(this.ordinary(state));
        return this.chance.chance(0.15) ? sent(this.spoilt(command, state)) : command;
    }

    /* ---- values ---- */

    number(scale = 100) {
        const { chance, next, pick } = this.chance;
        if (chance(0.1))
            return pick([0, 1, -1, 0.1, 1e-7, 123456789, 1e21, 5e-324, 2 ** 53, -0.5, 1 / 3]);
        return chance(0.3) ? Math.floor(next() * scale) : next() * scale;
    }

    size(scale = 100) {
        return Math.abs(this.number(scale));
    }

    word() {
        return this.chance.chance(0.8) ? `name ${this.chance.below(100)}` : this.chance.pick(WORDS);
    }

    color() {
        return this.chance.pick(COLORS);
    }

    seed() {
        return this.chance.chance(0.5) ? this.word() : this.number(1e6);
    }

    place() {
        return { x: this.number() - 50, y: this.number() - 50, z: this.number() - 50 };
    }

    /** An object of those of `makers` that chance takes. */
    some(p, makers) {
        const { chance } = this.chance;
        return Object.fromEntries(Object.entries(makers).filter(() => chance(p)).map(([name, make]) => [name, make()]));
    }

    unknown() {
        const { chance, pick } = this.chance;
        if (chance(0.85))
            return {};
        const values = [1, 'kept', 'x'.repeat(1500), null, [1, { a: null }], { deep: { er: [true] } }, this.number()];
        return { [pick(UNKNOWN)]: pick(values) };
    }

    newId(prefix) {
        const { chance, pick } = this.chance;
        return chance(0.12) ? pick(ODD_IDS) : `${prefix}${this.serial++}`;
    }

    /** One that is there, now and then one that is not. */
    known(map, wrong = 0.06) {
        const { chance, pick, below } = this.chance;
        if (map.size === 0 || chance(wrong))
            return chance(0.5) ? pick(ODD_IDS) : `nobody${below(5)}`;
        return pick([...map.keys()]);
    }

    /* ---- entities ---- */

    ring() {
        const inner = 1 + this.chance.next();
        return {
            innerRadiusMultiplier: inner, outerRadiusMultiplier: inner + 0.1 + this.chance.next(), thickness: this.size(1),
            opacity: this.chance.next(), albedo: this.chance.next(), color: this.color(), density: this.chance.next(),
            ...this.some(0.3, { warpFactor: () => this.number(1), seed: () => this.seed() }), ...this.unknown(),
        };
    }

    comet() {
        const { chance, next } = this.chance;
        return {
            isPeriodic: chance(0.5), perihelionDistance: this.size(), aphelionDistance: this.size(), hasTail: chance(0.5),
            tailLengthBase: this.size(), tailWidthBase: this.size(), tailColor: this.color(), tailOpacityBase: next(),
            activityFalloffDistance: this.size(), ...this.some(0.3, { lastPerihelionTime: () => this.number(), seed: () => this.seed() }),
        };
    }

    lagrangePoint(state) {
        const { pick, below } = this.chance, pointIndex = 1 + below(5);
        return {
            primaryId: this.known(state.stars, 0.03), secondaryId: this.known(state.stars, 0.03), pointIndex, stable: pointIndex > 3,
            pairType: pick(['starPlanet', 'planetMoon']), ...this.some(0.3, { label: () => `L${pointIndex}` }),
        };
    }

    blackHole() {
        const { chance, next } = this.chance, shadowRadius = this.size(), inner = shadowRadius * 1.2 + 1;
        const parts = 'diskThickness diskBrightness diskOpacity diskTemperature diskClumpiness jetLength jetOpeningAngle '
            + 'jetBrightness dopplerBeamingStrength lensingStrength rotationSpeedMultiplier';
        return {
            hasAccretionDisk: chance(0.5), hasRelativisticJet: chance(0.5), hasPhotonRing: chance(0.5), spin: next(), shadowRadius,
            accretionInnerRadius: inner, accretionOuterRadius: inner * 2,
            ...Object.fromEntries(parts.split(' ').map((name) => [name, next()])), seed: this.seed(),
            ...this.some(0.3, { diskInnerColor: () => this.color(), diskTilt: () => this.number(3), photonRingWidth: () => next() }),
        };
    }

    roguePlanet() {
        const { next } = this.chance;
        return {
            seed: this.seed(), initialPosition: this.place(), velocity: { x: next() - 0.5, y: next() - 0.5, z: next() - 0.5 },
            ...this.some(0.4, {
                pathCurvature: () => (this.chance.chance(0.3) ? 0 : next()), semiMajorAxis: () => 10 + next() * 100,
                eccentricity: () => next() * 0.9, pathOffsetX: () => this.number(10), pathOffsetY: () => this.number(10),
                orbitRotX: () => next() * 90, orbitRotZ: () => next() * 90, pathPeriod: () => 10 + next() * 300,
                showTrajectory: () => true, colorOverride: () => this.color(),
            }),
        };
    }

    /** The members that a body may have besides the required ones. */
    bodyParts(state, p) {
        const { next, pick, chance } = this.chance;
        return {
            ...this.some(p, {
                bodyType: () => pick(['star', 'planet', 'moon', 'asteroid', 'comet', 'lagrangePoint', 'blackHole']),
                orbitalPhase: () => next() * 360, semiMajorAxis: () => 1 + next() * 100, eccentricity: () => next() * 0.99,
                asteroidSubType: () => pick(['mainBelt', 'kuiperBelt', 'generic']), parentBeltId: () => 'belt-1',
            }),
            ...this.some(p / 2, Object.fromEntries(AXES.flatMap((axis) => [
                [`orbitOffset${axis}`, () => this.number(10) - 5], [`orbitRot${axis}`, () => next() * 360 - 180]]))),
            ...this.some(p / 3, {
                ring: () => this.ring(), comet: () => this.comet(), lagrangePoint: () => this.lagrangePoint(state),
                lagrangeHostId: () => this.known(state.stars, 0.03), blackHole: () => this.blackHole(),
                roguePlanet: () => this.roguePlanet(), isRoguePlanet: () => chance(0.7),
            }),
            ...this.unknown(),
        };
    }

    /** A place that bodies' numbers keep to: positions stay within what a double can tell apart. */
    bodyBase() {
        const { next } = this.chance;
        return {
            name: this.word(), mass: this.size(1000), radius: this.size(10), color: this.color(), orbitalDistance: next() * 100,
            orbitalSpeed: next() * 20 - 5,
        };
    }

    body(state) {
        const { chance } = this.chance;
        const parentId = chance(0.3) ? null : this.known(state.stars, 0.05);
        return { ...this.bodyBase(), parentId, ...(chance(0.1) ? { orbitalDistance: 0 } : {}), ...this.bodyParts(state, 0.25) };
    }

    group() {
        return {
            name: this.word(), children: [], parentGroupId: null,
            ...this.some(0.3, { color: () => this.color(), icon: () => this.word(), position: () => this.place() }), ...this.unknown(),
        };
    }

    between(state, id) {
        const { next } = this.chance, innerRadius = this.chance.next() * 50;
        return {
            id, systemId: this.known(state.stars), innerRadius, outerRadius: innerRadius + 1 + next(), thickness: next(),
            particleCount: this.chance.below(5000), baseColor: this.color(), highlightColor: this.color(), opacity: next(),
            brightness: next(), clumpiness: next(), rotationSpeedMultiplier: next(), seed: this.seed(), ...this.unknown(),
        };
    }

    field(state, id) {
        const { pick, chance, next } = this.chance;
        return {
            ...this.between(state, id), hostStarId: this.known(state.stars, 0.03), beltType: pick(['main', 'kuiper']),
            regionLabel: this.word(), isIcy: chance(0.5), style: pick(['thin', 'moderate', 'thick', 'scattered']),
            ...this.some(0.3, { inclinationSigma: () => next(), name: () => this.word(), visible: () => chance(0.5) }),
        };
    }

    disk(state, id) {
        const { pick, next } = this.chance;
        return {
            ...this.between(state, id), centralStarId: this.known(state.stars, 0.03), style: pick(['thin', 'moderate', 'thick', 'extreme']),
            ...this.some(0.3, { name: () => this.word(), bandStrength: () => next(), spiralArmCount: () => 2, noiseScale: () => 1 + next() }),
        };
    }

    nebula(state, id) {
        const { next, chance } = this.chance;
        return {
            id, name: this.word(), position: this.place(), radius: this.size(), density: next(), brightness: next(),
            baseColor: this.color(), accentColor: this.color(), noiseScale: next(), noiseDetail: next(), seed: this.seed(),
            ...this.some(0.3, {
                dimensions: () => this.place(), associatedGroupIds: () => [...state.groups.keys()].slice(0, 3), visible: () => chance(0.5),
            }),
            ...this.unknown(),
        };
    }

    belt(state, id) {
        const { next } = this.chance, innerRadius = next() * 50;
        return {
            id, name: this.word(), parentId: this.known(state.stars, 0.02), innerRadius, outerRadius: innerRadius + 1, thickness: next(),
            eccentricity: next() * 0.9, inclination: next(), asteroidCount: 3, asteroidIds: [...state.stars.keys()].slice(0, 2),
            ...this.some(0.3, { color: () => this.color(), radialRangeHint: () => [next(), next()], visible: () => true }),
        };
    }

    /** A map of up to `max` entities. */
    mapOf(max, prefix, make) {
        return Object.fromEntries(Array.from({ length: this.chance.below(max + 1) }, () => {
            const id = this.newId(prefix);
            return [id, make(id)];
        }));
    }

    /* ---- commands ---- */

    ordinary(state) {
        const { below } = this.chance;
        const crowded = state.stars.size > this.bodiesMax ? 6 : 1;
        const kinds = [
            [6, 'tick'], [state.stars.size < 8 ? 60 : 20, 'addStar'], [14, 'updateStar'], [3 * crowded, 'removeStar'], [8, 'attachStar'],
            [5, 'detachStar'], [7, 'addGroup'], [4, 'updateGroup'], [state.groups.size > 15 ? 12 : 2, 'removeGroup'], [9, 'addToGroup'],
            [4, 'removeFromGroup'], [7, 'moveToGroup'], [1, 'setSmallBodyFields'], [4, 'updateSmallBodyField'],
            [2, 'removeSmallBodyField'], [1, 'setProtoplanetaryDisks'], [3, 'addProtoplanetaryDisk'], [3, 'updateProtoplanetaryDisk'],
            [2, 'removeProtoplanetaryDisk'], [1, 'setNebulae'], [3, 'updateNebula'], [2, 'removeNebula'], [5, 'updateRing'],
            [2, 'removeRing'], [1, 'replaceSnapshot'],
        ];
        let at = below(kinds.reduce((sum, [weight]) => sum + weight, 0));
        const [, type] = kinds.find(([weight]) => (at -= weight) < 0);
        return { type, ...this[type](state) };
    }

    tick() {
        const { chance, pick } = this.chance;
        return chance(0.2) ? {} : { dt: pick([0, 1, 0.1, 1 / 60, -0.5, -10, 1000, 1e-9, this.number(60)]) };
    }

    addStar(state) {
        const id = this.chance.chance(0.04) ? this.known(state.stars) : this.newId('s');
        return { id, payload: this.body(state) };
    }

    updateStar(state) {
        const { chance, pick } = this.chance, id = this.known(state.stars), old = state.stars.get(id);
        const base = this.some(0.15, Object.fromEntries(Object.entries(this.bodyBase()).map(([name, value]) => [name, () => value])));
        const gone = old && chance(0.2) ? { [pick(Object.keys(old))]: null } : {};
        const kept = old && chance(0.1) ? { [pick(['id', 'children', 'parentId'])]: undefined } : {};
        for (const name of Object.keys(kept))
            kept[name] = old[name];
        return { id, payload: { ...base, ...this.bodyParts(state, 0.12), ...gone, ...kept } };
    }

    removeStar(state) {
        return { id: this.known(state.stars) };
    }

    attachStar(state) {
        return { childId: this.known(state.stars, 0.03), parentId: this.known(state.stars, 0.03) };
    }

    detachStar(state) {
        return { childId: this.known(state.stars) };
    }

    addGroup(state) {
        const { chance } = this.chance, payload = this.group();
        if (chance(0.4))
            payload.parentGroupId = this.known(state.groups, 0.1);
        if (chance(0.25))
            payload.children = Array.from({ length: 1 + this.chance.below(3) }, () => this.child(state));
        return { id: chance(0.05) ? this.known(state.groups) : this.newId('g'), payload };
    }

    updateGroup(state) {
        const { chance, pick } = this.chance, id = this.known(state.groups), old = state.groups.get(id);
        const payload = this.some(0.3, { name: () => this.word(), color: () => this.color(), position: () => this.place() });
        const same = old && chance(0.2) ? pick(['id', 'children', 'parentGroupId']) : null;
        return { id, payload: { ...payload, ...(same ? { [same]: old[same] } : {}), ...(chance(0.1) ? { icon: null } : {}), ...this.unknown() } };
    }

    removeGroup(state) {
        return { id: this.known(state.groups) };
    }

    child(state) {
        const { chance, pick } = this.chance;
        if (chance(0.4))
            return { id: this.known(state.groups), type: 'group' };
        const id = chance(0.9) && state.rootIds.length > 0 ? pick(state.rootIds) : this.known(state.stars);
        return { id, type: 'system' };
    }

    addToGroup(state) {
        return { groupId: this.known(state.groups), child: this.child(state) };
    }

    removeFromGroup(state) {
        const { chance, pick } = this.chance;
        const groupId = this.known(state.groups), children = state.groups.get(groupId)?.children ?? [];
        return { groupId, childId: children.length > 0 && chance(0.8) ? pick(children).id : this.known(state.stars) };
    }

    moveToGroup(state) {
        const { id: childId, type: childType } = this.child(state);
        return { childId, childType, targetGroupId: this.chance.chance(0.2) ? null : this.known(state.groups) };
    }

    setSmallBodyFields(state) {
        return { fields: this.mapOf(5, 'f', (id) => this.field(state, id)) };
    }

    updateSmallBodyField(state) {
        const id = this.known(state.smallBodyFields), whole = this.field(state, id);
        return { id, patch: this.some(0.2, Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, () => value]))) };
    }

    removeSmallBodyField(state) {
        return { id: this.known(state.smallBodyFields, 0.2) };
    }

    setProtoplanetaryDisks(state) {
        return { disks: this.mapOf(4, 'd', (id) => this.disk(state, id)) };
    }

    addProtoplanetaryDisk(state) {
        const id = this.chance.chance(0.2) ? this.known(state.protoplanetaryDisks) : this.newId('d');
        return { disk: this.disk(state, id) };
    }

    updateProtoplanetaryDisk(state) {
        const id = this.known(state.protoplanetaryDisks), whole = this.disk(state, id);
        return { id, patch: this.some(0.2, Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, () => value]))) };
    }

    removeProtoplanetaryDisk(state) {
        return { id: this.known(state.protoplanetaryDisks, 0.2) };
    }

    setNebulae(state) {
        return { nebulae: this.mapOf(4, 'n', (id) => this.nebula(state, id)) };
    }

    updateNebula(state) {
        const id = this.known(state.nebulae), whole = this.nebula(state, id);
        return { id, patch: this.some(0.2, Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, () => value]))) };
    }

    removeNebula(state) {
        return { id: this.known(state.nebulae, 0.2) };
    }

    updateRing(state) {
        const { chance } = this.chance;
        const patch = this.some(0.4, Object.fromEntries(Object.entries(this.ring()).map(([name, value]) => [name, () => value])));
        return { planetId: this.known(state.stars), patch: { ...patch, ...(chance(0.1) ? { warpFactor: null } : {}) } };
    }

    removeRing(state) {
        const ringed = new Map([...state.stars].filter(([, body]) => body.ring));
        return { planetId: this.known(this.chance.chance(0.7) ? ringed : state.stars) };
    }

    /** The present state without its clock, sometimes with something of its own next to it, or
     *  something wrong in it. */
    replaceSnapshot(state) {
        const { chance, pick } = this.chance;
        const snapshot = { stars: Object.fromEntries(state.stars), rootIds: [...state.rootIds] };
        if (chance(0.9))
            Object.assign(snapshot, { groups: Object.fromEntries(state.groups), rootGroupIds: [...state.rootGroupIds] });
        for (const [name, make, prefix] of [['belts', 'belt', 'b'], ['smallBodyFields', 'field', 'f'], ['protoplanetaryDisks', 'disk', 'd'],
            ['nebulae', 'nebula', 'n']]) {
            if (chance(0.6))
                snapshot[name] = this.mapOf(3, prefix, (id) => this[make](state, id));
        }
        if (chance(0.2) && state.stars.size > 0) {
            const id = pick([...state.stars.keys()]), body = snapshot.stars[id];
            const children = pick([[], [...body.children, 'nobody'], [...body.children, ...body.children, id], body.children.slice(1)]);
            snapshot.stars = { ...snapshot.stars, [id]: pick([{ ...body, children }, { ...body, parentId: this.known(state.stars) },
                { ...body, id: 'other' }]) };
        }
        if (chance(0.1))
            snapshot.rootIds = pick([[...snapshot.rootIds, ...snapshot.rootIds], snapshot.rootIds.slice(1), [...state.stars.keys()]]);
        return { snapshot };
    }

    /* ---- bad ones ---- */

    /** A command with something changed somewhere: a member less, one more, one of another kind, an
     *  id of another. */
    spoilt(command, state) {
        const { chance, pick, below } = this.chance;
        const copy = sent(command);
        if (chance(0.05))
            return { ...copy, type: pick(['Tick', 'addstar', 'unknown', '__proto__', 'constructor', 'toString', 'x'.repeat(200)]) };
        if (chance(0.03))
            return { type: copy.type };
        if (chance(0.1))
            return { ...copy, [pick(UNKNOWN)]: pick(BAD) };
        /* Go down to somewhere. */
        const names = Object.keys(copy).filter((name) => name !== 'type');
        if (names.length === 0)
            return { ...copy, dt: pick(BAD) };
        let at = copy, name = pick(names);
        while (typeof at[name] === 'object' && at[name] !== null && Object.keys(at[name]).length > 0 && chance(0.85)) {
            at = at[name];
            name = pick(Object.keys(at));
        }
        const change = below(10);
        if (change < 2)
            delete at[name];
        else if (change < 3 && !Array.isArray(at))
            put(at, pick(UNKNOWN), pick(BAD));
        else if (change < 5)
            put(at, name, this.known(pick([state.stars, state.groups])));
        else if (change < 7 && typeof at[name] === 'number')
            put(at, name, -at[name]);
        else
            put(at, name, pick(BAD));
        return copy;
    }
}

/* As it is once it has been JSON. */
const sent = (command) => JSON.parse(JSON.stringify(command));

/* Even a member of the name __proto__. */
function put(object, name, value) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
