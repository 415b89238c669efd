/*
 * motion.js - the closed form of a body's motion, in double precision.
 *
 * The path of a bound body is A cos(theta) + B sin(theta) + C relative to its parent, with theta =
 * time * speed + phase. A and B are the half axes of the ellipse after its rotations. C is the
 * offset of its centre. The graphics card gets the same A, B and C and computes this sum for every
 * body in every frame. This file does it for the few bodies that labels, the camera and picking
 * need.
 */

const DEGREES = Math.PI / 180;

/** Rotate a vector by degrees about Z, then Y, then X. */
export function rotate([x, y, z], rotX = 0, rotY = 0, rotZ = 0) {
    if (rotZ) {
        const c = Math.cos(rotZ * DEGREES), s = Math.sin(rotZ * DEGREES);
        [x, y] = [x * c - y * s, x * s + y * c];
    }
    if (rotY) {
        const c = Math.cos(rotY * DEGREES), s = Math.sin(rotY * DEGREES);
        [x, z] = [x * c + z * s, -x * s + z * c];
    }
    if (rotX) {
        const c = Math.cos(rotX * DEGREES), s = Math.sin(rotX * DEGREES);
        [y, z] = [y * c - z * s, y * s + z * c];
    }
    return [x, y, z];
}

function ellipse(a, e, rotX, rotY, rotZ) {
    const b = a * Math.sqrt(Math.max(0, 1 - e * e));
    return { A: rotate([a, 0, 0], rotX, rotY, rotZ), B: rotate([0, 0, b], rotX, rotY, rotZ) };
}

const STILL = { kind: 'fixed', A: [0, 0, 0], B: [0, 0, 0], C: [0, 0, 0], speed: 0, phase: 0 };

function roguePath(rogue) {
    const p = rogue.initialPosition ?? { x: 0, y: 0, z: 0 }, v = rogue.velocity ?? { x: 0, y: 0, z: 0 };
    if (!rogue.pathCurvature)
        return { kind: 'line', A: [v.x, v.y, v.z], B: [0, 0, 0], C: [p.x, p.y, p.z], speed: 0, phase: 0 };
    const a = rogue.semiMajorAxis ?? 100, speed = 360 / (rogue.pathPeriod ?? a * 5);
    const shape = ellipse(a, rogue.eccentricity ?? 0, rogue.orbitRotX, rogue.orbitRotY, rogue.orbitRotZ);
    return {
        kind: 'ellipse',
        ...shape,
        C: [p.x + (rogue.pathOffsetX ?? 0), p.y + (rogue.pathOffsetY ?? 0), p.z + (rogue.pathOffsetZ ?? 0)],
        speed: Number.isFinite(speed) ? speed : 0,
        phase: 0,
    };
}

/** The path of a body around its parent; the path of a rogue planet through space. */
export function pathOf(star) {
    if (star.isRoguePlanet && star.roguePlanet)
        return roguePath(star.roguePlanet);
    if (!star.orbitalDistance)
        return STILL;
    const shape = ellipse(star.semiMajorAxis ?? star.orbitalDistance, star.eccentricity ?? 0,
        star.orbitRotX, star.orbitRotY, star.orbitRotZ);
    return {
        kind: 'ellipse',
        ...shape,
        C: [star.orbitOffsetX ?? 0, star.orbitOffsetY ?? 0, star.orbitOffsetZ ?? 0],
        speed: star.orbitalSpeed ?? 0,
        phase: star.orbitalPhase ?? 0,
    };
}

/** The angle on a path in degrees, between -360 and 360. Whole turns are removed, because they cost
 *  precision. An angle beyond the range of a number counts as 0, as in motion.c. */
export function angleAt(speed, phase, time) {
    return (time * speed + phase) % 360 || 0;
}

/** The place on a path at this time, relative to the parent. */
export function placeOn(path, time) {
    const { A, B, C } = path;
    if (path.kind === 'line')
        return [C[0] + A[0] * time, C[1] + A[1] * time, C[2] + A[2] * time];
    const theta = angleAt(path.speed, path.phase, time) * DEGREES;
    const c = Math.cos(theta), s = Math.sin(theta);
    return [A[0] * c + B[0] * s + C[0], A[1] * c + B[1] * s + C[1], A[2] * c + B[2] * s + C[2]];
}

/** The length and opacity of a comet's tail at a distance from its star, as factors. */
export function cometActivity(distance, falloff) {
    if (!(falloff > 0))
        return { activity: 1, opacity: 1 };
    if (distance <= falloff)
        return { activity: 1 + 0.5 * (1 - distance / falloff), opacity: 1 };
    const fade = Math.min(1, (distance - falloff) / (falloff / 2));
    return { activity: 1 - 0.7 * fade, opacity: 1 - fade };
}
