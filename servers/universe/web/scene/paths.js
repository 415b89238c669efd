/*
 * paths.js - the lines of bodies: orbits, which are brightest just behind the body; past and future
 * of rogue planets; tails of comets.
 */
import { InstancedBufferAttribute, InstancedBufferGeometry, BufferAttribute, Line, Points } from 'three';

import { material } from './material.js';

const ORBITS_MAX = 1500, ROGUES_MAX = 200, COMETS_MAX = 400;
const ORBIT_POINTS = 161, ROGUE_POINTS = 97, TAIL_POINTS = 96;

const ORBIT_VERTEX = /* glsl */`
in float slot;
uniform float uFaint;
flat out vec3 vColour;
out float vAlpha;
void main() {
    int s = int(slot);
    vec4 head = texel(s, 0);
    /* the points are dense just behind the body */
    float back = pow(float(gl_VertexID) / ${(ORBIT_POINTS - 1).toFixed(1)}, 2.0);
    float sense = head.x < 0.0 ? 1.0 : -1.0;
    vec3 root;
    vec3 at = above(head, uTime, root) + local(s, head, uTime, sense * back * 6.28318531) - uOrigin;
    vec4 view = viewMatrix * vec4(at, 1.0);
    float reach = length(texel(s, 1).xyz) * uScale / max(-view.z, 1e-3) / uPixel;
    vColour = mix(colour(texel(s, 2).w), vec3(0.55, 0.62, 0.78), 0.45);
    float chosen = s == uChosen ? 1.0 : 0.0;
    vAlpha = mix(0.55, 0.07, pow(back, 0.55)) * smoothstep(5.0, 30.0, reach) * (1.0 - smoothstep(4000.0, 12000.0, reach));
    vAlpha *= uFaint;
    vAlpha = mix(vAlpha, 0.35 + 0.65 * (1.0 - back), chosen);
    float gap = length(local(s, head, uTime, 0.0) - local(s, head, uTime, sense * back * 6.28318531));
    float radius = texel(s, 1).w;
    vAlpha *= smoothstep(radius * 1.05, radius * 1.6, gap);
    gl_Position = projectionMatrix * view;
}
`;

const LINE_FRAGMENT = /* glsl */`
flat in vec3 vColour;
in float vAlpha;
/* lines that cross do not add up to white */
void main() { solid(onGround(vColour), min(vAlpha, 1.0)); }
`;

const ROGUE_VERTEX = /* glsl */`
in float slot;
in vec2 window;
flat out vec3 vColour;
out float vAlpha;
void main() {
    int s = int(slot);
    vec4 head = texel(s, 0);
    float k = float(gl_VertexID) / ${((ROGUE_POINTS - 1) / 2).toFixed(1)} - 1.0;
    vec3 root;
    vec3 at = place(s, head, uTime + (k < 0.0 ? k * window.x : k * window.y), root);
    vColour = colour(texel(s, 2).w);
    vAlpha = (k < 0.0 ? 0.6 : 0.3 * step(0.5, fract(k * 24.0))) * (1.0 - abs(k) * 0.85);
    gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
}
`;

const TAIL_VERTEX = /* glsl */`
in float slot;
in vec4 tail;   /* base length, base width, base opacity, falloff */
in vec3 tint;
flat out vec3 vColour;
flat out float vAlpha;
void main() {
    int s = int(slot);
    vec4 head = texel(s, 0);
    vec3 root;
    float away = length(local(s, head, uTime, 0.0));
    float fade = tail.w > 0.0 && away > tail.w ? min(1.0, (away - tail.w) / (tail.w * 0.5)) : 0.0;
    float activity = tail.w <= 0.0 ? 1.0 : away <= tail.w ? 1.0 + 0.5 * (1.0 - away / tail.w) : 1.0 - 0.7 * fade;
    float points = min(floor(tail.x * activity * 10.0), 400.0);
    float k = float(gl_VertexID) / ${TAIL_POINTS.toFixed(1)};
    float back = k * points * 0.05;
    vec4 view = viewMatrix * vec4(place(s, head, uTime - back, root), 1.0);
    float size = max(tail.y * uScale / max(-view.z, 1e-3) * (0.4 + 0.9 * k), 1.6 * uPixel);
    vColour = tint;
    vAlpha = tail.z * (1.0 - fade) * pow(1.0 - k, 1.6) * 0.5;
    gl_Position = points < 1.0 || head.w < 0.5 ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * view;
    gl_PointSize = min(size * 2.0, 48.0);
}
`;

const TAIL_FRAGMENT = /* glsl */`
flat in vec3 vColour;
flat in float vAlpha;
void main() {
    float a = smoothstep(1.0, 0.0, length(gl_PointCoord * 2.0 - 1.0)) * vAlpha;
    if (a < 0.004) discard;
    glow(vColour, a);
}
`;

function instanced(points, columns, most) {
    const geometry = new InstancedBufferGeometry();
    geometry.setDrawRange(0, points);
    for (const [name, size] of Object.entries(columns))
        geometry.setAttribute(name, new InstancedBufferAttribute(new Float32Array(most * size), size));
    /* three.js counts vertices by `position`; the shaders count by gl_VertexID */
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(points * 3), 3));
    geometry.instanceCount = 0;
    return geometry;
}

function rgb(color) {
    const hex = parseInt(/^#([0-9a-f]{6})$/i.exec(color ?? '')?.[1] ?? 'aaccff', 16);
    return [(hex >> 16 & 255) / 255, (hex >> 8 & 255) / 255, (hex & 255) / 255];
}

function fill(geometry, rows) {
    for (const name of Object.keys(rows)) {
        const attribute = geometry.getAttribute(name);
        attribute.array.set(rows[name]);
        attribute.needsUpdate = true;
    }
}

export class Paths {
    constructor(uniforms) {
        this.orbits = new Line(instanced(ORBIT_POINTS, { slot: 1 }, ORBITS_MAX), material(uniforms, ORBIT_VERTEX, LINE_FRAGMENT, { own: { uFaint: { value: 1 } } }));
        this.rogues = new Line(instanced(ROGUE_POINTS, { slot: 1, window: 2 }, ROGUES_MAX),
            material(uniforms, ROGUE_VERTEX, LINE_FRAGMENT));
        this.tails = new Points(instanced(TAIL_POINTS, { slot: 1, tail: 4, tint: 3 }, COMETS_MAX),
            material(uniforms, TAIL_VERTEX, TAIL_FRAGMENT));
        this.objects = [this.orbits, this.rogues, this.tails];
        this.orbits.renderOrder = 2;  /* bodies come after them, and cover them */
        this.rogues.renderOrder = 2;
        this.tails.renderOrder = 7;
        for (const object of this.objects)
            object.visible = false;
    }

    #show(object, count) {
        object.geometry.instanceCount = count;
        object.visible = count > 0;
    }

    setOrbits(slots) {
        const shown = slots.slice(0, ORBITS_MAX);
        fill(this.orbits.geometry, { slot: shown });
        /* The more lines there are, the fainter is each. */
        this.orbits.material.uniforms.uFaint.value = Math.max(0.12, Math.min(1, 90 / Math.max(shown.length, 1)));
        this.#show(this.orbits, shown.length);
    }

    /** @param rogues pairs of slot and body */
    setRogues(rogues) {
        const shown = rogues.filter(([, star]) => star.roguePlanet.showTrajectory !== false).slice(0, ROGUES_MAX);
        fill(this.rogues.geometry, {
            slot: shown.map(([slot]) => slot),
            window: shown.flatMap(([, { roguePlanet: path }]) => {
                const a = path.semiMajorAxis ?? 100;
                const standard = path.pathCurvature ? (path.pathPeriod ?? a * 5) / 4 : 100;
                return [path.trajectoryPastWindow ?? standard, path.trajectoryFutureWindow ?? standard];
            }),
        });
        this.#show(this.rogues, shown.length);
    }

    /** @param comets pairs of slot and body */
    setComets(comets) {
        const shown = comets.filter(([, star]) => star.comet?.hasTail).slice(0, COMETS_MAX);
        fill(this.tails.geometry, {
            slot: shown.map(([slot]) => slot),
            tail: shown.flatMap(([, { comet }]) => [comet.tailLengthBase ?? 1, comet.tailWidthBase ?? 0.1,
                comet.tailOpacityBase ?? 0.5, comet.activityFalloffDistance ?? 0]),
            tint: shown.flatMap(([, { comet }]) => rgb(comet.tailColor)),
        });
        this.#show(this.tails, shown.length);
    }

    dispose() {
        for (const object of this.objects) {
            object.geometry.dispose();
            object.material.dispose();
        }
    }
}
