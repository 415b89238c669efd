/*
 * clock.js - the time that this window draws.
 *
 * The universe's time comes in steps, from ticks. While ticks come, the clock moves from the last
 * tick but one to the last, at the rate at which they came. So it is one tick late, never ahead of
 * the server, and never has to go back when the ticks end.
 *
 * While no tick comes, the window may preview: it moves the picture at its own speed, from the
 * universe's time on. A preview ends with the next tick. A paused window keeps its time, whatever
 * comes.
 */

const WINDOW_MS = 3000;  /* ticks of this long give the rate */
const QUIET_MS = 2500;   /* without a tick for so long, the universe's time is at rest */
const EASE_MS = 250;     /* half of a deviation is gone after this */
const LEAP = 30;         /* seconds: a larger deviation is a jump */

export class Clock {
    #samples = [];
    #last = 0;

    constructor() {
        this.reset(0, 0);
        this.localSpeed = 1;
        this.paused = false;
        this.previews = true;
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
        this.previews = false;
        this.#samples.push({ time, now });
        while (this.#samples.length > 2 && now - this.#samples[0].now > WINDOW_MS)
            this.#samples.shift();
    }

    /** Whether ticks come. */
    follows(now) {
        const newest = this.#samples.at(-1);
        return newest !== undefined && now - newest.now < QUIET_MS;
    }

    /** Whether the picture moves. */
    runs(now) {
        return !this.paused && (this.previews || this.follows(now));
    }

    play(now) {
        this.paused = false;
        this.previews = !this.follows(now);
    }

    pause() {
        this.paused = true;
    }

    /** Show the universe's time, and end a preview. */
    sync() {
        this.paused = this.previews = false;
        this.offset = 0;
        this.time = this.serverTime;
    }

    /** Simulated seconds per second, from the ticks that came. */
    rate(now) {
        if (!this.follows(now) || this.#samples.length < 2)
            return 0;
        const first = this.#samples[0], newest = this.#samples.at(-1);
        const span = newest.now - first.now;
        return span > 0 ? ((newest.time - first.time) / span) * 1000 : 0;
    }

    /* Where the clock should be: between the last two ticks, or at the last. */
    #aim(now, rate) {
        const first = this.#samples[0], newest = this.#samples.at(-1);
        const between = this.#samples.length < 2 ? 0 : (newest.now - first.now) / (this.#samples.length - 1);
        return newest.time - (rate * Math.max(0, between - (now - newest.now))) / 1000;
    }

    /** Move on to this moment (ms). @returns the time to draw */
    advance(now) {
        const step = Math.min(Math.max(now - this.#last, 0), 250);
        this.#last = now;
        if (this.paused)
            this.offset = this.time - this.serverTime;
        else if (this.follows(now))
            this.#follow(now, step);
        else
            this.#rest(step);
        return this.time;
    }

    /* No tick comes: preview, or go the last bit to the universe's time. */
    #rest(step) {
        if (this.previews)
            this.offset += (this.localSpeed * step) / 1000;
        else
            this.offset = Math.abs(this.offset) > LEAP ? 0 : this.offset * 0.5 ** (step / EASE_MS);
        this.time = this.serverTime + this.offset;
    }

    #follow(now, step) {
        const rate = this.rate(now), aim = this.#aim(now, rate), moved = this.time + (rate * step) / 1000;
        const isLeap = Math.abs(aim - moved) > Math.max(LEAP, Math.abs(rate) * 3);
        const eased = moved + (aim - moved) * (1 - 0.5 ** (step / EASE_MS));
        const isBeyond = rate > 0 ? this.time <= this.serverTime && eased > this.serverTime
            : rate < 0 && this.time >= this.serverTime && eased < this.serverTime;
        this.time = isLeap ? aim : isBeyond ? this.serverTime : eased;
        this.offset = this.time - this.serverTime;
    }
}
