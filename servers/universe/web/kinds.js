/*
 * kinds.js - the kind of a body, for the picture and for the words.
 */

/** A body's type. A body without a type is a star if it is a root, and a planet otherwise. */
export function typeOf(star) {
    if (star.isRoguePlanet)
        return 'rogue';
    return star.bodyType ?? (star.parentId === null ? 'star' : 'planet');
}
