/*
 * clouds.js - belts, disks and nebulae, which are made of particles. The particles follow from the
 * seed alone, so all viewers draw the same. A cloud gets its particles when it is first large
 * enough to be seen. It loses them when it is removed, or when others need the memory.
 */
import { BufferAttribute, BufferGeometry, Points, Sphere, Vector3 } from 'three';

import { diskParticles, fieldParticles, nebulaParticles } from '../particles.js';
import { material } from './material.js';

const SHOWN_PARTICLES = 100000;  /* in all clouds together */
const CHOOSE_MS = 400;          /* between two choices of the clouds that are drawn */
const KEPT = 240;                /* clouds that keep their particles */

const BELT_VERTEX = /* glsl */`
in vec4 position; /* distance, angle, height, shade */
in float lot;
uniform int uHost;
uniform vec3 uBase;
uniform vec3 uHigh;
uniform vec3 uLook;  /* opacity, turning, size */
flat out vec3 vColour;
flat out float vAlpha;
void main() {
    vec4 head = texel(uHost, 0);
    vec3 root;
    float angle = position.y - uClock * uLook.y;
    vec3 at = place(uHost, head, uTime, root) + vec3(cos(angle) * position.x, position.z, sin(angle) * position.x);
    vec4 view = viewMatrix * vec4(at, 1.0);
    float size = uLook.z * uScale / max(-view.z, 1e-3);
    vColour = mix(uBase, uHigh, position.w);
    vAlpha = uLook.x * clamp(size / uPixel + 0.25, 0.0, 1.0);
    gl_Position = projectionMatrix * view;
    gl_PointSize = clamp(size * 2.0, 1.2 * uPixel, 9.0 * uPixel);
}
`;

const NEBULA_VERTEX = /* glsl */`
in vec4 position; /* x, y, z, shade */
in float lot;
uniform vec3 uCentre;
uniform vec3 uBase;
uniform vec3 uHigh;
uniform vec3 uLook;
flat out vec3 vColour;
flat out float vAlpha;
void main() {
    vec4 view = viewMatrix * vec4(uCentre + position.xyz - uOrigin, 1.0);
    float size = uLook.z * (0.6 + lot) * uScale / max(-view.z, 1e-3);
    vColour = mix(uBase, uHigh, position.w);
    vAlpha = uLook.x * clamp(140.0 * uPixel / max(size, 1.0), 0.12, 1.0);
    gl_Position = projectionMatrix * view;
    gl_PointSize = clamp(size * 2.0, 1.5 * uPixel, 160.0 * uPixel);
}
`;

const CLOUD_FRAGMENT = /* glsl */`
flat in vec3 vColour;
flat in float vAlpha;
void main() {
    float r = length(gl_PointCoord * 2.0 - 1.0);
    float a = (1.0 - r) * (1.0 - r) * step(r, 1.0) * vAlpha;
    if (a < 0.003) discard;
    glow(vColour, a);
}
`;

function vector(color, fallback) {
    const hex = parseInt(/^#([0-9a-f]{6})$/i.exec(color ?? '')?.[1] ?? fallback, 16);
    return new Vector3((hex >> 16 & 255) / 255, (hex >> 8 & 255) / 255, (hex & 255) / 255);
}

/** How each kind is drawn: its host, its size, its particles, and {opacity, turning, size} of a
 *  particle. */
const KINDS = {
    smallBodyFields: {
        host: (item) => item.hostStarId, reach: (item) => item.outerRadius, make: fieldParticles,
        look: (item) => [0.9 * (item.opacity ?? 0.6), 0.008 * (item.rotationSpeedMultiplier ?? 1), item.outerRadius * 0.0022],
    },
    belts: {
        host: (item) => item.parentId, reach: (item) => item.outerRadius,
        make: (item) => fieldParticles({ ...item, particleCount: item.asteroidCount ?? 1000 }),
        look: (item) => [0.6, 0.008, item.outerRadius * 0.0022],
    },
    protoplanetaryDisks: {
        host: (item) => item.centralStarId, reach: (item) => item.outerRadius, make: diskParticles,
        look: (item) => [0.55 * (item.opacity ?? 0.5), 0.02 * (item.rotationSpeedMultiplier ?? 1), item.outerRadius * 0.012],
    },
    nebulae: {
        host: () => null, reach: (item) => item.radius, make: nebulaParticles,
        look: (item) => [0.025 + 0.07 * (item.density ?? 0.5) * (item.brightness ?? 0.5), 0, item.radius * 0.075],
    },
};

class Cloud {
    constructor(kind, item) {
        this.kind = kind;
        this.item = item;
        this.host = -1;
        this.points = null;
        this.pixels = 0;
        this.seen = 0;
    }

    build(uniforms) {
        const rules = KINDS[this.kind], { places, lots, count } = rules.make(this.item);
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', new BufferAttribute(places, 4));
        geometry.setAttribute('lot', new BufferAttribute(lots, 1));
        const p = this.item.position ?? { x: 0, y: 0, z: 0 };
        const own = {
            uHost: { value: 0 },
            uCentre: { value: new Vector3(p.x, p.y, p.z) },
            uBase: { value: vector(this.item.baseColor ?? this.item.color, '8c7f70') },
            uHigh: { value: vector(this.item.highlightColor ?? this.item.accentColor, 'd8cbb0') },
            uLook: { value: new Vector3(...rules.look(this.item)) },
        };
        const vertex = this.kind === 'nebulae' ? NEBULA_VERTEX : BELT_VERTEX;
        this.points = new Points(geometry, material(uniforms, vertex, CLOUD_FRAGMENT, { own }));
        this.points.frustumCulled = false;
        geometry.boundingSphere = new Sphere();
        this.points.renderOrder = this.kind === 'nebulae' ? 0.5 : 7;
        this.particles = count;
    }

    dispose() {
        this.points?.removeFromParent();
        this.points?.geometry.dispose();
        this.points?.material.dispose();
        this.points = null;
    }
}

export class Clouds {
    constructor(uniforms, scene, bodies) {
        Object.assign(this, { uniforms, scene, bodies });
        this.all = new Map();
        this.cursor = null;
        this.frame = 0;
        this.chosenAt = -Infinity;
        this.shown = 0;
        this.place = [0, 0, 0];
    }

    /** Replace a cloud; remove it if there is no item. */
    set(kind, id, item) {
        const key = `${kind}/${id}`;
        this.all.get(key)?.dispose();
        if (item && item.visible !== false)
            this.all.set(key, new Cloud(kind, item));
        else
            this.all.delete(key);
    }

    clear() {
        for (const cloud of this.all.values())
            cloud.dispose();
        this.all.clear();
    }

    #measure(cloud, eye, time, scale) {
        const rules = KINDS[cloud.kind], host = rules.host(cloud.item);
        if (host === null) {
            const p = cloud.item.position ?? { x: 0, y: 0, z: 0 };
            this.place = [p.x, p.y, p.z];
        } else {
            cloud.host = this.bodies.slotOf(host);
            if (cloud.host < 0)
                return 0;
            this.bodies.placeOf(cloud.host, time, this.place);
        }
        const away = Math.hypot(this.place[0] - eye.x, this.place[1] - eye.y, this.place[2] - eye.z);
        return (rules.reach(cloud.item) * scale) / Math.max(away, 1e-3);
    }

    /** Choose the clouds to draw, twice a second: the largest on screen, within the budget. */
    update(eye, time, scale) {
        this.frame++;
        if (this.all.size === 0 || performance.now() - this.chosenAt < CHOOSE_MS)
            return;
        this.chosenAt = performance.now();
        const visible = [];
        for (const cloud of this.all.values()) {
            cloud.pixels = this.#measure(cloud, eye, time, scale);
            if (cloud.pixels > 6)
                visible.push(cloud);
            else if (cloud.points)
                cloud.points.visible = false;
        }
        visible.sort((a, b) => b.pixels - a.pixels);
        this.#draw(visible);
        this.#forget(visible.length);
    }

    #draw(visible) {
        let budget = SHOWN_PARTICLES, built = 0;
        for (const cloud of visible) {
            if (!cloud.points && budget > 0 && built++ < 6) {
                cloud.build(this.uniforms);
                this.scene.add(cloud.points);
            }
            if (!cloud.points)
                continue;
            const wanted = Math.ceil(cloud.particles * Math.min(1, 0.15 + cloud.pixels / 320));
            const shown = Math.min(wanted, budget);
            budget -= shown;
            cloud.seen = this.frame;
            cloud.points.visible = shown > 0;
            cloud.points.geometry.setDrawRange(0, shown);
            cloud.points.material.uniforms.uHost.value = Math.max(cloud.host, 0);
        }
        this.shown = SHOWN_PARTICLES - budget;
    }

    #forget(visible) {
        const built = [...this.all.values()].filter((cloud) => cloud.points);
        if (built.length <= Math.max(KEPT, visible))
            return;
        built.sort((a, b) => a.seen - b.seen);
        for (const cloud of built.slice(0, built.length - KEPT))
            cloud.dispose();
    }

    dispose() {
        this.clear();
    }
}
