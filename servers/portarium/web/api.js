/*
 * api.js - requests to the control plane, and the stream of a workspace's events.
 */

const AGAIN_MS = 1000, AGAIN_MAX_MS = 15_000, ANSWER_MS = 120_000;

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
    send(method, path, body) {
        return this.ask(method, this.base + path, body, { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() });
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

    /** Follow the events until close(). @param on {state(word), event(type, data), lost()} */
    async follow(on) {
        let last = null, pause = AGAIN_MS;
        while (!this.stopped.signal.aborted) {
            try {
                on.state('connecting');
                for await (const event of this.#read(last, () => { on.state('live'); pause = AGAIN_MS; })) {
                    if (event.id)
                        last = event.id;
                    if (event.name === 'resync')
                        on.lost();
                    else
                        on.event(event.name, event.data);
                }
            } catch (error) {
                if (error instanceof Refusal && error.status === 401) {
                    on.state('refused');
                    return;
                }
            }
            if (this.stopped.signal.aborted)
                return;
            on.state('waiting');
            await new Promise((done) => { setTimeout(done, pause); });
            pause = Math.min(pause * 2, AGAIN_MAX_MS);
            if (last === null)
                on.lost();
        }
    }

    async* #read(last, opened) {
        const headers = { Authorization: `Bearer ${this.token}`, ...(last ? { 'Last-Event-ID': last } : {}) };
        const answer = await fetch(`${this.base}/events:stream`, { headers, signal: this.stopped.signal, cache: 'no-store', credentials: 'omit' });
        if (!answer.ok)
            throw new Refusal(answer.status, null);
        opened();
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
            text += piece.value;
            for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
                const event = parse(text.slice(0, end));
                text = text.slice(end + 2);
                if (event)
                    yield event;
            }
        }
    }
}

function parse(block) {
    const lines = block.split('\n');
    const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('\n');
    return data ? { id: of('id'), name: of('event') ?? 'message', data: JSON.parse(data) } : null;
}
