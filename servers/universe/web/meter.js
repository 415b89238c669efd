/*
 * meter.js - measures the script time of frames, part by part, and counts the commands per second.
 *
 * The time of a frame includes all script of the page since the frame before, so events that
 * arrived in between count too. The part `render` belongs to three.js and the graphics card, and
 * includes waits for the card. All other parts are the page's own.
 */
const FRAMES = 600, SECONDS = 5, SLOTS = 16;
export const PARTS = ['events', 'scene', 'render', 'labels', 'panes'];

function spread(values) {
    const sorted = values.sort(), count = sorted.length;
    const at = (part) => sorted[Math.min(count - 1, Math.floor(part * count))] ?? 0;
    return { mean: sorted.reduce((a, b) => a + b, 0) / Math.max(1, count), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

export class Meter {
    #now = new Float64Array(PARTS.length);
    #from = 0;

    constructor() {
        this.parts = PARTS.map(() => new Float64Array(FRAMES));
        this.counts = new Float64Array(SLOTS);  /* commands in each of the last seconds */
        this.second = 0;
        this.clear();
    }

    clear() {
        this.frames = 0;
        this.since = performance.now();
        this.#now.fill(0);
    }

    /** Start to count time. */
    start() {
        this.#from = performance.now();
    }

    /** Add the time since the last mark to this part. */
    mark(part) {
        const now = performance.now();
        this.#now[part] += now - this.#from;
        this.#from = now;
    }

    /** Add time that was spent between two frames. */
    add(part, ms) {
        this.#now[part] += ms;
    }

    /** End the frame. */
    frame() {
        const at = this.frames++ % FRAMES;
        for (let i = 0; i < PARTS.length; i++) {
            this.parts[i][at] = this.#now[i];
            this.#now[i] = 0;
        }
    }

    #turn(now) {
        const second = Math.floor(now / 1000);
        for (let i = Math.max(this.second + 1, second - SLOTS); i <= second; i++)
            this.counts[i % SLOTS] = 0;
        this.second = Math.max(second, this.second);
    }

    /** Count commands that arrived together. */
    heard(count, now) {
        this.#turn(now);
        this.counts[this.second % SLOTS] += count;
    }

    /** Commands per second, over the last whole seconds. */
    rate(now) {
        this.#turn(now);
        let sum = 0;
        for (let i = 1; i <= SECONDS; i++)
            sum += this.counts[(this.second - i + SLOTS) % SLOTS];
        return sum / SECONDS;
    }

    stats() {
        const count = Math.min(this.frames, FRAMES), whole = new Float64Array(count), own = new Float64Array(count), partMs = {};
        PARTS.forEach((name, part) => {
            const values = this.parts[part].slice(0, count);
            values.forEach((ms, i) => {
                whole[i] += ms;
                own[i] += name === 'render' ? 0 : ms;
            });
            partMs[name] = spread(values);
        });
        return {
            frames: this.frames, fps: (this.frames * 1000) / Math.max(1, performance.now() - this.since),
            scriptMs: spread(whole), ownMs: spread(own), partMs,
        };
    }
}
