/*
 * session.js - the page's connection to one universe: it loads the state, follows the stream, and
 * keeps the model equal to both.
 *
 * The stream opens first. Its events wait in a queue until the state has arrived; events up to the
 * version of the state are dropped. The session fetches `state?since=` after a gap, and after a
 * command that the model does not know or leaves to the server. If the log of the server does not
 * reach back so far, and after a resync, it fetches the whole state.
 *
 * With `on.later`, the owner calls `work` when there is time, so a flood of events does not delay a
 * frame. If too many events wait, they are dropped, and the session fetches their result. Without
 * `on.later`, each event is applied when it arrives.
 */
import { follow } from './api.js';

/* bodies: above this number the places come first, in binary, and then the bodies in pages */
const BINARY_ABOVE = 20000;
const PAGE = 500;            /* bodies: few enough to parse between two frames */
const REFETCH_MS = 2000;
const QUEUE_MAX = 5000;      /* events that wait */

export class Session {
    #end = null;
    #busy = true;       /* events wait */
    #settling = false;  /* something is being fetched */
    #again = false;     /* the stream connected again meanwhile, so the answer may be too old */
    #queue = [];
    #next = 0;          /* of the queue */
    #held = null;
    #closed = false;
    #abort = new AbortController();

    /** @param on {state(word, error), event(applied, command), places({names, xyz}),
     *  progress(part), deleted(), failed(error)} */
    constructor(api, model, id, on) {
        Object.assign(this, { api, model, id, on });
        model.clear();
        model.tell({ reset: true, changed: {}, roots: true });
    }

    open() {
        this.#end = follow(this.api, this.id, {
            from: () => (this.model.version >= 0 && !this.#settling ? String(this.model.version) : null),
            event: (event) => this.#receive(event),
            state: (word, error, resumes) => {
                if (word === 'connected' && !resumes)
                    this.#catchUp();
                this.on.state(word, error);
            },
        });
    }

    /** Whether the state has arrived and no event waits. */
    get isSettled() {
        return !this.#busy && !this.#settling && this.#next >= this.#queue.length;
    }

    #catchUp() {
        this.#again = this.#settling;
        if (!this.#settling)
            this.#settle(() => (this.model.version < 0 ? this.#load() : this.#loadChanges()));
    }

    close() {
        this.#closed = true;
        this.#abort.abort();
        this.#end?.();
    }

    /** Break the connection. The stream connects again. */
    drop() {
        this.#end?.drop();
    }

    /* ---- loading ----------------------------------------------------------------------------- */

    async #load() {
        const summary = await this.api.summary(this.id, this.#abort.signal);
        if (summary.counts.stars > BINARY_ABOVE) {
            await this.#loadParts(summary);
            return;
        }
        const { state, version } = await this.api.state(this.id, '', this.#abort.signal);
        this.model.load(state, version);
    }

    /** The pages are of different versions. The last step fetches the changes since the first
     *  page. */
    async #loadParts(summary) {
        const { signal } = this.#abort;
        this.model.load({ time: summary.time }, summary.version);
        const places = await this.api.positions(this.id, signal);
        this.on.places(places);
        const rest = await this.api.state(this.id,
            '?fields=rootIds,groups,rootGroupIds,belts,smallBodyFields,protoplanetaryDisks,nebulae,time', signal);
        this.model.extend(rest.state);
        let cursor = null, loaded = 0;
        do {
            const more = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
            const page = await this.api.state(this.id, `?fields=stars&limit=${PAGE}${more}`, signal);
            this.model.extend({ stars: page.state.stars });
            loaded += Object.keys(page.state.stars ?? {}).length;
            this.on.progress(Math.min(1, loaded / summary.counts.stars));
            cursor = page.next;
            await new Promise((resolve) => setTimeout(resolve));
        } while (cursor);
        this.on.progress(1);
        await this.#loadChanges();
    }

    async #loadChanges() {
        try {
            const { state } = await this.api.state(this.id, `?since=${this.model.version}`, this.#abort.signal);
            this.model.merge(state);
        } catch (error) {
            if (error.status !== 410)
                throw error;
            await this.#load();
        }
    }

    /** Run `task` while events wait in the queue; then apply them. */
    async #settle(task) {
        this.#busy = this.#settling = true;
        while (!this.#closed) {
            try {
                await task();
                while (this.#again && !this.#closed) {
                    this.#again = false;
                    await this.#loadChanges();
                }
                break;
            } catch (error) {
                if (this.#closed)
                    return;
                this.on.failed(error);
                if (error.status === 404)
                    return;
                await new Promise((resolve) => setTimeout(resolve, REFETCH_MS));
            }
        }
        this.#busy = this.#settling = false;
        this.#wake();
    }

    #wake() {
        if (this.on.later)
            this.on.later();
        else
            this.work(Infinity);
    }

    /** Apply waiting events, until `deadline` (of performance.now). */
    work(deadline) {
        while (!this.#busy && !this.#closed && this.#next < this.#queue.length) {
            this.#handle(this.#queue[this.#next++]);
            if (performance.now() >= deadline)
                break;
        }
        if (this.#next > 0 && this.#next >= this.#queue.length) {
            this.#queue = [];
            this.#next = 0;
        }
    }

    #enqueue(item) {
        if (this.#queue.length - this.#next >= QUEUE_MAX) {
            this.#queue = [];
            this.#next = 0;
            if (this.#settling)
                this.#again = true;
            else
                this.#settle(() => this.#loadChanges());
        }
        this.#queue.push(item);
        if (!this.#busy)
            this.#wake();
    }

    /* ---- the stream -------------------------------------------------------------------------- */

    /* A command and its effect are two events with the same id. Ticks are one event: the server
     * joins them, and their effect is time. */
    #receive(event) {
        const begun = performance.now(), isWhole = this.#read(event);
        this.on.told?.(performance.now() - begun);
        return isWhole;
    }

    #read(event) {
        const data = JSON.parse(event.data);
        if (event.type === 'deleted') { /* at once: the next request would be refused */
            this.close();
            this.on.deleted();
            return true;
        }
        if (event.type === 'command' && data.type !== 'tick') {
            this.#held = { id: event.id, command: data };
            return false;
        }
        let item = { type: event.type, data, command: null };
        if (event.type === 'command')
            item = { type: 'applied', data: { version: Number(event.id), events: [] }, command: data };
        else if (event.type === 'applied' && this.#held?.id === event.id)
            item.command = this.#held.command;
        this.#held = null;
        this.#enqueue(item);
        return true;
    }

    #handle({ type, data, command }) {
        if (type === 'resync') {
            if (data.version !== this.model.version)
                this.#settle(() => this.#load());
            this.on.event({ type: 'resync', version: data.version, events: [] }, { type: 'resync' });
        } else if (type === 'applied' && data.version > this.model.version) {
            this.#applied(data, command ?? { type: '?' });
        }
    }

    /* Only ticks may skip versions: one event has many ticks, with the time after the last one. */
    #applied(data, command) {
        const follows = command.type === 'tick' || data.version === this.model.version + 1;
        if (command.type === 'tick')
            data.time ??= command.time;
        this.on.event(data, command);
        if (!follows || !this.model.apply(command, data))
            this.#settle(() => this.#loadChanges());
    }
}
