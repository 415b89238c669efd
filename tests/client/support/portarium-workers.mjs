/*
 * portarium-workers.mjs - who does work for a plane from outside: agents that fetch it, and people
 * who complete tasks by hand. What was acknowledged to them is kept.
 */
import http from 'node:http';

/** The probability that an agent forgets work that it has claimed, as one that died. */
const DEATHS = 0.03;

/** A POST to the sink, as an agent makes it. @return whether the sink has answered 200 */
function change(sink, key, body) {
    return new Promise((resolve) => {
        const request = http.request({ host: '127.0.0.1', port: sink.port, path: '/once', method: 'POST', headers: { 'idempotency-key': key } }, (answer) => {
            answer.resume().on('error', () => resolve(false)).on('end', () => resolve(answer.statusCode === 200));
        });
        request.on('error', () => resolve(false)).end(JSON.stringify(body));
    });
}

/** An agent: it looks for work, claims it, changes the sink, and reports. Each step is repeated
 *  until it is answered. */
export class Agent {
    held = new Map();   /* work item to its claim; null: not claimed yet */
    completed = [];     /* [run, lease] */

    constructor(plane, id) {
        Object.assign(this, { plane, id });
    }

    async work(server) {
        const { json } = await this.plane.ask(server, this.id, 'GET', `/agents/${this.id}/work-items`);
        for (const { workItemId } of json?.items ?? []) {
            if (!this.held.has(workItemId))
                this.held.set(workItemId, null);
        }
        for (const item of this.held.keys())
            await this.goOn(server, item);
    }

    async goOn(server, item) {
        const post = (step, body) => this.plane.ask(server, this.id, 'POST', `/agents/${this.id}/work-items/${item}/${step}`, body);
        let claim = this.held.get(item);
        if (!claim) {
            const { status, json } = await post('claim');
            if (status === 200)
                this.held.set(item, claim = json);
            else if (status < 500)
                this.held.delete(item); /* another agent's, or done */
        }
        if (!claim)
            return;
        if (Math.random() < DEATHS) {
            this.held.delete(item); /* its lease expires */
            return;
        }
        claim.isDone ||= await change(this.plane.sink, claim.idempotencyKey, claim.input);
        if (!claim.isDone)
            return;
        const { status } = await post('complete', { leaseId: claim.leaseId, output: { lease: claim.leaseId, agent: this.id } });
        if (status === 200)
            this.completed.push([claim.runId, claim.leaseId]);
        if (status < 500)
            this.held.delete(item);
    }
}

/** A person who completes tasks; those of every second run only after their time limit. */
export class Person {
    completed = []; /* [task, run] */

    constructor(plane, id) {
        Object.assign(this, { plane, id });
    }

    async work(server) {
        for (const status of ['escalated', 'pending']) {
            const { json } = await this.plane.ask(server, this.id, 'GET', `/human-tasks?status=${status}&limit=20`);
            for (const task of json?.items ?? []) {
                if (status === 'escalated' || Number.parseInt(task.runId.slice(-1), 16) % 2 === 0)
                    await this.complete(server, task);
            }
        }
    }

    async complete(server, { humanTaskId, runId, stepId, completionToken }) {
        const { status } = await this.plane.ask(server, this.id, 'POST', `/human-tasks/${humanTaskId}/complete`,
            { schemaVersion: 1, runId, actionId: stepId, completionToken, outcome: 'Succeeded', completedAtIso: new Date().toISOString() });
        if (status === 200)
            this.completed.push([humanTaskId, runId]);
    }
}
