/*
 * clock.js - the time that is drawn.
 *
 * The universe's time comes in steps, from ticks. While they come, the clock runs between them at the rate that they
 * were seen to come at, and is drawn gently to what the server says. When none comes for a while the universe stands,
 * and the viewer's own speed moves the picture, from there and for this viewer alone.
 */

const WINDOW_MS = 3000;  /* ticks that the rate is taken from */
const QUIET_MS = 2500;   /* without a tick: the universe's clock stands */
const EASE_MS = 250;     /* in which half of a deviation is made good */

export class Clock {
    #samples = [];
    #last = 0;

    constructor() {
        this.reset(0, 0);
        this.localSpeed = 1;
        this.paused = false;
    }

    reset(time, now) {
        this.time = time;
        this.serverTime = time;
        this.#samples = [];
        this.#last = now;
        this.offset = 0;
    }

    /** The server said this time at this moment (ms). */
    hear(time, now) {
        if (time === this.serverTime)
            return;
        this.serverTime = time;
        this.offset = 0;
        this.#samples.push({ time, now });
        while (this.#samples.length > 2 && now - this.#samples[0].now > WINDOW_MS)
            this.#samples.shift();
    }

    /** Whether ticks come. */
    follows(now) {
        const newest = this.#samples.at(-1);
        return newest !== undefined && now - newest.now < QUIET_MS;
    }

    /** Simulated seconds per second, as ticks were seen to come. */
    rate(now) {
        if (!this.follows(now) || this.#samples.length < 2)
            return 0;
        const first = this.#samples[0], newest = this.#samples.at(-1);
        const span = newest.now - first.now;
        return span > 0 ? ((newest.time - first.time) / span) * 1000 : 0;
    }

    /** Move on to this moment (ms). @returns the time to draw */
    advance(now) {
        const step = Math.min(Math.max(now - this.#last, 0), 250);
        this.#last = now;
        if (this.follows(now)) {
            const newest = this.#samples.at(-1), rate = this.rate(now);
            const aim = newest.time + (rate * (now - newest.now)) / 1000;
            const moved = this.time + (rate * step) / 1000;
            const far = Math.abs(aim - moved) > Math.max(2, Math.abs(rate) * 2);
            this.time = far ? aim : moved + (aim - moved) * (1 - 0.5 ** (step / EASE_MS));
        } else {
            if (!this.paused)
                this.offset += (this.localSpeed * step) / 1000;
            const aim = this.serverTime + this.offset;
            this.time = aim;
        }
        return this.time;
    }
}
