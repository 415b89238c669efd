/*
 * model.js - a universe's state in the page, and how commands change it.
 *
 * The stream has only commands that the server accepted, so the model refuses nothing. It applies a
 * command together with its events, which name everything that a removal removed. Listeners get the
 * ids that changed, for each map. If the model does not know a command, `apply` returns false, and
 * the page fetches the changes from the server.
 */

export const MAPS = ['stars', 'groups', 'belts', 'smallBodyFields', 'protoplanetaryDisks', 'nebulae'];
const MULTIPLE = { smallBodyFieldsSet: 'smallBodyFields', protoplanetaryDisksSet: 'protoplanetaryDisks', nebulaeSet: 'nebulae' };
const RING = (star) => ({
    innerRadiusMultiplier: 1.5, outerRadiusMultiplier: 3, thickness: 0.1 * star.radius, opacity: 0.6,
    albedo: 0.8, color: star.color, density: 0.6,
});

function mapOf(object) {
    return new Map(Object.entries(object ?? {}));
}

function without(list, id) {
    return (list ?? []).filter((item) => item !== id);
}

/** A shallow merge, as on the server: null removes the member. */
function merge(target, patch) {
    const out = { ...target, ...patch };
    for (const name of Object.keys(patch)) {
        if (patch[name] === null && name !== 'parentId' && name !== 'parentGroupId')
            delete out[name];
    }
    return out;
}

export class Model {
    constructor() {
        this.listeners = new Set();
        this.clear();
    }

    clear() {
        for (const map of MAPS)
            this[map] = new Map();
        this.rootIds = [];
        this.rootGroupIds = [];
        this.time = 0;
        this.version = -1;
    }

    /** @param listener called with {reset: boolean, changed: {map: Set of ids}, roots: boolean} */
    listen(listener) {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    tell(change) {
        for (const listener of this.listeners)
            listener(change);
    }

    /** Replace everything. */
    load(state, version) {
        for (const map of MAPS)
            this[map] = mapOf(state[map]);
        this.rootIds = state.rootIds ?? [];
        this.rootGroupIds = state.rootGroupIds ?? [];
        this.time = state.time ?? 0;
        this.version = version;
        this.tell({ reset: true, changed: {}, roots: true });
    }

    /** Add a part of a state that is loaded in pages. */
    extend(state) {
        const change = { reset: false, changed: {}, roots: !!(state.rootIds ?? state.rootGroupIds) };
        for (const map of MAPS) {
            const entries = Object.entries(state[map] ?? {});
            for (const [id, item] of entries)
                this[map].set(id, item);
            if (entries.length > 0)
                change.changed[map] = new Set(entries.map(([id]) => id));
        }
        for (const list of ['rootIds', 'rootGroupIds']) {
            if (state[list])
                this[list] = state[list];
        }
        this.tell(change);
    }

    /** Take over the server's changes since a version. */
    merge({ version, time, delta }) {
        const change = { reset: false, changed: {}, roots: false };
        for (const map of MAPS) {
            const set = new Set();
            for (const [id, item] of Object.entries(delta[map] ?? {})) {
                this[map].set(id, item);
                set.add(id);
            }
            for (const id of delta.removed?.[map] ?? []) {
                this[map].delete(id);
                set.add(id);
            }
            if (set.size > 0)
                change.changed[map] = set;
        }
        for (const list of ['rootIds', 'rootGroupIds']) {
            if (delta[list]) {
                this[list] = delta[list];
                change.roots = true;
            }
        }
        this.time = time;
        this.version = version;
        this.tell(change);
    }

    /** Apply an accepted command. @returns false if the model does not know it */
    apply(command, { version, events = [], time }) {
        const step = STEPS[command.type];
        if (!step)
            return false;
        const change = new Change(this);
        if (step(change, command, events) === false)
            return false;
        this.version = version;
        this.time = time ?? this.time;
        if (!change.isEmpty)
            this.tell(change);
        return true;
    }
}

/** What one command changes, while it is applied. */
class Change {
    constructor(model) {
        this.model = model;
        this.reset = false;
        this.roots = false;
        this.changed = {};
    }

    get isEmpty() {
        return !this.roots && Object.keys(this.changed).length === 0;
    }

    put(map, id, item) {
        (this.changed[map] ??= new Set()).add(id);
        this.model[map].set(id, item);
    }

    patch(map, id, patch) {
        const item = this.model[map].get(id);
        if (!item)
            return false;
        this.put(map, id, merge(item, patch));
        return true;
    }

    drop(map, id) {
        if (this.model[map].delete(id))
            (this.changed[map] ??= new Set()).add(id);
    }

    dropAll(map, ids) {
        for (const id of ids ?? [])
            this.drop(map, id);
    }

    replaceAll(map, object) {
        const next = mapOf(object);
        const set = (this.changed[map] ??= new Set());
        for (const id of this.model[map].keys())
            set.add(id);
        for (const id of next.keys())
            set.add(id);
        this.model[map] = next;
    }

    /* ---- bodies ------------------------------------------------------------------------------ */

    unlink(id) {
        const { stars } = this.model, parent = stars.get(stars.get(id)?.parentId);
        if (parent)
            this.put('stars', parent.id, { ...parent, children: without(parent.children, id) });
        else if (!stars.get(id)?.isRoguePlanet)
            this.unroot(id);
    }

    unroot(id) {
        this.model.rootIds = without(this.model.rootIds, id);
        this.roots = true;
    }

    link(id) {
        const { stars } = this.model, star = stars.get(id), parent = stars.get(star.parentId);
        if (parent) {
            /* changed in place: a parent may have a hundred thousand */
            const children = parent.children ?? [];
            children.push(id);
            this.put('stars', parent.id, { ...parent, children });
        } else if (!star.isRoguePlanet) {
            this.model.rootIds.push(id);
            this.roots = true;
        }
    }

    /* ---- groups ------------------------------------------------------------------------------ */

    leaveGroups(id) {
        for (const group of this.model.groups.values()) {
            if (group.children?.some((child) => child.id === id))
                this.put('groups', group.id, { ...group, children: group.children.filter((child) => child.id !== id) });
        }
        this.model.rootGroupIds = without(this.model.rootGroupIds, id);
        this.roots = true;
    }

    joinGroup(id, type, target) {
        const group = this.model.groups.get(target);
        if (group)
            this.put('groups', target, { ...group, children: [...(group.children ?? []), { id, type }] });
        else if (type === 'group')
            this.model.rootGroupIds = [...this.model.rootGroupIds, id];
        if (type === 'group')
            this.patch('groups', id, { parentGroupId: target ?? null });
        this.roots = true;
    }
}

function addStar(change, { id, payload }) {
    change.put('stars', id, { orbitalPhase: 0, ...payload, id, children: [] });
    change.link(id);
}

/* isRoguePlanet decides whether a body without a parent is a root. */
function updateStar(change, { id, payload }) {
    const before = change.model.stars.get(id);
    if (!change.patch('stars', id, payload))
        return false;
    const after = change.model.stars.get(id);
    if (before.parentId === null && !!before.isRoguePlanet !== !!after.isRoguePlanet) {
        if (after.isRoguePlanet)
            change.unroot(id);
        else
            change.link(id);
    }
    return true;
}

function removeStar(change, { id }, events) {
    const event = events.find((item) => item.type === 'starRemoved');
    const { stars } = change.model;
    if (!event?.removedIds)
        return false;
    const gone = new Set(event.removedIds);
    for (const each of gone) {
        const parentId = stars.get(each)?.parentId;
        if (each === id || !gone.has(parentId))
            change.unlink(each);
    }
    for (const each of gone) {
        if ([...change.model.groups.values()].some((group) => group.children?.some((child) => child.id === each)))
            change.leaveGroups(each);
        change.drop('stars', each);
    }
    change.dropAll('smallBodyFields', event.removedFieldIds);
    change.dropAll('protoplanetaryDisks', event.removedDiskIds);
    change.dropAll('belts', event.removedBeltIds);
    return true;
}

function attachStar(change, { childId, parentId }) {
    if (!change.model.stars.has(childId))
        return false;
    change.unlink(childId);
    change.leaveGroups(childId);
    change.put('stars', childId, { ...change.model.stars.get(childId), parentId });
    change.link(childId);
    return true;
}

function detachStar(change, { childId }) {
    if (!change.model.stars.has(childId))
        return false;
    change.unlink(childId);
    change.put('stars', childId, { ...change.model.stars.get(childId), parentId: null, orbitalDistance: 0 });
    change.link(childId);
    return true;
}

/** These commands change several groups, with rules about order. The page fetches their result. */
function fetched() {
    return false;
}

function moveToGroup(change, { childId, childType, targetGroupId }) {
    if (targetGroupId !== null && !change.model.groups.has(targetGroupId))
        return false;
    change.leaveGroups(childId);
    change.joinGroup(childId, childType, targetGroupId);
    return true;
}

function setAll(event) {
    return (change, command) => change.replaceAll(MULTIPLE[event], command.fields ?? command.disks ?? command.nebulae);
}

function updateIn(map) {
    return (change, { id, patch }) => change.patch(map, id, patch);
}

function removeFrom(map) {
    return (change, { id }) => change.drop(map, id);
}

const STEPS = {
    tick() {},
    addStar,
    updateStar,
    removeStar,
    attachStar,
    detachStar,
    addGroup: fetched,
    updateGroup: (change, { id, payload }) => change.patch('groups', id, payload),
    removeGroup: fetched,
    addToGroup: fetched,
    removeFromGroup: fetched,
    moveToGroup,
    setSmallBodyFields: setAll('smallBodyFieldsSet'),
    updateSmallBodyField: updateIn('smallBodyFields'),
    removeSmallBodyField: removeFrom('smallBodyFields'),
    setProtoplanetaryDisks: setAll('protoplanetaryDisksSet'),
    addProtoplanetaryDisk: (change, { disk }) => change.put('protoplanetaryDisks', disk.id, disk),
    updateProtoplanetaryDisk: updateIn('protoplanetaryDisks'),
    removeProtoplanetaryDisk: removeFrom('protoplanetaryDisks'),
    setNebulae: setAll('nebulaeSet'),
    updateNebula: updateIn('nebulae'),
    removeNebula: removeFrom('nebulae'),
    updateRing(change, { planetId, patch }) {
        const star = change.model.stars.get(planetId);
        return star ? change.patch('stars', planetId, { ring: merge(star.ring ?? RING(star), patch) }) : false;
    },
    removeRing: (change, { planetId }) => change.patch('stars', planetId, { ring: null }),
    replaceSnapshot: fetched,
};
