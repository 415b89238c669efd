/*
 * timebar.js - the two clocks and their controls.
 *
 * This window has a play button and a speed: they change what this window draws, and nothing else.
 * The universe has a clock on the server: start, stop and rate change the universe for everybody.
 * While time comes from the universe, this window follows it and its speed has no effect.
 */
import { span } from '../words.js';

const SPEED_MAX = 50, AWAY = 0.05; /* seconds: less is no difference that a reader sees */
const PLAY = '<path d="M5 3l8 5-8 5z"/>', PAUSE = '<path d="M5 3v10M11 3v10"/>';
const byId = (id) => document.getElementById(id);

/** The speed at a place of the slider: the slow end is finer. */
const speedAt = (part) => (part <= 0 ? 0 : Number((SPEED_MAX * (part / 100) ** 4.27).toPrecision(2)));
const placeOfSpeed = (speed) => 100 * (Math.max(speed, 0) / SPEED_MAX) ** (1 / 4.27);
const times = (speed) => `${Number(speed.toPrecision(2))}×`;

export class TimeBar {
    #shown = new Map();

    /** @param page {api, attempt(task), current()} */
    constructor(clock, page) {
        Object.assign(this, { clock, page });
        this.server = null; /* the server's clock of this universe: {running, timeScale, hz} */
        byId('play').addEventListener('click', () => this.playOrPause());
        byId('speed').addEventListener('input', (event) => this.setSpeed(speedAt(Number(event.target.value))));
        byId('sync').addEventListener('click', () => { clock.sync(); this.show(performance.now()); });
        byId('universe-clock').addEventListener('click', () => this.#send({ running: !this.server?.running, timeScale: this.#rate() }));
        byId('rate').addEventListener('change', () => this.#send({ timeScale: this.#rate() }));
        this.setSpeed(1);
    }

    /** The universe changed: nothing is known of its clock. */
    reset() {
        this.server = null;
    }

    /** What the server said of the clock. */
    hear(server) {
        this.server = server;
        if (document.activeElement !== byId('rate') && server.running)
            byId('rate').value = server.timeScale;
    }

    #rate() {
        return Math.max(0, Math.min(SPEED_MAX, Number(byId('rate').value) || 0));
    }

    #send(change) {
        const id = this.page.current();
        return id && this.page.attempt(async () => {
            const server = await this.page.api.setClock(id, change);
            if (id === this.page.current())
                this.hear(server);
            this.show(performance.now());
        });
    }

    /* ---- this window ------------------------------------------------------------------------- */

    playOrPause() {
        const now = performance.now();
        if (this.clock.runs(now))
            this.clock.pause();
        else
            this.clock.play(now);
        this.show(now);
    }

    setSpeed(speed) {
        this.clock.localSpeed = Math.max(0, Math.min(SPEED_MAX, speed));
        byId('speed').value = placeOfSpeed(this.clock.localSpeed);
        this.show(performance.now());
    }

    faster(factor) {
        this.setSpeed(Math.max(0.1, Number((this.clock.localSpeed * factor).toPrecision(2))));
    }

    /* ---- words ------------------------------------------------------------------------------- */

    /** Write what is true now. Text that is there already is not written again. */
    show(now) {
        const { clock, server } = this, follows = !!server?.running || clock.follows(now), runs = clock.runs(now);
        this.#set('play', runs, (button) => {
            button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true">${runs ? PAUSE : PLAY}</svg>`;
            button.setAttribute('aria-label', runs ? 'Pause this window' : 'Play in this window');
            button.title = `${runs ? 'Pause' : 'Play'} in this window only (space)`;
        });
        this.#set('speed', follows, (slider) => { slider.disabled = follows; });
        this.#text('clock', span(clock.time));
        this.#text('speed-value', times(follows ? server?.running ? server.timeScale : clock.rate(now) : clock.localSpeed));
        this.#text('window-mode', this.#windowWords(follows));
        this.#set('sync', (clock.previews || clock.paused) && Math.abs(clock.offset) > AWAY, (button, isAway) => { button.hidden = !isAway; });
        this.#text('universe-mode', server?.running ? `running at ${times(server.timeScale)}` : clock.follows(now) ? 'moved by commands' : `stopped, ${span(clock.serverTime)}`);
        this.#text('universe-clock', server?.running ? 'Stop' : 'Start');
        this.#set('universe-clock-off', this.page.current() === null, (_, isOff) => { byId('universe-clock').disabled = byId('rate').disabled = isOff; });
    }

    #windowWords(follows) {
        if (this.clock.paused)
            return 'Paused, in this window only';
        return !follows && this.clock.previews ? 'Preview, in this window only' : 'Shows the universe’s time';
    }

    #set(id, value, write) {
        if (this.#shown.get(id) === value)
            return;
        this.#shown.set(id, value);
        write(byId(id), value);
    }

    #text(id, words) {
        this.#set(`${id} text`, words, () => { byId(id).textContent = words; });
    }
}
