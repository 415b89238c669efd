/*
 * policies.js - policies: their rules, and what a draft would have changed.
 */
import { chip, facts, h, moment, oneLine } from '../text.js';

/* What the server adds to a policy and a draft does not have. */
const GIVEN = ['workspaceId', 'version', 'createdAtIso', 'createdByUserId', 'updatedAtIso', 'revision'];

function rules(policy) {
    return policy.rules?.length ? h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Rule'), h('th', {}, 'Condition'), h('th', {}, 'Effect'))),
        h('tbody', {}, policy.rules.map((one) => h('tr', {}, h('td', {}, oneLine(one.ruleId)), h('td', {}, h('code', {}, one.condition)), h('td', {}, chip(one.effect))))))) : h('p', { class: 'note' }, 'It has no rules.');
}

function outcome({ changes, judged }) {
    const words = changes.length ? `${changes.length} of the last ${judged} judgements would have ended otherwise:` : `None of the last ${judged} judgements would have ended otherwise.`;
    return [h('p', {}, words), changes.length ? h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, ['When', 'Run', 'Action', 'Was', 'Would be', 'Rule'].map((name) => h('th', {}, name)))),
        h('tbody', {}, changes.map((one) => h('tr', {}, h('td', {}, moment(one.atIso)), h('td', {}, one.runId ? h('a', { href: `#/runs/${encodeURIComponent(one.runId)}` }, one.runId.slice(0, 12)) : ''),
            h('td', {}, oneLine(one.actionId ?? '')), h('td', {}, chip(one.was)), h('td', {}, chip(one.would)), h('td', {}, oneLine(one.ruleId ?? ''))))))) : null];
}

export function policies({ api, attempt, toast, refresh }) {
    const drafts = new Map();
    let shown = { id: null, answer: null };

    function draftForm(policy) {
        const id = policy.policyId, result = h('div', { id: 'outcome', 'data-policy': id, 'aria-live': 'polite' }, shown.id === id ? outcome(shown.answer) : null);
        const text = h('textarea', { name: 'draft', 'aria-label': 'Draft', rows: 14, spellcheck: 'false', oninput: () => drafts.set(id, text.value) });
        text.value = drafts.get(id) ?? JSON.stringify(Object.fromEntries(Object.entries(policy).filter(([name]) => !GIVEN.includes(name))), null, 2);
        const simulate = () => attempt(async () => {
            shown = { id, answer: await api.send('POST', '/policies:simulate', { policy: JSON.parse(text.value), last: 10_000 }) };
            /* where it is now: the form that was sent may have been drawn again */
            document.querySelector(`#outcome[data-policy="${CSS.escape(id)}"]`)?.replaceChildren(...outcome(shown.answer).filter(Boolean));
        });
        const save = () => attempt(async () => {
            await api.send('PATCH', `/policies/${encodeURIComponent(id)}`, JSON.parse(text.value));
            drafts.delete(id);
            toast('Saved as a new version.');
            refresh();
        });
        return [h('h3', {}, 'Draft'), text, h('div', { class: 'buttons' }, h('button', { onclick: simulate }, 'Simulate'), h('button', { class: 'main', onclick: save }, 'Save as a new version')), result];
    }

    return {
        name: 'policies', title: 'Policies', empty: 'There are no policies. Tiers alone decide what is gated.',
        key: (policy) => policy.policyId,
        row: (policy) => [h('b', {}, oneLine(policy.name)), h('span', { class: 'sub' }, chip(policy.active === false ? 'inactive' : 'active'), ` version ${policy.version} · rules: ${policy.rules?.length ?? 0}`)],
        list: (pages) => api.list('/policies', pages),
        async detail(id) {
            const policy = await api.get(`/policies/${encodeURIComponent(id)}`);
            return [h('header', {}, h('h2', { class: 'text' }, policy.name), chip(policy.active === false ? 'inactive' : 'active')),
                facts([['Policy', h('code', {}, oneLine(policy.policyId))], ['Version', policy.version], ['Priority', policy.priority], ['Duties', (policy.sodConstraints ?? []).map((one) => one.kind).join(', ')], ['Description', policy.description]]),
                h('h3', {}, 'Rules'), rules(policy), draftForm(policy)].flat();
        },
    };
}
