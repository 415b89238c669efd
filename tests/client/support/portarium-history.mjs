/*
 * portarium-history.mjs - checks what a control plane says has happened: that its events are
 * dense, that runs, actions, approvals and tasks of people went only the ways that are allowed, and
 * that its evidence is one chain. It knows nothing of how the plane stores or does things.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';

const ENDS = { RunSucceeded: 'Succeeded', RunFailed: 'Failed', RunCancelled: 'Cancelled' };

/** From each state the events that may follow, and the state after them. */
const RUN = {
    none: { RunStarted: 'open' },
    open: { RunPaused: 'held', RunResumed: 'open', RunSucceeded: 'end', RunFailed: 'end', RunCancelled: 'end' },
    held: { RunResumed: 'open', RunPaused: 'held', RunCancelled: 'end' },
    end: {},
};
/* What ends at once is dispatched without a thread, and has no event of its dispatch. */
const ACTION = {
    none: { ActionDispatched: 'busy', ActionCompleted: 'end', ActionFailed: 'end' },
    busy: { ActionRetryScheduled: 'again', ActionCompleted: 'end', ActionFailed: 'end' },
    again: { ActionDispatched: 'busy', ActionFailed: 'end' },
    unknown: { ActionDispatched: 'busy', ActionCompleted: 'end', ActionFailed: 'end' },
    end: {},
};
const APPROVAL = {
    none: { ApprovalRequested: 'open' },
    open: { ApprovalGranted: 'Approved', ApprovalDenied: 'Denied', ApprovalExpired: 'Expired', ApprovalChangesRequested: 'RequestChanges', ApprovalEscalated: 'open' },
    RequestChanges: { ApprovalRequested: 'open' },
    Approved: {}, Denied: {}, Expired: {},
};

const TASK = {
    none: { HumanTaskCreated: 'open' },
    open: { HumanTaskAssigned: 'open', HumanTaskEscalated: 'escalated', HumanTaskCompleted: 'end' },
    escalated: { HumanTaskAssigned: 'open', HumanTaskCompleted: 'end' },
    end: {},
};

/** Follow one subject. @return the state after `type` */
function follow(table, states, id, type, seq) {
    const from = states.get(id) ?? 'none';
    const to = table[from][type];
    assert.ok(to, `event ${seq}: ${type} of ${id}, which is ${from}`);
    states.set(id, to);
    return to;
}

/**
 * Check a history.
 *
 * @param events    in the order of their numbers: { seq, type, aggregate, runId, actionId, payload }
 * @param runs      { id, status }, as they are stored
 * @param approvals { id, status }, as they are stored
 */
export function checkHistory({ events, runs, approvals }) {
    const ofRuns = new Map(), ofActions = new Map(), ofApprovals = new Map(), ofTasks = new Map(), ends = new Map();
    for (const [i, { seq, type, aggregate, runId, actionId, payload }] of events.entries()) {
        assert.equal(seq, i + 1, `event ${seq} is in place ${i + 1}`);
        if (type.startsWith('Run')) {
            follow(RUN, ofRuns, runId, type, seq);
            if (ENDS[type])
                ends.set(runId, ENDS[type]);
        } else if (/^Action(Dispatched|Completed|Failed|RetryScheduled)$/.test(type)) {
            const id = `${runId}/${actionId}`;
            assert.ok(type !== 'ActionDispatched' || !ends.has(runId), `event ${seq}: ${id} is dispatched after the run's end`);
            follow(ACTION, ofActions, id, type, seq);
            if (type === 'ActionFailed' && payload?.errorClass === 'unknown-outcome')
                ofActions.set(id, 'unknown');
        } else if (APPROVAL.open[type] || type === 'ApprovalRequested') {
            follow(APPROVAL, ofApprovals, aggregate, type, seq);
        } else if (type.startsWith('HumanTask')) {
            follow(TASK, ofTasks, aggregate, type, seq);
        }
    }
    for (const { id, status } of runs)
        assert.equal(ends.get(id) ?? 'open', Object.values(ENDS).includes(status) ? status : 'open', `run ${id} is ${status}`);
    assert.equal(ofRuns.size, runs.length, 'each run has events, and each event its run');
    for (const { id, status } of approvals) {
        const told = ofApprovals.get(id);
        const fits = status === 'Executing' || status === 'Executed' ? 'Approved' : status === 'Pending' ? 'open' : status;
        assert.equal(told, fits, `approval ${id} is ${status}`);
    }
}

/** JSON with sorted names, as RFC 8785 has it for the texts and integers of evidence. */
function canonical(value) {
    if (Array.isArray(value))
        return `[${value.map(canonical).join(',')}]`;
    if (value === null || typeof value !== 'object')
        return JSON.stringify(value);
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

/** The hash of an entry of evidence, as its text would have it. */
export function hashOf({ hashSha256: _hash, signatureBase64: _signature, ...entry }) {
    return crypto.createHash('sha256').update(canonical(entry)).digest('hex');
}

/** Check that entries are one chain: each has the hash of its text, names the one before, and is
 *  not older. */
export function checkChain(entries) {
    let previous, time = '';
    for (const [i, entry] of entries.entries()) {
        assert.equal(entry.previousHash, previous, `entry ${i + 1} follows another one`);
        assert.equal(entry.hashSha256, hashOf(entry), `entry ${i + 1} was changed`);
        assert.ok(entry.occurredAtIso >= time, `entry ${i + 1} is older than the one before`);
        previous = entry.hashSha256;
        time = entry.occurredAtIso;
    }
}
