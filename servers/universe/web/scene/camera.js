/*
 * camera.js - moves the camera: around a target, closer, farther and sideways, and along with a
 * body that is followed.
 *
 * Input sets the aim. In each frame the camera moves a part of the way to the aim, so all movement
 * is smooth. With prefers-reduced-motion it takes the aim immediately.
 */
const NEAREST = 0.02, FARTHEST = 40000, HALF_LIFE_MS = 70;

export class CameraRig {
    constructor(element, on) {
        this.target = [0, 0, 0];
        this.aim = { yaw: 0.6, pitch: 0.5, distance: 60, target: [0, 0, 0] };
        this.now = { yaw: 0.6, pitch: 0.5, distance: 60 };
        /* the viewer moved the camera since it was last told where to look */
        this.isTouched = false;
        this.followed = null; /* a function that gives the place of the followed body, or null */
        this.still = matchMedia('(prefers-reduced-motion: reduce)');
        this.on = on;
        this.pointers = new Map();
        this.#listen(element);
    }

    #listen(element) {
        let moved = 0, pinch = 0;
        element.addEventListener('pointerdown', (event) => {
            element.setPointerCapture(event.pointerId);
            this.pointers.set(event.pointerId, event);
            moved = 0;
            pinch = 0;
        });
        element.addEventListener('pointermove', (event) => {
            const before = this.pointers.get(event.pointerId);
            if (!before)
                return;
            const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
            this.pointers.set(event.pointerId, event);
            moved += Math.abs(dx) + Math.abs(dy);
            if (this.pointers.size === 2) {
                const [a, b] = [...this.pointers.values()];
                const spread = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
                if (pinch > 0)
                    this.zoom(pinch / spread);
                pinch = spread;
                this.pan(dx / 2, dy / 2, element.clientHeight);
            } else if (event.buttons & 2 || event.buttons & 4 || event.shiftKey) {
                this.pan(dx, dy, element.clientHeight);
            } else {
                this.turn(-dx * 0.005, dy * 0.005);
            }
        });
        const end = (event) => {
            if (this.pointers.delete(event.pointerId) && moved < 5 && event.type === 'pointerup')
                this.on.click(event);
        };
        element.addEventListener('pointerup', end);
        element.addEventListener('pointercancel', end);
        element.addEventListener('contextmenu', (event) => event.preventDefault());
        element.addEventListener('wheel', (event) => {
            event.preventDefault();
            this.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.0022));
        }, { passive: false });
    }

    turn(yaw, pitch) {
        this.isTouched = true;
        this.aim.yaw += yaw;
        this.aim.pitch = Math.max(-1.55, Math.min(1.55, this.aim.pitch + pitch));
    }

    zoom(factor) {
        this.isTouched = true;
        this.aim.distance = Math.max(NEAREST, Math.min(FARTHEST, this.aim.distance * factor));
    }

    /** Move sideways, by pixels of a window of this height. The camera stops following a body. */
    pan(dx, dy, height) {
        const unit = (2 * this.now.distance * Math.tan(Math.PI / 6)) / Math.max(height, 1);
        const { right, up } = this.axes();
        this.isTouched = true;
        if (this.followed)
            this.release();
        for (let i = 0; i < 3; i++)
            this.aim.target[i] += (-dx * right[i] + dy * up[i]) * unit;
    }

    follow(place, distance) {
        this.isTouched = true;
        this.followed = place;
        if (distance)
            this.aim.distance = distance;
    }

    release() {
        if (this.followed) {
            this.aim.target = [...this.target];
            this.followed = null;
            this.on.released?.();
        }
    }

    /** Look at a place from this distance. */
    lookAt(target, distance) {
        this.followed = null;
        this.isTouched = false;
        this.aim.target = [...target];
        this.aim.distance = Math.max(NEAREST, Math.min(FARTHEST, distance));
    }

    /** Whether nothing moves the camera any more. */
    get isStill() {
        const { aim, now, target } = this;
        return this.followed === null && Math.abs(Math.log(aim.distance / now.distance)) < 1e-3
            && aim.target.every((x, i) => Math.abs(x - target[i]) < now.distance * 1e-3);
    }

    axes({ yaw, pitch } = this.now) {
        const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
        return { back: [sy * cp, sp, cy * cp], right: [cy, 0, -sy], up: [-sy * sp, cp, -cy * sp] };
    }

    /** Move for one frame. The camera is placed relative to the target, which is the origin of the
     *  picture. */
    advance(step, camera) {
        const part = this.still.matches ? 1 : 1 - 0.5 ** (step / HALF_LIFE_MS);
        for (const name of ['yaw', 'pitch'])
            this.now[name] += (this.aim[name] - this.now[name]) * part;
        this.now.distance *= (this.aim.distance / this.now.distance) ** part;
        const aim = this.followed?.() ?? this.aim.target;
        if (this.followed)
            this.#approach(aim, part);
        else
            for (let i = 0; i < 3; i++)
                this.target[i] += (aim[i] - this.target[i]) * part;
        const { back } = this.axes(), d = this.now.distance;
        camera.position.set(back[0] * d, back[1] * d, back[2] * d);
        camera.up.set(0, 1, 0);
        camera.lookAt(0, 0, 0);
        camera.near = Math.max(d * 0.002, 0.001);
        camera.far = Math.max(d * 400, 50000);
        camera.updateProjectionMatrix();
        camera.updateMatrixWorld();
    }

    /* The followed body moves too, so the camera moves along with it and closes the remaining
     * gap. */
    #approach(aim, part) {
        const last = this.lastAim ?? aim;
        const jumped = Math.hypot(aim[0] - last[0], aim[1] - last[1], aim[2] - last[2]) > this.now.distance * 4;
        for (let i = 0; i < 3; i++) {
            if (!jumped)
                this.target[i] += aim[i] - last[i];
            this.target[i] += (aim[i] - this.target[i]) * part;
        }
        this.lastAim = [...aim];
    }
}
