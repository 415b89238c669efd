/*
 * evidence.js - evidence: the chain of a workspace, and its verification by the server.
 */
import { box, chip, facts, h, moment, oneLine } from '../text.js';

export function evidence({ api, command }) {
    let items = [], verified = null;

    function words({ to, head, result }) {
        if (result && !result.ok)
            return h('p', { class: 'error' }, result.reason === 'head_mismatch' ? `✗ The entries after number ${result.index} are missing, or are not those that were stored.`
                : `✗ Entry ${result.index}: ${String(result.reason).replaceAll('_', ' ')}.`);
        return to < head.seq ? h('p', {}, `${to} of ${head.seq} entries are verified.`) : h('p', { class: 'good' }, '✓ The chain is whole.');
    }

    const verdict = (found) => [words(found), h('p', { class: 'note hash' }, `${found.head.seq} entries, head ${found.head.hash ?? 'none'}`)];

    const draw = () => document.getElementById('verdict')?.replaceChildren(...verdict(verified));

    /* The server verifies so many entries for a request. */
    const verify = () => command('verify', async () => {
        const head = await api.get('/evidence/head');
        verified = { to: 0, head, result: null };
        while (verified.to < head.seq && verified.result?.ok !== false) {
            draw();
            verified.result = await api.get(`/evidence/verify?from=${verified.to + 1}&to=${head.seq}`);
            if (verified.result.ok && verified.result.to <= verified.to)
                throw new Error('The server verifies no further entry.');
            verified.to = Math.max(verified.to, verified.result.to);
        }
        draw();
    });

    return {
        name: 'evidence', title: 'Evidence', empty: 'There is no evidence to show.',
        key: (entry) => entry.evidenceId,
        head: () => h('div', { class: 'filter' }, h('button', { onclick: verify }, 'Verify the chain'), h('div', { id: 'verdict', 'aria-live': 'polite' }, verified ? verdict(verified) : null)),
        row: (entry) => [h('b', {}, oneLine(entry.summary)), h('span', { class: 'sub' }, chip(entry.category), ' ', moment(entry.occurredAtIso))],
        async list(pages) {
            const found = await api.list('/evidence', pages);
            ({ items } = found);
            return found;
        },
        detail(id) {
            const entry = items.find((one) => one.evidenceId === id);
            if (!entry)
                return [h('p', { class: 'empty' }, `It is not among the newest ${items.length} entries.`)];
            const actor = entry.actor ?? {};
            return [h('header', {}, h('h2', { class: 'text' }, entry.summary), chip(entry.category)),
                facts([['At', entry.occurredAtIso], ['Actor', [actor.kind, actor.userId ?? actor.agentId ?? actor.machineId ?? actor.adapterId].filter(Boolean).join(' ')],
                    ['Run', entry.links?.runId && h('a', { href: `#/runs/${encodeURIComponent(entry.links.runId)}` }, entry.links.runId)],
                    ['Hash', h('code', { class: 'hash' }, entry.hashSha256)], ['Previous', entry.previousHash && h('code', { class: 'hash' }, entry.previousHash)]]),
                h('h3', {}, 'Entry'), box(entry)];
        },
    };
}
