/*
 * recorded.mjs - a client's transport that holds each message of the server's against the official
 * schema (tests/conformance/conversation.mjs).
 */
import assert from 'node:assert/strict';

import { Conversation } from '../conformance/conversation.mjs';

/** Listens in on a transport, in place. */
export function recorded(transport) {
    const record = new Conversation();
    const send = transport.send.bind(transport);
    let deliver;

    record.transport = transport;
    transport.send = (message, ...more) => {
        record.sent(message);
        return send(message, ...more);
    };
    Object.defineProperty(transport, 'onmessage', {
        get: () => deliver,
        set: (handler) => {
            deliver = handler && ((message, ...more) => {
                record.heard(message);
                return handler(message, ...more);
            });
        },
    });
    return record;
}

/** The end of a conversation: something was said, and all of it fits its schema. */
export function assertFits(record) {
    assert.deepEqual(record.faults, []);
    assert.ok(record.received > 0);
}
