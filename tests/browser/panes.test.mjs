/*
 * panes.test.mjs - the panes around the picture: the two clocks, the list of universes, the search
 * for bodies, how an agent connects, and targets that a finger can hit.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { addStar, create, rest, send, until } from '../client/universe.mjs';
import { assertClean, open } from './visit.mjs';

let server, visit, close;

before(async () => {
    ({ server, visit, close } = await open());
});

after(() => close?.());

const text = (page, id) => page.evaluate((name) => document.getElementById(name).textContent, id);
const clockOf = async (id) => (await rest(server, 'GET', `/universes/${id}/clock`)).json;

/* ---- before there is a universe: this test comes first --------------------------------------- */

test('the first screen says how an agent connects, and shows the first universe that somebody creates', async () => {
    const seen = await visit(null), { page } = seen;
    await page.waitForFunction(() => /no universe yet/.test(document.getElementById('hint').textContent) && !document.getElementById('connect').hidden);
    const url = server.url.href;
    assert.equal(await text(page, 'connect-address'), url);
    const lines = {};
    for (const client of ['Claude Code', 'VS Code', 'Cursor']) {
        await page.selectOption('#connect-client', client);
        lines[client] = await text(page, 'connect-line');
    }
    assert.equal(lines['Claude Code'], `claude mcp add --transport http universe ${url}`);
    const [, quoted] = /^code --add-mcp (".*")$/.exec(lines['VS Code']);
    assert.deepEqual(JSON.parse(JSON.parse(quoted)), { name: 'universe', type: 'http', url });
    assert.deepEqual(JSON.parse(lines.Cursor), { mcpServers: { universe: { url } } });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('#copy-line');
    await page.waitForFunction(() => document.getElementById('toast').textContent === 'Copied.');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), lines.Cursor);

    await create(server, 'first', {}, 'The first');
    await page.waitForFunction(() => document.getElementById('universe-name').textContent === 'The first' && window.causeway.stats().connection === 'connected');
    assert.match(await text(page, 'connect-id'), /“first”/);
    await page.click('#connect-close');
    await page.reload();
    await page.waitForFunction(() => window.causeway?.stats().connection === 'connected');
    assert.equal(await page.locator('#connect').isVisible(), false);
    await page.click('#toggle-connect');
    assert.equal(await page.locator('#connect-line').isVisible(), true);
    await assertClean(seen);
    await seen.end();
});

/* ---- the list of universes ------------------------------------------------------------------- */

test('the list of universes is live, and can be searched', async () => {
    await create(server, 'here', {}, 'Here');
    const seen = await visit('here'), { page } = seen;
    await create(server, 'new', {}, 'Made elsewhere');
    await page.waitForFunction(() => document.getElementById('toast').textContent === 'New universe: Made elsewhere');
    for (let i = 0; i < 300; i++)
        await create(server, `many-${i}`, {}, `Number ${i}`);
    await page.click('#universe');
    await page.waitForFunction(() => /^303 universes, the first 100 are shown|^303 of 303 universes/.test(document.getElementById('universe-count').textContent));
    assert.equal(await page.locator('#universe-list > div').count(), 100);
    await page.fill('#universe-search', 'number 7');
    /* 7, 70 to 79 */
    await page.waitForFunction(() => document.querySelectorAll('#universe-list > div').length === 11);
    await page.fill('#universe-search', 'ELSEWHERE');
    await page.waitForFunction(() => document.querySelectorAll('#universe-list > div').length === 1);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('universe-name').textContent === 'Made elsewhere' && location.hash === '#new');
    await page.click('#universe');
    await page.fill('#universe-search', 'number 299');
    await page.waitForSelector('#universe-list [data-id="many-299"]');
    await rest(server, 'DELETE', '/universes/many-299');
    await page.waitForFunction(() => /^0 of 302/.test(document.getElementById('universe-count').textContent));
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#universes').isVisible(), false);
    await assertClean(seen);
    await seen.end();
});

/* ---- the two clocks -------------------------------------------------------------------------- */

test('this window pauses alone; the clock of the universe starts, stops and changes its rate for everybody', async () => {
    await create(server, 'timed', {}, 'Timed');
    await send(server, 'timed', addStar('one'));
    const seen = await visit('timed'), other = await visit('timed'), { page } = seen;
    await page.waitForFunction(() => /^Preview, in this window only/.test(document.getElementById('window-mode').textContent));
    assert.match(await text(page, 'universe-mode'), /^stopped/);

    await page.fill('#rate', '4');
    await page.click('#universe-clock');
    await until(async () => (await clockOf('timed')).running, 'the clock of the universe to run');
    assert.equal((await clockOf('timed')).timeScale, 4);
    for (const window of [seen, other]) {
        await window.page.waitForFunction(() => document.getElementById('universe-mode').textContent === 'running at 4×'
            && document.getElementById('window-mode').textContent === 'Shows the universe’s time' && document.getElementById('speed').disabled);
    }

    await page.click('#play');
    const { window: held } = await page.evaluate(() => window.causeway.time());
    assert.equal(await text(page, 'window-mode'), 'Paused, in this window only');
    await page.waitForFunction((from) => window.causeway.time().universe > from + 8, held);
    assert.equal((await page.evaluate(() => window.causeway.time())).window, held);
    assert.equal((await clockOf('timed')).running, true);
    await other.page.waitForFunction((from) => window.causeway.time().window > from + 4, held);
    await page.click('#play');
    await page.waitForFunction((from) => window.causeway.time().window > from + 4, held);

    await page.fill('#rate', '9');
    await page.keyboard.press('Tab');
    await until(async () => (await clockOf('timed')).timeScale === 9, 'the rate to change');
    await page.click('#universe-clock');
    await until(async () => !(await clockOf('timed')).running, 'the clock of the universe to stop');
    for (const window of [seen, other]) {
        await window.page.waitForFunction(() => /^stopped/.test(document.getElementById('universe-mode').textContent)
            && document.getElementById('universe-clock').textContent === 'Start');
        await window.page.waitForFunction(() => Math.abs(window.causeway.time().window - window.causeway.time().universe) < 0.1);
    }
    await page.click('#play');
    await page.waitForFunction(() => window.causeway.time().window > window.causeway.time().universe + 0.5);
    await page.click('#sync');
    await page.waitForFunction(() => window.causeway.time().window === window.causeway.time().universe);
    assert.equal((await clockOf('timed')).running, false);
    await assertClean(seen);
    await assertClean(other);
    await seen.end();
    await other.end();
});

/* ---- the search for bodies ------------------------------------------------------------------- */

test('a hit of the search names its system, and hits can be of one kind', async () => {
    await create(server, 'wide', {}, 'Wide');
    for (const [star, planet] of [['alpha', 'mercury-a'], ['beta', 'mercury-b']]) {
        await send(server, 'wide', addStar(star, null, { name: `${star} system`, bodyType: 'star' }));
        await send(server, 'wide', addStar(planet, star, { name: 'Mercury', bodyType: 'planet' }));
        await send(server, 'wide', addStar(`${planet}-moon`, planet, { name: 'Not Mercury', bodyType: 'moon' }));
    }
    const seen = await visit('wide'), { page } = seen;
    await page.waitForFunction(() => window.causeway.stats().bodies === 6);
    const rows = () => page.evaluate(() => [...document.querySelectorAll('#tree .row:not([hidden])')].map((row) => row.textContent));
    await page.fill('#search', 'mercury');
    await page.waitForFunction(() => /^4 found/.test(document.getElementById('found').textContent));
    assert.deepEqual((await rows()).sort(), ['Mercuryalpha system · Planet', 'Mercurybeta system · Planet',
        'Not Mercuryalpha system · Moon', 'Not Mercurybeta system · Moon']);
    assert.match((await rows())[0], /^Mercury/);
    await page.selectOption('#kind', 'moon');
    await page.waitForFunction(() => /^2 found/.test(document.getElementById('found').textContent));
    await page.fill('#search', '');
    await page.waitForFunction(() => /^2 found/.test(document.getElementById('found').textContent));
    await page.selectOption('#kind', '');
    await page.waitForFunction(() => /^6 bodies in 2 systems/.test(document.getElementById('found').textContent));
    await assertClean(seen);
    await seen.end();
});

/* ---- targets --------------------------------------------------------------------------------- */

/* What can be pressed and is smaller than 44 pixels, and what covers something else of its pane. */
function misfits() {
    const shown = [...document.querySelectorAll('button, select, input, .row, [role=option]')]
        .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('dialog:not([open])'));
    const small = shown.filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return height < 44 || width < 44;
    });
    const covered = [];
    for (const pane of ['#bar', '#time']) {
        const boxes = [...document.querySelectorAll(`${pane} button, ${pane} select, ${pane} input, ${pane} output, ${pane} h2, ${pane} .note`)]
            .filter((element) => element.checkVisibility() && !element.closest('#universes') && element.getBoundingClientRect().width > 1);
        boxes.forEach((one, i) => boxes.slice(i + 1).forEach((two) => {
            const a = one.getBoundingClientRect(), b = two.getBoundingClientRect();
            if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
                covered.push(`${one.id} and ${two.id}`);
        }));
        boxes.filter((element) => element.getBoundingClientRect().right > innerWidth).forEach((element) => covered.push(`${element.id} and the edge`));
    }
    return { small: small.map((element) => element.id || element.className), covered, height: document.querySelector('#tree .row')?.offsetHeight };
}

test('a finger can hit every target of a phone', async () => {
    await create(server, 'pocket', {}, 'Pocket');
    await send(server, 'pocket', addStar('sun', null, { name: 'Sun' }));
    const seen = await visit('pocket', { width: 390, height: 844, touch: true }), { page } = seen;
    /* The list is drawn after the state has come. */
    await page.waitForFunction(() => window.causeway.stats().bodies === 1 && document.querySelector('#tree .row'));
    assert.deepEqual(await page.evaluate(misfits), { small: [], covered: [], height: 0 });
    await page.click('#toggle-side');
    await page.waitForFunction(() => document.querySelectorAll('#tree .row:not([hidden])').length === 1);
    assert.deepEqual(await page.evaluate(misfits), { small: [], covered: [], height: 44 });
    await page.click('#toggle-side');
    for (const opener of ['#manage', '#toggle-connect', '#universe']) {
        await page.click(opener);
        const { small } = await page.evaluate(misfits);
        assert.deepEqual(small, [], `after ${opener}`);
        await page.keyboard.press('Escape');
        if (opener === '#toggle-connect')
            await page.click(opener);
    }
    await assertClean(seen);
    await seen.end();
});

test('nothing covers anything else in the bars, however wide the window is', async () => {
    await create(server, 'measured', {}, 'A universe whose name is rather long');
    const seen = await visit('measured'), { page } = seen;
    await page.waitForFunction(() => !document.getElementById('sync').hidden);
    for (const width of [1920, 1280, 1100, 800, 640, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await page.waitForFunction((wide) => innerWidth === wide, width);
        assert.deepEqual((await page.evaluate(misfits)).covered, [], `${width} pixels`);
    }
    await assertClean(seen);
    await seen.end();
});
