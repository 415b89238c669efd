/*
 * tasks.js - human tasks: steps of runs that a person does by hand, and says when they are done.
 */
import { box, chip, counted, facts, h, moment, oneLine } from '../text.js';

const OPEN = '/human-tasks?status=pending,assigned,in-progress,escalated', ENDED = '/human-tasks?status=completed';
const ENDS = { Succeeded: ['Done', 'main'], Failed: ['Not done', 'danger'] };

export function tasks({ api, attempt, toast, why, refresh }) {
    const drafts = new Map(); /* task -> its notes, kept while the list changes */
    const isOpen = (task) => task.status !== 'completed';

    async function complete(task, outcome) {
        const notes = (drafts.get(task.humanTaskId) ?? '').trim();
        const body = { schemaVersion: 1, runId: task.runId, actionId: task.stepId, completionToken: task.completionToken, outcome, completedAtIso: new Date().toISOString() };
        if (notes)
            body.notes = notes;
        if (await attempt(() => api.send('POST', `/human-tasks/${encodeURIComponent(task.humanTaskId)}/complete`, body))) {
            drafts.delete(task.humanTaskId);
            toast(`${ENDS[outcome][0]}: recorded.`);
        }
        await refresh();
    }

    async function escalate(task) {
        const rationale = await why('Let somebody else do it', 'Escalate');
        if (rationale)
            await attempt(() => api.send('POST', `/human-tasks/${encodeURIComponent(task.humanTaskId)}/escalate`, { rationale }));
        refresh();
    }

    function completion(task) {
        const form = h('form', { class: 'decision', 'aria-label': 'Completion' }, h('label', { for: 'notes' }, 'Notes'),
            h('textarea', { id: 'notes', name: 'notes', rows: 3, maxlength: 4096, placeholder: 'What was done? It becomes part of the evidence.' }),
            h('div', { class: 'buttons' }, Object.entries(ENDS).map(([outcome, [words, kind]]) => h('button', { type: 'button', class: kind, onclick: () => complete(task, outcome) }, words)),
                h('span', { class: 'spring' }), h('button', { type: 'button', class: 'quiet', onclick: () => escalate(task) }, 'Escalate')));
        form.elements.notes.value = drafts.get(task.humanTaskId) ?? '';
        form.addEventListener('submit', (event) => event.preventDefault());
        form.addEventListener('input', ({ target }) => drafts.set(task.humanTaskId, target.value));
        return form;
    }

    return {
        name: 'tasks', title: 'Tasks', empty: 'Nothing is to be done by hand.',
        key: (task) => task.humanTaskId,
        row: (task) => [h('b', {}, oneLine(task.description)), h('span', { class: 'sub' }, chip(task.status), ` ${oneLine(task.stepId)} `, moment(task.createdAtIso)),
            task.input === undefined ? null : h('span', { class: 'sub' }, oneLine(JSON.stringify(task.input)).slice(0, 120))].flat(),
        async waiting(found) {
            const { items, more } = found?.open ?? await api.list(OPEN);
            return counted(items.length, more);
        },
        /* The open ones first: they may be older than many that have ended. */
        async list(pages) {
            const open = await api.list(OPEN, pages), ended = open.more ? { items: [], more: true } : await api.list(ENDED, pages);
            return { items: [...open.items, ...ended.items], more: ended.more, open };
        },
        async detail(id) {
            const task = await api.get(`/human-tasks/${encodeURIComponent(id)}`);
            return [h('header', {}, h('h2', { class: 'text' }, task.description), chip(task.status)),
                facts([['Run', h('a', { href: `#/runs/${encodeURIComponent(task.runId)}` }, task.runId)], ['Step', task.stepId],
                    ['For', task.assigneeId ?? 'anybody who may'], ['Work item', task.workItemId && h('a', { href: `#/work/${encodeURIComponent(task.workItemId)}` }, task.workItemId)], ['Outcome', task.outcome], ['Completed by', task.completedByUserId]]),
                task.input === undefined ? null : [h('h3', {}, 'What is to be done'), box(task.input)],
                isOpen(task) && task.completionToken ? completion(task) : null,
                isOpen(task) && !task.completionToken ? h('p', { class: 'note' }, 'Your roles do not allow you to complete it.') : null].flat();
        },
    };
}
