/*
 * universe-motion.mjs - where bodies are, for the reference: the closed formulas of the contract's
 * section on time and orbits, one body at a time along the chain of its parents.
 */

const RADIANS = Math.PI / 180;

/* The plane x-z is turned about z, then y, then x, each by degrees. */
function turned([x, y, z], rotX, rotY, rotZ) {
    const gamma = rotZ * RADIANS;
    [x, y] = [x * Math.cos(gamma) - y * Math.sin(gamma), x * Math.sin(gamma) + y * Math.cos(gamma)];
    const beta = rotY * RADIANS;
    [x, z] = [x * Math.cos(beta) + z * Math.sin(beta), -x * Math.sin(beta) + z * Math.cos(beta)];
    const alpha = rotX * RADIANS;
    [y, z] = [y * Math.cos(alpha) - z * Math.sin(alpha), y * Math.sin(alpha) + z * Math.cos(alpha)];
    return [x, y, z];
}

const plus = ([a, b, c], [d, e, f]) => [a + d, b + e, c + f];

function onEllipse(a, e, degrees, orbit) {
    const theta = (degrees % 360) * RADIANS;
    const flat = [a * Math.cos(theta), 0, a * Math.sqrt(1 - e * e) * Math.sin(theta)];
    return turned(flat, orbit.orbitRotX ?? 0, orbit.orbitRotY ?? 0, orbit.orbitRotZ ?? 0);
}

/** Where a bound body is, seen from its parent. */
export function aroundParent(body, time) {
    if (body.orbitalDistance === 0)
        return [0, 0, 0];
    const place = onEllipse(body.semiMajorAxis ?? body.orbitalDistance, body.eccentricity ?? 0,
        time * body.orbitalSpeed + (body.orbitalPhase ?? 0), body);
    return plus(place, [body.orbitOffsetX ?? 0, body.orbitOffsetY ?? 0, body.orbitOffsetZ ?? 0]);
}

/** Where a rogue planet is, bound to nothing. */
export function alongPath(path, time) {
    const { initialPosition: from, velocity } = path;
    if (!path.pathCurvature)
        return [from.x + velocity.x * time, from.y + velocity.y * time, from.z + velocity.z * time];
    const a = path.semiMajorAxis ?? 100;
    const place = onEllipse(a, path.eccentricity ?? 0, time * (360 / (path.pathPeriod ?? a * 5)), path);
    return plus(plus(place, [from.x, from.y, from.z]), [path.pathOffsetX ?? 0, path.pathOffsetY ?? 0, path.pathOffsetZ ?? 0]);
}

/** Where the i-th of n children is, seen from the middle of its group. */
function inGroup(i, n) {
    const edge = 8 + 2 * Math.sqrt(n), grid = Math.ceil(Math.sqrt(n)), spacing = 0.7 * edge / grid;
    return [(i % grid) * spacing - 0.35 * edge, 0, Math.floor(i / grid) * spacing - 0.35 * edge];
}

function groupPlace(state, group) {
    if (group.position)
        return [group.position.x, group.position.y, group.position.z];
    if (group.parentGroupId !== null)
        return childPlace(state, state.groups.get(group.parentGroupId), group.id, 'group');
    const i = state.rootGroupIds.indexOf(group.id);
    return [(i % 5) * 20 - 40, 0, Math.floor(i / 5) * 20];
}

function childPlace(state, group, id, type) {
    const i = group.children.findIndex((child) => child.id === id && child.type === type);
    return plus(groupPlace(state, group), inGroup(i, group.children.length));
}

/** Where a system is: where its group puts it, else at the origin. */
function systemPlace(state, id) {
    for (const group of state.groups.values()) {
        if (group.children.some((child) => child.id === id && child.type === 'system'))
            return childPlace(state, group, id, 'system');
    }
    return [0, 0, 0];
}

/* Beyond these degrees the contract asks for no precision. */
const DEGREES_MAX = 1e6;

const isWild = (body, orbit, time) => Math.abs(time * body.orbitalSpeed) > DEGREES_MAX
    || [orbit.orbitRotX, orbit.orbitRotY, orbit.orbitRotZ].some((degrees) => Math.abs(degrees) > DEGREES_MAX);

/** World position of a body of a state, and how large the numbers were that made it: infinite for
 *  what is too wild. */
export function worldPosition(state, id, time) {
    let place = [0, 0, 0], scale = 0;
    for (let body = state.stars.get(id); body; body = state.stars.get(body.parentId)) {
        const isRogue = body.isRoguePlanet && body.roguePlanet;
        const isSystem = body.parentId === null && !body.isRoguePlanet;
        const step = isRogue ? alongPath(body.roguePlanet, time) : isSystem ? systemPlace(state, body.id) : aroundParent(body, time);
        if (!isSystem && isWild(body, isRogue ? body.roguePlanet : body, time))
            scale = Infinity;
        place = plus(place, step);
        scale += Math.hypot(...step);
        if (isRogue)
            scale += Math.hypot(...Object.values(body.roguePlanet.initialPosition));
        else if (!isSystem)
            scale += Math.abs(body.semiMajorAxis ?? body.orbitalDistance)
                + Math.hypot(body.orbitOffsetX ?? 0, body.orbitOffsetY ?? 0, body.orbitOffsetZ ?? 0);
    }
    return { place, scale };
}
