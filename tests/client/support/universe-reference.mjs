/*
 * universe-reference.mjs - the reference: what a command does to a universe, as the contract's
 * tables of commands, corrections and invariants say it, and nothing else. Plain and slow on
 * purpose; it shares not a line with the server.
 *
 *     apply(state, command, rules) -> { verdict, state, events, command }
 *
 * A state is held in Maps (ids may be any text) and never altered: each command works on a copy of
 * the maps, and an entity is replaced, not changed. The verdict is `applied`, `unchanged` or
 * `rejected`, or `repaired`: a snapshot that lenient rules take although its hierarchy disagrees
 * with itself; the contract does not say how it is mended, so the state is the one that was sent.
 * Where a command is wrong in several ways the contract fixes no order; then `events` of a
 * rejection are all the answers that would be right.
 *
 * rules: { strict, defaultDt }.
 */
import { isDeepStrictEqual } from 'node:util';

import {
    BELT, BODY, DISK, FIELD, GROUP, NEBULA, RING, beltOutOfRange, bodyOutOfRange, isId, isIdOrNull, isObject, misfit,
    nebulaOutOfRange, unknownFits,
} from './universe-entities.mjs';

const TIME_MAX = 1e15;
const PARENTS = ['parentId', 'parentGroupId']; /* null says something there */
const HIERARCHY = ['I2', 'I3', 'I4', 'I6'];
const MAPS = ['stars', 'groups', 'belts', 'smallBodyFields', 'protoplanetaryDisks', 'nebulae'];

/** Of the event starRemoved: how many of the removed are the body and what is below it; they come
 *  first, pre-order. */
export const BELOW = Symbol('below');

/* ---- states ---------------------------------------------------------------------------------- */

/** A state from its JSON; what is missing is empty. */
export function fromJson(json = {}) {
    const state = { rootIds: json.rootIds ?? [], rootGroupIds: json.rootGroupIds ?? [], time: json.time ?? 0 };
    for (const name of MAPS)
        state[name] = new Map(Object.entries(json[name] ?? {}));
    return state;
}

export function toJson(state) {
    const json = { rootIds: state.rootIds, rootGroupIds: state.rootGroupIds, time: state.time };
    for (const name of MAPS)
        json[name] = Object.fromEntries(state[name]);
    return json;
}

function copyOf(state) {
    const copy = { ...state, rootIds: [...state.rootIds], rootGroupIds: [...state.rootGroupIds] };
    for (const name of MAPS)
        copy[name] = new Map(state[name]);
    return copy;
}

/** Change members of the entity of that id in a map. */
function set(map, id, members) {
    map.set(id, { ...map.get(id), ...members });
}

function without(entity, name) {
    return Object.fromEntries(Object.entries(entity).filter(([key]) => key !== name));
}

const others = (list, id) => list.filter((one) => one !== id);
const isRoot = (body) => body.parentId === null && !body.isRoguePlanet;

/* ---- what must always hold ------------------------------------------------------------------- */

/* Parents and children agree, nobody is below himself, the roots are the roots: I1 to I5 for bodies
 * or for groups. */
function forestFault(map, roots, parentOf, childrenOf, isListed) {
    for (const [id, entity] of map) {
        if (entity.id !== id)
            return 'I1';
        const children = childrenOf(entity);
        if (new Set(children).size !== children.length)
            return 'I2';
        if (!children.every((child) => map.has(child) && parentOf(map.get(child)) === id))
            return 'I2';
        const parent = parentOf(entity);
        if (parent !== null && !(map.has(parent) && childrenOf(map.get(parent)).includes(id)))
            return 'I2';
        const above = new Set();
        for (let at = id; at !== null && map.has(at); at = parentOf(map.get(at))) {
            if (above.has(at))
                return 'I3';
            above.add(at);
        }
    }
    const listed = [...map.keys()].filter((id) => isListed(map.get(id)));
    const right = roots.length === listed.length && new Set(roots).size === roots.length
        && roots.every((id) => map.has(id) && isListed(map.get(id)));
    return right ? null : 'I4';
}

function membershipFault(state) {
    const systems = new Set();
    for (const group of state.groups.values()) {
        for (const { id, type } of group.children) {
            if (type !== 'system')
                continue;
            if (systems.has(id) || !state.stars.has(id) || !isRoot(state.stars.get(id)))
                return 'I6';
            systems.add(id);
        }
    }
    return null;
}

function danglingFault(state) {
    const there = (id) => id === undefined || id === null || state.stars.has(id);
    const bodies = [...state.stars.values()].every((body) => there(body.lagrangeHostId)
        && (!body.lagrangePoint || (there(body.lagrangePoint.primaryId) && there(body.lagrangePoint.secondaryId))));
    const all = bodies && [...state.smallBodyFields.values()].every((field) => there(field.hostStarId))
        && [...state.protoplanetaryDisks.values()].every((disk) => there(disk.centralStarId))
        && [...state.belts.values()].every((belt) => there(belt.parentId));
    return all ? null : 'I7';
}

function rangeFault(state) {
    const bad = [...state.stars.values()].some(bodyOutOfRange)
        || [...state.smallBodyFields.values(), ...state.protoplanetaryDisks.values(), ...state.belts.values()].some(beltOutOfRange)
        || [...state.nebulae.values()].some(nebulaOutOfRange);
    return bad ? 'I8' : null;
}

function sizeFault(state) {
    const small = (map, shape, ...kept) => [...map.values()].every((entity) => unknownFits(shape, entity, kept));
    const all = small(state.stars, BODY, 'id', 'children', 'parentId') && small(state.groups, GROUP, 'id', 'children', 'parentGroupId')
        && small(state.smallBodyFields, FIELD, 'id') && small(state.protoplanetaryDisks, DISK, 'id')
        && small(state.nebulae, NEBULA, 'id') && small(state.belts, BELT, 'id');
    return all ? null : 'I9';
}

/** The first invariant that a state breaks, or null. */
export function brokenInvariant(state, rules) {
    return forestFault(state.stars, state.rootIds, (body) => body.parentId, (body) => body.children, isRoot)
        ?? forestFault(state.groups, state.rootGroupIds, (group) => group.parentGroupId,
            (group) => group.children.filter(({ type }) => type === 'group').map(({ id }) => id),
            (group) => group.parentGroupId === null)
        ?? [...MAPS.slice(2)].map((name) => [...state[name]].every(([id, entity]) => entity.id === id) ? null : 'I1').find(Boolean)
        ?? membershipFault(state) ?? (rules.strict ? danglingFault(state) ?? rangeFault(state) : null) ?? sizeFault(state);
}

/* ---- commands: their form -------------------------------------------------------------------- */

const isChild = (value) => isObject(value) && isId(value.id) && (value.type === 'system' || value.type === 'group');
const isChildren = (value) => Array.isArray(value) && value.every(isChild);
const isIds = (value) => Array.isArray(value) && value.every(isId);

function isNewBody(payload, command) {
    return isObject(payload) && misfit(BODY, payload) === null && isIdOrNull(payload.parentId)
        && (payload.id === undefined || payload.id === command.id)
        && (payload.children === undefined || isDeepStrictEqual(payload.children, []));
}

function isNewGroup(payload, command) {
    return isObject(payload) && misfit(GROUP, payload) === null && isIdOrNull(payload.parentGroupId)
        && isChildren(payload.children) && (payload.id === undefined || payload.id === command.id);
}

/* `kept`: the members that the hierarchy keeps, and what they are; one may name them (C3), but of
 * the right kind (C10). */
const patchOf = (shape, kept = { id: isId }) => (patch) => isObject(patch)
    && misfit(shape, patch, { partial: true }) === null
    && Object.entries(kept).every(([name, is]) => !Object.hasOwn(patch, name) || is(patch[name]));
const isBodyPatch = patchOf(BODY, { id: isId, children: isIds, parentId: isIdOrNull });
const isGroupPatch = patchOf(GROUP, { id: isId, children: isChildren, parentGroupId: isIdOrNull });
const isWhole = (shape) => (entity) => isObject(entity) && isId(entity.id) && misfit(shape, entity) === null;
const mapOf = (is) => (map) => isObject(map)
    && Object.entries(map).every(([id, entity]) => isId(id) && is(entity) && entity.id === id);

const isWholeBody = (body) => isWhole(BODY)(body) && isIdOrNull(body.parentId) && isIds(body.children);
const isWholeGroup = (group) => isWhole(GROUP)(group) && isIdOrNull(group.parentGroupId) && isChildren(group.children);

function isSnapshot(snapshot) {
    const optional = (name, is) => (snapshot[name] ?? null) === null || is(snapshot[name]);
    return isObject(snapshot) && mapOf(isWholeBody)(snapshot.stars) && isIds(snapshot.rootIds)
        && optional('groups', mapOf(isWholeGroup)) && optional('rootGroupIds', isIds) && optional('belts', mapOf(isWhole(BELT)))
        && optional('smallBodyFields', mapOf(isWhole(FIELD))) && optional('protoplanetaryDisks', mapOf(isWhole(DISK)))
        && optional('nebulae', mapOf(isWhole(NEBULA)));
}

/* Of each command its members and what they must be. */
const isNumberIfAny = (value) => value === undefined || (typeof value === 'number' && Number.isFinite(value));
const FORMS = {
    tick: { dt: isNumberIfAny },
    addStar: { id: isId, payload: isNewBody },
    updateStar: { id: isId, payload: isBodyPatch },
    removeStar: { id: isId },
    attachStar: { childId: isId, parentId: isId },
    detachStar: { childId: isId },
    addGroup: { id: isId, payload: isNewGroup },
    updateGroup: { id: isId, payload: isGroupPatch },
    removeGroup: { id: isId },
    addToGroup: { groupId: isId, child: isChild },
    removeFromGroup: { groupId: isId, childId: isId },
    moveToGroup: { childId: isId, childType: (type) => type === 'system' || type === 'group', targetGroupId: isIdOrNull },
    setSmallBodyFields: { fields: mapOf(isWhole(FIELD)) },
    updateSmallBodyField: { id: isId, patch: patchOf(FIELD) },
    removeSmallBodyField: { id: isId },
    setProtoplanetaryDisks: { disks: mapOf(isWhole(DISK)) },
    addProtoplanetaryDisk: { disk: isWhole(DISK) },
    updateProtoplanetaryDisk: { id: isId, patch: patchOf(DISK) },
    removeProtoplanetaryDisk: { id: isId },
    setNebulae: { nebulae: mapOf(isWhole(NEBULA)) },
    updateNebula: { id: isId, patch: patchOf(NEBULA) },
    removeNebula: { id: isId },
    updateRing: { planetId: isId, patch: patchOf(RING, {}) },
    removeRing: { planetId: isId },
    replaceSnapshot: { snapshot: isSnapshot, time: isNumberIfAny },
};

/** The 25 types of commands. */
export const TYPES = Object.keys(FORMS);

/* ---- commands: what they do ------------------------------------------------------------------ */

/* A reducer gets the copy that it may alter, and `no`, which takes an objection; it returns its
 * events. */

const filtered = (entity, keeps) => Object.fromEntries(Object.entries(entity).filter(([name, value]) => keeps(name, value)));

/** A value whose objects have no members that are null. */
function dense(value) {
    if (Array.isArray(value))
        return value.map(dense);
    return isObject(value) ? filtered(Object.fromEntries(Object.entries(value).map(([name, one]) => [name, dense(one)])), (_, one) => one !== null) : value;
}

/** The members that the shape knows, where the rules are strict without null at any depth. */
const known = (entity, shape, rules) => Object.fromEntries(Object.entries(entity)
    .map(([name, value]) => [name, rules.strict && shape.has(name) ? dense(value) : value]));

/** Merge a patch; null takes a member away where the rules are strict. */
function merged(entity, given, shape, rules) {
    const patch = known(given, shape, rules);
    return filtered({ ...entity, ...patch }, (name, value) => !rules.strict || value !== null || !Object.hasOwn(patch, name)
        || shape.get(name)?.required || PARENTS.includes(name));
}

/** A whole entity: where the rules are strict null is an optional member's absence. What is unknown
 *  is kept (I9). */
function whole(entity, shape, rules) {
    return filtered(known(entity, shape, rules), (name, value) => !rules.strict || value !== null || !shape.has(name));
}

const wholeMap = (map, shape, rules) =>
    new Map(Object.entries(map).map(([id, entity]) => [id, whole(entity, shape, rules)]));

/* C3: what the hierarchy keeps may be named in a patch, but not changed. */
function keeps(entity, patch, names, no) {
    for (const field of names) {
        if (Object.hasOwn(patch, field) && !isDeepStrictEqual(patch[field], entity[field]))
            no({ type: 'invalidPatch', id: entity.id, field });
    }
}

/** A body and all below it, pre-order. */
function subtree(state, id) {
    return [id, ...state.stars.get(id).children.flatMap((child) => subtree(state, child))];
}

/** Walk up from `from`: is `id` on the way? */
function isAtOrAbove(map, id, from, parentOf) {
    for (let at = from; at !== null && map.has(at); at = parentOf(map.get(at))) {
        if (at === id)
            return true;
    }
    return false;
}

/** A body leaves its parent, or the roots and the group that it was in. */
function uproot(next, id) {
    const { parentId } = next.stars.get(id);
    if (parentId !== null)
        set(next.stars, parentId, { children: others(next.stars.get(parentId).children, id) });
    next.rootIds = others(next.rootIds, id);
    leaveGroups(next, id, 'system');
}

function leaveGroups(next, id, type) {
    for (const [groupId, group] of next.groups) {
        if (group.children.some((child) => child.id === id && child.type === type))
            set(next.groups, groupId, { children: group.children.filter((child) => child.id !== id || child.type !== type) });
    }
}

/** Take a group out of where it is: its parent's children, or the roots. */
function uprootGroup(next, id) {
    leaveGroups(next, id, 'group');
    next.rootGroupIds = others(next.rootGroupIds, id);
}

function plantGroup(next, id, parentGroupId) {
    set(next.groups, id, { parentGroupId });
    if (parentGroupId === null)
        next.rootGroupIds.push(id);
    else
        set(next.groups, parentGroupId, { children: [...next.groups.get(parentGroupId).children, { id, type: 'group' }] });
}

const parentGroupOf = (group) => group.parentGroupId;

/** A child that can be in a group: a group, or a body that is the root of a system. `failed` says
 *  that it is not; null: any body will do. */
function childThere(next, { id, type }, no, failed) {
    if (type === 'group' ? !next.groups.has(id) : !next.stars.has(id))
        no({ type: 'childNotFound', childId: id });
    else if (failed && type === 'system' && !isRoot(next.stars.get(id)))
        no({ ...failed, reason: 'notRoot', childId: id });
    else
        return true;
    return false;
}

/** C4: all that goes with a body: what is below it, the markers between bodies that are gone, what
 *  is below those. */
function goingWith(state, id) {
    const gone = subtree(state, id);
    for (let found = true; found;) {
        found = false;
        for (const [markerId, { lagrangePoint }] of state.stars) {
            if (!gone.includes(markerId) && lagrangePoint
                && (gone.includes(lagrangePoint.primaryId) || gone.includes(lagrangePoint.secondaryId))) {
                gone.push(...subtree(state, markerId).filter((one) => !gone.includes(one)));
                found = true;
            }
        }
    }
    return gone;
}

function removeWhere(map, isGone) {
    const removed = [...map.values()].filter(isGone).map(({ id }) => id);
    removed.forEach((id) => map.delete(id));
    return removed;
}

/** Every body has a phase: 0 where none was given, or null was. */
const withPhase = (body) => ({ ...body, orbitalPhase: body.orbitalPhase ?? 0 });

/** The ring that updateRing begins with. */
const newRing = (body) => ({
    innerRadiusMultiplier: 1.5, outerRadiusMultiplier: 3.0, thickness: 0.1 * body.radius, opacity: 0.6, albedo: 0.8,
    color: body.color, density: 0.6,
});

const bodies = {
    tick(next, { dt }) {
        next.time += dt;
        return [];
    },

    addStar(next, { id, payload }, no) {
        if (next.stars.has(id))
            no({ type: 'starAlreadyExists', id });
        if (payload.parentId !== null && !next.stars.has(payload.parentId))
            no({ type: 'parentNotFound', id, parentId: payload.parentId });
        if (no.count() > 0)
            return [];
        next.stars.set(id, withPhase(whole({ ...payload, id, children: [] }, BODY, no.rules)));
        if (payload.parentId !== null)
            set(next.stars, payload.parentId, { children: [...next.stars.get(payload.parentId).children, id] });
        else if (isRoot(next.stars.get(id)))
            next.rootIds.push(id);
        return [{ type: 'starAdded', id }];
    },

    updateStar(next, { id, payload }, no) {
        const old = next.stars.get(id);
        if (!old)
            return no({ type: 'starNotFound', id });
        keeps(old, payload, ['id', 'children', 'parentId'], no);
        const body = withPhase(merged(old, payload, BODY, no.rules));
        next.stars.set(id, body);
        if (isRoot(old) && !isRoot(body)) { /* I4, I6: rogue planets are no systems */
            next.rootIds = others(next.rootIds, id);
            leaveGroups(next, id, 'system');
        } else if (!isRoot(old) && isRoot(body)) {
            next.rootIds.push(id);
        }
        return [{ type: 'starUpdated', id }];
    },

    removeStar(next, { id }, no) {
        if (!next.stars.has(id))
            return no({ type: 'starNotFound', id });
        const removedIds = goingWith(next, id), below = subtree(next, id).length;
        for (const one of removedIds)
            uproot(next, one);
        for (const one of removedIds)
            next.stars.delete(one);
        const isGone = (one) => removedIds.includes(one);
        for (const [trojanId, trojan] of next.stars) {
            if (isGone(trojan.lagrangeHostId))
                next.stars.set(trojanId, without(trojan, 'lagrangeHostId'));
        }
        const event = {
            type: 'starRemoved', id, removedIds,
            removedFieldIds: removeWhere(next.smallBodyFields, (field) => isGone(field.hostStarId)),
            removedDiskIds: removeWhere(next.protoplanetaryDisks, (disk) => isGone(disk.centralStarId)),
            removedBeltIds: removeWhere(next.belts, (belt) => isGone(belt.parentId)),
        };
        return [Object.defineProperty(event, BELOW, { value: below, enumerable: false })];
    },

    attachStar(next, { childId, parentId }, no) {
        if (!next.stars.has(childId) || !next.stars.has(parentId))
            return no({ type: 'attachFailed', reason: 'notFound', childId, parentId });
        if (isAtOrAbove(next.stars, childId, parentId, (body) => body.parentId))
            return no({ type: 'attachFailed', reason: 'cycle', childId, parentId });
        uproot(next, childId);
        set(next.stars, childId, { parentId });
        set(next.stars, parentId, { children: [...next.stars.get(parentId).children, childId] });
        return [{ type: 'starAttached', childId, parentId }];
    },

    detachStar(next, { childId }, no) {
        if (!next.stars.has(childId) || next.stars.get(childId).parentId === null)
            return no({ type: 'detachFailed', reason: 'notAttached', childId });
        uproot(next, childId);
        set(next.stars, childId, { parentId: null, orbitalDistance: 0 });
        if (isRoot(next.stars.get(childId)))
            next.rootIds.push(childId);
        return [{ type: 'starDetached', childId }];
    },

    updateRing(next, { planetId, patch }, no) {
        const body = next.stars.get(planetId);
        if (!body)
            return no({ type: 'starNotFound', id: planetId });
        set(next.stars, planetId, { ring: merged(body.ring ?? newRing(body), patch, RING, no.rules) });
        return [{ type: 'ringUpdated', planetId }];
    },

    removeRing(next, { planetId }, no) {
        const body = next.stars.get(planetId);
        if (!body?.ring)
            return no({ type: 'ringNotFound', planetId });
        next.stars.set(planetId, without(body, 'ring'));
        return [{ type: 'ringRemoved', planetId }];
    },
};

/* I9 speaks of entities: a group's child is a place in the hierarchy, which is its id and type
 * alone. */
const placesOf = (children) => children.map(({ id, type }) => ({ id, type }));

const groups = {
    addGroup(next, { id, payload }, no) {
        const { children, parentGroupId } = payload;
        if (next.groups.has(id))
            return no({ type: 'groupAlreadyExists', id });
        if (parentGroupId !== null && !next.groups.has(parentGroupId))
            return no({ type: 'parentNotFound', id, parentId: parentGroupId });
        for (const child of children) {
            if (childThere(next, child, no, { type: 'addToGroupFailed', groupId: id }) && child.type === 'group'
                && isAtOrAbove(next.groups, child.id, parentGroupId, parentGroupOf))
                no({ type: 'addToGroupFailed', reason: 'cycle', groupId: id, childId: child.id });
        }
        if (no.count() > 0)
            return [];
        next.groups.set(id, whole({ ...payload, id, children: [], parentGroupId: null }, GROUP, no.rules));
        plantGroup(next, id, parentGroupId);
        for (const child of children) { /* I6: they leave where they were */
            if (child.type === 'group') {
                uprootGroup(next, child.id);
                set(next.groups, child.id, { parentGroupId: id });
            } else {
                leaveGroups(next, child.id, 'system');
            }
        }
        set(next.groups, id, { children: placesOf(children) });
        return [{ type: 'groupAdded', id }];
    },

    updateGroup(next, { id, payload }, no) {
        if (!next.groups.has(id))
            return no({ type: 'groupNotFound', id });
        keeps(next.groups.get(id), payload, ['id', 'children', 'parentGroupId'], no);
        next.groups.set(id, merged(next.groups.get(id), payload, GROUP, no.rules));
        return [{ type: 'groupUpdated', id }];
    },

    removeGroup(next, { id }, no) {
        const group = next.groups.get(id);
        if (!group)
            return no({ type: 'groupNotFound', id });
        const heirs = group.children.filter(({ type }) => type === 'group');
        if (group.parentGroupId !== null) { /* C6: in the place of the removed one */
            const children = next.groups.get(group.parentGroupId).children
                .flatMap((child) => (child.id === id && child.type === 'group' ? heirs : [child]));
            set(next.groups, group.parentGroupId, { children });
        } else {
            next.rootGroupIds = [...others(next.rootGroupIds, id), ...heirs.map((heir) => heir.id)];
        }
        for (const heir of heirs)
            set(next.groups, heir.id, { parentGroupId: group.parentGroupId });
        next.groups.delete(id);
        return [{ type: 'groupRemoved', id }];
    },

    addToGroup(next, { groupId, child }, no) {
        const group = next.groups.get(groupId);
        if (!group)
            return no({ type: 'groupNotFound', id: groupId });
        if (group.children.some(({ id, type }) => id === child.id && type === child.type)) {
            no.unchanged();
            return [{ type: 'childAlreadyInGroup', groupId, childId: child.id }];
        }
        if (!childThere(next, child, no, { type: 'addToGroupFailed', groupId }))
            return [];
        if (child.type === 'group' && isAtOrAbove(next.groups, child.id, groupId, parentGroupOf))
            return no({ type: 'addToGroupFailed', reason: 'cycle', groupId, childId: child.id });
        join(next, child, groupId);
        return [{ type: 'childAddedToGroup', groupId, childId: child.id }];
    },

    removeFromGroup(next, { groupId, childId }, no) {
        const group = next.groups.get(groupId);
        if (!group)
            return no({ type: 'groupNotFound', id: groupId });
        const child = group.children.find(({ id }) => id === childId);
        if (!child)
            return no({ type: 'childNotInGroup', groupId, childId });
        join(next, child, null);
        return [{ type: 'childRemovedFromGroup', groupId, childId }];
    },

    moveToGroup(next, { childId, childType, targetGroupId }, no) {
        const child = { id: childId, type: childType };
        const isThere = childThere(next, child, no, targetGroupId && { type: 'moveToGroupFailed', targetGroupId });
        if (targetGroupId !== null && !next.groups.has(targetGroupId))
            return no({ type: 'groupNotFound', id: targetGroupId });
        if (isThere && childType === 'group' && isAtOrAbove(next.groups, childId, targetGroupId, parentGroupOf))
            return no({ type: 'moveToGroupFailed', reason: 'cycle', childId, targetGroupId });
        if (isThere)
            join(next, child, targetGroupId);
        return [{ type: 'movedToGroup', childId, targetGroupId }];
    },
};

/** A child leaves where it is and is the last of another group, or of none. */
function join(next, child, groupId) {
    if (child.type === 'group') {
        uprootGroup(next, child.id);
        plantGroup(next, child.id, groupId);
    } else {
        leaveGroups(next, child.id, 'system');
        if (groupId !== null)
            set(next.groups, groupId, { children: [...next.groups.get(groupId).children, { id: child.id, type: 'system' }] });
    }
}

/* The three maps of things are alike: set all, patch one, remove one. */
function things(map, one, all, shape, argument) {
    return {
        [`set${all}`](next, command, no) {
            next[map] = wholeMap(command[argument], shape, no.rules);
            return [{ type: `${map}Set` }];
        },
        [`update${one}`](next, { id, patch }, no) {
            const event = one[0].toLowerCase() + one.slice(1);
            const old = next[map].get(id);
            if (!old)
                return no({ type: `${event}NotFound`, id });
            if (Object.hasOwn(patch, 'id') && patch.id !== id)
                no({ type: 'invalidPatch', id, field: 'id' }, { type: 'invalidCommand' });
            next[map].set(id, merged(old, patch, shape, no.rules));
            return [{ type: `${event}Updated`, id }];
        },
        [`remove${one}`](next, { id }, no) {
            if (!next[map].delete(id))
                no.unchanged();
            return [{ type: `${one[0].toLowerCase()}${one.slice(1)}Removed`, id }];
        },
    };
}

/** Where a snapshot does not list root groups, they are those without parent, as they come. */
const rootsOf = (groups) => Object.values(groups).filter((group) => (group.parentGroupId ?? null) === null).map((group) => group.id);

const rest = {
    addProtoplanetaryDisk(next, { disk }, no) {
        next.protoplanetaryDisks.set(disk.id, whole(disk, DISK, no.rules));
        return [{ type: 'protoplanetaryDiskAdded', id: disk.id }];
    },

    /** The clock continues; the command that stands for a PUT sets it. */
    replaceSnapshot(next, { snapshot, time }, no) {
        const shapes = { stars: BODY, groups: GROUP, belts: BELT, smallBodyFields: FIELD, protoplanetaryDisks: DISK, nebulae: NEBULA };
        Object.assign(next, { rootIds: snapshot.rootIds, rootGroupIds: snapshot.rootGroupIds ?? rootsOf(snapshot.groups ?? {}), time: time ?? next.time });
        for (const name of MAPS)
            next[name] = wholeMap(snapshot[name] ?? {}, shapes[name], no.rules);
        for (const [id, body] of next.stars)
            next.stars.set(id, withPhase(body));
        for (const [id, group] of next.groups)
            next.groups.set(id, { ...group, children: placesOf(group.children) });
        return [{ type: 'snapshotReplaced' }];
    },
};

const REDUCERS = {
    ...bodies, ...groups, ...rest,
    ...things('smallBodyFields', 'SmallBodyField', 'SmallBodyFields', FIELD, 'fields'),
    ...things('protoplanetaryDisks', 'ProtoplanetaryDisk', 'ProtoplanetaryDisks', DISK, 'disks'),
    ...things('nebulae', 'Nebula', 'Nebulae', NEBULA, 'nebulae'),
};

/* ---- one command ----------------------------------------------------------------------------- */

const rejected = (state, command, events) => ({ verdict: 'rejected', state, events, command });

/* Whether what a command brings would be refused for itself too: out of range, or naming bodies
 * that are not there. */
function isDoubtful(state, { payload, patch, disk }) {
    const entity = payload ?? patch ?? disk;
    const named = [entity?.lagrangeHostId, entity?.lagrangePoint?.primaryId, entity?.lagrangePoint?.secondaryId,
        entity?.hostStarId, entity?.centralStarId];
    return entity !== undefined && (Boolean(bodyOutOfRange(entity) ?? beltOutOfRange(entity) ?? bodyOutOfRange({ ring: entity }))
        || named.some((id) => typeof id === 'string' && !state.stars.has(id)));
}

/* A member's name may not hold U+0000, wherever it stands. */
const hasNul = (value) => typeof value === 'object' && value !== null
    && Object.entries(value).some(([name, one]) => name.includes('\0') || hasNul(one));

/* Nobody owes the sender the echo of a long command. */
const isLong = (command) => Buffer.byteLength(JSON.stringify(command)) > 4096;

/** What a command does. `command` of the answer is what is stored and shown to viewers. */
export function apply(state, command, rules) {
    if (hasNul(command))
        return rejected(state, command, [{ type: 'invalidCommand' }]);
    if (!Object.hasOwn(FORMS, command.type))
        return rejected(state, command, [command, ...(isLong(command) ? [{ type: command.type }] : [])]
            .map((echo) => ({ type: 'unknownCommand', command: echo })));
    if (!Object.entries(FORMS[command.type]).every(([name, is]) =>
        is(Object.hasOwn(command, name) ? command[name] : undefined, command)))
        return rejected(state, command, [{ type: 'invalidCommand' }]);
    if (command.type === 'tick' && command.dt === undefined)
        command = { ...command, dt: rules.defaultDt };

    const objections = [];
    let isChanged = command.type !== 'tick' || command.dt !== 0;
    const no = (...events) => { objections.push(...events); return []; };
    Object.assign(no, { rules, count: () => objections.length, unchanged: () => { isChanged = false; } });

    const next = copyOf(state);
    const events = REDUCERS[command.type](next, command, no);
    if (objections.length > 0) {
        if (rules.strict && isDoubtful(state, command))
            objections.push({ type: 'invalidCommand' });
        return rejected(state, command, objections);
    }
    const broken = isChanged && brokenInvariant(next, rules);
    if (broken && command.type === 'replaceSnapshot' && !rules.strict && HIERARCHY.includes(broken))
        return { verdict: 'repaired', state: next, events, command };
    if (broken || Math.abs(next.time) > TIME_MAX)
        return rejected(state, command, [{ type: 'invalidCommand' }]);
    return { verdict: isChanged ? 'applied' : 'unchanged', state: isChanged ? next : state, events, command };
}
