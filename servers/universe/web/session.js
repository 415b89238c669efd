/*
 * session.js - one universe as it is watched: loads its state, follows its stream, keeps the model true to both.
 *
 * The stream is opened first, and what it tells waits in a queue until the state is there; what it told up to the state's version is
 * dropped. A gap, a command that the model does not know, or one whose rules are the server's alone is settled by
 * `state?since=`; where the log does not reach back so far, and after a resync, everything is fetched anew.
 *
 * Who gives `on.later` calls `work` when there is time, and no flood of events holds up a frame: what is too many to be
 * carried out one by one is fetched as one change. Without it everything is carried out as it comes.
 */
import { follow } from './api.js';

const BINARY_ABOVE = 20000;  /* bodies: from here places come first, in binary, and the bodies page by page */
const PAGE = 500;            /* bodies: few enough to read between two frames */
const REFETCH_MS = 2000;
const QUEUE_MAX = 5000;      /* events that wait */

export class Session {
    #end = null;
    #busy = true;       /* events wait */
    #settling = false;  /* something is being fetched */
    #again = false;     /* the stream began anew meanwhile: what is being fetched may be older */
    #queue = [];
    #next = 0;          /* of the queue */
    #held = null;
    #closed = false;
    #abort = new AbortController();

    /** @param on {state(word, error), event(applied, command), places({names, xyz}), progress(part), deleted(), failed(error)} */
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

    /** Break the connection; it comes back by itself. */
    drop() {
        this.#end?.drop();
    }

    /* ---- loading ------------------------------------------------------------------------------- */

    async #load() {
        const summary = await this.api.summary(this.id, this.#abort.signal);
        if (summary.counts.stars > BINARY_ABOVE) {
            await this.#loadParts(summary);
            return;
        }
        const { state, version } = await this.api.state(this.id, '', this.#abort.signal);
        this.model.load(state, version);
    }

    /** The pages are of different versions; what changed since the first is asked for at the end. */
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

    /** Run `task` while the stream waits; then carry out what it told meanwhile. */
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

    /** Carry out what waits, until `deadline` (of performance.now). */
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

    /* ---- the stream ---------------------------------------------------------------------------- */

    /* A command's effect follows under the same id, but for ticks: those are many in one, and only time is their effect. */
    #receive(event) {
        const begun = performance.now(), isWhole = this.#read(event);
        this.on.told?.(performance.now() - begun);
        return isWhole;
    }

    #read(event) {
        const data = JSON.parse(event.data);
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
        if (type === 'deleted') {
            this.close();
            this.on.deleted();
        } else if (type === 'resync') {
            if (data.version !== this.model.version)
                this.#settle(() => this.#load());
            this.on.event({ type: 'resync', version: data.version, events: [] }, { type: 'resync' });
        } else if (type === 'applied' && data.version > this.model.version) {
            this.#applied(data, command ?? { type: '?' });
        }
    }

    /* Only ticks may skip versions: they come many in one, with the time after the last, as some may be in the state already. */
    #applied(data, command) {
        const follows = command.type === 'tick' || data.version === this.model.version + 1;
        if (command.type === 'tick')
            data.time ??= command.time;
        this.on.event(data, command);
        if (!follows || !this.model.apply(command, data))
            this.#settle(() => this.#loadChanges());
    }
}
