/*
 * kinds.js - what kind of body a body is drawn and described as.
 */

/** A body's type; without one, roots are stars and what circles them planets. */
export function typeOf(star) {
    if (star.isRoguePlanet)
        return 'rogue';
    return star.bodyType ?? (star.parentId === null ? 'star' : 'planet');
}
