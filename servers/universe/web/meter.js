/*
 * meter.js - what a frame costs, and how many commands come a second.
 */
const FRAMES = 600, SECONDS = 5;

export class Meter {
    constructor() {
        this.cost = new Float64Array(FRAMES);
        this.clear();
        this.commands = [];
    }

    clear() {
        this.frames = 0;
        this.since = performance.now();
    }

    /** Script time of one frame, ms. */
    frame(ms) {
        this.cost[this.frames++ % FRAMES] = ms;
    }

    /** Commands that came together. */
    heard(count, now) {
        this.commands.push({ count, now });
    }

    rate(now) {
        while (this.commands.length > 0 && now - this.commands[0].now > SECONDS * 1000)
            this.commands.shift();
        return this.commands.reduce((sum, { count }) => sum + count, 0) / SECONDS;
    }

    stats() {
        const count = Math.min(this.frames, FRAMES), sorted = [...this.cost.subarray(0, count)].sort((a, b) => a - b);
        const at = (part) => sorted[Math.min(count - 1, Math.floor(part * count))] ?? 0;
        return {
            frames: this.frames,
            fps: (this.frames * 1000) / Math.max(1, performance.now() - this.since),
            scriptMs: { mean: sorted.reduce((a, b) => a + b, 0) / Math.max(1, count), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
        };
    }
}
