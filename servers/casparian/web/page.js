/*
 * page.js - the inbox: what will be written, a decision about it, and the jobs as they run.
 *
 * The key is taken out of the address at once and is kept in this tab. Every text from outside
 * becomes a text node, with control and bidirectional characters as escapes.
 */
import { released, show } from '../../../kit/page/redraw.js';

const POLL_MS = 1000, ENDED = ['completed', 'failed', 'cancelled'];
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}|[\u{e0000}-\u{e007f}]/gu;

const given = new URLSearchParams(location.hash.slice(1)).get('key');
if (given) {
    sessionStorage.setItem('key', given);
    history.replaceState(null, '', location.pathname);
}
const key = sessionStorage.getItem('key') ?? '';
const at = (id) => document.getElementById(id);
let selected = null, shown = '';

/* ---- texts ----------------------------------------------------------------------------------- */

const visible = (text) => String(text).replace(UNSEEN, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes))
        made.setAttribute(attribute, value);
    for (const child of children)
        made.append(child instanceof Node ? child : document.createTextNode(visible(child)));
    return made;
}

/* Any JSON value: objects as lists of members, texts of several lines as code. */
function tree(value) {
    if (value === null || typeof value !== 'object')
        return typeof value === 'string' && value.includes('\n') ? element('pre', {}, value) : element('span', {}, value ?? 'none');
    if (Object.keys(value).length === 0)
        return element('span', { class: 'quiet' }, 'none');
    const list = element('dl');
    for (const [name, member] of Object.entries(value))
        list.append(element('dt', {}, Array.isArray(value) ? Number(name) + 1 : name), element('dd', {}, tree(member)));
    return list;
}

/* ---- the server ------------------------------------------------------------------------------ */

async function ask(path, body) {
    const headers = { Authorization: `Bearer ${key}` };
    if (body)
        headers['Content-Type'] = 'application/json';
    const reply = await fetch(path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), credentials: 'omit', cache: 'no-store' });
    if (reply.status === 401)
        throw new Error('The key is not valid. Open the address that the terminal shows.');
    const json = await reply.json();
    if (!reply.ok)
        throw new Error(json.error?.message ?? `the server answered ${reply.status}`);
    return json;
}

/* ---- lists ----------------------------------------------------------------------------------- */

function fill(where, rows, none) {
    show(at(where), rows.length ? rows : element('p', { class: 'quiet' }, none));
}

function row(path, title, words) {
    const made = element('button', { class: 'row', type: 'button', 'data-path': path, 'aria-current': path === selected }, title, element('small', {}, words));
    made.addEventListener('click', () => { select(path); });
    return made;
}

/* ---- details --------------------------------------------------------------------------------- */

function decisions(request) {
    const reason = element('input', { id: 'reason', maxlength: '500', autocomplete: 'off' });
    const fault = element('p', { class: 'fault', role: 'alert' });
    const button = (decision, label) => {
        const made = element('button', { type: 'button', class: decision }, label);
        made.addEventListener('click', async () => {
            box.querySelectorAll('button').forEach((one) => { one.disabled = true; });
            try {
                const body = { decision, snapshot_sha256: request.snapshot_sha256 };
                if (decision === 'reject' && reason.value)
                    body.reason = reason.value;
                await ask(`api/approvals/${request.approval_id}/decision`, body);
                shown = '';
                await refresh();
            } catch (error) {
                fault.textContent = visible(error.message);
                box.querySelectorAll('button').forEach((one) => { one.disabled = false; });
            }
        });
        return made;
    };
    const box = element('div', { class: 'decide' }, button('approve', 'Approve'), element('label', {}, 'Reason of a rejection', reason), button('reject', 'Reject'));
    return element('div', {}, box, fault);
}

function showRequest(request) {
    const { snapshot, snapshot_sha256: hash, files, details, approve_command: command, ...head } = request;
    const parts = [element('h2', {}, head.summary?.description ?? head.operation), tree(head)];
    if (details?.reason)
        parts.push(element('h2', {}, 'Reason given by the requester'), element('p', {}, details.reason));
    if (head.status === 'pending')
        parts.push(decisions(request));
    if (head.job_id)
        parts.push(row(`api/jobs/${head.job_id}`, `Job ${head.job_id}`, 'what became of it'));
    parts.push(element('h2', {}, 'What will be written'), tree(snapshot), element('p', { class: 'quiet' }, `SHA-256 of this: ${hash}`));
    if (files.length)
        parts.push(element('h2', {}, `Files (the first ${files.length})`), tree(Object.fromEntries(files.map(({ path, size }) => [path, `${size} bytes`]))));
    return parts;
}

function showJob({ quarantine, ...job }) {
    const parts = [element('h2', {}, `Job ${job.job_id}: ${job.status}`), tree(job)];
    if (quarantine.length)
        parts.push(element('h2', {}, 'Violations'), tree(quarantine));
    return parts;
}

/* A detail is drawn again only when it has changed, so what is being typed stays. */
async function showDetail() {
    const path = selected;
    if (!path)
        return;
    const value = await ask(path), text = JSON.stringify([path, value]);
    await released();
    if (path !== selected || text === shown)
        return;
    shown = text;
    show(at('detail'), value.snapshot_sha256 ? showRequest(value) : showJob(value));
}

async function select(path) {
    selected = path;
    shown = '';
    await refresh();
}

/* ---- all of it ------------------------------------------------------------------------------- */

async function refresh() {
    try {
        const [{ approvals }, { jobs }] = await Promise.all([ask('api/approvals'), ask('api/jobs')]);
        await released();
        fill('inbox', approvals.map((one) => row(`api/approvals/${one.approval_id}`, one.summary?.description ?? one.operation, `${one.operation}, expires ${one.expires_at}`)), 'No request is pending.');
        fill('jobs', jobs.map((one) => row(`api/jobs/${one.job_id}`, `${one.job_id}: ${one.type}`, ENDED.includes(one.status) ? one.status : `${one.status} …`)), 'There are no jobs.');
        await showDetail();
        at('state').textContent = 'live';
        return true;
    } catch (error) {
        at('state').textContent = visible(error.message);
        return !/key is not valid/.test(error.message);
    }
}

async function follow() {
    if (await refresh())
        setTimeout(follow, POLL_MS);
}
follow();
