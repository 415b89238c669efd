/*
 * conversation.mjs - what passes between a client and a server, each message of the server's held
 * against the official schema of the revision under which it was sent.
 */
import { messageFaults } from './schemas.mjs';

const CLAIM = 'io.modelcontextprotocol/protocolVersion';
const STATELESS = '2026-07-28';
const SESSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

export class Conversation {
    /** @param revision before initialize has agreed on one */
    constructor(revision = '2025-03-26') {
        this.revision = revision;
        this.requests = new Map(); /* id as JSON: request */
        this.last = null;          /* revision of the newest request */
        this.received = 0;
        this.faults = [];
    }

    /* A request claims its revision, or belongs to the session. */
    revisionOf(request) {
        const claim = request?.params?._meta?.[CLAIM];
        if (typeof claim !== 'string')
            return this.revision;
        return claim >= STATELESS ? STATELESS : this.revision;
    }

    /** A version header: without a session it says what is spoken. */
    headed(revision) {
        if (SESSIONS.includes(revision))
            this.revision = revision;
    }

    sent(message) {
        for (const one of [message].flat()) {
            if (one?.method === undefined || one.id === undefined)
                continue;
            this.requests.set(JSON.stringify(one.id), one);
            this.last = one;
        }
    }

    heard(message) {
        for (const one of [message].flat())
            this.look(one);
    }

    look(message) {
        const request = this.requests.get(JSON.stringify(message.id));
        const isAnswer = message.method === undefined;

        const agreed = isAnswer && request?.method === 'initialize' ? message.result?.protocolVersion : undefined;
        this.revision = agreed ?? this.revision;
        const revision = agreed ?? this.revisionOf(isAnswer ? request : this.last);
        const methods = new Map(request ? [[JSON.stringify(message.id), request.method]] : []);
        this.received++;
        this.faults.push(...messageFaults(revision, message, methods)
            .map((fault) => `${revision} ${fault}: ${JSON.stringify(message).slice(0, 400)}`));
    }
}
