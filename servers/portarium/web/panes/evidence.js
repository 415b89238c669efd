/*
 * evidence.js - evidence: the chain of a workspace, and its verification by the server.
 */
import { box, chip, facts, h, moment, oneLine } from '../text.js';

export function evidence({ api, attempt }) {
    let items = [], verified = null;

    function verdict([result, head]) {
        return [result.ok ? h('p', { class: 'good' }, '✓ The chain is whole.')
            : h('p', { class: 'error' }, `✗ Entry ${result.index}: ${String(result.reason).replaceAll('_', ' ')}.`),
        head ? h('p', { class: 'note hash' }, `${head.seq} entries, head ${head.hash}`) : null];
    }

    async function verify() {
        await attempt(async () => {
            verified = await Promise.all([api.get('/evidence/verify'), api.getIfThere('/evidence/head')]);
        });
        if (verified)
            document.getElementById('verdict')?.replaceChildren(...verdict(verified).filter(Boolean));
    }

    return {
        name: 'evidence', title: 'Evidence', empty: 'There is no evidence to show.',
        key: (entry) => entry.evidenceId,
        head: () => h('div', { class: 'filter' }, h('button', { onclick: verify }, 'Verify the chain'), h('div', { id: 'verdict', 'aria-live': 'polite' }, verified ? verdict(verified) : null)),
        row: (entry) => [h('b', {}, oneLine(entry.summary)), h('span', { class: 'sub' }, chip(entry.category), ' ', moment(entry.occurredAtIso))],
        async list() {
            items = (await api.getIfThere('/evidence?limit=200'))?.items ?? [];
            return items;
        },
        detail(id) {
            const entry = items.find((one) => one.evidenceId === id);
            if (!entry)
                return [h('p', { class: 'empty' }, 'It is not among the newest 200 entries.')];
            const actor = entry.actor ?? {};
            return [h('header', {}, h('h2', { class: 'text' }, entry.summary), chip(entry.category)),
                facts([['At', entry.occurredAtIso], ['Actor', [actor.kind, actor.userId ?? actor.agentId ?? actor.machineId ?? actor.adapterId].filter(Boolean).join(' ')],
                    ['Run', entry.links?.runId && h('a', { href: `#/runs/${encodeURIComponent(entry.links.runId)}` }, entry.links.runId)],
                    ['Hash', h('code', { class: 'hash' }, entry.hashSha256)], ['Previous', entry.previousHash && h('code', { class: 'hash' }, entry.previousHash)]]),
                h('h3', {}, 'Entry'), box(entry)];
        },
    };
}
