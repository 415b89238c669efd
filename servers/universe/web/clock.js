/*
 * clock.js - the time that is drawn.
 *
 * The universe's time comes in steps, from ticks. While they come, the clock runs from the last but one to the last, at
 * the rate that they were seen to come at: one tick behind, and never beyond what the server said, so that it need not
 * go back when the ticks end. When none comes for a while the universe stands, and the viewer's own speed moves the
 * picture, from there and for this viewer alone.
 */

const WINDOW_MS = 3000;  /* ticks that the rate is taken from */
const QUIET_MS = 2500;   /* without a tick: the universe's clock stands */
const EASE_MS = 250;     /* in which half of a deviation is made good */
const LEAP = 30;         /* seconds: a deviation that is not made good gently */

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
        if (!this.follows(now))
            this.#samples = [];
        this.serverTime = time;
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

    /* Where the clock ought to be: between the last two ticks, or at the last. */
    #aim(now, rate) {
        const first = this.#samples[0], newest = this.#samples.at(-1);
        const between = this.#samples.length < 2 ? 0 : (newest.now - first.now) / (this.#samples.length - 1);
        return newest.time - (rate * Math.max(0, between - (now - newest.now))) / 1000;
    }

    /** Move on to this moment (ms). @returns the time to draw */
    advance(now) {
        const step = Math.min(Math.max(now - this.#last, 0), 250);
        this.#last = now;
        if (!this.follows(now)) {
            if (!this.paused)
                this.offset += (this.localSpeed * step) / 1000;
            this.time = this.serverTime + this.offset;
            return this.time;
        }
        const rate = this.rate(now), aim = this.#aim(now, rate), moved = this.time + (rate * step) / 1000;
        const isLeap = Math.abs(aim - moved) > Math.max(LEAP, Math.abs(rate) * 3);
        const eased = moved + (aim - moved) * (1 - 0.5 ** (step / EASE_MS));
        const isBeyond = rate > 0 ? this.time <= this.serverTime && eased > this.serverTime
            : rate < 0 && this.time >= this.serverTime && eased < this.serverTime;
        this.time = isLeap ? aim : isBeyond ? this.serverTime : eased;
        this.offset = this.time - this.serverTime;
        return this.time;
    }
}
