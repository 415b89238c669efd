/*
 * runs.js - runs: a live timeline of their actions with attempts, and what a person may do to one.
 */
import { box, chip, facts, h, moment, oneLine } from '../text.js';

const FINAL = ['Succeeded', 'Failed', 'Cancelled'];

/* ---- the timeline ---------------------------------------------------------------------------- */

function duration(ms) {
    return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round(ms % 60_000 / 1000)} s`;
}

/* A bar from the start to the end of an action, within the time of the run. */
function bar(action, from, to) {
    const begin = Date.parse(action.startedAtIso), end = action.endedAtIso ? Date.parse(action.endedAtIso) : to;
    if (Number.isNaN(begin))
        return null;
    const span = Math.max(to - from, 1), left = (begin - from) / span * 100;
    const fill = h('i', { 'data-word': action.state });
    fill.style.marginLeft = `${Math.min(left, 99)}%`;
    fill.style.width = `${Math.max((end - begin) / span * 100, 1)}%`;
    return h('span', { class: 'bar', 'aria-hidden': 'true' }, fill);
}

function timeline(run) {
    const actions = run.actions ?? [];
    const moments = actions.flatMap((one) => [one.startedAtIso, one.endedAtIso]).concat(run.createdAtIso, run.endedAtIso).map(Date.parse).filter((at) => !Number.isNaN(at));
    const from = Math.min(...moments), to = FINAL.includes(run.status) ? Math.max(...moments) : Date.now();
    return h('ol', { class: 'timeline' }, actions.map((action) => {
        const took = action.startedAtIso && action.endedAtIso ? duration(Date.parse(action.endedAtIso) - Date.parse(action.startedAtIso)) : null;
        return h('li', { 'data-word': action.state },
            h('div', {}, h('b', {}, oneLine(action.actionId)), ' ', chip(action.state), action.attempt > 1 ? h('span', { class: 'note' }, ` attempt ${action.attempt}`) : null,
                took ? h('span', { class: 'note' }, ` ${took}`) : null),
            bar(action, from, to),
            action.approvalId ? h('p', {}, h('a', { href: `#/inbox/${encodeURIComponent(action.approvalId)}` }, 'its approval')) : null,
            action.nextAttemptAtIso ? h('p', { class: 'note' }, 'next attempt ', moment(action.nextAttemptAtIso)) : null,
            action.errorMessage ? h('p', { class: 'error text' }, `${action.errorClass ?? ''}: ${action.errorMessage}`) : null,
            action.output === undefined ? null : box(action.output));
    }));
}

/* ---- starting one ---------------------------------------------------------------------------- */

function judgements({ actions }) {
    return h('ul', {}, actions.map((one) => h('li', {}, oneLine(one.actionId), ' ', chip(one.decision), one.ruleId ? ` ${oneLine(one.policyId)} ${oneLine(one.ruleId)}` : '')));
}

/* Start a run. Where the answer is lost, the next try has the same key, so one run is started. */
async function begin(api, body, draft) {
    const text = JSON.stringify(body);
    if (draft.sent?.text !== text)
        draft.sent = { text, key: crypto.randomUUID() };
    try {
        const run = await api.send('POST', '/runs', body, draft.sent.key);
        draft.sent = null;
        return run;
    } catch (error) {
        if (error.status >= 400 && error.status < 500)
            draft.sent = null;
        throw error;
    }
}

/* @param draft what was typed and what was answered, kept while the list changes */
function starter({ api, attempt, command, leave, toast }, workflows, draft) {
    const plan = h('div', { id: 'plan', 'aria-live': 'polite' }, draft.plan ? judgements(draft.plan) : null);
    const form = h('form', { class: 'decision', 'aria-label': 'Start a run' }, h('label', { for: 'workflow' }, 'Workflow'),
        h('select', { id: 'workflow', name: 'workflow' }, workflows.map((one) => h('option', { value: one.workflowId }, oneLine(one.name ?? one.workflowId)))),
        h('label', { for: 'parameters' }, 'Parameters, as JSON'), h('textarea', { id: 'parameters', name: 'parameters', rows: 3, spellcheck: 'false' }),
        plan, h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => ask() }, 'What will be gated?'), h('button', { class: 'main' }, 'Start')));
    const body = () => ({ workflowId: form.elements.workflow.value, parameters: JSON.parse(form.elements.parameters.value || '{}') });
    const ask = () => attempt(async () => {
        draft.plan = await api.send('POST', '/runs:plan', body());
        document.getElementById('plan')?.replaceChildren(judgements(draft.plan));
    });
    const start = () => command('start', async () => {
        const { runId } = await begin(api, body(), draft);
        Object.assign(draft, { parameters: '{}', plan: null });
        toast('Started.');
        leave('runs', 'new', runId);
    });
    form.elements.parameters.value = draft.parameters;
    if (workflows.some((one) => one.workflowId === draft.workflow))
        form.elements.workflow.value = draft.workflow;
    form.addEventListener('input', ({ target }) => { draft[target.name] = target.value; });
    form.addEventListener('submit', (event) => { event.preventDefault(); start(); });
    return h('div', { class: 'starter' }, h('h3', {}, 'Start a run'), form);
}

/* ---- the pane -------------------------------------------------------------------------------- */

export function runs(tools) {
    const { api, attempt, why, refresh, go } = tools;
    const draft = { workflow: null, parameters: '{}', plan: null };

    async function change(run, title, button, path, body) {
        const rationale = await why(title, button);
        if (rationale)
            await attempt(() => api.send('POST', `/runs/${encodeURIComponent(run.runId)}${path}`, { ...body, rationale }));
        refresh();
    }

    /* Save the bundle of a run, which `portarium evidence verify` proves without this server. */
    async function save(run) {
        await attempt(async () => {
            const text = await api.text(`/runs/${encodeURIComponent(run.runId)}/evidence:bundle`);
            const link = h('a', { download: `${run.runId}.bundle` });
            link.href = URL.createObjectURL(new Blob([text]));
            link.click();
            URL.revokeObjectURL(link.href);
        });
    }

    function buttons(run) {
        const intervene = (interventionType, words) => h('button', { onclick: () => change(run, `${words} this run`, words, '/interventions', { interventionType }) }, words);
        return FINAL.includes(run.status) ? null : h('div', { class: 'buttons' }, run.status === 'Paused' ? intervene('resume', 'Resume') : intervene('pause', 'Pause'),
            intervene('annotate', 'Annotate'), h('button', { class: 'danger', onclick: () => change(run, 'Cancel this run', 'Cancel the run', '/cancel', {}) }, 'Cancel'));
    }

    async function starting() {
        const { items } = await api.get('/workflows?limit=200');
        return [h('header', {}, h('h2', {}, 'A new run')), starter(tools, items.filter((one) => one.active !== false), draft)];
    }

    return {
        name: 'runs', title: 'Runs', empty: 'No run has been started yet.',
        key: (run) => run.runId,
        head: () => h('div', { class: 'filter' }, h('button', { onclick: () => go('runs', 'new') }, 'Start a run')),
        row: (run) => [h('b', {}, oneLine(run.workflowId)), h('span', { class: 'sub' }, chip(run.status), ' ', run.controlState ? chip(run.controlState) : null, ` ${oneLine(run.initiatedByUserId)} `, moment(run.createdAtIso))],
        list: (pages) => api.list('/runs', pages),
        async detail(id) {
            if (id === 'new')
                return starting();
            const at = `/runs/${encodeURIComponent(id)}`;
            const [run, entries] = await Promise.all([api.get(`${at}?view=full`), api.getIfThere(`${at}/evidence?limit=200`)]);
            return [
                h('header', {}, h('h2', {}, oneLine(run.workflowId)), chip(run.status), run.controlState ? chip(run.controlState) : null),
                facts([['Run', h('code', {}, oneLine(run.runId))], ['Version', run.workflowVersion], ['Tier', run.executionTier], ['Started by', run.initiatedByUserId], ['Created', moment(run.createdAtIso)],
                    ['Ended', run.endedAtIso && moment(run.endedAtIso)]]),
                run.failure ? h('p', { class: 'error text' }, `${run.failure.class}: ${run.failure.message ?? ''}`) : null,
                buttons(run), h('h3', {}, 'Timeline'), timeline(run),
                h('h3', {}, 'Parameters'), box(run.parameters ?? {}), run.output === undefined ? null : [h('h3', {}, 'Output'), box(run.output)],
                entries ? [h('h3', {}, 'Evidence'), h('div', { class: 'buttons' }, h('button', { onclick: () => save(run) }, 'Save the bundle')), h('ol', { class: 'trail' }, entries.items.map((one) => h('li', {}, moment(one.occurredAtIso), ' ', chip(one.category), ' ', h('span', { class: 'text' }, one.summary))))] : null,
            ].flat(2);
        },
    };
}
