/*
 * bodies.js - every body of a universe: rows of typed arrays, and a texture that the shaders read.
 *
 * A body keeps its slot as long as it exists. Each path is stored twice: in double precision for
 * the processor (labels, picking, the camera), and in the texture, with angles relative to `epoch`.
 * The epoch moves before the error of single precision can be seen.
 */
import { DataTexture, FloatType, NearestFilter, RGBAFormat } from 'three';

import { typeOf } from '../kinds.js';
import { angleAt, pathOf } from '../motion.js';
import { DEPTH_MAX, KIND, WIDTH } from './place.glsl.js';

const FLOATS = 16;                 /* of a body in the texture */
const ROW_BODIES = WIDTH / 4;
const TURN_MAX = 40000;            /* degrees from the epoch that single precision can hold */
/* between two moves of the epoch; on faster bodies an error of the angle cannot be seen */
const EPOCH_MS = 4000;
const LEAP = 60;                   /* seconds: a larger step means that time was set */
const RADIANS = Math.PI / 180;
export const TYPES = ['planet', 'star', 'moon', 'asteroid', 'comet', 'lagrangePoint', 'blackHole', 'rogue', 'dot'];
const TYPE_OF = new Map(TYPES.map((name, i) => [name, i]));

function packed(color) {
    const hex = /^#([0-9a-f]{6})$/i.exec(color ?? '')?.[1];
    return hex ? parseInt(hex, 16) : 0xb8c0d0;
}

export class Bodies {
    constructor() {
        this.epoch = 0;
        this.movedAt = -Infinity;
        this.last = 0;
        this.fastest = 0;
        this.slots = new Map();
        this.ids = [];
        this.free = [];
        this.waiting = new Map(); /* parent's id: the slots that wait for it */
        this.anchors = new Map();
        this.dirty = new Set();
        this.texture = null;
        this.grow(ROW_BODIES * 4);
    }

    get count() {
        return this.slots.size;
    }

    /** One past the highest slot in use. */
    get top() {
        return this.ids.length;
    }

    grow(capacity) {
        const rows = Math.ceil(capacity / ROW_BODIES);
        const data = new Float32Array(rows * WIDTH * 4), paths = new Float64Array(rows * ROW_BODIES * 11);
        const parent = new Int32Array(rows * ROW_BODIES).fill(-1), kind = new Uint8Array(rows * ROW_BODIES);
        const type = new Uint8Array(rows * ROW_BODIES), radius = new Float32Array(rows * ROW_BODIES);
        if (this.texture) {
            data.set(this.data);
            paths.set(this.paths);
            parent.set(this.parent);
            kind.set(this.kind);
            type.set(this.type);
            radius.set(this.radius);
            this.texture.dispose();
        }
        Object.assign(this, { data, paths, parent, kind, type, radius, capacity: rows * ROW_BODIES });
        this.texture = new DataTexture(data, WIDTH, rows, RGBAFormat, FloatType);
        this.texture.minFilter = this.texture.magFilter = NearestFilter;
        this.texture.needsUpdate = true;
        this.whole = true;
        this.dirty.clear();
    }

    slotOf(id) {
        return this.slots.get(id) ?? -1;
    }

    #take(id) {
        const slot = this.free.pop() ?? this.ids.length;
        if (slot >= this.capacity)
            this.grow(this.capacity * 2);
        this.ids[slot] = id;
        this.slots.set(id, slot);
        return slot;
    }

    clear() {
        this.data.fill(0);
        this.kind.fill(0);
        this.parent.fill(-1);
        this.ids.length = 0;
        this.free.length = 0;
        this.fastest = 0;
        this.slots.clear();
        this.waiting.clear();
        this.dirty.clear();
        this.whole = true;
    }

    /** Places of bodies that are not loaded yet. They do not move. */
    setPlaces(names, xyz) {
        names.forEach((id, i) => {
            if (this.slots.has(id))
                return;
            const slot = this.#take(id);
            this.#write(slot, {
                parent: -1, kind: KIND.fixed, A: [0, 0, 0], B: [0, 0, 0],
                C: [xyz[i * 3], xyz[i * 3 + 1], xyz[i * 3 + 2]], speed: 0, phase: 0,
                radius: 0.4, color: 0xaab4c8, type: TYPE_OF.get('dot'),
            });
        });
        this.whole = true;
    }

    set(star) {
        const slot = this.slots.get(star.id) ?? this.#take(star.id);
        const path = pathOf(star);
        let parent = -1;
        if (star.parentId !== null && star.parentId !== undefined && path.kind !== 'line') {
            parent = this.slots.get(star.parentId) ?? -1;
            if (parent < 0)
                this.#wait(star.parentId, slot);
        }
        const anchor = parent < 0 && path.kind === 'fixed' ? this.anchors.get(star.id) : undefined;
        this.#write(slot, {
            ...path, parent, kind: KIND[path.kind], C: anchor ?? path.C, radius: star.radius ?? 1,
            color: packed(star.roguePlanet?.colorOverride ?? star.color), type: TYPE_OF.get(typeOf(star)) ?? 0,
        });
        const waiting = this.waiting.get(star.id);
        if (waiting) {
            this.waiting.delete(star.id);
            for (const child of waiting)
                this.#adopt(child, slot);
        }
        return slot;
    }

    #wait(parentId, slot) {
        const list = this.waiting.get(parentId);
        if (list)
            list.add(slot);
        else
            this.waiting.set(parentId, new Set([slot]));
    }

    #adopt(slot, parent) {
        if (this.kind[slot] === KIND.none)
            return;
        this.parent[slot] = parent;
        this.data[slot * FLOATS + 2] = parent;
        this.#touch(slot);
    }

    #touch(slot) {
        if (!this.whole)
            this.dirty.add(Math.floor(slot / ROW_BODIES));
    }

    #write(slot, { parent, kind, A, B, C, speed, phase, radius, color, type }) {
        const p = slot * 11, d = slot * FLOATS;
        this.parent[slot] = parent;
        this.kind[slot] = kind;
        this.type[slot] = type;
        this.radius[slot] = radius;
        this.paths.set([...A, ...B, ...C, speed, phase], p);
        this.data.set([speed, 0, parent, kind, ...A, radius, ...B, color, ...C, type], d);
        this.fastest = Math.max(this.fastest, Math.abs(speed));
        this.#fromEpoch(slot);
        this.#touch(slot);
    }

    #fromEpoch(slot) {
        const p = slot * 11, d = slot * FLOATS;
        if (this.kind[slot] === KIND.line) {
            for (let i = 0; i < 3; i++)
                this.data[d + 12 + i] = this.paths[p + 6 + i] + this.paths[p + i] * this.epoch;
        } else {
            this.data[d + 1] = angleAt(this.paths[p + 9], this.paths[p + 10], this.epoch);
        }
    }

    remove(id) {
        const slot = this.slots.get(id);
        if (slot === undefined)
            return;
        this.slots.delete(id);
        this.ids[slot] = undefined;
        this.kind[slot] = KIND.none;
        this.parent[slot] = -1;
        this.data.fill(0, slot * FLOATS, slot * FLOATS + FLOATS);
        this.data[slot * FLOATS + 2] = -1;
        this.free.push(slot);
        this.#touch(slot);
    }

    /** Set the places of the roots of systems. @param stars all bodies, to write again the roots
     *  that moved */
    anchor(systems, stars) {
        const before = this.anchors;
        this.anchors = systems;
        for (const id of new Set([...before.keys(), ...systems.keys()])) {
            const a = before.get(id), b = systems.get(id), star = stars.get(id);
            if (star && (!a || !b || a[0] !== b[0] || a[1] !== b[1] || a[2] !== b[2]))
                this.set(star);
        }
    }

    /** Prepare the texture for this time. @returns the seconds since the epoch */
    prepare(time) {
        const now = performance.now(), isSet = Math.abs(time - this.last) > LEAP;
        this.last = time;
        if (Math.abs(time - this.epoch) * Math.max(this.fastest, 1) > TURN_MAX && (isSet || now - this.movedAt > EPOCH_MS)) {
            this.epoch = time;
            this.movedAt = now;
            for (let slot = 0; slot < this.top; slot++)
                this.#fromEpoch(slot);
            this.whole = true;
        }
        if (this.whole || this.dirty.size > 0)
            this.#upload();
        return time - this.epoch;
    }

    #upload() {
        this.texture.clearUpdateRanges();
        if (!this.whole) {
            for (const row of this.dirty)
                this.texture.addUpdateRange(row * WIDTH * 4, WIDTH * 4);
        }
        this.texture.needsUpdate = true;
        this.whole = false;
        this.dirty.clear();
    }

    /** Write the world place of a slot's body into `out`: three numbers, from index `at`. */
    placeOf(slot, time, out, at = 0) {
        const { paths, parent, kind } = this;
        let x = 0, y = 0, z = 0;
        for (let depth = 0; slot >= 0 && depth <= DEPTH_MAX; depth++, slot = parent[slot]) {
            const p = slot * 11;
            let c = 0, s = 0;
            if (kind[slot] === KIND.ellipse) {
                const theta = angleAt(paths[p + 9], paths[p + 10], time) * RADIANS;
                c = Math.cos(theta);
                s = Math.sin(theta);
            } else if (kind[slot] === KIND.line) {
                c = time;
            }
            x += paths[p] * c + paths[p + 3] * s + paths[p + 6];
            y += paths[p + 1] * c + paths[p + 4] * s + paths[p + 7];
            z += paths[p + 2] * c + paths[p + 5] * s + paths[p + 8];
        }
        out[at] = x;
        out[at + 1] = y;
        out[at + 2] = z;
        return out;
    }

    /** Four points of a slot's path when its parent is at `place`: the ends of both axes. */
    pathPoints(slot, place) {
        if (slot < 0)
            return [place];
        const p = slot * 11, { paths } = this;
        const at = (axis, sign) => place.map((x, i) => x + paths[p + 6 + i] + sign * paths[p + axis + i]);
        return this.kind[slot] === KIND.ellipse ? [at(0, 1), at(0, -1), at(3, 1), at(3, -1)] : [at(0, 0)];
    }

    /** The longer half axis of a slot's path; 0 if the path is no ellipse. */
    reach(slot) {
        const p = slot * 11, { paths } = this;
        if (this.kind[slot] !== KIND.ellipse)
            return 0;
        return Math.max(Math.hypot(paths[p], paths[p + 1], paths[p + 2]),
            Math.hypot(paths[p + 3], paths[p + 4], paths[p + 5]));
    }

    dispose() {
        this.texture.dispose();
    }
}
