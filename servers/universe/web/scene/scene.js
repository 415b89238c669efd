/*
 * scene.js - the picture: what is in the model, drawn at the clock's time.
 *
 * A frame costs the processor little whatever the number of bodies: the card moves them all. What only the processor can
 * do - which orbits, labels and discs are worth drawing - is done by a survey that looks at some thousand bodies a frame
 * and takes its findings into use when it has been round.
 */
import { Color, PerspectiveCamera, Scene as Stage, Sphere, Vector3, WebGLRenderer } from 'three';

import { typeOf } from '../kinds.js';
import { layOut } from '../layout.js';
import { Best } from './best.js';
import { Bodies, TYPES } from './bodies.js';
import { CameraRig } from './camera.js';
import { Clouds } from './clouds.js';
import { Dots } from './dots.js';
import { Flats } from './flats.js';
import { makeUniforms } from './material.js';
import { Paths } from './paths.js';

const SURVEY = 3000;       /* bodies looked at in a frame */
const LABELS = 28, DISCS = 200, ORBITS = 400;
const FIELD_OF_VIEW = 60;
const CLOUD_MAPS = ['smallBodyFields', 'belts', 'protoplanetaryDisks', 'nebulae'];
const WEIGHT = { star: 3, blackHole: 4, planet: 1.6, rogue: 1.6, moon: 0.9, comet: 1, asteroid: 0.3, lagrangePoint: 0.05, dot: 0 };
const WEIGHTS = TYPES.map((name) => WEIGHT[name] ?? 1);
const POINT_LARGEST = 64;

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
            object.geometry.boundingSphere = new Sphere(); /* or three.js would work out one, of numbers that are no places */
            this.stage.add(object);
        }
        this.rig = new CameraRig(canvas, { click: (event) => this.#click(event), released: () => on.released() });
        this.special = { ring: new Map(), comet: new Map(), rogue: new Map(), hole: new Map() };
        this.survey = { at: 0, near: new Best(DISCS), labels: new Best(LABELS * 2), orbits: new Best(ORBITS) };
        this.found = { near: [], labels: [] };
        this.chosen = null;
        this.time = 0;
        this.stale = { special: false, layout: false };
        this.scratch = [0, 0, 0];
        this.vector = new Vector3();
        this.showOrbits = true;
        this.unlisten = model.listen((change) => this.#changed(change));
        this.resize();
    }

    /* ---- what changed -------------------------------------------------------------------------- */

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
    }

    #reset() {
        this.bodies.clear();
        this.bodies.anchors = new Map();
        this.clouds.clear();
        for (const map of Object.values(this.special))
            map.clear();
        this.stale = { special: true, layout: true };
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
        if (this.stale.layout) {
            const { boxes, systems } = layOut(this.model.groups, this.model.rootGroupIds);
            this.bodies.anchor(systems, this.model.stars);
            this.flats.setBoxes(boxes);
            this.boxes = boxes;
            this.stale.layout = false;
        }
        if (this.stale.special) {
            const pairs = (map) => [...map].map(([id, star]) => [this.bodies.slotOf(id), star]);
            this.flats.setRings(pairs(this.special.ring), pairs(this.special.hole));
            this.paths.setComets(pairs(this.special.comet));
            this.paths.setRogues(pairs(this.special.rogue));
            this.stale.special = false;
        }
    }

    setPlaces({ names, xyz }) {
        this.bodies.setPlaces(names, xyz);
        this.frameAll();
    }

    /* ---- the view ------------------------------------------------------------------------------ */

    setTheme(isLight) {
        this.uniforms.uInk.value = isLight ? 1 : 0;
        this.renderer.setClearColor(new Color(isLight ? '#f3f1ea' : '#04060d'), 1);
    }

    resize() {
        const { clientWidth: width, clientHeight: height } = this.canvas, ratio = Math.min(devicePixelRatio, 2);
        Object.assign(this, { width, height });  /* to ask the canvas in a frame would lay out the window anew */
        this.renderer.setPixelRatio(ratio);
        this.renderer.setSize(width, height, false);
        this.camera.aspect = width / Math.max(height, 1);
        this.uniforms.uPixel.value = ratio;
        this.uniforms.uScale.value = (height * ratio) / 2 / Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    }

    /** See everything; of what is very scattered, nine in ten. */
    frameAll() {
        const { bodies } = this, far = [], sum = [0, 0, 0];
        const step = Math.max(1, Math.floor(bodies.top / 4000));
        const places = [];
        this.#refresh();
        for (let slot = 0; slot < bodies.top; slot += step) {
            if (bodies.kind[slot] !== 0)
                places.push(bodies.placeOf(slot, this.time, [0, 0, 0]));
        }
        if (places.length === 0) {
            this.rig.lookAt([0, 0, 0], 60);
            return;
        }
        for (const place of places)
            place.forEach((x, i) => { sum[i] += x / places.length; });
        for (const place of places)
            far.push(Math.hypot(place[0] - sum[0], place[1] - sum[1], place[2] - sum[2]));
        far.sort((a, b) => a - b);
        const reach = far[Math.floor((far.length - 1) * (far.length > 50 ? 0.9 : 1))];
        this.rig.lookAt(sum, Math.max(6, reach * (this.camera.aspect < 1 ? 2.6 : 1.9)));
    }

    choose(id) {
        this.chosen = id;
    }

    /** Go to a body and stay with it. */
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

    /* ---- a frame ------------------------------------------------------------------------------- */

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
            if (reach > 8)
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

    /** Where a slot's body is in the window, in CSS pixels; null: behind us. */
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

    /** Names to write, the most important first, none upon another. */
    #labels() {
        const out = [], taken = [], wanted = this.chosen ? [this.bodies.slotOf(this.chosen), ...this.found.labels] : this.found.labels;
        for (const slot of wanted) {
            if (out.length >= LABELS || slot < 0 || this.bodies.kind[slot] === 0)
                continue;
            const id = this.bodies.ids[slot], star = this.model.stars.get(id), at = star && this.project(slot);
            if (!at || at.x < -40 || at.y < -20 || at.x > this.width + 40 || at.y > this.height + 20)
                continue;
            const x = at.x + Math.min(at.pixels, 240) + 7, y = at.y, width = Math.min(star.name.length, 24) * 6.4 + 8;
            if (taken.some((box) => Math.abs(box.y - y) < 17 && x < box.x + box.width && box.x < x + width))
                continue;
            taken.push({ x, y, width });
            out.push({ id, x, y, name: star.name, kind: typeOf(star) });
        }
        return out;
    }

    /* ---- picking ------------------------------------------------------------------------------- */

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
