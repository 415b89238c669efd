/*
 * portarium-history.test.mjs - the checker of histories accepts what is allowed, and finds each
 * thing that is not. Without it the tests that kill servers would prove nothing.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { checkChain, checkHistory, hashOf } from './support/portarium-history.mjs';

/** Events of run r and its action a, from "Type" or "Type:errorClass"; approvals are of p, tasks of
 *  people of t. */
const events = (...types) => types.map((text, i) => {
    const [type, errorClass] = text.split(':');
    return { seq: i + 1, type, aggregate: type.startsWith('Approval') ? 'p' : type.startsWith('HumanTask') ? 't' : 'r', runId: 'r', actionId: 'a', payload: errorClass && { errorClass } };
});
const history = (types, run = 'Succeeded', approvals = []) =>
    ({ events: events(...types), runs: [{ id: 'r', status: run }], approvals: approvals.map((status) => ({ id: 'p', status })) });

const WHOLE = ['RunStarted', 'ApprovalRequested', 'ApprovalGranted', 'ActionDispatched', 'ActionRetryScheduled', 'ActionDispatched', 'ActionCompleted', 'RunResumed', 'RunSucceeded'];

describe('histories that are allowed', () => {
    for (const [name, one] of Object.entries({
        'a gate, a retry, an end': history(WHOLE, 'Succeeded', ['Executed']),
        'still open': history(['RunStarted', 'ApprovalRequested'], 'WaitingForApproval', ['Pending']),
        'changes, then approved': history(['RunStarted', 'ApprovalRequested', 'ApprovalChangesRequested', 'ApprovalRequested', 'ApprovalGranted'], 'Running', ['Approved']),
        'an unknown outcome is repeated by a person': history(['RunStarted', 'ActionDispatched', 'ActionFailed:unknown-outcome', 'RunPaused', 'RunResumed', 'ActionDispatched', 'ActionCompleted', 'RunSucceeded']),
        'a task that was late': history(['RunStarted', 'HumanTaskCreated', 'RunPaused', 'HumanTaskEscalated', 'HumanTaskCompleted', 'ActionCompleted', 'RunResumed', 'RunSucceeded']),
    }))
        test(name, () => checkHistory(one));
});

describe('histories that are not', () => {
    const gap = history(WHOLE, 'Succeeded', ['Executed']);
    gap.events.splice(3, 1);
    for (const [name, one, what] of [
        ['an event is missing', gap, /event 5 is in place 4/],
        ['two ends', history(['RunStarted', 'RunSucceeded', 'RunFailed']), /RunFailed of r, which is end/],
        ['started twice', history(['RunStarted', 'RunStarted', 'RunSucceeded']), /RunStarted of r, which is open/],
        ['resumed after its end', history(['RunStarted', 'RunCancelled', 'RunResumed'], 'Cancelled'), /RunResumed of r, which is end/],
        ['paused runs do not succeed', history(['RunStarted', 'RunPaused', 'RunSucceeded']), /RunSucceeded of r, which is held/],
        ['an action is done twice', history(['RunStarted', 'ActionDispatched', 'ActionCompleted', 'ActionCompleted', 'RunSucceeded']), /ActionCompleted of r\/a, which is end/],
        ['an action is dispatched while it is busy', history(['RunStarted', 'ActionDispatched', 'ActionDispatched'], 'Running'), /ActionDispatched of r\/a, which is busy/],
        ['a failed action is dispatched', history(['RunStarted', 'ActionDispatched', 'ActionFailed:validation', 'ActionDispatched'], 'Running'), /which is end/],
        ['dispatched after the end', history(['RunStarted', 'RunCancelled', 'ActionDispatched'], 'Cancelled'), /after the run's end/],
        ['two decisions', history(['RunStarted', 'ApprovalRequested', 'ApprovalGranted', 'ApprovalDenied'], 'Running', ['Denied']), /ApprovalDenied of p, which is Approved/],
        ['a decision without a request', history(['RunStarted', 'ApprovalGranted'], 'Running', ['Approved']), /ApprovalGranted of p, which is none/],
        ['the end was never told', history(['RunStarted'], 'Succeeded'), /run r is Succeeded/],
        ['another end was told', history(['RunStarted', 'RunFailed'], 'Succeeded'), /run r is Succeeded/],
        ['the decision was never told', history(['RunStarted', 'ApprovalRequested'], 'Running', ['Denied']), /approval p is Denied/],
        ['a task is completed twice', history(['RunStarted', 'HumanTaskCreated', 'HumanTaskCompleted', 'HumanTaskCompleted', 'RunSucceeded']), /HumanTaskCompleted of t, which is end/],
        ['a timer has fired twice', history(['RunStarted', 'HumanTaskCreated', 'HumanTaskEscalated', 'HumanTaskEscalated'], 'Running'), /HumanTaskEscalated of t, which is escalated/],
        ['a run that is not stored', { ...history(['RunStarted'], 'Running'), runs: [] }, /each event its run/],
    ])
        test(name, () => assert.throws(() => checkHistory(one), what));
});

describe('chains', () => {
    const chain = () => {
        const entries = [];
        for (const summary of ['one', 'two', 'three']) {
            const entry = { summary, occurredAtIso: `2026-01-01T00:00:0${entries.length}.000Z`, ...(entries.length ? { previousHash: entries.at(-1).hashSha256 } : {}) };
            entries.push({ ...entry, hashSha256: hashOf(entry) });
        }
        return entries;
    };

    test('the hashes of two known entries', () => {
        const of = (n, rest) => ({ schemaVersion: 1, workspaceId: 'ws-1', correlationId: 'c-1', evidenceId: `ev-${n}`, ...rest });
        const one = of(1, { actor: { kind: 'User', userId: 'alice' }, category: 'Action', links: { runId: 'run-1' }, occurredAtIso: '2026-01-02T03:04:05.000Z', summary: 'Run started' });
        assert.equal(hashOf(one), '225a56728c0ff558097eb05e0ff8ecd420799607da0b587b242aec10b036a294');
        const two = of(2, { actor: { kind: 'User', userId: 'bob' }, category: 'Approval', links: { approvalId: 'ap-1', runId: 'run-1' }, occurredAtIso: '2026-01-02T03:04:06.000Z', summary: 'Approval granted', previousHash: hashOf(one) });
        assert.equal(hashOf(two), 'dcf9e9af8d05eaf54a7297b4d7668d3453436cd0cc5475a274d6a3d4e5e0feba');
    });
    test('one that is whole', () => checkChain(chain()));
    for (const [name, change, what] of [
        ['changed', (c) => { c[1].summary = 'other'; }, /entry 2 was changed/],
        ['lost', (c) => { c.splice(1, 1); }, /entry 2 follows another/],
        ['forked', (c) => { c.splice(2, 0, { ...c[1] }); }, /entry 3 follows another/],
        ['older', (c) => { c[2].occurredAtIso = '2025-01-01T00:00:00.000Z'; c[2].hashSha256 = hashOf(c[2]); }, /entry 3 is older/],
    ])
        test(`an entry is ${name}`, () => {
            const entries = chain();
            change(entries);
            assert.throws(() => checkChain(entries), what);
        });
});
