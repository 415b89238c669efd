/*
 * place.glsl.js - the motion of bodies on the graphics card: the same closed form as in motion.js.
 *
 * A body has four texels: (speed, phase, parent, kind), (A, radius), (B, colour), (C, type).
 * `place` adds up the places from a body to its root. The processor reduces the phase in double
 * precision, at the epoch; `uTime` is relative to that epoch.
 */

export const WIDTH = 2048;      /* texels in a row of the texture: 512 bodies */
export const DEPTH_MAX = 12;    /* ancestors that count for a body's place */
export const KIND = { none: 0, fixed: 1, ellipse: 2, line: 3 };

export const PLACE = /* glsl */`
precision highp float;
precision highp int;
precision highp sampler2D;

uniform sampler2D uBodies;
uniform float uTime;
uniform vec3 uOrigin;

vec4 texel(int slot, int part) {
    int at = slot * 4 + part;
    return texelFetch(uBodies, ivec2(at & 2047, at >> 11), 0);
}


/* The place of a body relative to its parent, after dt seconds, with its angle moved by turn
 * (radians). */
vec3 local(int slot, vec4 head, float dt, float turn) {
    vec3 A = texel(slot, 1).xyz, C = texel(slot, 3).xyz;
    if (head.w > 2.5)
        return C + A * dt;
    if (head.w < 1.5)
        return C;
    float theta = radians(head.y + head.x * dt) + turn;
    return A * cos(theta) + texel(slot, 2).xyz * sin(theta) + C;
}

vec3 above(vec4 head, float dt, out vec3 root) {
    vec3 sum = vec3(0.0);
    root = vec3(0.0);
    int up = int(head.z);
    for (int i = 0; i < ${DEPTH_MAX} && up >= 0; i++) {
        vec4 next = texel(up, 0);
        root = local(up, next, dt, 0.0);
        sum += root;
        up = int(next.z);
    }
    return sum;
}

/* The world place of a body, and of the root of its system, both relative to uOrigin. */
vec3 place(int slot, vec4 head, float dt, out vec3 root) {
    vec3 sum = above(head, dt, root) + local(slot, head, dt, 0.0);
    if (head.z < -0.5)
        root = sum;
    root -= uOrigin;
    return sum - uOrigin;
}

vec3 colour(float packed) {
    int c = int(packed);
    return vec3(float((c >> 16) & 255), float((c >> 8) & 255), float(c & 255)) / 255.0;
}
`;
