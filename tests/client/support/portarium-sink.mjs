/*
 * portarium-sink.mjs - the system that runs change: it counts the requests of each key, may be
 * slow, may fail, may do what it is asked and never answer, and can keep answers back.
 *
 *     /once    knows a key again, as a binding that is `idempotent` promises: the effect is done once
 *     /blind   does what it is asked each time
 *     /hook    takes events, and refuses some of them at first
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';

export class Sink {
    requests = new Map(); /* "PATH KEY" to how many */
    bodies = new Map();   /* the same to its body */
    held = [];            /* answers that are kept back */
    holds = false;
    events = new Map();   /* id of an event to its body, in the order of their first arrival */
    secret = '';          /* of the webhook */

    static async open() {
        const sink = new Sink();
        sink.server = http.createServer((request, answer) => sink.take(request, answer));
        sink.server.listen(0, '127.0.0.1');
        await once(sink.server, 'listening');
        sink.port = sink.server.address().port;
        return sink;
    }

    async take(request, answer) {
        let body = '';
        for await (const chunk of request.setEncoding('utf8'))
            body += chunk;
        if (request.url === '/hook') {
            this.takeEvent(request, answer, body);
            return;
        }
        const id = `${request.url} ${request.headers['idempotency-key']}`;
        const count = (this.requests.get(id) ?? 0) + 1, isOnce = request.url === '/once';
        answer.on('error', () => {}); /* who asked is gone */
        if (isOnce && count === 1 && Math.random() < 0.2) {
            answer.writeHead(503).end(); /* not done, and not counted */
            return;
        }
        this.requests.set(id, count);
        if (this.bodies.has(id))
            assert.equal(body, this.bodies.get(id), `${id} came with two bodies`);
        this.bodies.set(id, body);
        if (isOnce && count === 1 && Math.random() < 0.1) {
            request.socket.destroy(); /* done, without an answer */
            return;
        }
        const done = () => answer.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ count }));
        if (this.holds)
            this.held.push(done);
        else
            setTimeout(done, Math.random() * 20);
    }

    takeEvent({ headers }, answer, body) {
        const id = headers['webhook-id'];
        const signature = crypto.createHmac('sha256', this.secret).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('hex');
        assert.equal(headers['webhook-signature'], `v1=${signature}`);
        assert.equal(this.events.get(id) ?? body, body, `event ${id} came with two bodies`);
        answer.on('error', () => {});
        if (!this.events.has(id) && Math.random() < 0.01) {
            answer.writeHead(500).end();
            return;
        }
        this.events.set(id, body);
        answer.writeHead(204).end();
    }

    count(path, key) {
        return this.requests.get(`${path} ${key}`) ?? 0;
    }

    /** Answer what was kept back, and keep no more. */
    release() {
        this.holds = false;
        this.held.splice(0).forEach((done) => done());
    }

    close() {
        this.server.closeAllConnections();
        this.server.close();
    }
}
