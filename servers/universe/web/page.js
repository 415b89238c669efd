/*
 * page.js - the page: puts the model, the picture and the panes together.
 */
import { Api } from './api.js';
import { Card } from './card.js';
import { Clock } from './clock.js';
import { sure, wireDialogs } from './dialogs.js';
import { Meter, PARTS } from './meter.js';
import { Model } from './model.js';
import { Scene } from './scene/scene.js';
import { Session } from './session.js';
import { Tree } from './tree.js';
import { commandWords, span } from './words.js';

const FEED = 60, PANES_MS = 200, POLL_MS = 5000, SPEED_MAX = 50, FIGURES_MS = 500;
const SLICE_MS = 2, SLICE_PART = 0.1;  /* of a frame, for what waits: the stream's events, the list's rows */
const whole = new Intl.NumberFormat('en');
const byId = (id) => document.getElementById(id);

const api = new Api();
const model = new Model();
const clock = new Clock();
const meter = new Meter();
const state = { universes: [], session: null, id: null, missing: null, word: 'idle', chosen: null, serverClock: null, fit: true, reconnects: 0, events: 0 };

/* ---- the picture ------------------------------------------------------------------------------- */

const PART = Object.fromEntries(PARTS.map((name, i) => [name, i]));
const labels = byId('labels'), labelPool = [];

function drawLabels(list) {
    while (labelPool.length < list.length) {
        const span = document.createElement('span');
        labels.append(span);
        labelPool.push({ span, name: '', kind: '', isChosen: false, isHidden: false });
    }
    labelPool.forEach((label, i) => {
        const item = list[i];
        if (label.isHidden !== !item)
            label.span.hidden = label.isHidden = !item;
        if (!item)
            return;
        if (label.name !== item.name)
            label.span.textContent = label.name = item.name;
        if (label.kind !== item.kind)
            label.span.dataset.kind = label.kind = item.kind;
        if (label.isChosen !== (item.id === state.chosen))
            label.span.classList.toggle('chosen', label.isChosen = item.id === state.chosen);
        label.span.style.transform = `translate(${item.x.toFixed(1)}px, ${(item.y - 8).toFixed(1)}px)`;
    });
}

function makeScene() {
    const canvas = byId('scene');
    try {
        return new Scene(canvas, model, { labels: drawLabels, picked: (id) => choose(id), released: () => {}, mark: (part) => meter.mark(PART[part]) });
    } catch (error) {
        console.info(`no scene: ${error.message}`);
        canvas.hidden = true;
        byId('no-scene').hidden = false;
        return null;
    }
}

const hasWebGl = !!document.createElement('canvas').getContext('webgl2');
const scene = hasWebGl ? makeScene() : (byId('scene').hidden = true, byId('no-scene').hidden = false, null);

/* ---- panes ------------------------------------------------------------------------------------- */

const card = new Card(byId('card'), model);
const tree = new Tree(byId('tree'), byId('found'), model, { choose, visit });

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

async function attempt(task) {
    try {
        await task();
    } catch (error) {
        say(error.status === 401 || error.status === 403 ? `${error.message} (a token may help: Manage, Access)` : error.message);
    }
}

function setWord(word) {
    state.word = word;
    const words = { idle: 'idle', connecting: 'connecting', connected: 'live', lost: 'connection lost, trying again', refused: 'refused', deleted: 'deleted' };
    byId('connection').dataset.state = word;
    byId('connection-words').textContent = words[word] ?? word;
}

const feed = byId('feed'), feedCommands = new WeakMap();
let lastFeed = null, feedWaits = [];
function addToFeed(version, command) {
    state.events++;
    feedWaits.push({ version, command });
    if (feedWaits.length > 2 * FEED)
        feedWaits = feedWaits.slice(-FEED);
}

/* Once a frame: of a flood only what stays is drawn. */
function drawFeed() {
    if (feedWaits.length === 0)
        return;
    feedWaits.slice(-FEED).forEach(({ version, command }) => drawEvent(version, command));
    feedWaits = [];
    while (feed.children.length > FEED)
        feed.lastChild.remove();
}

function drawEvent(number, command) {
    if (command.type === 'tick' && lastFeed?.type === 'tick') { /* a running clock is one line */
        lastFeed.count++;
        lastFeed.words.textContent = `tick × ${lastFeed.count}`;
        lastFeed.version.textContent = `v${number}`;
        return;
    }
    const item = document.createElement('li'), words = document.createElement('b'), version = document.createElement('span');
    words.textContent = commandWords(command, (id) => model.stars.get(id)?.name ?? model.groups.get(id)?.name);
    version.textContent = `v${number}`;
    item.append(words, version);
    feed.prepend(item);
    feedCommands.set(words, command);
    lastFeed = { type: command.type, count: 1, words, version };
}

feed.addEventListener('pointerover', ({ target }) => {
    if (feedCommands.has(target) && !target.title)
        target.title = JSON.stringify(feedCommands.get(target)).slice(0, 600);
});

const written = new Map();
/** Text that is there already is not written again: the window would be laid out anew. */
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
    tree.begin();
    card.refresh();
    if (state.chosen && !model.stars.has(state.chosen))
        choose(null);
    write('count-bodies', whole.format(Math.max(model.stars.size, scene?.bodies.count ?? 0)));
    write('count-commands', meter.rate(now).toFixed(meter.rate(now) < 10 ? 1 : 0));
    write('clock', span(clock.time));
    showTime(now);
    showHint();
    showFigures(now);
}

/* What to do where there is nothing to see. */
function showHint() {
    const isEmpty = state.id !== null && state.word === 'connected' && model.version >= 0 && model.stars.size === 0 && model.nebulae.size === 0;
    const words = state.missing !== null ? `There is no universe “${state.missing}”.`
        : state.isListed && state.universes.length === 0 ? 'There is no universe yet.'
            : isEmpty && !byId('progress').hidden ? '' : isEmpty ? `“${nameOf(state.id)}” is empty.` : '';
    write('hint-words', words);
    write('hint-button', isEmpty ? 'Generate or add bodies' : state.missing === null ? 'Create one' : 'Choose another');
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

const PLAY = '<path d="M5 3l8 5-8 5z"/>', PAUSE = '<path d="M5 3v10M11 3v10"/>';
let playShown = null;
function showTime(now) {
    const follows = state.serverClock?.running || clock.follows(now), runs = follows || !clock.paused;
    if (playShown !== runs) {
        playShown = runs;
        byId('play').innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true">${runs ? PAUSE : PLAY}</svg>`;
        byId('play').setAttribute('aria-label', runs ? 'Pause' : 'Go on');
    }
    const speed = follows ? state.serverClock?.timeScale ?? clock.rate(now) : clock.localSpeed;
    write('speed-value', `${Number(speed.toPrecision(2))}×`);
    write('time-mode', state.serverClock?.running ? 'the universe’s clock runs, for everybody'
        : follows ? 'following ticks' : clock.paused ? 'paused, in this window' : 'playing in this window; the universe stands');
}

/* ---- time -------------------------------------------------------------------------------------- */

/** The slider's place and the speed: finer where slow. */
const speedAt = (part) => (part <= 0 ? 0 : Number((SPEED_MAX * (part / 100) ** 4.27).toPrecision(2)));
const placeOfSpeed = (speed) => 100 * (Math.max(speed, 0) / SPEED_MAX) ** (1 / 4.27);

async function setSpeed(speed) {
    byId('speed').value = placeOfSpeed(speed);
    clock.localSpeed = speed;
    if (state.serverClock?.running)
        await attempt(async () => { state.serverClock = await api.setClock(state.id, { timeScale: speed }); });
}

async function playOrPause() {
    if (state.serverClock?.running)
        await attempt(async () => { state.serverClock = await api.setClock(state.id, { running: false }); clock.paused = true; });
    else
        clock.paused = !clock.paused;
    panesAt = 0;
}

/* ---- a universe -------------------------------------------------------------------------------- */

function open(id) {
    state.session?.close();
    state.id = id;
    state.missing = null;
    state.fit = true;
    state.serverClock = null;
    choose(null);
    feed.replaceChildren();
    lastFeed = null;
    feedWaits = [];
    if (![...byId('universe').options].some(({ value }) => value === id))
        byId('universe').append(new Option(id, id)); /* there are more than the list tells */
    byId('universe').value = id;
    history.replaceState(null, '', `#${encodeURIComponent(id)}`);
    document.title = `${nameOf(id)} · Universe`;
    state.session = new Session(api, model, id, {
        state: (word, error) => {
            if (word === 'connected' && state.word === 'connecting')
                state.reconnects++;
            setWord(word);
            if (word === 'connected')
                poll(); /* who watches, ourselves among them */
            if (word === 'refused' && error)
                say(error.message);
        },
        event: (event, command) => {
            const now = performance.now();
            meter.heard(Math.max(1, event.version - Math.max(model.version, 0)), now);
            if (event.time !== undefined)
                clock.hear(event.time, now);
            addToFeed(event.version, command);
        },
        later: () => document.hidden && state.session?.work(Infinity),
        told: (ms) => meter.add(PART.events, ms),
        places: (places) => scene?.setPlaces(places),
        progress: (part) => {
            byId('progress').hidden = part >= 1;
            byId('progress').setAttribute('aria-valuenow', Math.round(part * 100));
            byId('progress').firstElementChild.style.transform = `scaleX(${part})`;
        },
        deleted: () => {
            setWord('deleted');
            say('This universe was deleted.');
            list();
        },
        failed: (error) => say(error.message),
    });
    byId('progress').hidden = true;
    clock.reset(0, performance.now());
    state.session.open();
    poll();
}

model.listen(({ reset }) => {
    if (!reset)
        return;
    clock.reset(model.time, performance.now());
    if (state.fit && model.stars.size > 0) {
        scene?.frameAll();
        state.fit = false;
    }
});

function nameOf(id) {
    return state.universes.find((item) => item.id === id)?.name ?? id;
}

/** To a universe that may not be there. */
async function go(id) {
    try {
        await api.summary(id);
    } catch (error) {
        if (error.status !== 404)
            throw error;
        close();
        state.missing = id;
        byId('universe').value = '';
        document.title = 'Universe';
        return;
    }
    open(id);
}

/** @param wanted the universe that is gone to next: then none is opened in its stead */
async function list(wanted = null) {
    state.universes = await api.list();
    state.isListed = true;
    const select = byId('universe');
    select.replaceChildren(...state.universes.map(({ id, name }) => {
        const option = document.createElement('option');
        option.value = id;
        option.textContent = name;
        return option;
    }));
    if (state.universes.length === 0) {
        select.append(new Option('no universe yet', ''));
        state.missing = null;
        setWord('idle');
    }
    const known = state.universes.some(({ id }) => id === state.id);
    if (known)
        select.value = state.id;
    else if (wanted !== null || state.missing !== null)
        select.value = '';
    else if (state.universes.length > 0)
        open(state.universes[0].id);
    else
        close();
}

function close() {
    state.session?.close();
    state.session = null;
    state.id = null;
    setWord('idle');
    choose(null);
    model.load({}, -1);
}

async function poll() {
    if (document.hidden || !state.id)
        return;
    const id = state.id;
    const [ready, serverClock] = await Promise.allSettled([api.ready(), api.clock(id)]);
    if (ready.status === 'fulfilled')
        byId('count-viewers').textContent = ready.value.viewers;
    if (serverClock.status === 'fulfilled' && id === state.id) {
        state.serverClock = serverClock.value;
        if (serverClock.value.running && document.activeElement !== byId('speed'))
            byId('speed').value = placeOfSpeed(serverClock.value.timeScale);
    }
}

const page = {
    api, attempt, list, open, say,
    current: () => state.id,
    name: () => (state.id ? nameOf(state.id) : ''),
    bodies: () => model.stars.size,
    chosen: () => (state.chosen ? model.stars.get(state.chosen) : null),
    fitSoon: () => { state.fit = true; },
    useToken(token) {
        api.token = token;
        attempt(async () => {
            await list();
            if (state.id)
                open(state.id);
        });
    },
};
const dialogs = wireDialogs(page);

/* ---- hands ------------------------------------------------------------------------------------- */

function toggleTheme(to) {
    const isLight = to === undefined ? document.documentElement.dataset.theme !== 'light' : to;
    document.documentElement.dataset.theme = isLight ? 'light' : 'dark';
    scene?.setTheme(isLight);
}

function toggleSide() {
    const isClosed = document.body.classList.toggle('no-side');
    byId('toggle-side').setAttribute('aria-expanded', !isClosed);
}

byId('universe').addEventListener('change', (event) => event.target.value && open(event.target.value));
byId('search').addEventListener('input', (event) => tree.search(event.target.value));
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
byId('play').addEventListener('click', playOrPause);
byId('speed').addEventListener('input', (event) => { clock.localSpeed = speedAt(Number(event.target.value)); panesAt = 0; });
byId('speed').addEventListener('change', (event) => setSpeed(speedAt(Number(event.target.value))));
byId('fit').addEventListener('click', () => scene?.frameAll());
byId('card-close').addEventListener('click', () => choose(null));
byId('card-visit').addEventListener('click', () => visit(state.chosen));
byId('card-remove').addEventListener('click', () => attempt(async () => {
    const star = page.chosen();
    if (star && await sure(`Remove ${star.name} and everything around it?`, 'Remove'))
        await api.command(state.id, { type: 'removeStar', id: star.id });
}));
byId('scene').addEventListener('dblclick', () => state.chosen && visit(state.chosen));

const KEYS = {
    '/': () => { document.body.classList.remove('no-side'); byId('search').focus(); },
    b: toggleSide,
    e: () => document.body.classList.toggle('no-feed'),
    ' ': playOrPause,
    '[': () => setSpeed(Math.max(0.1, Number((clock.localSpeed / 1.5).toPrecision(2)))),
    ']': () => setSpeed(Math.min(SPEED_MAX, Number((clock.localSpeed * 1.5).toPrecision(2)))),
    f: () => state.chosen && visit(state.chosen),
    0: () => scene?.frameAll(),
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

addEventListener('resize', () => scene?.resize());
addEventListener('hashchange', () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id && id !== state.id)
        attempt(async () => { await list(id); await go(id); });
});
document.addEventListener('visibilitychange', () => {
    if (document.hidden)
        state.session?.work(Infinity);
    poll();
});
byId('hint-button').addEventListener('click', () => (state.missing === null ? dialogs.openManage() : byId('universe').focus()));
setInterval(poll, POLL_MS);

/* ---- frames ------------------------------------------------------------------------------------ */

let lastFrame = performance.now();
function frame(now) {
    const begun = performance.now(), slice = begun + Math.max(SLICE_MS, SLICE_PART * (now - lastFrame));
    meter.start();
    state.session?.work(slice);
    meter.mark(PART.events);
    const time = clock.advance(now);
    scene?.draw(time, Math.min(now - lastFrame, 100));
    lastFrame = now;
    drawFeed();
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
        connects: state.reconnects, drawn: scene ? { ...scene.renderer.info.render, ...scene.renderer.info.memory } : null,
        particles: scene?.clouds.shown ?? 0,
    }),
    clearStats: () => meter.clear(),
    body: (id) => structuredClone(model.stars.get(id) ?? null),
    dropStream: () => state.session?.drop(),
    visit,
});

const light = matchMedia('(prefers-color-scheme: light)');
light.addEventListener('change', () => toggleTheme(light.matches));
toggleTheme(light.matches);
if (innerWidth <= 640)
    toggleSide();
setSpeed(1);
requestAnimationFrame(frame);
attempt(async () => {
    const wanted = decodeURIComponent(location.hash.slice(1)) || null;
    await list(wanted);
    if (wanted)
        await go(wanted);
});
