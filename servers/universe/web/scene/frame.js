/*
 * frame.js - the first view: where the camera looks and from how far, so that stars and what orbits
 * them can be seen.
 *
 * The view is centred on the median of the roots, because one body far away must not move it. The
 * distance depends on the roots and on the bodies that orbit them directly. A moon may be a million
 * units away from its planet; moons have no part in it.
 */

const STAR_PIXELS = 9;       /* the width that a star should have */
const ROOTS_SHARE = 0.9, CHILDREN_SHARE = 0.7, CHILDREN_MOST = 0.95;
const FEW = 40;              /* children: of so few, the view may show all */
const MARGIN = 0.94;         /* the part of the free area that is used */
const CLOSEST = 14;          /* radii of the largest root */

/** The value below which this share of the values is; they are sorted in place. */
export function quantile(values, share) {
    values.sort((a, b) => a - b);
    return values[Math.min(values.length - 1, Math.ceil(share * values.length) - 1)] ?? 0;
}

/** The median of places, axis by axis. */
export function medianPlace(places) {
    return [0, 1, 2].map((axis) => quantile(places.map((place) => place[axis]), 0.5));
}

/**
 * The distance from which every one of these points is in view.
 *
 * @param axes  the camera's {right, up, back}
 * @param lens  {x, y}: tangents of half the angle that is free of panes
 */
function distanceFor(points, target, axes, lens) {
    let most = 0;
    for (const point of points) {
        let across = 0, along = 0, back = 0;
        for (let i = 0; i < 3; i++) {
            const off = point[i] - target[i];
            across += off * axes.right[i];
            along += off * axes.up[i];
            back += off * axes.back[i];
        }
        most = Math.max(most, back + Math.max(Math.abs(across) / lens.x, Math.abs(along) / lens.y));
    }
    return most;
}

/**
 * @param roots     {place, radius, children: number}
 * @param children  of each the points of its orbit that are to be in view
 * @param camera    {axes, lens: {x, y}, scale: pixels of one unit at distance 1}
 * @returns {{target: number[], distance: number}}
 */
export function frame(roots, children, { axes, lens, scale }) {
    const target = medianPlace(roots.map(({ place }) => place)), free = { x: lens.x * MARGIN, y: lens.y * MARGIN };
    const rootsAt = quantile(roots.map(({ place }) => distanceFor([place], target, axes, free)), ROOTS_SHARE);
    const away = children.map((points) => distanceFor(points, target, axes, free));
    const least = Math.max(rootsAt, quantile(away, CHILDREN_SHARE));
    const most = Math.max(least, quantile(away, away.length > FEW ? CHILDREN_MOST : 1));
    const hosts = roots.filter((root) => root.children > 0), sized = hosts.length > 0 ? hosts : roots;
    const wanted = (quantile(sized.map(({ radius }) => radius), 0.5) * 2 * scale) / STAR_PIXELS;
    const closest = CLOSEST * roots.reduce((sum, { radius }) => Math.max(sum, radius), 0);
    return { target, distance: Math.max(closest, Math.min(most, Math.max(least, wanted))) };
}
