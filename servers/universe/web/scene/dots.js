/*
 * dots.js - every body as a point, and the glow of stars. Near bodies are drawn again as discs,
 * because points have a largest size and a disc may fill the window.
 *
 * Glow comes first, then orbits, then bodies: neither glow nor lines cover a body.
 */
import { BufferGeometry, InstancedBufferAttribute, InstancedBufferGeometry, BufferAttribute, Mesh, Points } from 'three';

import { material } from './material.js';

const NEAR_MAX = 256;

const SURFACE = /* glsl */`
flat in vec3 vColour;
flat in vec3 vLight;
flat in float vType;
flat in float vAlpha;
flat in float vSize;
flat in float vChosen;

/* uv: -1..1 over the body's disc. */
void surface(vec2 uv) {
    float r2 = dot(uv, uv), r = sqrt(r2);
    float soft = 1.5 / max(vSize, 1.5);
    float edge = 1.0 - smoothstep(1.0 - soft, 1.0, r);
    if (vType > 4.5 && vType < 5.5) {                      /* Lagrange point: a ring */
        float band = smoothstep(0.35, 0.5, r) * edge;
        if (band < 0.05) discard;
        solid(onGround(vColour), band * vAlpha * 0.8);
        return;
    }
    if (edge < 0.02) discard;
    if (vType > 5.5 && vType < 6.5) {                      /* black hole: a shadow and its photon ring */
        float band = smoothstep(0.74, 0.86, r);
        solid(mix(vec3(0.0), vec3(1.0, 0.82, 0.55), band), edge);
        return;
    }
    vec3 n = vec3(uv, sqrt(max(0.0, 1.0 - r2)));
    vec3 c;
    if (vType > 0.5 && vType < 1.5) {                      /* a star: its own colour, deeper at the edge, paler in its middle */
        vec3 deep = shine(vColour);
        c = mix(deep * 0.78, mix(deep, vec3(1.0), 0.34), smoothstep(0.0, 1.0, n.z));
        c = mix(c, deep * (0.74 + 0.2 * n.z), uInk * 0.8);
    } else if (vType > 7.5) {                              /* not loaded yet: only its place is known */
        c = vColour;
    } else {
        float lit = clamp(dot(n, vLight) * 1.1 + 0.08, 0.0, 1.0);
        float rim = pow(1.0 - n.z, 3.0) * 0.22;
        c = vColour * (0.10 + 0.34 * uInk + lit * (0.95 - 0.3 * uInk)) + vColour * rim * (0.3 + lit);
        if (vSize < 6.0) c = mix(vColour, c, smoothstep(2.0, 6.0, vSize));
        if (vType > 6.5) c = mix(c, vec3(0.62, 0.5, 0.95), 0.18);
    }
    solid(c, edge * vAlpha);
}
`;

const CORE = /* glsl */`
flat out vec3 vColour;
flat out vec3 vLight;
flat out float vType;
flat out float vAlpha;
flat out float vSize;
flat out float vChosen;

/* Set what the surface needs. Returns the place relative to the camera; w is the radius in pixels,
 * 0 if the body is not drawn. */
vec4 body(int slot) {
    vec4 head = texel(slot, 0);
    if (head.w < 0.5)
        return vec4(0.0);
    vec4 a = texel(slot, 1), b = texel(slot, 2);
    vec3 root;
    vec3 at = place(slot, head, uTime, root);
    vec4 view = viewMatrix * vec4(at, 1.0);
    vType = texel(slot, 3).w;
    vColour = colour(b.w);
    vec3 toLight = root - at;
    float far = length(toLight);
    vLight = mat3(viewMatrix) * (far > 1e-4 ? toLight / far : vec3(0.35, 0.8, 0.5));
    float exact = a.w * uScale / max(-view.z, 1e-4);
    float least = (vType == 1.0 ? 1.5 : vType == 0.0 || vType > 5.5 ? 1.15 : vType == 5.0 ? 1.6 : 0.85) * uPixel;
    if (vType > 7.5) { exact = min(exact, least); }
    vSize = max(exact, least);
    vAlpha = vType == 1.0 || vType > 7.5 ? 1.0 : clamp(0.35 + 0.65 * sqrt(exact / least), 0.35, 1.0);
    if (vType == 5.0) { vSize = clamp(exact, least, 5.0 * uPixel); vAlpha = smoothstep(0.02, 0.25, exact / least); }
    vChosen = slot == uChosen ? 1.0 : 0.0;
    if (view.z > -1e-4) return vec4(0.0);
    return vec4(view.xyz, vSize);
}
`;

const DOT_VERTEX = /* glsl */`${CORE}
uniform float uLargest;
void main() {
    vec4 at = body(gl_VertexID);
    gl_Position = at.w > 0.0 ? projectionMatrix * vec4(at.xyz, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = min(at.w * 2.0, uLargest);
    vSize = min(vSize, uLargest * 0.5);
}
`;

const DOT_FRAGMENT = /* glsl */`${SURFACE}
void main() { surface(vec2(gl_PointCoord.x, 1.0 - gl_PointCoord.y) * 2.0 - 1.0); }
`;

const GLOW_VERTEX = /* glsl */`
flat out vec3 vColour;
flat out float vCore;
uniform float uLargest;
void main() {
    vec4 head = texel(gl_VertexID, 0);
    float type = texel(gl_VertexID, 3).w;
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 1.0;
    if (head.w < 0.5 || type != 1.0)
        return;
    vec3 root;
    vec4 view = viewMatrix * vec4(place(gl_VertexID, head, uTime, root), 1.0);
    float size = max(texel(gl_VertexID, 1).w * uScale / max(-view.z, 1e-4), 1.5 * uPixel);
    float reach = min(clamp(size * 7.0, 9.0 * uPixel, 220.0 * uPixel), uLargest);
    vColour = colour(texel(gl_VertexID, 2).w);
    vCore = size / reach;
    if (view.z > -1e-4) return;
    gl_Position = projectionMatrix * view;
    gl_PointSize = reach;
}
`;

const GLOW_FRAGMENT = /* glsl */`
flat in vec3 vColour;
flat in float vCore;
void main() {
    float r = length(gl_PointCoord * 2.0 - 1.0);
    float a = pow(max(0.0, 1.0 - r), 2.6) * 0.6 + exp(-r * 9.0) * 0.25;
    if (a < 0.004) discard;
    a *= 1.0 - 0.55 * uInk;
    /* covers what is behind it: many glows together are no brighter than one */
    solid(onGround(shine(vColour)), a);
}
`;

const NEAR_VERTEX = /* glsl */`${CORE}
in vec2 position;
in float slot;
out vec2 vAt;
void main() {
    vec4 at = body(int(slot));
    vAt = position;
    gl_Position = at.w > 0.0
        ? projectionMatrix * vec4(at.xyz + vec3(position * at.w * -at.z / uScale, 0.0), 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
`;

const NEAR_FRAGMENT = /* glsl */`${SURFACE}
in vec2 vAt;
void main() { surface(vAt); }
`;

export class Dots {
    constructor(uniforms, largest) {
        const own = { uLargest: { value: largest } };
        this.geometry = new BufferGeometry();
        this.core = new Points(this.geometry, material(uniforms, DOT_VERTEX, DOT_FRAGMENT, { own, set: { depthWrite: true } }));
        this.glow = new Points(this.geometry, material(uniforms, GLOW_VERTEX, GLOW_FRAGMENT, { own }));
        this.discs = new InstancedBufferGeometry();
        this.discs.setAttribute('position', new BufferAttribute(new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1]), 2));
        this.slots = new InstancedBufferAttribute(new Float32Array(NEAR_MAX), 1);
        this.discs.setAttribute('slot', this.slots);
        this.discs.instanceCount = 0;
        this.shown = null;
        this.near = new Mesh(this.discs, material(uniforms, NEAR_VERTEX, NEAR_FRAGMENT, { set: { depthWrite: true } }));
        this.objects = [this.core, this.near, this.glow];
        this.glow.renderOrder = 1;  /* behind every body, and behind the lines of paths.js */
        this.core.renderOrder = 4;
        this.near.renderOrder = 5;
    }

    /** @param top one past the last slot; @param near the slots of the bodies that are large on
     *  screen */
    update(top, near) {
        this.geometry.setDrawRange(0, top);
        if (near === this.shown)
            return;
        this.shown = near;
        const count = Math.min(near.length, NEAR_MAX);
        for (let i = 0; i < count; i++)
            this.slots.array[i] = near[i];
        this.slots.needsUpdate = true;
        this.discs.instanceCount = count;
        this.near.visible = count > 0;
    }

    dispose() {
        this.geometry.dispose();
        this.discs.dispose();
        for (const object of this.objects)
            object.material.dispose();
    }
}
