/*
 * work.js - work items: what people have to do.
 */
import { chip, facts, h, moment, oneLine } from '../text.js';

const STATUSES = ['Open', 'InProgress', 'Blocked', 'Resolved', 'Closed'];

function links(item) {
    const of = (ids, place) => (ids ?? []).flatMap((id) => [h('a', { href: `#/${place}/${encodeURIComponent(id)}` }, id), ' ']);
    return facts([['Runs', item.links?.runIds?.length ? h('span', {}, of(item.links.runIds, 'runs')) : null],
        ['Approvals', item.links?.approvalIds?.length ? h('span', {}, of(item.links.approvalIds, 'inbox')) : null]]);
}

export function workItems({ api, attempt, refresh }) {
    async function change(item, select) {
        if (!await attempt(() => api.send('PATCH', `/work-items/${encodeURIComponent(item.workItemId)}`, { status: select.value })))
            select.value = item.status;
        refresh();
    }
    return {
        name: 'work', title: 'Work items', empty: 'There are no work items.',
        key: (item) => item.workItemId,
        row: (item) => [h('b', {}, oneLine(item.title)), h('span', { class: 'sub' }, chip(item.status), ` ${oneLine(item.ownerUserId ?? 'nobody')} `, moment(item.createdAtIso))],
        list: (pages) => api.list('/work-items', pages),
        async detail(id) {
            const item = await api.get(`/work-items/${encodeURIComponent(id)}`);
            const status = h('select', { name: 'status', 'aria-label': 'Status', onchange: ({ target }) => change(item, target) }, STATUSES.map((one) => h('option', { value: one, selected: one === item.status }, one)));
            return [h('header', {}, h('h2', { class: 'text' }, item.title), chip(item.status)),
                facts([['Owner', item.ownerUserId ?? 'nobody'], ['Created', moment(item.createdAtIso)], ['By', item.createdByUserId], ['Due', item.sla?.dueAtIso && moment(item.sla.dueAtIso)], ['Status', status]]), links(item)];
        },
    };
}
