/*
 * recorded.mjs - a client's transport that keeps what passes, and holds each message of the server's
 * against the official schema of the revision that is spoken (tests/conformance/schemas.mjs).
 */
import assert from 'node:assert/strict';

import { messageFaults } from '../conformance/schemas.mjs';

const CLAIM = 'io.modelcontextprotocol/protocolVersion';

/** The revision under which a request is answered. */
function revisionOf(record, request, result) {
    return request?.params?._meta?.[CLAIM] ?? result?.protocolVersion ?? record.revision;
}

/**
 * Records a transport, in place.
 *
 * @param pinned the revision that the server speaks alone; null: the one that initialize agrees on
 */
export function recorded(transport, pinned = null) {
    const record = { transport, revision: pinned, requests: new Map(), received: 0, faults: [] };
    const send = transport.send.bind(transport);
    let deliver;

    transport.send = (message, ...more) => {
        for (const one of [message].flat().filter((each) => each.method !== undefined && each.id !== undefined))
            record.requests.set(JSON.stringify(one.id), one);
        return send(message, ...more);
    };
    Object.defineProperty(transport, 'onmessage', {
        get: () => deliver,
        set: (handler) => {
            deliver = handler && ((message, ...more) => {
                look(record, message);
                return handler(message, ...more);
            });
        },
    });
    return record;
}

function look(record, message) {
    const request = record.requests.get(JSON.stringify(message.id));
    const methods = new Map([...record.requests].map(([id, { method }]) => [id, method]));

    if (request?.method === 'initialize' && message.result)
        record.revision = message.result.protocolVersion;
    const revision = revisionOf(record, message.method === undefined ? request : lastRequest(record), message.result);
    record.received++;
    record.faults.push(...messageFaults(revision, message, methods)
        .map((fault) => `${revision} ${fault}: ${JSON.stringify(message).slice(0, 400)}`));
}

/* A message of the server's own speaks the revision of what the client sent last. */
function lastRequest(record) {
    return [...record.requests.values()].at(-1);
}

/** The end of a conversation: something was said, and all of it fits its schema. */
export function assertFits(record) {
    assert.deepEqual(record.faults, []);
    assert.ok(record.received > 0);
}
