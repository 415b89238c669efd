/*
 * universe-entities.mjs - what a universe is made of, for the reference: of each entity its
 * members, what they must be, and which ranges they keep to. Written from the contract alone; it
 * shares nothing with the server.
 *
 * A shape is a map of members, each { is(value), required }. Two kinds of fault are distinguished,
 * as the rules do: what is no such thing at all (a text where a number belongs) is refused always,
 * what is out of range only where the rules are strict.
 */

const ID_BYTES = 256;
const TEXT_BYTES = 1024;
const UNKNOWN_BYTES = 4096;

const bytes = (text) => Buffer.byteLength(text, 'utf8');

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
export const isId = (value) => typeof value === 'string' && value !== '' && bytes(value) <= ID_BYTES && !value.includes('\0');
export const isIdOrNull = (value) => value === null || isId(value);

const isText = (value) => typeof value === 'string' && bytes(value) <= TEXT_BYTES;
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const isBool = (value) => typeof value === 'boolean';
const isSeed = (value) => isText(value) || isNumber(value);
const isPlace = (value) => isObject(value) && ['x', 'y', 'z'].every((axis) => isNumber(value[axis]));
const isIds = (value) => Array.isArray(value) && value.every(isId);
const isNumbers = (length) => (value) => Array.isArray(value) && value.length === length && value.every(isNumber);
const oneOf = (...words) => (value) => words.includes(value);
const inside = (shape) => (value) => isObject(value) && misfit(shape, value) === null;

/* A shape from parts: [what the values are, names of required members, names of optional ones]. */
function shapeOf(...parts) {
    const shape = new Map();
    for (const [is, required, optional] of parts) {
        for (const name of required.split(' ').filter(Boolean))
            shape.set(name, { is, required: true });
        for (const name of (optional ?? '').split(' ').filter(Boolean))
            shape.set(name, { is, required: false });
    }
    return shape;
}

const RING = shapeOf(
    [isNumber, 'innerRadiusMultiplier outerRadiusMultiplier thickness opacity albedo density', 'warpFactor'],
    [isText, 'color'],
    [isSeed, '', 'seed'],
);

const COMET = shapeOf(
    [isBool, 'isPeriodic hasTail'],
    [isNumber, 'perihelionDistance aphelionDistance tailLengthBase tailWidthBase tailOpacityBase activityFalloffDistance',
        'lastPerihelionTime'],
    [isText, 'tailColor'],
    [isSeed, '', 'seed'],
);

const LAGRANGE_POINT = shapeOf(
    [isId, 'primaryId secondaryId'],
    [oneOf(1, 2, 3, 4, 5), 'pointIndex'],
    [isBool, 'stable'],
    [oneOf('starPlanet', 'planetMoon'), 'pairType'],
    [isText, '', 'label'],
);

const BLACK_HOLE = shapeOf(
    [isBool, 'hasAccretionDisk hasRelativisticJet hasPhotonRing'],
    [isNumber, 'spin shadowRadius accretionInnerRadius accretionOuterRadius diskThickness diskBrightness diskOpacity '
        + 'diskTemperature diskClumpiness jetLength jetOpeningAngle jetBrightness dopplerBeamingStrength lensingStrength '
        + 'rotationSpeedMultiplier',
    'diskTurbulenceScale diskStreakiness jetGradientPower photonRingMultiImageCount photonRingWidth diskTilt '
        + 'diskTiltAxisAngle'],
    [isText, '', 'diskInnerColor diskOuterColor jetBaseColor jetTipColor'],
    [isSeed, 'seed'],
);

const ROGUE = shapeOf(
    [isSeed, 'seed'],
    [isPlace, 'initialPosition velocity'],
    [isText, '', 'colorOverride'],
    [isNumber, '', 'pathCurvature semiMajorAxis eccentricity pathOffsetX pathOffsetY pathOffsetZ orbitRotX orbitRotY '
        + 'orbitRotZ pathPeriod trajectoryPastWindow trajectoryFutureWindow'],
    [isBool, '', 'showTrajectory'],
);

/* Without id, children and parentId, which the hierarchy keeps. */
export const BODY = shapeOf(
    [isText, 'name color'],
    [isNumber, 'mass radius orbitalDistance orbitalSpeed', 'orbitalPhase semiMajorAxis eccentricity orbitOffsetX orbitOffsetY '
        + 'orbitOffsetZ orbitRotX orbitRotY orbitRotZ'],
    [oneOf('star', 'planet', 'moon', 'asteroid', 'comet', 'lagrangePoint', 'blackHole'), '', 'bodyType'],
    [inside(RING), '', 'ring'],
    [isId, '', 'parentBeltId lagrangeHostId'],
    [oneOf('mainBelt', 'kuiperBelt', 'generic'), '', 'asteroidSubType'],
    [inside(COMET), '', 'comet'],
    [inside(LAGRANGE_POINT), '', 'lagrangePoint'],
    [inside(BLACK_HOLE), '', 'blackHole'],
    [isBool, '', 'isRoguePlanet'],
    [inside(ROGUE), '', 'roguePlanet'],
);

/* Without id, children and parentGroupId. */
export const GROUP = shapeOf(
    [isText, 'name', 'color icon'],
    [isPlace, '', 'position'],
);

/* The others without their id. */
export const FIELD = shapeOf(
    [isText, 'baseColor highlightColor regionLabel', 'name'],
    [isId, 'systemId hostStarId'],
    [isNumber, 'innerRadius outerRadius thickness particleCount opacity brightness clumpiness rotationSpeedMultiplier',
        'inclinationSigma'],
    [oneOf('main', 'kuiper'), 'beltType'],
    [isBool, 'isIcy', 'visible'],
    [isSeed, 'seed'],
    [oneOf('thin', 'moderate', 'thick', 'scattered'), 'style'],
);

export const DISK = shapeOf(
    [isText, 'baseColor highlightColor', 'name'],
    [isId, 'systemId centralStarId'],
    [isNumber, 'innerRadius outerRadius thickness particleCount opacity brightness clumpiness rotationSpeedMultiplier',
        'bandStrength bandFrequency gapSharpness innerGlowStrength noiseScale noiseStrength spiralStrength spiralArmCount '
        + 'edgeSoftness temperatureGradient'],
    [isSeed, 'seed'],
    [oneOf('thin', 'moderate', 'thick', 'extreme'), 'style'],
);

export const NEBULA = shapeOf(
    [isText, 'name baseColor accentColor'],
    [isPlace, 'position', 'dimensions'],
    [isNumber, 'radius density brightness noiseScale noiseDetail'],
    [isSeed, 'seed'],
    [isIds, '', 'associatedGroupIds'],
    [isBool, '', 'visible'],
);

export const BELT = shapeOf(
    [isText, 'name', 'color regionLabel'],
    [isId, 'parentId'],
    [isNumber, 'innerRadius outerRadius thickness eccentricity inclination asteroidCount', 'inclinationSigma lodLevel'],
    [isIds, 'asteroidIds'],
    [oneOf('main', 'kuiper'), '', 'beltType'],
    [isBool, '', 'isIcy visible'],
    [isNumbers(2), '', 'radialRangeHint'],
    [isSeed, '', 'seed'],
);

export { RING };

/** The first member that an entity lacks or that is no such thing, or null. Null does for any
 *  optional member. */
export function misfit(shape, entity, { partial = false } = {}) {
    for (const [name, { is, required }] of shape) {
        const value = Object.hasOwn(entity, name) ? entity[name] : undefined;
        if (value === undefined) {
            if (required && !partial)
                return name;
        } else if (!(value === null && !required) && !is(value)) {
            return name;
        }
    }
    return null;
}

/** Whether what the shape does not name is small enough to keep. */
export function unknownFits(shape, entity, kept) {
    const unknown = Object.entries(entity).filter(([name]) => !shape.has(name) && !kept.includes(name));
    return unknown.length === 0 || bytes(JSON.stringify(Object.fromEntries(unknown))) <= UNKNOWN_BYTES;
}

/* ---- ranges: the second half of I8. Lengths are distances; counts are not negative. */

const notNegative = (entity, ...names) => names.find((name) => entity?.[name] < 0);
const notOrdered = (entity, inner, outer) => (entity?.[inner] >= entity?.[outer] ? inner : undefined);
const notRound = (entity) => (entity?.eccentricity < 0 || entity?.eccentricity >= 1 ? 'eccentricity' : undefined);

const ringOutOfRange = (ring) => notNegative(ring, 'innerRadiusMultiplier', 'outerRadiusMultiplier', 'thickness')
    ?? notOrdered(ring, 'innerRadiusMultiplier', 'outerRadiusMultiplier');

/** The first member of a body that is out of its range. */
export const bodyOutOfRange = (body) =>
    notNegative(body, 'mass', 'radius', 'orbitalDistance', 'semiMajorAxis') ?? notRound(body) ?? ringOutOfRange(body.ring)
    ?? notNegative(body.comet, 'perihelionDistance', 'aphelionDistance', 'activityFalloffDistance')
    ?? notNegative(body.blackHole, 'shadowRadius', 'accretionInnerRadius', 'accretionOuterRadius')
    ?? notOrdered(body.blackHole, 'accretionInnerRadius', 'accretionOuterRadius')
    ?? notNegative(body.roguePlanet, 'semiMajorAxis') ?? notRound(body.roguePlanet);

/** The same for what lies between two radii, and for a nebula. */
export const beltOutOfRange = (belt) =>
    notNegative(belt, 'innerRadius', 'outerRadius', 'thickness', 'particleCount', 'asteroidCount')
    ?? notOrdered(belt, 'innerRadius', 'outerRadius') ?? notRound(belt);
export const nebulaOutOfRange = (nebula) => notNegative(nebula, 'radius');
