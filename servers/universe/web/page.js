/*
 * page.js - the page: connects the model, the picture and the panes.
 */
import { Api } from './api.js';
import { Clock } from './clock.js';
import { Meter, PARTS } from './meter.js';
import { Model } from './model.js';
import { Card } from './panes/card.js';
import { Chooser } from './panes/chooser.js';
import { Connect } from './panes/connect.js';
import { sure, wireDialogs } from './panes/dialogs.js';
import { Feed } from './panes/feed.js';
import { Labels } from './panes/labels.js';
import { TimeBar } from './panes/timebar.js';
import { Tree } from './panes/tree.js';
import { Scene } from './scene/scene.js';
import { Session } from './session.js';

const PANES_MS = 200, POLL_MS = 5000, FIGURES_MS = 500;
/* of a frame, for what can wait: the stream's events, the list's rows */
const SLICE_MS = 2, SLICE_PART = 0.1;
const NARROW = 640, WITH_COLUMN = 900; /* CSS pixels: widths at which style.css changes the panes */
/* bodies: of so few each one changes the first view, of more each fifth part */
const FEW = 40, GROWTH = 1.2;
const whole = new Intl.NumberFormat('en');
const byId = (id) => document.getElementById(id);

const api = new Api();
const model = new Model();
const clock = new Clock();
const meter = new Meter();
clock.previews = false; /* until a universe is open */
const state = { session: null, id: null, missing: null, word: 'idle', chosen: null, fit: true, framed: 0, reconnects: 0, removing: null };

/* ---- the picture ----------------------------------------------------------------------------- */

const PART = Object.fromEntries(PARTS.map((name, i) => [name, i]));
const labels = new Labels(byId('labels'));

function makeScene() {
    const canvas = byId('scene');
    try {
        return new Scene(canvas, model, {
            labels: (list) => labels.draw(list, state.chosen), picked: choose, released: () => {}, mark: (part) => meter.mark(PART[part]),
        });
    } catch (error) {
        console.info(`no scene: ${error.message}`);
        canvas.hidden = true;
        byId('no-scene').hidden = false;
        return null;
    }
}

const hasWebGl = !!document.createElement('canvas').getContext('webgl2');
const scene = hasWebGl ? makeScene() : (byId('scene').hidden = true, byId('no-scene').hidden = false, null);

/* The part of the window that no pane covers. */
function freeView() {
    const { innerWidth: width, innerHeight: height } = window, side = byId('side').getBoundingClientRect(), right = byId('right');
    const hasColumn = width > WITH_COLUMN && [...right.children].some((pane) => pane.offsetHeight > 0);
    return {
        left: width > NARROW ? side.right : 0, top: byId('bar').getBoundingClientRect().bottom,
        right: hasColumn ? right.getBoundingClientRect().left : width, bottom: byId('time').getBoundingClientRect().top,
    };
}

function resized() {
    /* its parts may take several lines */
    document.documentElement.style.setProperty('--foot', `${byId('time').offsetHeight}px`);
    if (!scene)
        return;
    const before = JSON.stringify(scene.view);
    scene.resize();
    scene.setView(freeView());
    if (!scene.rig.isTouched && JSON.stringify(scene.view) !== before)
        frameAll();
}

function frameAll() {
    state.fit = false;
    state.framed = model.stars.size;
    scene?.frameAll();
}

/* Until the viewer moves the camera, it shows all systems, also those that were added since. */
function considerFraming() {
    const count = model.stars.size, { framed } = state;
    const hasGrown = count <= FEW ? count !== framed : count > framed * GROWTH || count * GROWTH < framed;
    if (scene && count > 0 && (state.fit || (hasGrown && !scene.rig.isTouched)))
        frameAll();
}

/* ---- panes ----------------------------------------------------------------------------------- */

const card = new Card(byId('card'), model);
const tree = new Tree(byId('tree'), byId('found'), model, { choose, visit });
const feed = new Feed(byId('feed'), (id) => model.stars.get(id)?.name ?? model.groups.get(id)?.name);
const timeBar = new TimeBar(clock, { api, attempt, current: () => state.id });
const connect = new Connect({ say, attempt, resized }, innerWidth > WITH_COLUMN);
const chooser = new Chooser(api, { chosen: open, listed, failed: showError });

function choose(id) {
    state.chosen = id && model.stars.has(id) ? id : null;
    scene?.choose(state.chosen);
    card.show(state.chosen);
    tree.reveal(state.chosen);
    byId('card-remove').disabled = !state.chosen;
}

function visit(id) {
    if (id !== state.chosen)
        choose(id);
    scene?.visit(id);
}

let toastTimer;
function say(words, kind = 'bad') {
    const toast = byId('toast');
    toast.textContent = words;
    toast.dataset.kind = kind;
    toast.hidden = false;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { toast.hidden = true; }, 6000);
}

function showError(error) {
    const needsToken = error.status === 401 || error.status === 403;
    if (needsToken)
        connect.needToken();
    say(needsToken ? `${error.message} (enter a token: Manage, Access)` : error.message);
}

async function attempt(task) {
    try {
        await task();
    } catch (error) {
        showError(error);
    }
}

function setWord(word) {
    state.word = word;
    const words = { idle: 'no universe', connecting: 'connecting', connected: 'live', lost: 'connection lost, trying again', refused: 'refused', deleted: 'deleted' };
    byId('connection').dataset.state = word;
    byId('connection-words').textContent = words[word] ?? word;
}

const written = new Map();
/** Text that is there already is not written again: the browser would lay out the window once
 *  more. */
function write(id, text) {
    if (written.get(id) !== text) {
        written.set(id, text);
        byId(id).textContent = text;
    }
}

let panesAt = 0;
function refreshPanes(now) {
    if (now - panesAt < PANES_MS)
        return;
    panesAt = now;
    considerFraming();
    tree.begin();
    card.refresh();
    if (state.chosen && !model.stars.has(state.chosen))
        choose(null);
    write('count-bodies', whole.format(Math.max(model.stars.size, scene?.bodies.count ?? 0)));
    write('count-commands', meter.rate(now).toFixed(meter.rate(now) < 10 ? 1 : 0));
    timeBar.show(now);
    showHint();
    showFigures(now);
}

/* Say what to do while there is nothing to see. */
function showHint() {
    const isEmpty = state.id !== null && state.word === 'connected' && model.version >= 0 && model.stars.size === 0 && model.nebulae.size === 0;
    const words = state.missing !== null ? `There is no universe “${state.missing}”.`
        : chooser.isListed && chooser.all.length === 0 ? 'There is no universe yet. Create one, then connect an agent.'
            : isEmpty && !byId('progress').hidden ? '' : isEmpty ? `“${chooser.nameOf(state.id)}” is empty.` : '';
    write('hint-words', words);
    write('hint-button', isEmpty ? 'Generate or add bodies' : state.missing === null ? 'Create a universe' : 'Choose another');
    byId('hint').hidden = words === '';
}

let figuresAt = 0;
function showFigures(now) {
    if (byId('figures').hidden || now - figuresAt < FIGURES_MS)
        return;
    figuresAt = now;
    const { fps, scriptMs, partMs } = meter.stats(), three = ({ p50, p95, p99 }) => [p50, p95, p99].map((ms) => ms.toFixed(1).padStart(6)).join('');
    const rows = [['script', scriptMs], ...Object.entries(partMs)].map(([name, ms]) => `${name.padEnd(8)}${three(ms)}`);
    write('figures', [`${fps.toFixed(0).padStart(3)} fps    p50   p95   p99`, ...rows].join('\n'));
}

function toggleFigures() {
    byId('figures').hidden = !byId('figures').hidden;
    figuresAt = panesAt = 0;
    meter.clear();
}

/* ---- a universe ------------------------------------------------------------------------------ */

function open(id) {
    state.session?.close();
    state.id = id;
    state.missing = null;
    state.fit = true;
    state.framed = 0;
    timeBar.reset();
    clock.previews = true;
    choose(null);
    feed.clear();
    chooser.setCurrent(id);
    connect.setUniverse(id);
    if (!chooser.has(id))
        attempt(() => chooser.readAll()); /* it is older than the newest few */
    history.replaceState(null, '', `#${encodeURIComponent(id)}`);
    document.title = `${chooser.nameOf(id)} · Universe`;
    state.session = new Session(api, model, id, {
        state: (word, error) => {
            if (word === 'connected' && state.word === 'connecting')
                state.reconnects++;
            setWord(word);
            if (word === 'connected')
                poll(); /* the number of viewers, with this one */
            if (word === 'refused' && error)
                showError(error);
        },
        event: (event, command) => {
            const now = performance.now();
            meter.heard(Math.max(1, event.version - Math.max(model.version, 0)), now);
            if (event.time !== undefined)
                clock.hear(event.time, now);
            feed.add(event.version, command);
        },
        later: () => document.hidden && state.session?.work(Infinity),
        told: (ms) => meter.add(PART.events, ms),
        places: (places) => scene?.setPlaces(places),
        progress: (part) => {
            byId('progress').hidden = part >= 1;
            byId('progress').setAttribute('aria-valuenow', Math.round(part * 100));
            byId('progress').firstElementChild.style.transform = `scaleX(${part})`;
        },
        deleted: () => gone(id),
        failed: showError,
    });
    byId('progress').hidden = true;
    clock.reset(0, performance.now());
    state.session.open();
}

/* The open universe was deleted: the stream says so, and the answer to this page's own request. */
function gone(id) {
    if (state.id !== id || state.word === 'deleted')
        return;
    state.session.close();
    setWord('deleted');
    say('This universe was deleted.');
    attempt(list);
}

async function remove(id) {
    state.removing = id;
    try {
        await api.remove(id);
        gone(id);
    } finally {
        state.removing = null;
    }
}

model.listen(({ reset }) => {
    if (!reset)
        return;
    clock.reset(model.time, performance.now());
    considerFraming();
});

/** Open a universe that may not exist. */
async function go(id) {
    try {
        await api.summary(id);
    } catch (error) {
        if (error.status !== 404)
            throw error;
        close();
        state.missing = id;
        document.title = 'Universe';
        return;
    }
    open(id);
}

/** Read the newest universes; where none is open, open the newest. */
async function list() {
    await chooser.poll();
    if (state.missing !== null && chooser.has(state.missing)) {
        open(state.missing); /* somebody created it meanwhile */
        return;
    }
    if (chooser.has(state.id) || (state.missing !== null && chooser.all.length > 0))
        return;
    if (state.id !== null && !chooser.isWhole && state.word !== 'deleted')
        return; /* older than the newest few */
    state.missing = null;
    if (chooser.all.length > 0)
        open(chooser.all[0].id);
    else
        close();
}

/* The list of universes was read. */
function listed(isFirst, fresh) {
    if (chooser.all.length === 0)
        connect.offer();
    if (state.id !== null && fresh.length > 0)
        say(fresh.length === 1 ? `New universe: ${fresh[0].name}` : `${whole.format(fresh.length)} new universes`, 'good');
    if (state.id !== null)
        document.title = `${chooser.nameOf(state.id)} · Universe`;
}

function close() {
    state.session?.close();
    state.session = null;
    state.id = null;
    setWord('idle');
    chooser.setCurrent(null);
    connect.setUniverse(null);
    clock.previews = false;
    timeBar.reset();
    choose(null);
    feed.clear();
    model.load({}, -1);
}

/* Every few seconds, while the page is visible. A refusal is not shown: the stream has already
 * shown it. */
async function poll() {
    if (document.hidden || state.word !== 'connected' || state.removing === state.id)
        return;
    const id = state.id;
    const [ready, serverClock] = await Promise.allSettled([api.ready(), api.clock(id)]);
    if (ready.status === 'fulfilled')
        byId('count-viewers').textContent = ready.value.viewers;
    if (serverClock.status === 'fulfilled' && id === state.id)
        timeBar.hear(serverClock.value);
}

let isListing = false;
async function pollList() {
    if (document.hidden || isListing || !chooser.isListed)
        return;
    isListing = true;
    await list().catch(() => {}); /* the stream's state says that the server is away */
    isListing = false;
}

const page = {
    api, attempt, open, remove, say,
    made: (record) => chooser.add(record),
    current: () => state.id,
    name: () => (state.id ? chooser.nameOf(state.id) : ''),
    bodies: () => model.stars.size,
    chosen: () => (state.chosen ? model.stars.get(state.chosen) : null),
    fitSoon: () => { state.fit = true; },
    useToken(token) {
        api.token = token;
        if (token)
            connect.needToken();
        attempt(async () => {
            await list();
            if (state.id)
                open(state.id);
        });
    },
};
const dialogs = wireDialogs(page);

/* ---- mouse and keyboard ---------------------------------------------------------------------- */

function toggleTheme(to) {
    const isLight = to === undefined ? document.documentElement.dataset.theme !== 'light' : to;
    document.documentElement.dataset.theme = isLight ? 'light' : 'dark';
    scene?.setTheme(isLight);
}

function toggleSide() {
    const isClosed = document.body.classList.toggle('no-side');
    byId('toggle-side').setAttribute('aria-expanded', !isClosed);
    resized();
}

function toggleFeed() {
    document.body.classList.toggle('no-feed');
    resized();
}

byId('search').addEventListener('input', () => tree.search(byId('search').value, byId('kind').value));
byId('kind').addEventListener('change', () => tree.search(byId('search').value, byId('kind').value));
byId('search').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === 'ArrowDown') {
        byId('tree').focus();
        event.preventDefault();
        if (event.key === 'Enter' && tree.rows[0])
            visit(tree.rows[0].id);
    }
});
byId('toggle-side').addEventListener('click', toggleSide);
byId('theme').addEventListener('click', () => toggleTheme());
byId('fit').addEventListener('click', frameAll);
byId('card-close').addEventListener('click', () => choose(null));
byId('card-visit').addEventListener('click', () => visit(state.chosen));
byId('card-remove').addEventListener('click', () => attempt(async () => {
    const star = page.chosen();
    if (star && await sure(`Remove ${star.name} and everything that orbits it?`, 'Remove'))
        await api.command(state.id, { type: 'removeStar', id: star.id });
}));
byId('scene').addEventListener('dblclick', () => state.chosen && visit(state.chosen));

const KEYS = {
    '/': () => { document.body.classList.remove('no-side'); byId('search').focus(); },
    b: toggleSide,
    c: () => connect.toggle(),
    e: toggleFeed,
    ' ': () => timeBar.playOrPause(),
    '[': () => timeBar.faster(1 / 1.5),
    ']': () => timeBar.faster(1.5),
    f: () => state.chosen && visit(state.chosen),
    0: frameAll,
    o: () => { if (scene) scene.showOrbits = !scene.showOrbits; },
    a: () => state.id && dialogs.openAdd(),
    u: () => dialogs.openManage(),
    s: toggleFigures,
    t: () => toggleTheme(),
    '?': () => byId('dialog-help').showModal(),
    '+': () => scene?.rig.zoom(0.8),
    '=': () => scene?.rig.zoom(0.8),
    '-': () => scene?.rig.zoom(1.25),
    Escape: () => { scene?.rig.release(); choose(null); },
};
const TURNS = { ArrowLeft: [0.12, 0], ArrowRight: [-0.12, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };

document.addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'range';
    if (event.target.id === 'search' && event.key === 'Escape')
        byId('scene').focus();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
        return;
    if (event.target.tagName === 'BUTTON' && event.key === ' ')
        return;
    if (TURNS[event.key] && event.target.id === 'scene') {
        scene?.rig.turn(...TURNS[event.key]);
        event.preventDefault();
    } else if (KEYS[event.key]) {
        KEYS[event.key]();
        event.preventDefault();
    }
});

addEventListener('resize', resized);
new ResizeObserver(resized).observe(byId('time'));
addEventListener('hashchange', () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id && id !== state.id)
        attempt(() => go(id));
});
document.addEventListener('visibilitychange', () => {
    if (document.hidden)
        state.session?.work(Infinity);
    poll();
    pollList();
});
byId('hint-button').addEventListener('click', () => (state.missing === null ? dialogs.openManage() : chooser.open()));
setInterval(poll, POLL_MS);
setInterval(pollList, POLL_MS);

/* ---- frames ---------------------------------------------------------------------------------- */

let lastFrame = performance.now();
function frame(now) {
    const begun = performance.now(), slice = begun + Math.max(SLICE_MS, SLICE_PART * (now - lastFrame));
    meter.start();
    state.session?.work(slice);
    meter.mark(PART.events);
    const time = clock.advance(now);
    scene?.draw(time, Math.min(now - lastFrame, 100));
    lastFrame = now;
    feed.draw();
    refreshPanes(now);
    tree.work(performance.now() + SLICE_MS);
    meter.mark(PART.panes);
    meter.frame();
    requestAnimationFrame(frame);
}

/** For measuring and for tests. */
window.causeway = Object.freeze({
    stats: () => ({
        ...meter.stats(), bodies: model.stars.size, version: model.version, time: model.time, connection: state.word,
        connects: state.reconnects, isSettled: !state.fit && !!state.session?.isSettled && (scene?.rig.isStill ?? true), drawn: scene ? { ...scene.renderer.info.render, ...scene.renderer.info.memory } : null,
        particles: scene?.clouds.shown ?? 0, orbits: scene?.paths.orbits.geometry.instanceCount ?? 0,
    }),
    clearStats: () => meter.clear(),
    body: (id) => structuredClone(model.stars.get(id) ?? null),
    dropStream: () => state.session?.drop(),
    roots: () => [...model.rootIds],
    where: (id) => (scene && model.stars.has(id) ? scene.project(scene.bodies.slotOf(id)) : null),
    view: () => ({ ...scene.view }),
    time: () => ({ window: clock.time, universe: clock.serverTime }),
    visit,
});

const light = matchMedia('(prefers-color-scheme: light)');
light.addEventListener('change', () => toggleTheme(light.matches));
toggleTheme(light.matches);
if (innerWidth <= NARROW)
    toggleSide();
resized();
requestAnimationFrame(frame);
attempt(async () => {
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (wanted === '')
        return list();
    await chooser.poll();
    return go(wanted);
});
