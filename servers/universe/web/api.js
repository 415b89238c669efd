/*
 * api.js - the server's REST interface, and its stream of commands.
 *
 * This object holds the token that the user types. Nothing else keeps it, and a reload forgets it.
 * The stream is read with fetch, because EventSource cannot send a token.
 */

export class ApiError extends Error {
    constructor(status, body) {
        const reason = body?.reason ? `: ${body.reason}` : '';
        super(`${body?.error ?? body?.message ?? `the server answered ${status}`}${reason}`);
        this.status = status;
        this.body = body;
    }
}

export class Api {
    #token = '';
    #base;

    constructor(base = '') {
        this.#base = base;
    }

    set token(token) {
        this.#token = token.trim();
    }

    get hasToken() {
        return this.#token !== '';
    }

    async request(method, path, { body, signal, headers = {} } = {}) {
        const all = { ...headers };
        if (this.#token)
            all.Authorization = `Bearer ${this.#token}`;
        if (body !== undefined)
            all['Content-Type'] = 'application/json';
        const response = await fetch(this.#base + path, {
            method, headers: all, signal, cache: 'no-store', body: body === undefined ? undefined : JSON.stringify(body),
        });
        if (!response.ok)
            throw new ApiError(response.status, await response.json().catch(() => null));
        return response;
    }

    async json(method, path, options) {
        const response = await this.request(method, path, options);
        return response.status === 204 ? null : response.json();
    }

    of(id) {
        return `/universes/${encodeURIComponent(id)}`;
    }

    /** A page of the universes' records, newest first: {records, next: the cursor of the next page,
     *  or null}. */
    async list(limit, cursor = null) {
        const response = await this.request('GET', `/universes?view=summary&limit=${limit}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
        return { records: await response.json(), next: response.headers.get('Next-Cursor') };
    }

    create(name, id) {
        return this.json('POST', '/universes', { body: { name, state: {}, ...(id ? { id } : {}) } });
    }

    remove(id) {
        return this.json('DELETE', this.of(id));
    }

    summary(id, signal) {
        return this.json('GET', `${this.of(id)}/summary`, { signal });
    }

    /** The state, or the part that `query` asks for, with the version that it has. */
    async state(id, query = '', signal = undefined) {
        const response = await this.request('GET', `${this.of(id)}/state${query}`, { signal });
        const version = Number(/"v(\d+)"/.exec(response.headers.get('ETag') ?? '')?.[1] ?? -1);
        return { version, next: response.headers.get('Next-Cursor'), state: await response.json() };
    }

    /** World positions as float32 triples, and the ids in the same order. Both answers must be of
     *  the same set of bodies. */
    async positions(id, signal) {
        for (let attempt = 0; attempt < 4; attempt++) {
            const ids = await this.request('GET', `${this.of(id)}/positions?format=ids`, { signal });
            const names = await ids.json();
            const places = await this.request('GET', `${this.of(id)}/positions?format=f32`, { signal });
            const xyz = new Float32Array(await places.arrayBuffer());
            if (xyz.length === names.length * 3)
                return { names, xyz };
        }
        return { names: [], xyz: new Float32Array(0) };
    }

    command(id, command) {
        return this.json('POST', `${this.of(id)}/commands?return=minimal`, { body: command });
    }

    generate(id, config) {
        return this.json('POST', `${this.of(id)}/generate?return=minimal`, { body: config });
    }

    clock(id, signal) {
        return this.json('GET', `${this.of(id)}/clock`, { signal });
    }

    setClock(id, clock) {
        return this.json('POST', `${this.of(id)}/clock`, { body: clock });
    }

    ready(signal) {
        return this.json('GET', '/readyz', { signal });
    }
}

/** Splits a stream of server-sent events into events. */
export class EventCutter {
    #rest = '';
    #event = { id: null, type: '', data: [] };
    id = '';
    retry = null;

    constructor(deliver) {
        this.deliver = deliver;
    }

    feed(text) {
        this.#rest += text;
        for (;;) {
            const end = this.#rest.search(/\r\n|\n|\r/);
            if (end < 0 || (this.#rest[end] === '\r' && end === this.#rest.length - 1))
                return;
            const line = this.#rest.slice(0, end);
            this.#rest = this.#rest.slice(end + (this.#rest.startsWith('\r\n', end) ? 2 : 1));
            this.#line(line);
        }
    }

    #line(line) {
        if (line === '') {
            if (this.#event.data.length > 0)
                this.deliver({ id: this.id, type: this.#event.type || 'message', data: this.#event.data.join('\n') });
            this.#event = { type: '', data: [] };
            return;
        }
        const colon = line.indexOf(':');
        if (colon === 0)
            return;
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (name === 'data')
            this.#event.data.push(value);
        else if (name === 'event')
            this.#event.type = value;
        else if (name === 'id' && !value.includes('\0'))
            this.id = value;
        else if (name === 'retry' && /^\d+$/.test(value))
            this.retry = Number(value);
    }
}

const SILENCE_MS = 45000; /* the server sends at least a comment every 15 s */

/**
 * Follow a universe's commands. After a break the stream connects again, with the last id.
 *
 * @param on {from, event, state}: `from()` gives the id to start from while no event was received,
 *           or null; `event({id, type, data})` returns false if a second part with the same id
 *           follows; `state('connecting' | 'connected' | 'lost' | 'refused', error, resumes)`:
 *           `resumes` is true if the stream continues after the last id
 * @returns a function that ends the stream; its `drop()` breaks the connection, as a bad network
 * does
 */
export function follow(api, id, on) {
    let last = null, ended = false, abort = new AbortController(), wait = 500;

    async function once() {
        let silence;
        const hear = () => {
            clearTimeout(silence);
            silence = setTimeout(() => abort.abort(), SILENCE_MS);
        };
        const from = last ?? on.from();
        const headers = { Accept: 'text/event-stream', ...(from === null ? {} : { 'Last-Event-ID': from }) };
        hear();
        try {
            const response = await api.request('GET', `${api.of(id)}/events?detail=1&ticks=coalesce`, { headers, signal: abort.signal });
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            const cutter = new EventCutter((event) => {
                if (ended)
                    return;
                if (on.event(event) !== false)
                    last = event.id || last;
            });
            on.state('connected', undefined, from !== null);
            wait = 500;
            for (;;) {
                const { value, done } = await reader.read();
                if (done)
                    return;
                hear();
                cutter.feed(value);
            }
        } finally {
            clearTimeout(silence);
        }
    }

    async function run() {
        while (!ended) {
            on.state('connecting');
            try {
                await once();
                if (ended)
                    return;
                on.state('lost');
            } catch (error) {
                if (ended)
                    return;
                on.state(error.status >= 400 && error.status < 500 ? 'refused' : 'lost', error);
            }
            await new Promise((resolve) => setTimeout(resolve, wait));
            wait = Math.min(wait * 2, 10000);
            abort = new AbortController();
        }
    }

    run();
    const end = () => {
        ended = true;
        abort.abort();
    };
    end.drop = () => abort.abort();
    return end;
}
