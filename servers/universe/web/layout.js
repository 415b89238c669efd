/*
 * layout.js - where groups lie, and with them the roots of their systems.
 *
 * A group without a position of its own takes the next place of a grid, five in a row; what is in a group stands in a
 * square within its box. Ungrouped systems are at the origin.
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
