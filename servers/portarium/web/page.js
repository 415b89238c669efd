/*
 * page.js - the cockpit: signs in, follows the workspace's events, and shows one place at a time,
 * a list and the details of what is chosen in it.
 *
 * The address says what is shown: #/runs/ID. A place has a name, a title, and functions:
 * list(pages) fetches the items of so many pages, {items, more}; row(item) draws one, key(item) is
 * its id, waiting(found) says how many wait for a person, where `found` is what list has just
 * given, if it has; detail(id) fetches and draws the details.
 */
import { Api, Refusal } from './api.js';
import { agents } from './panes/agents.js';
import { evidence } from './panes/evidence.js';
import { inbox } from './panes/inbox.js';
import { policies } from './panes/policies.js';
import { runs } from './panes/runs.js';
import { tasks } from './panes/tasks.js';
import { workItems } from './panes/work.js';
import { released, show } from '../../../kit/page/redraw.js';
import { h } from './text.js';

const STORED = 'portarium.token', REFRESH_MS = 150, TOAST_MS = 6000;
const makers = [inbox, tasks, runs, workItems, agents, policies, evidence];
const byId = (id) => document.getElementById(id);

let api = null, places = [], place = null, chosen = null, items = [], timer = null, toastTimer = null;
let turn = 0, workspaceTurn = 0, signInTurn = 0;
let pages = 1, more = false; /* of the list: how many are shown, whether there are further ones */
let inSight = null; /* the address whose row was last scrolled to */
let scrolled = 0;   /* how far the list was, when the address changed */
let drawn = null; /* the address whose details are on the page */
let isFetching = false, isOld = false; /* isOld: something happened during the fetching */
const counts = new Map(), running = new Set();

/* ---- what the panes may use ------------------------------------------------------------------ */

function toast(words) {
    byId('toast').replaceChildren(h('span', {}, words));
    byId('toast').hidden = false;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { byId('toast').hidden = true; }, TOAST_MS);
}

/* Run something that may be refused; a refusal is shown. @return whether it was done */
async function attempt(work) {
    const by = api;
    try {
        await work();
        return true;
    } catch (error) {
        if (error.name === 'AbortError' || by !== api) /* of a session that has ended */
            return false;
        if (error instanceof Refusal && error.status === 401)
            signOut('The token is not valid any more.');
        else
            toast(error.message);
        return false;
    }
}

/* The same for a command: while it is under way, a second click on its button does nothing. */
async function command(name, work) {
    if (running.has(name))
        return false;
    running.add(name);
    try {
        return await attempt(work);
    } finally {
        running.delete(name);
    }
}

/* Ask for a rationale. @return the text; null: nothing shall be done */
function why(title, button) {
    const dialog = byId('ask');
    byId('ask-title').textContent = title;
    byId('ask-yes').textContent = button;
    byId('ask-why').value = '';
    dialog.returnValue = '';
    dialog.showModal();
    return new Promise((done) => {
        dialog.onclose = () => done(dialog.returnValue === 'yes' ? byId('ask-why').value.trim() : null);
    });
}

/* ---- showing --------------------------------------------------------------------------------- */

const go = (name, id) => { location.hash = id ? `#/${name}/${encodeURIComponent(id)}` : `#/${name}`; };

/* A part of an address; as it is where it is not encoded as one. */
function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/* What the address asks for: [name, id], an empty text where it has none. */
function asked() {
    const [, name, id] = /^#\/([^/]*)\/?(.*)$/.exec(location.hash) ?? [null, '', ''];
    return [name, decoded(id)];
}

/* From this to `next`, or to the list. A command may be answered late, and who has gone elsewhere
 * in the meantime stays there. */
function leave(name, id, next = undefined) {
    const [where, which] = asked();
    if (where === name && which === id)
        go(name, next);
}

function drawPlaces() {
    show(byId('places'), places.map((one) => h('a', { href: `#/${one.name}`, 'aria-current': one === place ? 'page' : null },
        one.title, counts.get(one) ? h('b', { class: 'count' }, counts.get(one)) : null)));
}

function drawList() {
    const rows = items.map((item) => h('a', {
        class: 'row', href: `#/${place.name}/${encodeURIComponent(place.key(item))}`, 'aria-current': place.key(item) === chosen ? 'true' : null,
    }, place.row(item)));
    const list = byId('list'), follows = inSight !== location.hash && list.scrollTop === scrolled;
    list.setAttribute('aria-label', place.title);
    show(list, place.head ? place.head() : null, rows, rows.length ? null : h('p', { class: 'empty' }, place.empty),
        more ? h('p', { class: 'more' }, h('button', { onclick: () => { pages++; refresh(); } }, `Show more than these ${rows.length}`)) : null);
    if (follows) /* once: who scrolls on, also before this, is not brought back */
        list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    inSight = location.hash;
}

/* The details; in their place, why there are none. */
async function contentOf(id) {
    try {
        return await place.detail(id);
    } catch (error) {
        if (!(error instanceof Refusal) || error.status === 401 || (error.status !== 404 && drawn === `${place.name}/${id}`))
            throw error;
        return [h('p', { class: 'error', role: 'alert' }, error.message)];
    }
}

async function drawDetail(mine) {
    const detail = byId('detail');
    document.body.classList.toggle('has-detail', chosen !== null);
    if (chosen === null) {
        drawn = null;
        show(detail, h('p', { class: 'empty' }, items.length ? 'Choose one of the list.' : place.hint ?? ''));
        return;
    }
    const address = `${place.name}/${chosen}`;
    let content;
    do
        content = await contentOf(chosen);
    while (await released() && mine === turn);
    if (mine !== turn)
        return;
    show(detail, h('a', { class: 'back', href: `#/${place.name}` }, `‹ ${place.title}`), content);
    if (drawn !== address)
        detail.scrollTop = 0;
    drawn = address;
}

async function fetchAndDraw(mine) {
    const where = place, found = await where.list(pages);
    const count = where.waiting ? await where.waiting(found) : null;
    await released();
    if (mine !== turn)
        return;
    ({ items, more } = found);
    counts.set(where, count);
    if (chosen === null && where.choosesFirst && items.length && innerWidth > 760)
        chosen = where.key(items[0]);
    drawPlaces();
    drawList();
    await drawDetail(mine);
}

async function countOthers(mine) {
    const others = places.filter((one) => one !== place && one.waiting);
    const found = await Promise.all(others.map((one) => one.waiting()));
    await released();
    if (mine !== turn)
        return;
    others.forEach((one, i) => counts.set(one, found[i]));
    drawPlaces();
}

/* Fetch and draw. Of several that overlap, the last one draws. */
async function refresh() {
    const mine = ++turn;
    isFetching = true;
    isOld = false;
    await Promise.all([attempt(() => fetchAndDraw(mine)), attempt(() => countOthers(mine))]);
    if (mine !== turn)
        return;
    isFetching = false;
    if (isOld)
        soon();
}

/* Something happened. What is being fetched is drawn first: where events come faster than answers,
 * nothing would be drawn otherwise. */
function soon() {
    isOld = isFetching;
    if (!isFetching)
        timer ??= setTimeout(() => { timer = null; refresh(); }, REFRESH_MS);
}

function route() {
    if (!api)
        return;
    const [name, id] = asked(), next = places.find((one) => one.name === name) ?? places[0];
    if (next !== place) { /* the rows of the place that is left lead back to it */
        byId('list').replaceChildren();
        byId('detail').replaceChildren();
        items = [];
        pages = 1;
        more = false;
        drawn = null;
    }
    place = next;
    chosen = id || null;
    drawPlaces();
    scrolled = byId('list').scrollTop;
    refresh();
}

/* ---- the workspace --------------------------------------------------------------------------- */

/* Of several that overlap, the one that was asked for last is shown. */
async function showWorkspace() {
    const mine = ++workspaceTurn, workspace = await api.get('');
    if (mine !== workspaceTurn)
        return;
    byId('workspace').replaceChildren(h('span', {}, workspace.name));
    byId('frozen').hidden = !workspace.frozen;
    byId('freeze').textContent = workspace.frozen ? 'Unfreeze' : 'Freeze';
    byId('freeze').dataset.frozen = Boolean(workspace.frozen);
}

async function freeze() {
    const isFrozen = byId('freeze').dataset.frozen === 'true';
    const rationale = await why(isFrozen ? 'Let the workspace go on' : 'Stop everything that is not running yet', isFrozen ? 'Unfreeze' : 'Freeze');
    if (rationale)
        await attempt(async () => { await api.send('POST', isFrozen ? '/unfreeze' : '/freeze', { rationale }); await showWorkspace(); });
}

const WORDS = { connecting: 'connecting', live: 'live', waiting: 'reconnecting', refused: 'signed out' };

function connectionIs(state) {
    byId('connection').dataset.state = state;
    byId('connection-words').textContent = WORDS[state] ?? state;
    if (state === 'refused')
        signOut('The token is not valid any more.');
}

/* ---- signing in and out ---------------------------------------------------------------------- */

function showSignedIn(isIn) {
    for (const id of ['places', 'main', 'freeze', 'leave'])
        byId(id).hidden = !isIn;
    byId('sign-in').hidden = isIn;
    byId('frozen').hidden = true;
    if (!isIn)
        byId('token').focus();
}

/* Of several that overlap, the last one counts. */
async function signIn(token) {
    const mine = ++signInTurn, next = new Api(token);
    try {
        await next.open();
    } catch (error) {
        next.close();
        if (mine === signInTurn)
            signOut(error.status === 401 ? 'This token is not valid.' : error.message);
        return;
    }
    if (mine !== signInTurn) {
        next.close();
        return;
    }
    api?.close(); /* of somebody else, whose token was in this tab before */
    sessionStorage.setItem(STORED, token);
    api = next;
    place = null;
    const tools = { api, attempt, command, toast, why, refresh, go, leave };
    places = makers.map((make) => make(tools));
    counts.clear();
    byId('sign-in-error').textContent = '';
    showSignedIn(true);
    attempt(showWorkspace);
    follow(next);
    route();
}

function follow(mine) {
    const ours = (work) => (...given) => { if (mine === api) work(...given); };
    mine.follow({
        state: ours(connectionIs),
        lost: ours(() => { attempt(showWorkspace); soon(); }),
        event: ours((type) => {
            if (/^Workspace/.test(type))
                attempt(showWorkspace);
            soon();
        }),
    });
}

function signOut(words = '') {
    signInTurn++;
    api?.close();
    api = null;
    drawn = null;
    byId('ask').close('');
    turn++; /* what was fetched is not drawn any more */
    workspaceTurn++;
    clearTimeout(timer);
    timer = null;
    isFetching = isOld = false;
    sessionStorage.removeItem(STORED);
    byId('token').value = '';
    byId('workspace').replaceChildren();
    byId('list').replaceChildren();
    byId('detail').replaceChildren();
    byId('connection').dataset.state = 'idle';
    byId('connection-words').textContent = 'not connected';
    byId('sign-in-error').textContent = words;
    showSignedIn(false);
}

/* ---- keys ------------------------------------------------------------------------------------ */

function step(by) {
    if (!items.length)
        return;
    const at = items.findIndex((item) => place.key(item) === chosen);
    const next = at < 0 ? 0 : Math.min(Math.max(at + by, 0), items.length - 1);
    go(place.name, place.key(items[next]));
}

function onKey(event) {
    const inField = event.target.closest('input, textarea, select');
    if (event.key === 'Escape' && inField) {
        inField.blur();
        return;
    }
    if (!api || inField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
        return;
    if (event.key === 'j' || event.key === 'k')
        step(event.key === 'j' ? 1 : -1);
    else if (event.key === '?')
        byId('keys').showModal();
    else if (event.key === 'Escape' && chosen !== null)
        go(place.name);
    else if (/^[1-9]$/.test(event.key) && places[Number(event.key) - 1])
        go(places[Number(event.key) - 1].name);
    else if (chosen === null || !place.press?.(event.key, chosen))
        return;
    event.preventDefault();
}

/* ---- begin ----------------------------------------------------------------------------------- */

byId('sign-in').addEventListener('submit', (event) => { event.preventDefault(); signIn(byId('token').value.trim()); });
byId('leave').addEventListener('click', () => signOut());
byId('freeze').addEventListener('click', freeze);
byId('help').addEventListener('click', () => byId('keys').showModal());
document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); byId('list').focus(); });
byId('ask-no').addEventListener('click', () => byId('ask').close(''));
byId('ask-yes').value = 'yes';
addEventListener('hashchange', () => { if (!takeToken()) route(); });
addEventListener('keydown', onKey);

/* A token in the address is taken out of it at once. @return whether there was one */
function takeToken() {
    const given = /^#token=([^&]+)/.exec(location.hash);
    if (!given)
        return false;
    history.replaceState(null, '', `${location.pathname}#/inbox`);
    signIn(decoded(given[1]));
    return true;
}

if (!takeToken()) {
    const stored = sessionStorage.getItem(STORED);
    if (stored)
        signIn(stored);
    else
        showSignedIn(false);
}
