/*
 * scene.js - the picture: draws the model at the clock's time.
 *
 * The graphics card moves all bodies, so the processor has little to do in a frame, whatever their
 * number. The processor chooses which orbits, labels and discs to draw. For that a survey looks at
 * a few thousand bodies in each frame. Its result is used when it has looked at all.
 */
import { Color, PerspectiveCamera, Scene as Stage, Sphere, Vector3, WebGLRenderer } from 'three';

import { typeOf } from '../kinds.js';
import { layOut, pitchOf, spread } from '../layout.js';
import { Best } from './best.js';
import { Bodies, TYPES } from './bodies.js';
import { CameraRig } from './camera.js';
import { Clouds } from './clouds.js';
import { Dots } from './dots.js';
import { Flats } from './flats.js';
import { frame, medianPlace, quantile } from './frame.js';
import { makeUniforms } from './material.js';
import { Paths } from './paths.js';

const SURVEY = 3000;       /* bodies that the survey looks at in one frame */
const LABELS = 28, DISCS_AVOIDED = 24, DISCS = 200, ORBITS = 400;
const FIELD_OF_VIEW = 60;
const CLOUD_MAPS = ['smallBodyFields', 'belts', 'protoplanetaryDisks', 'nebulae'];
const WEIGHT = { star: 3, blackHole: 4, planet: 1.6, rogue: 1.6, moon: 0.9, comet: 1, asteroid: 0.3, lagrangePoint: 0.05, dot: 0 };
const WEIGHTS = TYPES.map((name) => WEIGHT[name] ?? 1);
const LAGRANGE = TYPES.indexOf('lagrangePoint');
/* pixels: an orbit that is wider is a line through the window */
const POINT_LARGEST = 64, REACH_MOST = 12000;
/* roots, and children of all of them, that decide the first view */
const FRAMED = 1000, FRAMED_CHILDREN = 4000;
const SIZED = 256, SIZED_CHILDREN = 32, ARRANGE_MS = 500, ARRANGED_AT_ONCE = 1000;

/** At most this many of a list, evenly spaced. */
function sampled(list, most) {
    if (list.length <= most)
        return list;
    return Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]);
}

export class Scene {
    constructor(canvas, model, on) {
        Object.assign(this, { canvas, model, on });
        this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: 'high-performance' });
        this.stage = new Stage();
        this.stage.matrixWorldAutoUpdate = false;
        this.camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.1, 50000);
        this.uniforms = makeUniforms();
        this.bodies = new Bodies();
        const range = this.renderer.getContext().getParameter(this.renderer.getContext().ALIASED_POINT_SIZE_RANGE);
        this.dots = new Dots(this.uniforms, Math.min(range[1], 256));
        this.pointLargest = Math.min(range[1], POINT_LARGEST);
        this.paths = new Paths(this.uniforms);
        this.flats = new Flats(this.uniforms);
        this.clouds = new Clouds(this.uniforms, this.stage, this.bodies);
        for (const object of [...this.flats.objects, ...this.paths.objects, ...this.dots.objects]) {
            object.frustumCulled = false;
            object.matrixAutoUpdate = false;
            /* three.js would compute one from numbers that are no places */
            object.geometry.boundingSphere = new Sphere();
            this.stage.add(object);
        }
        this.rig = new CameraRig(canvas, { click: (event) => this.#click(event), released: () => on.released() });
        this.special = { ring: new Map(), comet: new Map(), rogue: new Map(), hole: new Map() };
        this.survey = { at: 0, near: new Best(DISCS), labels: new Best(LABELS * 2), orbits: new Best(ORBITS) };
        this.found = { near: [], labels: [] };
        this.chosen = null;
        this.time = 0;
        this.stale = { special: false, layout: false, sizes: false };
        this.grouped = new Map();
        this.pitch = 0;
        this.arrangedAt = -Infinity;
        this.scratch = [0, 0, 0];
        this.vector = new Vector3();
        this.showOrbits = true;
        this.unlisten = model.listen((change) => this.#changed(change));
        this.resize();
    }

    /* ---- changes of the model ---------------------------------------------------------------- */

    #changed({ reset, changed, roots }) {
        if (reset)
            this.#reset();
        const { stars } = this.model;
        for (const id of changed.stars ?? [])
            this.#setBody(id, stars.get(id));
        for (const map of CLOUD_MAPS) {
            for (const id of changed[map] ?? [])
                this.clouds.set(map, id, this.model[map].get(id));
        }
        if (reset || roots || changed.groups)
            this.stale.layout = true;
        if (changed.stars)
            this.stale.sizes = true;
    }

    #reset() {
        this.bodies.clear();
        this.bodies.anchors = new Map();
        this.clouds.clear();
        for (const map of Object.values(this.special))
            map.clear();
        this.stale = { special: true, layout: true, sizes: true };
        this.#beginSurvey();
        this.found = { near: [], labels: [] };
        for (const [id, star] of this.model.stars)
            this.#setBody(id, star);
        for (const map of CLOUD_MAPS) {
            for (const [id, item] of this.model[map])
                this.clouds.set(map, id, item);
        }
    }

    #setBody(id, star) {
        if (star)
            this.bodies.set(star);
        else
            this.bodies.remove(id);
        this.#note('ring', id, star?.ring ? star : null);
        this.#note('comet', id, star?.comet ? star : null);
        this.#note('rogue', id, star?.isRoguePlanet && star.roguePlanet ? star : null);
        this.#note('hole', id, star?.blackHole ? star : null);
    }

    #note(kind, id, star) {
        const map = this.special[kind];
        if (star) {
            map.set(id, star);
            this.stale.special = true;
        } else if (map.delete(id)) {
            this.stale.special = true;
        }
    }

    #refresh() {
        this.#arrange();
        if (this.stale.special) {
            const pairs = (map) => [...map].map(([id, star]) => [this.bodies.slotOf(id), star]);
            this.flats.setRings(pairs(this.special.ring), pairs(this.special.hole));
            this.paths.setComets(pairs(this.special.comet));
            this.paths.setRogues(pairs(this.special.rogue));
            this.stale.special = false;
        }
    }

    /* Place the systems. A change of bodies may wait: many bodies change, and few of them move a
     * system. */
    #arrange() {
        const now = performance.now(), isDue = now - this.arrangedAt > ARRANGE_MS;
        if (!this.stale.layout && !(this.stale.sizes && isDue))
            return;
        if (!isDue && this.model.rootIds.length > ARRANGED_AT_ONCE)
            return;
        this.arrangedAt = now;
        if (this.stale.layout) {
            const { boxes, systems } = layOut(this.model.groups, this.model.rootGroupIds);
            this.flats.setBoxes(boxes);
            this.grouped = systems;
        }
        const { stars, rootIds } = this.model, loose = rootIds.filter((id) => !this.grouped.has(id) && !stars.get(id)?.orbitalDistance);
        const pitch = pitchOf(sampled(loose, SIZED).map((id) => this.#sizeOf(id)));
        if (this.stale.layout || pitch !== this.pitch)
            this.bodies.anchor(new Map([...spread(loose, pitch), ...this.grouped]), stars);
        this.pitch = pitch;
        this.stale.layout = this.stale.sizes = false;
    }

    /* The distance from a root within which most of its children are. */
    #sizeOf(id) {
        const reaches = sampled(this.model.stars.get(id)?.children ?? [], SIZED_CHILDREN).map((child) => {
            const slot = this.bodies.slotOf(child);
            return slot < 0 ? 0 : this.bodies.reach(slot);
        });
        return quantile(reaches, 0.6);
    }

    setPlaces({ names, xyz }) {
        this.bodies.setPlaces(names, xyz);
        this.frameAll();
    }

    /* ---- the view ---------------------------------------------------------------------------- */

    setTheme(isLight) {
        this.uniforms.uInk.value = isLight ? 1 : 0;
        this.renderer.setClearColor(new Color(isLight ? '#f3f1ea' : '#04060d'), 1);
    }

    resize() {
        const { clientWidth: width, clientHeight: height } = this.canvas, ratio = Math.min(devicePixelRatio, 2);
        /* reading them from the canvas in a frame would force a layout of the window */
        Object.assign(this, { width, height });
        this.renderer.setPixelRatio(ratio);
        this.renderer.setSize(width, height, false);
        this.camera.aspect = width / Math.max(height, 1);
        this.uniforms.uPixel.value = ratio;
        this.setView(this.view ?? { left: 0, top: 0, right: width, bottom: height });
        this.uniforms.uScale.value = (height * ratio) / 2 / Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    }

    /** Set the part of the window that is free of panes, in CSS pixels. Its middle is the middle of
     *  the picture. */
    setView({ left, top, right, bottom }) {
        this.view = { left, top, right, bottom };
        const { width, height } = this, x = width / 2 - (left + right) / 2, y = height / 2 - (top + bottom) / 2;
        this.camera.setViewOffset(width, height, x, y, width, height);
    }

    /* The tangents of half the angles that the free part of the window spans. */
    #lens() {
        const { left, top, right, bottom } = this.view, unit = Math.tan((FIELD_OF_VIEW * Math.PI) / 360) / Math.max(this.height, 1);
        return { x: Math.max(right - left, 1) * unit, y: Math.max(bottom - top, 1) * unit };
    }

    /** Show the stars and what orbits them. */
    frameAll() {
        this.#refresh();
        const { bodies, rig } = this, roots = [], children = [], ids = sampled(this.model.rootIds, FRAMED);
        const each = Math.max(4, Math.floor(FRAMED_CHILDREN / Math.max(ids.length, 1)));
        for (const id of ids) {
            const slot = bodies.slotOf(id), star = this.model.stars.get(id);
            if (slot < 0)
                continue;
            const place = bodies.placeOf(slot, this.time, [0, 0, 0]), around = star?.children ?? [];
            roots.push({ place, radius: bodies.radius[slot], children: around.length });
            for (const child of sampled(around, each))
                children.push(bodies.pathPoints(bodies.slotOf(child), place));
        }
        const camera = { axes: rig.axes(rig.aim), lens: this.#lens(), scale: this.uniforms.uScale.value / this.uniforms.uPixel.value };
        if (roots.length === 0 || this.model.stars.size === 0)
            this.#framePlaces(camera);
        else
            this.#lookAt(frame(roots, children, camera));
    }

    #lookAt({ target, distance }) {
        this.rig.lookAt(target, distance);
    }

    /* While a large universe loads, only places are known. */
    #framePlaces({ lens }) {
        const { bodies } = this, places = [];
        for (let slot = 0, step = Math.max(1, Math.floor(bodies.top / FRAMED)); slot < bodies.top; slot += step) {
            if (bodies.kind[slot] !== 0)
                places.push(bodies.placeOf(slot, this.time, [0, 0, 0]));
        }
        const target = medianPlace(places);
        const reach = quantile(places.map((place) => Math.hypot(...place.map((x, i) => x - target[i]))), 0.75);
        this.#lookAt({ target, distance: places.length === 0 ? 60 : Math.max(6, reach * (1 + 1 / Math.min(lens.x, lens.y))) });
    }

    choose(id) {
        this.chosen = id;
    }

    /** Move the camera to a body and follow it. */
    visit(id) {
        const slot = this.bodies.slotOf(id);
        if (slot < 0)
            return;
        const out = [0, 0, 0];
        const reach = this.bodies.radius[slot] * 14;
        let widest = 0;
        for (const child of this.model.stars.get(id)?.children ?? []) {
            const childSlot = this.bodies.slotOf(child);
            if (childSlot >= 0)
                widest = Math.max(widest, this.bodies.reach(childSlot));
        }
        this.rig.lastAim = null;
        this.rig.follow(() => {
            const now = this.bodies.slotOf(id);
            return now < 0 ? null : this.bodies.placeOf(now, this.time, out);
        }, Math.max(reach, Math.min(widest * 1.6, reach * 12), 0.6));
    }

    /* ---- a frame ----------------------------------------------------------------------------- */

    draw(time, step) {
        const { uniforms, bodies, rig } = this;
        this.time = time;
        this.#refresh();
        uniforms.uTime.value = bodies.prepare(time);
        uniforms.uBodies.value = bodies.texture;
        uniforms.uClock.value = time % 50000;
        uniforms.uChosen.value = this.chosen ? bodies.slotOf(this.chosen) : -1;
        rig.advance(step, this.camera);
        uniforms.uOrigin.value.set(...rig.target);
        const eye = {
            x: rig.target[0] + this.camera.position.x, y: rig.target[1] + this.camera.position.y,
            z: rig.target[2] + this.camera.position.z,
        };
        this.#look(eye);
        this.clouds.update(eye, time, uniforms.uScale.value);
        this.dots.update(bodies.top, this.found.near);
        this.on.mark('scene');
        this.renderer.render(this.stage, this.camera);
        this.on.mark('render');
        this.on.labels(this.#labels());
        this.on.mark('labels');
    }

    #look(eye) {
        const { bodies, survey, scratch } = this, scale = this.uniforms.uScale.value / this.uniforms.uPixel.value;
        const end = Math.min(survey.at + SURVEY, bodies.top);
        for (let slot = survey.at; slot < end; slot++) {
            if (bodies.kind[slot] === 0)
                continue;
            bodies.placeOf(slot, this.time, scratch);
            const per = scale / Math.max(Math.hypot(scratch[0] - eye.x, scratch[1] - eye.y, scratch[2] - eye.z), 1e-3);
            const size = bodies.radius[slot] * per, reach = bodies.reach(slot) * per;
            if (size * 2 > this.pointLargest * 0.5)
                survey.near.offer(slot, size);
            /* a Lagrange point shares its body's orbit */
            if (reach > 8 && reach < REACH_MOST && bodies.type[slot] !== LAGRANGE)
                survey.orbits.offer(slot, Math.min(reach, 600) * WEIGHTS[bodies.type[slot]]);
            const worth = (size + Math.min(reach, 240) * 0.05) * WEIGHTS[bodies.type[slot]];
            if (worth > 1.2)
                survey.labels.offer(slot, worth);
        }
        survey.at = end;
        if (end >= bodies.top)
            this.#conclude();
    }

    #conclude() {
        const { survey } = this, orbits = survey.orbits.take();
        this.found = { near: survey.near.take(), labels: survey.labels.take() };
        this.paths.setOrbits(this.showOrbits ? orbits : []);
        survey.at = 0;
    }

    #beginSurvey() {
        const { survey } = this;
        survey.at = 0;
        survey.near.clear();
        survey.labels.clear();
        survey.orbits.clear();
    }

    /** The place of a slot's body in the window, in CSS pixels; null if it is behind the camera. */
    project(slot) {
        const p = this.bodies.placeOf(slot, this.time, this.scratch), { target } = this.rig;
        const v = this.vector.set(p[0] - target[0], p[1] - target[1], p[2] - target[2]);
        const away = v.distanceTo(this.camera.position);
        v.project(this.camera);
        if (v.z > 1 || v.z < -1)
            return null;
        const pixels = (this.bodies.radius[slot] * this.uniforms.uScale.value) / this.uniforms.uPixel.value / away;
        return {
            x: ((v.x + 1) / 2) * this.width, y: ((1 - v.y) / 2) * this.height, away, pixels,
        };
    }

    /** Names to write, the most important first. No name covers another one, or a large body. */
    #labels() {
        const out = [], taken = this.#discs(), wanted = this.chosen ? [this.bodies.slotOf(this.chosen), ...this.found.labels] : this.found.labels;
        for (const slot of wanted) {
            if (out.length >= LABELS || slot < 0 || this.bodies.kind[slot] === 0)
                continue;
            const id = this.bodies.ids[slot], star = this.model.stars.get(id), at = star && this.project(slot);
            if (!at || at.x < -40 || at.y < -20 || at.x > this.width + 40 || at.y > this.height + 20)
                continue;
            const x = at.x + Math.min(at.pixels, 240) + 9, y = at.y, width = Math.min(star.name.length, 24) * 6.4 + 8;
            if (slot !== wanted[0] && taken.some((box) => Math.abs(box.y - y) < box.half + 8.5 && x < box.x + box.width && box.x < x + width))
                continue;
            taken.push({ x, y, width, half: 8.5 });
            out.push({ id, x, y, name: star.name, kind: typeOf(star) });
        }
        return out;
    }

    /* The boxes of the bodies that are large in the window. */
    #discs() {
        const boxes = [];
        for (const slot of this.found.near.slice(0, DISCS_AVOIDED)) {
            const at = this.bodies.kind[slot] === 0 ? null : this.project(slot);
            if (at && at.pixels < this.width)
                boxes.push({ x: at.x - at.pixels, y: at.y, width: at.pixels * 2, half: at.pixels * 0.8 });
        }
        return boxes;
    }

    /* ---- picking ----------------------------------------------------------------------------- */

    #click(event) {
        const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
        let best = null;
        for (let slot = 0; slot < this.bodies.top; slot++) {
            if (this.bodies.kind[slot] === 0)
                continue;
            const at = this.project(slot);
            if (!at)
                continue;
            const off = Math.hypot(at.x - x, at.y - y) - at.pixels;
            const score = Math.max(off, 0) * 2 + Math.log(at.away) - WEIGHTS[this.bodies.type[slot]];
            if (off < 9 && (!best || score < best.score))
                best = { slot, score };
        }
        this.on.picked(best ? this.bodies.ids[best.slot] : null);
    }

    dispose() {
        this.unlisten();
        this.clouds.dispose();
        this.dots.dispose();
        this.paths.dispose();
        this.flats.dispose();
        this.bodies.dispose();
        this.renderer.dispose();
    }
}
