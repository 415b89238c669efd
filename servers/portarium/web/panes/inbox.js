/*
 * inbox.js - approvals: what will be done, by whom, why it is gated, what is different from the
 * last time, and the decision.
 */
import { box, chip, counted, facts, h, json, moment, oneLine } from '../text.js';

const CHOICES = { a: ['Approved', 'Approve'], r: ['RequestChanges', 'Request changes'], d: ['Denied', 'Deny'] };
const REASONS = ['wrong-goal', 'wrong-evidence', 'wrong-risk-level', 'wrong-execution-plan', 'missing-context', 'policy-violation',
    'insufficient-quality', 'domain-correctness-failure'];
const SHOWN = [['open', 'Open'], ['all', 'All']], OPEN = '/approvals?status=Pending';

/* ---- what is shown of an approval ------------------------------------------------------------ */

function values(object) {
    return object && typeof object === 'object' && !Array.isArray(object) ? object : {};
}

/* Members of two objects side by side. */
function difference(before, now) {
    const [old, fresh] = [values(before), values(now)];
    const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
    const cell = (object, name) => Object.hasOwn(object, name) ? h('code', {}, json(object[name])) : h('span', { class: 'note' }, 'absent');
    const isSame = (name) => JSON.stringify(old[name]) === JSON.stringify(fresh[name]);
    return h('div', { class: 'wide' }, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Parameter'), h('th', {}, 'Last time'), h('th', {}, 'Now'))),
        h('tbody', {}, names.map((name) => h('tr', { class: isSame(name) ? null : 'changed' },
            h('td', {}, oneLine(name)), h('td', {}, cell(old, name)), h('td', {}, cell(fresh, name), isSame(name) ? null : h('b', { class: 'mark' }, ' changed')))))));
}

function whyGated(approval, action) {
    const by = approval.raisedBy ?? {};
    const tier = action?.effectiveTier;
    const words = by.reason ?? (tier ? `The action’s tier is ${tier}.` : null);
    return facts([['Why', words], ['Policy', by.policyId], ['Rule', by.ruleId], ['Tier', tier && by.reason ? tier : null]]);
}

function risk(definition, action) {
    if (!definition)
        return null;
    return facts([
        ['Side effect', definition.sideEffect === undefined ? 'not declared' : definition.sideEffect ? 'yes' : 'none, as declared'],
        ['Can be undone', definition.compensationOperation ? `by ${definition.compensationOperation}` : 'no: it has no compensation'],
        ['Port family', definition.portFamily],
        ['Retries', definition.retry?.maxAttempts ? `up to ${definition.retry.maxAttempts} attempts` : null],
        ['Attempts so far', action?.attempt || null],
    ]);
}

function packet(approval) {
    const one = approval.approvalPacket;
    return one ? [h('h3', {}, 'For review'), (one.reviewDocs ?? []).map((doc) => [h('h4', {}, oneLine(doc.title)), h('p', { class: 'text' }, doc.markdown)]),
        box(one)] : null;
}

/* ---- the form of a gate ---------------------------------------------------------------------- */

function field(name, schema, isRequired) {
    const label = schema.title ?? name, id = `input-${name}`;
    const common = { id, name: id, required: isRequired };
    const element = schema.enum ? h('select', common, h('option', { value: '' }, ''), schema.enum.map((value) => h('option', { value: JSON.stringify(value) }, oneLine(String(value)))))
        : schema.type === 'boolean' ? h('input', { ...common, type: 'checkbox', required: false })
            : schema.type === 'integer' || schema.type === 'number'
                ? h('input', { ...common, type: 'number', step: schema.type === 'integer' ? 1 : 'any', min: schema.minimum, max: schema.maximum })
                : h('input', { ...common, type: 'text', maxlength: schema.maxLength, minlength: schema.minLength });
    return h('div', { class: 'field' }, h('label', { for: id }, oneLine(label), isRequired ? ' *' : ''), element,
        schema.description ? h('p', { class: 'note' }, schema.description) : null);
}

function answers(schema, form) {
    const out = {};
    for (const [name, one] of Object.entries(schema?.properties ?? {})) {
        const element = form.elements[`input-${name}`];
        if (one.type === 'boolean' && !one.enum)
            out[name] = element.checked;
        else if (element.value !== '')
            out[name] = one.enum ? JSON.parse(element.value) : ['integer', 'number'].includes(one.type) ? Number(element.value) : element.value;
    }
    return out;
}

/* ---- the pane -------------------------------------------------------------------------------- */

export function inbox({ api, command, toast, refresh, leave }) {
    const drafts = new Map(); /* approval -> what was typed, kept while the list changes */
    const approvals = new WeakMap(); /* the form of a decision -> what it decides */
    let shown = 'open';

    function draftOf(id) {
        if (!drafts.has(id))
            drafts.set(id, { rationale: '', choice: null, reason: '', note: '', inputs: new Map() });
        return drafts.get(id);
    }

    async function decide(approval, form) {
        const draft = draftOf(approval.approvalId), [decision, words] = CHOICES[draft.choice];
        const body = { decision, rationale: draft.rationale.trim(), subjectHash: approval.subjectHash };
        if (draft.choice === 'a' && approval.approvalForm)
            body.inputs = answers(approval.approvalForm, form);
        if (draft.choice !== 'a' && draft.reason)
            body.feedback = { decision, reason: draft.reason };
        const done = await command(`decide ${approval.approvalId}`, () => api.send('POST', `/approvals/${encodeURIComponent(approval.approvalId)}/decide`, body));
        if (done) {
            drafts.delete(approval.approvalId);
            toast(`${words}: done.`);
            leave('inbox', approval.approvalId);
        }
        await refresh();
    }

    /* Choose, and send where there is a rationale already. */
    function choose(key, form) {
        const approval = approvals.get(form);
        const draft = draftOf(approval.approvalId);
        draft.choice = key;
        for (const button of form.querySelectorAll('button[data-key]'))
            button.setAttribute('aria-pressed', String(button.dataset.key === key));
        form.elements.reason.parentElement.hidden = key === 'a';
        if (!draft.rationale.trim())
            form.elements.rationale.focus();
        else if (key !== 'a' || form.reportValidity())
            decide(approval, form);
    }

    function decisionForm(approval) {
        const draft = draftOf(approval.approvalId), schema = approval.approvalForm;
        const form = h('form', { class: 'decision', 'aria-label': 'Decision' },
            Object.entries(schema?.properties ?? {}).map(([name, one]) => field(name, one, (schema.required ?? []).includes(name))),
            h('label', { for: 'rationale' }, 'Rationale *'),
            h('textarea', { id: 'rationale', name: 'rationale', rows: 3, maxlength: 4096, placeholder: 'Why? It becomes part of the evidence.' }),
            h('div', { class: 'field', hidden: draft.choice === null || draft.choice === 'a' }, h('label', { for: 'reason' }, 'Reason'),
                h('select', { id: 'reason', name: 'reason' }, h('option', { value: '' }, 'none given'), REASONS.map((reason) => h('option', { value: reason }, reason.replaceAll('-', ' '))))),
            h('div', { class: 'buttons' }, Object.entries(CHOICES).map(([key, [, words]]) =>
                h('button', { type: 'button', class: key === 'a' ? 'main' : key === 'd' ? 'danger' : '', 'data-key': key, 'aria-pressed': String(draft.choice === key), onclick: () => choose(key, form) },
                    words, ' ', h('kbd', {}, key)))));
        approvals.set(form, approval);
        form.elements.rationale.value = draft.rationale;
        form.elements.reason.value = draft.reason;
        for (const [name, value] of draft.inputs) {
            if (form.elements[name])
                Object.assign(form.elements[name], value);
        }
        form.addEventListener('submit', (event) => event.preventDefault());
        /* The form may stay where a decision has ended the draft that it was drawn with. */
        form.addEventListener('input', ({ target }) => {
            if (target.name === 'rationale' || target.name === 'reason')
                draftOf(approval.approvalId)[target.name] = target.value;
            else
                draftOf(approval.approvalId).inputs.set(target.name, target.type === 'checkbox' ? { checked: target.checked } : { value: target.value });
        });
        form.addEventListener('keydown', (event) => {
            const { choice } = draftOf(approval.approvalId);
            if (event.key === 'Enter' && event.ctrlKey && choice)
                choose(choice, form);
        });
        return form;
    }

    function resubmission(approval) {
        const form = h('form', { class: 'decision', 'aria-label': 'Resubmit' }, h('label', { for: 'note' }, 'What has changed *'),
            h('textarea', { id: 'note', name: 'note', rows: 2, required: true, maxlength: 4096 }), h('div', { class: 'buttons' }, h('button', {}, 'Resubmit')));
        form.elements.note.value = draftOf(approval.approvalId).note;
        form.addEventListener('input', ({ target }) => { draftOf(approval.approvalId).note = target.value; });
        form.addEventListener('submit', async (event) => {
            event.preventDefault();
            if (await command(`resubmit ${approval.approvalId}`, () => api.send('POST', `/approvals/${encodeURIComponent(approval.approvalId)}/resubmit`, { note: form.elements.note.value })))
                drafts.delete(approval.approvalId);
            refresh();
        });
        return form;
    }

    /* The run, the definition that it keeps, and the last run of that workflow that succeeded. */
    async function context(approval) {
        const run = approval.runId ? await api.getIfThere(`/runs/${encodeURIComponent(approval.runId)}?view=full`) : null;
        if (!run)
            return {};
        const name = encodeURIComponent(run.workflowId);
        const [workflow, earlier] = await Promise.all([api.getIfThere(`/workflows/${name}?version=${run.workflowVersion}`), api.getIfThere(`/runs?workflowId=${name}&status=Succeeded&limit=1`)]);
        return { run, action: run.actions?.find((one) => one.actionId === approval.actionId), workflow,
            definition: workflow?.actions?.find((one) => one.actionId === approval.actionId), before: earlier?.items?.[0] };
    }

    async function detail(id) {
        const approval = await api.get(`/approvals/${encodeURIComponent(id)}`);
        const { run, action, workflow, definition, before } = await context(approval);
        const subject = approval.subject ?? {};
        const isOpen = approval.status === 'Pending';
        const form = isOpen ? decisionForm(approval) : null;
        return [
            h('header', {}, h('h2', { class: 'text' }, approval.prompt), chip(approval.status)),
            h('h3', {}, 'What will be done'),
            facts([['Operation', subject.operation && h('code', {}, oneLine(subject.operation))], ['Adapter', subject.adapterId && `${subject.adapterId}${subject.adapterRevision ? `, revision ${subject.adapterRevision}` : ''}`],
                ['Workflow', run && `${workflow?.name ?? run.workflowId}, version ${run.workflowVersion}`], ['Action', approval.actionId]]),
            subject.input === undefined ? null : box(subject.input),
            subject.plannedEffects === undefined ? null : [h('p', { class: 'note' }, 'Everything in the run that is not done yet, which is planned to have these effects:'), box(subject.plannedEffects)],
            run ? [h('h3', {}, before ? 'Parameters, and those of the last run that succeeded' : 'Parameters; no run of this workflow has succeeded before'),
                before ? difference(before.parameters, run.parameters) : box(run.parameters ?? {})] : null,
            h('h3', {}, 'Asked by'),
            facts([['Requester', approval.requestedByUserId], ['Agent', approval.agentId], ['Run started by', run?.initiatedByUserId], ['Asked', moment(approval.requestedAtIso)],
                ['Assigned to', approval.assigneeUserId], ['Due', approval.dueAtIso && moment(approval.dueAtIso)],
                ['Run', approval.runId && h('a', { href: `#/runs/${encodeURIComponent(approval.runId)}` }, approval.runId)]]),
            h('h3', {}, 'Why it is gated, and the risk'), whyGated(approval, action), risk(definition, action), packet(approval),
            (approval.decisions ?? []).length ? [h('h3', {}, `Decisions so far${approval.minimumApprovers ? `, of ${approval.minimumApprovers} needed` : ''}`),
                approval.decisions.map((one) => h('p', { class: 'text' }, h('b', {}, oneLine(one.userId)), ` ${one.decision}: `, one.rationale))] : null,
            approval.decidedByUserId ? facts([['Decided by', approval.decidedByUserId], ['At', moment(approval.decidedAtIso)], ['Rationale', approval.rationale]]) : null,
            form, approval.status === 'RequestChanges' ? resubmission(approval) : null,
            approval.subjectHash ? h('p', { class: 'note hash' }, `subject ${approval.subjectHash}`) : null,
        ].flat(3);
    }

    return {
        name: 'inbox', title: 'Inbox', empty: 'Nothing waits for a decision.', hint: 'When an action needs a person, it appears here.', choosesFirst: true,
        key: (approval) => approval.approvalId,
        head: () => h('div', { class: 'filter', role: 'group', 'aria-label': 'Which' }, SHOWN.map(([name, words]) =>
            h('button', { class: 'quiet', 'aria-pressed': String(shown === name), onclick: () => { shown = name; refresh(); } }, words))),
        row: (approval) => [h('b', {}, oneLine(approval.prompt)), h('span', { class: 'sub' }, chip(approval.status), ` ${oneLine([approval.actionId, approval.requestedByUserId].filter(Boolean).join(', '))} `, moment(approval.requestedAtIso)),
            approval.subject?.input === undefined ? null : h('span', { class: 'sub' }, oneLine(JSON.stringify(approval.subject.input)).slice(0, 120))],
        list: (pages) => api.list(shown === 'open' ? OPEN : '/approvals', pages),
        async waiting(found) {
            const { items, more } = found && shown === 'open' ? found : await api.list(OPEN);
            return counted(items.length, more);
        },
        detail,
        press(key, id) {
            /* What is on the page counts, not what was read last. */
            const form = document.querySelector('#detail form.decision[aria-label="Decision"]');
            if (!CHOICES[key] || approvals.get(form)?.approvalId !== id)
                return false;
            choose(key, form);
            return true;
        },
    };
}
