/*
 * page.test.mjs - the page in a real browser: what it shows, what it writes, the keyboard, loss of
 * the stream.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { addStar, call, connect, create, disconnect, rest, send, until } from '../client/universe.mjs';
import { commands as sol } from './sol.mjs';
import { assertClean, open, pictures } from './visit.mjs';

let server, visit, close;

before(async () => {
    ({ server, visit, close } = await open());
    await create(server, 'sol', {}, 'Sol');
    for (const command of sol)
        await send(server, 'sol', command);
});

after(() => close?.());

const rows = (page) => page.locator('#tree .row:visible .name').allTextContents();

test('a command sent over MCP appears', async () => {
    await create(server, 'mcp');
    const seen = await visit('mcp'), { page } = seen;
    const peer = await connect(server);
    const { isError, text } = await call(peer, 'send_universe_command', { universeId: 'mcp', command: addStar('aurora', null, { bodyType: 'star' }) });
    assert.equal(isError, false, text);
    await page.waitForFunction(() => window.causeway.body('aurora') !== null);
    await page.waitForFunction(() => document.querySelector('#tree .row:not([hidden]) .name')?.textContent === 'aurora');
    await page.waitForFunction(() => document.getElementById('count-bodies').textContent === '1');
    assert.match(await page.locator('#feed li').first().textContent(), /add star · aurora/);
    await page.waitForFunction(() => [...document.querySelectorAll('#labels span:not([hidden])')].some(({ textContent }) => textContent === 'aurora'));
    await disconnect(peer);
    await assertClean(seen);
    await seen.end();
});

test('a broken stream comes back without a gap', async () => {
    await create(server, 'cut');
    const seen = await visit('cut'), { page } = seen;
    await page.evaluate(() => window.causeway.dropStream());
    await send(server, 'cut', addStar('one'));
    await send(server, 'cut', addStar('two', 'one'));
    await page.waitForFunction(() => window.causeway.stats().version === 2 && window.causeway.stats().connection === 'connected');
    assert.equal((await page.evaluate(() => window.causeway.body('two'))).parentId, 'one');
    await page.locator('#feed li').nth(1).waitFor(); /* drawn with the next frame */
    assert.equal(await page.locator('#feed li').count(), 2);
    await assertClean(seen);
    await seen.end();
});

test('the keyboard reaches everything, and sees where it is', async () => {
    const seen = await visit('sol'), { page } = seen;
    await page.waitForFunction(() => window.causeway.stats().bodies > 0 && document.querySelectorAll('#tree .row:not([hidden])').length > 3);
    const order = [];
    for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab');
        const [name, outline] = await page.evaluate(() => [document.activeElement.id || document.activeElement.className || document.activeElement.tagName,
            getComputedStyle(document.activeElement).outlineStyle]);
        if (order.includes(name))
            break;
        order.push(name);
        if (name !== 'BODY')
            assert.notEqual(outline, 'none', `${name} has the focus, and nothing shows it`);
    }
    for (const id of ['skip', 'scene', 'toggle-side', 'universe', 'manage', 'toggle-connect', 'theme', 'help', 'search', 'kind', 'tree', 'add',
        'connect-client', 'play', 'speed', 'universe-clock', 'rate', 'fit'])
        assert.ok(order.includes(id), `Tab never comes to ${id}: ${order}`);
    await page.locator('#tree').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#card:not([hidden])');
    assert.equal(await page.locator('#card-name').textContent(), 'Mercury');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#card', { state: 'hidden' });
    await page.keyboard.press('/');
    await page.keyboard.type('ganym');
    await page.waitForFunction(() => /^1 found/.test(document.getElementById('found').textContent));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('card-name').textContent === 'Ganymede');
    await page.keyboard.press('?');
    await page.waitForSelector('#dialog-help[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#dialog-help[open]', { state: 'hidden' });
    await assertClean(seen);
    await seen.end();
});

test('the dialogs change the universe: create, generate, add, remove, delete', async () => {
    const seen = await visit('sol'), { page } = seen;
    await page.click('#manage');
    await page.fill('#form-create [name=name]', 'Made by hand');
    await page.click('#form-create button');
    await page.waitForFunction(() => document.getElementById('universe-name').textContent === 'Made by hand');
    const id = await page.evaluate(() => decodeURIComponent(location.hash.slice(1)));
    await page.waitForFunction(() => window.causeway.stats().version === 0 && window.causeway.stats().connection === 'connected');
    await page.click('#manage');
    await page.selectOption('#form-generate [name=stylePreset]', 'sparse');
    await page.click('#form-generate button');
    await page.waitForFunction(() => window.causeway.stats().bodies > 10);
    /* the figures that the generator's rules give for this seed: 3 stars, 6 planets, 7 moons */
    assert.equal((await page.evaluate(() => window.causeway.stats())).bodies, 16);
    await page.click('#add');
    await page.fill('#form-add [name=name]', 'Vesta');
    await page.click('#form-add button:not([type=button])');
    await page.waitForFunction(() => window.causeway.stats().bodies === 17);
    await page.fill('#search', 'Vesta');
    await page.waitForFunction(() => /^1 found/.test(document.getElementById('found').textContent));
    await page.click('#tree .row:not([hidden])');
    await page.click('#card-remove');
    await page.click('#sure-yes');
    await page.waitForFunction(() => window.causeway.stats().bodies === 16);
    await page.click('#manage');
    await page.click('#delete');
    await page.click('#sure-yes');
    await until(async () => (await rest(server, 'GET', `/universes/${id}`)).status === 404, 'the universe to be gone');
    await page.waitForFunction((gone) => location.hash !== `#${gone}`, id);
    await assertClean(seen);
    await seen.end();
});

test('an address of no universe says so, and leads on', async () => {
    const seen = await visit('sol'), { page } = seen;
    await page.evaluate(() => { location.hash = '#nowhere'; });
    await page.waitForFunction(() => /no universe “nowhere”/.test(document.getElementById('hint').textContent) && !document.getElementById('hint').hidden);
    assert.equal(await page.evaluate(() => window.causeway.stats().bodies), 0);
    await page.click('#hint-button');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'universe-search');
    await page.fill('#universe-search', 'SOL');
    await page.click('#universe-list [data-id=sol]');
    await page.waitForFunction(() => window.causeway.stats().bodies === 21 && document.getElementById('hint').hidden);
    await page.evaluate(() => { location.hash = '#later'; });
    await page.waitForFunction(() => /no universe “later”/.test(document.getElementById('hint').textContent));
    await create(server, 'later', {}, 'Made later');
    await page.waitForFunction(() => document.getElementById('universe-name').textContent === 'Made later');
    await assertClean(seen, /404/);
    await seen.end();
});

test('an empty universe says so, until something is in it', async () => {
    await create(server, 'hollow', {}, 'Hollow');
    const seen = await visit('hollow'), { page } = seen;
    await page.waitForFunction(() => /“Hollow” is empty/.test(document.getElementById('hint').textContent) && !document.getElementById('hint').hidden);
    await page.click('#hint-button');
    await page.waitForSelector('#dialog-manage[open]');
    await page.keyboard.press('Escape');
    await send(server, 'hollow', addStar('first'));
    await page.waitForFunction(() => document.getElementById('hint').hidden);
    await assertClean(seen);
    await seen.end();
});

test('a flood of commands arrives whole and in order, and the feed stays short', async () => {
    await create(server, 'flood');
    const seen = await visit('flood'), { page } = seen;
    const batch = [addStar('root'), ...Array.from({ length: 3000 }, (_, i) => addStar(`b${i}`, 'root'))];
    const answer = await rest(server, 'POST', '/universes/flood/commands:batch?return=minimal', batch);
    assert.ok(answer.status < 300, JSON.stringify(answer.json));
    await page.waitForFunction(() => window.causeway.stats().bodies === 3001 && window.causeway.stats().version === 3001);
    const { children } = await page.evaluate(() => window.causeway.body('root'));
    assert.deepEqual(children, batch.slice(1).map(({ id }) => id));
    assert.ok(await page.locator('#feed li').count() <= 60);
    await page.waitForFunction(() => document.getElementById('tree').querySelector('.row[aria-setsize="3001"], .row[aria-setsize="1"]') !== null);
    await assertClean(seen);
    await seen.end();
});

test('in a small window the card shows its buttons, and a key shows what frames cost', async () => {
    const seen = await visit('sol', { width: 800, height: 480 }), { page } = seen;
    await page.waitForFunction(() => window.causeway.body('saturn') !== null);
    await page.evaluate(() => window.causeway.visit('saturn'));
    for (const id of ['card-visit', 'card-remove']) {
        const box = await page.locator(`#${id}`).boundingBox(), card = await page.locator('#card').boundingBox();
        assert.ok(box && box.y + box.height <= card.y + card.height, `${id} is cut off`);
    }
    await page.locator('#scene').focus();
    await page.keyboard.press('s');
    await page.waitForFunction(() => /fps.*p50.*\n.*script/.test(document.getElementById('figures').textContent));
    await assertClean(seen);
    await seen.end();
});

test('without WebGL all but the picture is there', async () => {
    const seen = await visit('sol', { init: () => { HTMLCanvasElement.prototype.getContext = () => null; } }), { page } = seen;
    await page.waitForSelector('#no-scene:not([hidden])');
    await until(async () => (await rows(page)).includes('Jupiter'), 'a row in the list of bodies');
    await send(server, 'sol', { type: 'updateStar', id: 'venus', payload: { name: 'Hesperus' } });
    await page.waitForFunction(() => [...document.querySelectorAll('#tree .name')].some(({ textContent }) => textContent === 'Hesperus'));
    await send(server, 'sol', { type: 'updateStar', id: 'venus', payload: { name: 'Venus' } });
    await assertClean(seen);
    await seen.end();
});

for (const [name, options] of [['dark', {}], ['light', { scheme: 'light' }], ['narrow', { width: 390, height: 844 }]]) {
    test(`a picture, ${name}`, async () => {
        const seen = await visit('sol', options), { page } = seen;
        await page.waitForFunction(() => window.causeway.stats().drawn?.points > 5000 && window.causeway.stats().particles > 0);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
        const picture = await page.screenshot({ path: path.join(pictures, `${name}.png`) });
        assert.ok(picture.length > 10_000);
        await assertClean(seen);
        await seen.end();
    });
}

/** WCAG 2.2, 1.4.3: the ratio of two colours' relative luminances. */
function contrast(one, other) {
    const luminance = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
}

for (const scheme of ['dark', 'light']) {
    test(`every word stands out from what it is written on, ${scheme}`, async () => {
        const seen = await visit('sol', { scheme }), { page } = seen;
        const inks = ['ink', 'soft', 'faint', 'accent', 'bad'], grounds = ['ground', 'pane-solid'];
        const colours = Object.fromEntries(await page.evaluate((all) => all.map((name) => [name,
            getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()]), [...inks, ...grounds]));
        for (const ink of inks) {
            for (const ground of grounds)
                assert.ok(contrast(colours[ink], colours[ground]) >= 4.5, `${ink} on ${ground}: ${contrast(colours[ink], colours[ground])}`);
        }
        await seen.end();
    });
}

test('who watches is counted at once', async () => {
    /* without the question of every few seconds */
    const init = () => {
        const every = window.setInterval;
        window.setInterval = (work, ms) => ms < 5000 ? every(work, ms) : 0;
    };
    const seen = await visit('sol', { init }), { page } = seen;
    await page.waitForFunction(() => Number(document.getElementById('count-viewers').textContent) >= 1);
    await seen.end();
});

test('what a universe leaves behind is given back', async () => {
    const seen = await visit('sol'), { page } = seen;
    await page.waitForFunction(() => window.causeway.stats().particles > 0);
    const before = (await page.evaluate(() => window.causeway.stats())).drawn;
    await create(server, 'empty', {}, 'Empty');
    for (let i = 0; i < 5; i++) {
        await page.evaluate(() => { location.hash = '#empty'; });
        await page.waitForFunction(() => window.causeway.stats().bodies === 0 && window.causeway.stats().connection === 'connected');
        await page.evaluate(() => { location.hash = '#sol'; });
        await page.waitForFunction(() => window.causeway.stats().particles > 0 && window.causeway.stats().bodies > 0);
    }
    const after = (await page.evaluate(() => window.causeway.stats())).drawn;
    assert.ok(after.geometries <= before.geometries + 1 && after.textures <= before.textures + 1, JSON.stringify({ before, after }));
    await assertClean(seen);
    await seen.end();
});
