/*
 * flats.js - rings of planets, accretion disks and jets of black holes, boxes of groups, and the
 * stars of the background.
 */
import { BufferAttribute, BufferGeometry, InstancedBufferAttribute, InstancedBufferGeometry, LineSegments, Mesh, Points } from 'three';

import { rotate } from '../motion.js';
import { lcg, seedOf } from '../particles.js';
import { material } from './material.js';

const RINGS_MAX = 2000, BOXES_MAX = 1000, HOLES_MAX = 200, SEGMENTS = 96, BACKDROP = 5000;

const RING_VERTEX = /* glsl */`
in vec3 position;  /* cos, sin, 0 inner or 1 outer */
in float slot;
in vec3 normal;
in vec4 shape;     /* inner, outer, opacity, seed */
in vec4 tint;      /* colour, 1: shines */
out vec2 vAcross;
flat out vec4 vTint;
flat out vec2 vLook;
void main() {
    int s = int(slot);
    vec4 head = texel(s, 0);
    vec3 root;
    vec3 centre = place(s, head, uTime, root);
    vec3 u = normalize(abs(normal.y) > 0.99 ? vec3(1.0, 0.0, 0.0) : cross(normal, vec3(0.0, 1.0, 0.0)));
    vec3 v = cross(normal, u);
    float r = mix(shape.x, shape.y, position.z);
    vec4 view = viewMatrix * vec4(centre + (u * position.x + v * position.y) * r, 1.0);
    float pixels = shape.y * uScale / max(-view.z, 1e-3);
    vAcross = vec2(position.z, atan(position.y, position.x));
    vTint = tint;
    vLook = vec2(shape.z * smoothstep(1.5 * uPixel, 6.0 * uPixel, pixels), shape.w);
    gl_Position = pixels < 1.0 || head.w < 0.5 ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * view;
}
`;

const RING_FRAGMENT = /* glsl */`
in vec2 vAcross;
flat in vec4 vTint;
flat in vec2 vLook;
uniform float uClock;
float wave(float x, float seed) {
    return 0.5 + 0.22 * sin(x * 23.0 + seed) + 0.16 * sin(x * 61.0 + seed * 1.7) + 0.12 * sin(x * 137.0 + seed * 2.3);
}
void main() {
    float x = vAcross.x;
    float edge = smoothstep(0.0, 0.05, x) * smoothstep(1.0, 0.93, x);
    if (vTint.w > 0.5) {
        float heat = pow(1.0 - x, 1.4);
        float swirl = 0.75 + 0.25 * sin(vAcross.y * 3.0 - x * 14.0 + uClock * 0.6);
        glow(mix(vTint.rgb, vec3(1.0, 0.95, 0.88), heat * 0.8), edge * vLook.x * swirl * (0.25 + heat));
        return;
    }
    float a = edge * vLook.x * wave(x, vLook.y);
    if (a < 0.004) discard;
    solid(onGround(vTint.rgb) * (0.75 + 0.35 * wave(x * 0.6, vLook.y + 3.0)) , a);
}
`;

const JET_VERTEX = /* glsl */`
in vec3 position;  /* across -1..1, along 0..1, which way -1 or 1 */
in float slot;
in vec3 normal;
in vec3 shape;     /* length, width at the tip, brightness */
in vec3 tint;
out vec2 vAt;
flat out vec4 vTint;
void main() {
    int s = int(slot);
    vec3 root;
    vec3 centre = place(s, texel(s, 0), uTime, root);
    vec3 axis = mat3(viewMatrix) * normal * position.z;
    vec3 side = normalize(cross(axis, vec3(0.0, 0.0, 1.0)) + vec3(1e-5, 0.0, 0.0));
    vec4 view = viewMatrix * vec4(centre, 1.0);
    view.xyz += axis * position.y * shape.x + side * position.x * mix(0.12, 1.0, position.y) * shape.y;
    vAt = position.xy;
    vTint = vec4(tint, shape.z);
    gl_Position = projectionMatrix * view;
}
`;

const JET_FRAGMENT = /* glsl */`
in vec2 vAt;
flat in vec4 vTint;
void main() {
    float a = pow(1.0 - abs(vAt.x), 2.0) * pow(1.0 - vAt.y, 1.5) * vTint.w;
    if (a < 0.004) discard;
    glow(vTint.rgb, a);
}
`;

const BOX_VERTEX = /* glsl */`
in vec3 position;
in vec4 box;       /* centre, edge */
in vec3 tint;
flat out vec3 vTint;
out float vAlpha;
void main() {
    vTint = tint;
    vec4 view = viewMatrix * vec4(box.xyz - uOrigin + position * box.w, 1.0);
    vAlpha = 0.42 * smoothstep(4.0, 40.0, box.w * uScale / max(-view.z, 1e-3) / uPixel);
    gl_Position = projectionMatrix * view;
}
`;

const BOX_FRAGMENT = /* glsl */`
flat in vec3 vTint;
in float vAlpha;
void main() { glow(vTint, vAlpha); }
`;

const BACKDROP_VERTEX = /* glsl */`
in vec4 position;  /* direction, brightness */
flat out float vBright;
void main() {
    vec4 clip = projectionMatrix * vec4(mat3(viewMatrix) * position.xyz, 1.0);
    gl_Position = vec4(clip.xy, clip.w * 0.999999, clip.w);
    gl_PointSize = (1.1 + position.w * 1.5) * uPixel;
    vBright = position.w;
}
`;

const BACKDROP_FRAGMENT = /* glsl */`
flat in float vBright;
void main() {
    float r = length(gl_PointCoord * 2.0 - 1.0);
    float a = smoothstep(1.0, 0.2, r) * (0.28 + 0.6 * vBright);
    glow(mix(vec3(0.78, 0.85, 1.0), vec3(0.45, 0.5, 0.6), uInk), a * (1.0 - 0.55 * uInk));
}
`;

function rgb(color, fallback = 'c8c0b0') {
    const hex = parseInt(/^#([0-9a-f]{6})$/i.exec(color ?? '')?.[1] ?? fallback, 16);
    return [(hex >> 16 & 255) / 255, (hex >> 8 & 255) / 255, (hex & 255) / 255];
}

function instanced(vertices, size, index, columns, most) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(vertices), size));
    if (index)
        geometry.setIndex(index);
    for (const [name, width] of Object.entries(columns))
        geometry.setAttribute(name, new InstancedBufferAttribute(new Float32Array(most * width), width));
    geometry.instanceCount = 0;
    return geometry;
}

function fill(object, count, rows) {
    for (const [name, values] of Object.entries(rows)) {
        const attribute = object.geometry.getAttribute(name);
        attribute.array.set(values);
        attribute.needsUpdate = true;
    }
    object.geometry.instanceCount = count;
    object.visible = count > 0;
}

function ribbon() {
    const vertices = [], index = [];
    for (let i = 0; i <= SEGMENTS; i++) {
        const angle = (i / SEGMENTS) * 2 * Math.PI;
        vertices.push(Math.cos(angle), Math.sin(angle), 0, Math.cos(angle), Math.sin(angle), 1);
        if (i < SEGMENTS)
            index.push(i * 2, i * 2 + 1, i * 2 + 2, i * 2 + 1, i * 2 + 3, i * 2 + 2);
    }
    return { vertices, index };
}

function boxEdges() {
    const out = [], ends = [-0.5, 0.5];
    for (const a of ends) {
        for (const b of ends)
            out.push(-0.5, a, b, 0.5, a, b, a, -0.5, b, a, 0.5, b, a, b, -0.5, a, b, 0.5);
    }
    return out;
}

function backdrop() {
    const next = lcg(20260), out = [];
    for (let i = 0; i < BACKDROP; i++) {
        const z = next() * 2 - 1, angle = next() * 2 * Math.PI, flat = Math.sqrt(1 - z * z);
        out.push(flat * Math.cos(angle) * 10, z * 10, flat * Math.sin(angle) * 10, next() ** 3);
    }
    return out;
}

/** The axis of a ring. The state has none, so it is the axis of the planet's orbit. */
function ringNormal(star) {
    return rotate([0, 1, 0], star.orbitRotX, star.orbitRotY, star.orbitRotZ ? Math.max(-35, Math.min(35, star.orbitRotZ)) : 12);
}

function holeNormal({ diskTilt = 0, diskTiltAxisAngle = 0 }) {
    const s = Math.sin(diskTilt);
    return [s * Math.sin(diskTiltAxisAngle), Math.cos(diskTilt), -s * Math.cos(diskTiltAxisAngle)];
}

export class Flats {
    constructor(uniforms) {
        const { vertices, index } = ribbon();
        this.rings = new Mesh(instanced(vertices, 3, index, { slot: 1, normal: 3, shape: 4, tint: 4 }, RINGS_MAX),
            material(uniforms, RING_VERTEX, RING_FRAGMENT));
        const jet = [-1, 0, 1, 1, 0, 1, -1, 1, 1, 1, 1, 1, -1, 0, -1, 1, 0, -1, -1, 1, -1, 1, 1, -1];
        this.jets = new Mesh(instanced(jet, 3, [0, 1, 2, 1, 3, 2, 4, 5, 6, 5, 7, 6], { slot: 1, normal: 3, shape: 3, tint: 3 }, HOLES_MAX),
            material(uniforms, JET_VERTEX, JET_FRAGMENT));
        this.boxes = new LineSegments(instanced(boxEdges(), 3, null, { box: 4, tint: 3 }, BOXES_MAX),
            material(uniforms, BOX_VERTEX, BOX_FRAGMENT));
        const sky = new BufferGeometry();
        sky.setAttribute('position', new BufferAttribute(new Float32Array(backdrop()), 4));
        this.sky = new Points(sky, material(uniforms, BACKDROP_VERTEX, BACKDROP_FRAGMENT, { set: { depthTest: false } }));
        this.objects = [this.sky, this.rings, this.jets, this.boxes];
        this.rings.renderOrder = 6;
        this.jets.renderOrder = 8;
        this.boxes.renderOrder = 2;
        this.sky.renderOrder = 0;
        for (const object of [this.rings, this.jets, this.boxes])
            object.visible = false;
    }

    /** @param rings, holes pairs of slot and body */
    setRings(rings, holes) {
        const rows = { slot: [], normal: [], shape: [], tint: [] };
        let count = 0;
        const put = (slot, normal, shape, tint) => {
            rows.slot.push(slot);
            rows.normal.push(...normal);
            rows.shape.push(...shape);
            rows.tint.push(...tint);
            count++;
        };
        for (const [slot, hole] of holes.slice(0, HOLES_MAX)) {
            const h = hole.blackHole;
            if (h?.hasAccretionDisk)
                put(slot, holeNormal(h), [h.accretionInnerRadius, h.accretionOuterRadius, h.diskOpacity ?? 0.8, 0],
                    [...rgb(h.diskOuterColor, 'ff9a4d'), 1]);
        }
        for (const [slot, star] of rings.slice(0, RINGS_MAX - count)) {
            const { ring } = star, r = star.radius ?? 1;
            put(slot, ringNormal(star), [r * ring.innerRadiusMultiplier, r * ring.outerRadiusMultiplier,
                (ring.opacity ?? 0.6) * (0.5 + 0.5 * (ring.density ?? 0.6)) * 1.3, seedOf(ring.seed ?? star.id) % 1000], [...rgb(ring.color), 0]);
        }
        fill(this.rings, count, rows);
        const jets = holes.filter(([, hole]) => hole.blackHole?.hasRelativisticJet).slice(0, HOLES_MAX);
        fill(this.jets, jets.length, {
            slot: jets.map(([slot]) => slot),
            normal: jets.flatMap(([, { blackHole }]) => holeNormal(blackHole)),
            shape: jets.flatMap(([, { blackHole: h }]) => [h.jetLength ?? 5,
                (h.jetLength ?? 5) * Math.tan(((h.jetOpeningAngle ?? 8) * Math.PI) / 180), h.jetBrightness ?? 0.7]),
            tint: jets.flatMap(([, { blackHole }]) => rgb(blackHole.jetBaseColor, '9fc4ff')),
        });
    }

    setBoxes(boxes) {
        const shown = [...boxes.values()].slice(0, BOXES_MAX);
        fill(this.boxes, shown.length, {
            box: shown.flatMap(({ position, edge }) => [...position, edge]),
            tint: shown.flatMap(({ color }) => rgb(color, '7f8fb0')),
        });
    }

    dispose() {
        for (const object of this.objects) {
            object.geometry.dispose();
            object.material.dispose();
        }
    }
}
