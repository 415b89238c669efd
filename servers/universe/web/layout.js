/*
 * layout.js - where groups are, and where the roots of systems are.
 *
 * A group without a position of its own takes the next place of a grid, five in a row. The systems
 * of a group form a square within its box. For systems without a group the state has no place: the
 * server keeps them all at the origin. The page puts them on a grid of hexagons, in the order of
 * the roots and with the first one at the origin. Only the picture knows that grid.
 */

/** The length of a group's box. */
export function boxEdge(childCount, base = 8) {
    return base + 2 * Math.sqrt(childCount);
}

function cell(i, count, edge) {
    const g = Math.max(1, Math.ceil(Math.sqrt(count)));
    const spacing = (0.7 * edge) / g;
    return [(i % g) * spacing - 0.35 * edge, Math.floor(i / g) * spacing - 0.35 * edge];
}

/**
 * Boxes of all groups, and the places of the systems in them.
 *
 * @returns {{boxes: Map<string, {position: number[], edge: number, color: string, name: string}>,
 *            systems: Map<string, number[]>}}
 */
export function layOut(groups, rootGroupIds) {
    const boxes = new Map(), systems = new Map();
    const open = [];
    rootGroupIds.forEach((id, i) => {
        if (groups.has(id))
            open.push({ id, position: [(i % 5) * 20 - 40, 0, Math.floor(i / 5) * 20] });
    });
    while (open.length > 0) {
        const { id, position } = open.pop();
        const group = groups.get(id);
        if (boxes.has(id))
            continue;
        const at = group.position ? [group.position.x, group.position.y, group.position.z] : position;
        const children = group.children ?? [];
        const edge = boxEdge(children.length);
        boxes.set(id, { position: at, edge, color: group.color ?? '#7f8fb0', name: group.name ?? id });
        children.forEach((child, i) => {
            const [x, z] = cell(i, children.length, edge);
            const inside = [at[0] + x, at[1], at[2] + z];
            if (child.type === 'system')
                systems.set(child.id, inside);
            else if (groups.has(child.id))
                open.push({ id: child.id, position: inside });
        });
    }
    return { boxes, systems };
}

const PITCH_LEAST = 12, PITCH_STEP = 1.25, PITCH_ROOM = 2.2;

/** The distance between two systems, from the sizes of some of them. It has few values, so a new
 *  body seldom moves systems. */
export function pitchOf(sizes) {
    const sorted = [...sizes].sort((a, b) => a - b), middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const wanted = Math.max(PITCH_LEAST, middle * PITCH_ROOM);
    return PITCH_LEAST * PITCH_STEP ** Math.ceil(Math.log(wanted / PITCH_LEAST) / Math.log(PITCH_STEP) - 1e-9);
}

const SIDES = [0, 1, 2, 3, 4, 5].map((i) => [Math.cos((i * Math.PI) / 3), Math.sin((i * Math.PI) / 3)]);

/** The cell of this number: 0 is the middle, 1 to 6 are the ring around it, 7 to 18 the next
 *  ring. */
export function hexagon(number) {
    if (number === 0)
        return [0, 0];
    const ring = Math.floor((3 + Math.sqrt(12 * number - 3)) / 6), along = number - 3 * ring * (ring - 1) - 1;
    const [cornerX, cornerZ] = SIDES[Math.floor(along / ring)], [stepX, stepZ] = SIDES[(Math.floor(along / ring) + 2) % 6];
    return [cornerX * ring + stepX * (along % ring), cornerZ * ring + stepZ * (along % ring)];
}

/** Places for systems without a group. One system alone stays at the origin. */
export function spread(ids, pitch) {
    return new Map(ids.map((id, i) => {
        const [x, z] = hexagon(i);
        return [id, [x * pitch, 0, z * pitch]];
    }));
}
