/*
 * sol.mjs - a small universe as commands: a star with eight planets and eleven moons, two ringed,
 * two belts, a disk and a nebula in two groups.
 */
const PLANETS = [
    /* id        distance speed   phase  e      radius mass  colour     more */
    ['mercury',  20,  4.1,   47,  0.206, 0.38, 0.055, '#9C8F84'],
    ['venus',    35,  1.6,   131, 0.007, 0.95, 0.815, '#E3C38A'],
    ['earth',    50,  1.0,   0,   0.017, 1.0,  1,     '#4F8FD8', { semiMajorAxis: 51, orbitRotZ: 1.5 }],
    ['mars',     75,  0.53,  211, 0.093, 0.53, 0.107, '#D2673F'],
    ['jupiter',  160, 0.084, 34,  0.049, 5.2,  318,   '#D8B48A', { semiMajorAxis: 165, orbitRotX: 1.3, orbitRotZ: -2.4 }],
    ['saturn',   290, 0.034, 169, 0.056, 4.4,  95,    '#E5CF9C', { semiMajorAxis: 295, orbitRotX: 2.5, orbitRotZ: 5.5 }],
    ['uranus',   480, 0.012, 303, 0.047, 2.6,  14.5,  '#9FD8DE'],
    ['neptune',  700, 0.006, 260, 0.009, 2.5,  17.1,  '#5B7FE0', { semiMajorAxis: 710 }],
];
const MOONS = [
    ['luna', 'earth', 4], ['phobos', 'mars', 2], ['deimos', 'mars', 3.5], ['io', 'jupiter', 9], ['europa', 'jupiter', 12],
    ['ganymede', 'jupiter', 16], ['callisto', 'jupiter', 22], ['titan', 'saturn', 14], ['enceladus', 'saturn', 7],
    ['miranda', 'uranus', 6], ['triton', 'neptune', 10],
];

const named = (id) => id[0].toUpperCase() + id.slice(1);

function add(id, parentId, payload) {
    return { type: 'addStar', id, payload: { name: named(id), parentId, ...payload } };
}

function planet([id, orbitalDistance, orbitalSpeed, orbitalPhase, eccentricity, radius, mass, color, more = {}]) {
    return add(id, 'sol', { bodyType: 'planet', mass, radius, color, orbitalDistance, orbitalSpeed, orbitalPhase, eccentricity, ...more });
}

function moon([id, parent, orbitalDistance], i) {
    return add(id, parent, {
        bodyType: 'moon', mass: 0.01, radius: 0.25, color: '#C8C8C8', orbitalDistance, orbitalSpeed: 24 - orbitalDistance,
        orbitalPhase: (i * 67) % 360,
    });
}

function belt(id, beltType, innerRadius, outerRadius, baseColor) {
    return {
        id, name: named(id), systemId: 'sol', hostStarId: 'sol', innerRadius, outerRadius, thickness: 4, particleCount: 4000, baseColor,
        highlightColor: '#E8DCC4', opacity: 0.7, brightness: 0.6, clumpiness: 0.4, rotationSpeedMultiplier: 1, beltType,
        regionLabel: id, isIcy: beltType === 'kuiper', seed: id, style: 'moderate',
    };
}

export const commands = [
    add('sol', null, { bodyType: 'star', mass: 333000, radius: 9, color: '#FFD9A0', orbitalDistance: 0, orbitalSpeed: 0 }),
    ...PLANETS.map(planet),
    ...MOONS.map(moon),
    { type: 'updateRing', planetId: 'saturn', patch: { innerRadiusMultiplier: 1.4, outerRadiusMultiplier: 2.6, opacity: 0.8, color: '#E8D9B4', seed: 7 } },
    { type: 'updateRing', planetId: 'uranus', patch: { innerRadiusMultiplier: 1.7, outerRadiusMultiplier: 2.1, opacity: 0.35, color: '#B8D8DC' } },
    { type: 'setSmallBodyFields', fields: { main: belt('main', 'main', 95, 135, '#9A8B78'), kuiper: belt('kuiper', 'kuiper', 780, 1000, '#8898B0') } },
    { type: 'setNebulae', nebulae: { veil: {
        id: 'veil', name: 'Veil', position: { x: -900, y: -260, z: -1500 }, radius: 620, density: 0.6, brightness: 0.7, baseColor: '#4A5FB8',
        accentColor: '#C86A9C', noiseScale: 1.2, noiseDetail: 4, seed: 99 } } },
    add('halley', 'sol', {
        bodyType: 'comet', mass: 0.001, radius: 0.3, color: '#DCEBFF', orbitalDistance: 120, orbitalSpeed: 3, orbitalPhase: 35,
        eccentricity: 0.7, orbitRotX: 18, comet: { isPeriodic: true, perihelionDistance: 36, aphelionDistance: 204, hasTail: true,
            tailLengthBase: 30, tailWidthBase: 0.8, tailColor: '#A8D0FF', tailOpacityBase: 0.8, activityFalloffDistance: 160 } }),
];
