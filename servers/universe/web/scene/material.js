/*
 * material.js - what all shaders of the page share: uniforms, blending, the two themes.
 *
 * Both themes use the same blending: a colour is multiplied by its alpha, and `uInk` says how much
 * of the background it covers. On the dark background it is 0, and light adds up. On the light one
 * it is 1, and the same shapes are ink.
 */
import { CustomBlending, GLSL3, OneFactor, OneMinusSrcAlphaFactor, RawShaderMaterial, Vector3 } from 'three';

import { PLACE } from './place.glsl.js';

export function makeUniforms() {
    return {
        uBodies: { value: null },
        uTime: { value: 0 },
        uOrigin: { value: new Vector3() },
        uScale: { value: 1 },      /* pixels of a unit at distance 1 */
        uPixel: { value: 1 },      /* device pixels of a CSS pixel */
        uInk: { value: 0 },
        uClock: { value: 0 },      /* simulated seconds, reduced, for things that only turn */
        uChosen: { value: -1 },
    };
}

const HEAD = /* glsl */`${PLACE}
uniform mat4 viewMatrix;
uniform mat4 projectionMatrix;
uniform float uScale;
uniform float uPixel;
uniform float uInk;
uniform float uClock;
uniform int uChosen;
`;

const FRAGMENT = /* glsl */`
precision highp float;
uniform float uInk;
uniform float uPixel;
out vec4 result;
vec3 onGround(vec3 c) { return mix(c, c * c * 0.62, uInk); }
/* A star's light: the brightest part of its colour is full, the others are lower, so a pale colour
 * is still a colour. */
vec3 shine(vec3 c) { float m = max(max(c.r, c.g), max(c.b, 1e-3)); return pow(c / m, vec3(1.7)); }
void glow(vec3 c, float a) { result = vec4(onGround(c) * a, a * uInk); }
void solid(vec3 c, float a) { result = vec4(c * a, a); }
`;

export function material(uniforms, vertex, fragment, options = {}) {
    return new RawShaderMaterial({
        glslVersion: GLSL3,
        uniforms: options.own ? { ...uniforms, ...options.own } : uniforms,
        vertexShader: HEAD + vertex,
        fragmentShader: FRAGMENT + fragment,
        blending: CustomBlending,
        blendSrc: OneFactor,
        blendDst: OneMinusSrcAlphaFactor,
        transparent: true,
        depthTest: true,
        depthWrite: false,
        side: 2,
        ...options.set,
    });
}
