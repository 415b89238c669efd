/*
 * api.js - requests to the control plane, and the stream of a workspace's events.
 */

const AGAIN_MS = 1000, AGAIN_MAX_MS = 15_000, ANSWER_MS = 120_000;
const OLD_MS = 60_000, SILENCE_MS = 100_000; /* three keepalives of the stream, and some time */

/** A refusal, with what the problem document says. */
export class Refusal extends Error {
    constructor(status, problem) {
        const fields = (problem?.errors ?? []).map(({ field, message }) => `${field}: ${message}`);
        super([problem?.detail ?? problem?.title ?? `The server answered ${status}.`, ...fields].join(' '));
        this.status = status;
    }
}

export class Api {
    constructor(token) {
        this.token = token;
        this.workspace = null;
        this.stopped = new AbortController();
    }

    /** Find the workspace of the token. */
    async open() {
        const { items } = await this.ask('GET', '/v1/workspaces');
        if (!items.length)
            throw new Refusal(404, { detail: 'The token has no workspace.' });
        [this.workspace] = items;
        this.base = `/v1/workspaces/${encodeURIComponent(this.workspace.workspaceId)}`;
    }

    close() {
        this.stopped.abort();
    }

    get(path) {
        return this.ask('GET', this.base + path);
    }

    /** The bytes of an answer as they are, as text. */
    text(path) {
        return this.ask('GET', this.base + path, undefined, {}, true);
    }

    /** Each command has a key of its own, so what is sent twice by the network is done once. */
    send(method, path, body, key = crypto.randomUUID()) {
        return this.ask(method, this.base + path, body, { 'Content-Type': 'application/json', 'Idempotency-Key': key });
    }

    /** A list that may be missing in this server: null then. */
    async getIfThere(path) {
        try {
            return await this.get(path);
        } catch (error) {
            if (error instanceof Refusal && [403, 404].includes(error.status))
                return null;
            throw error;
        }
    }

    /** The first pages of a list, which may be missing in this server.
     *  @return {items, more}: whether there are further ones */
    async list(path, pages = 1) {
        const items = [], where = `${path}${path.includes('?') ? '&' : '?'}limit=200`;
        let cursor;
        for (let i = 0; i < pages && cursor !== null; i++) {
            const page = await this.getIfThere(cursor ? `${where}&cursor=${encodeURIComponent(cursor)}` : where);
            items.push(...page?.items ?? []);
            cursor = page?.nextCursor ?? null;
        }
        return { items, more: cursor !== null };
    }

    async ask(method, path, body = undefined, headers = {}, isRaw = false) {
        const limit = AbortSignal.timeout(ANSWER_MS);
        const answer = await fetch(path, {
            method, body: body === undefined ? undefined : JSON.stringify(body), cache: 'no-store', credentials: 'omit',
            signal: AbortSignal.any([this.stopped.signal, limit]), headers: { Authorization: `Bearer ${this.token}`, ...headers },
        }).catch((error) => { throw limit.aborted ? new Refusal(504, { detail: `The server did not answer for ${ANSWER_MS / 1000} s.` }) : error; });
        const text = await answer.text();
        const isJson = /json/.test(answer.headers.get('Content-Type') ?? '');
        if (!answer.ok)
            throw new Refusal(answer.status, isJson ? JSON.parse(text) : null);
        return isJson && !isRaw ? JSON.parse(text) : text;
    }

    /** Follow the events until close(). @param on {state(word), event(type, data), lost()}; lost:
     *  fetch everything again. That is so each time the stream begins: before, there may have been
     *  events, or answers that failed. */
    async follow(on) {
        let last = null, pause = AGAIN_MS;
        while (!this.stopped.signal.aborted) {
            await untilShown();
            const since = Date.now();
            try {
                on.state('connecting');
                for await (const event of this.#read(last, () => { on.state('live'); on.lost(); pause = AGAIN_MS; })) {
                    if (event.id)
                        last = event.id;
                    if (event.name === 'resync')
                        on.lost();
                    else
                        on.event(event.name, event.data);
                }
                if (Date.now() - since > OLD_MS) /* the server ends old ones, to check the token */
                    continue;
            } catch (error) {
                if (error instanceof Refusal && error.status === 401) {
                    on.state('refused');
                    return;
                }
            }
            if (this.stopped.signal.aborted)
                return;
            if (document.hidden)
                continue;
            on.state('waiting');
            await new Promise((done) => { setTimeout(done, pause); });
            pause = Math.min(pause * 2, AGAIN_MAX_MS);
        }
    }

    /* A connection may be dead without a word, as after a sleep of the machine: silence ends it. So
     * does a tab that is not shown: a browser has six connections to a server, and with those of
     * six other tabs nothing would be answered. */
    async* #read(last, opened) {
        const headers = { Authorization: `Bearer ${this.token}`, ...(last ? { 'Last-Event-ID': last } : {}) };
        const end = new AbortController(), signal = AbortSignal.any([this.stopped.signal, end.signal]);
        let timer;
        const heard = () => { clearTimeout(timer); timer = setTimeout(() => end.abort(), SILENCE_MS); };
        const onVisibility = () => { if (document.hidden) end.abort(); };
        document.addEventListener('visibilitychange', onVisibility);
        try {
            heard();
            const answer = await fetch(`${this.base}/events:stream`, { headers, signal, cache: 'no-store', credentials: 'omit' });
            if (!answer.ok)
                throw new Refusal(answer.status, null);
            opened();
            yield* events(answer.body.pipeThrough(new TextDecoderStream()).getReader(), heard);
        } finally {
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', onVisibility);
        }
    }
}

async function untilShown() {
    while (document.hidden)
        await new Promise((done) => { document.addEventListener('visibilitychange', done, { once: true }); });
}

async function* events(reader, heard) {
    let text = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        heard();
        text += piece.value;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
            const event = parse(text.slice(0, end));
            text = text.slice(end + 2);
            if (event)
                yield event;
        }
    }
}

function parse(block) {
    const lines = block.split('\n');
    const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('\n');
    return data ? { id: of('id'), name: of('event') ?? 'message', data: JSON.parse(data) } : null;
}
