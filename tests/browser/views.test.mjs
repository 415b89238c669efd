/*
 * views.test.mjs - what the page shows first: for every style and topology that its dialog offers,
 * stars and the bodies that orbit them can be seen; systems without a group are apart; stars keep
 * their colour.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { addStar, create, rest, send } from '../client/universe.mjs';
import { assertClean, open } from './visit.mjs';

let server, visit, close;

before(async () => {
    ({ server, visit, close } = await open());
});

after(() => close?.());

async function generate(id, config) {
    await create(server, id, {}, id);
    const { status, text } = await rest(server, 'POST', `/universes/${id}/generate?return=minimal`, { seed: 'universe', ...config });
    assert.ok(status < 300, text);
}

/** The choices of the page's own dialog. */
async function choices(page, name) {
    return page.evaluate((field) => [...document.querySelector(`#form-generate [name=${field}]`).options].map(({ value }) => value), name);
}

/* What the first view shows: the roots with bodies around them, their width in pixels, and how many
 * of those bodies are in view. */
function look() {
    const { roots, body, where, view } = window.causeway, { left, top, right, bottom } = view();
    const stars = roots().map((id) => ({ id, at: where(id), children: body(id).children })).filter(({ children }) => children.length > 0);
    const isSeen = (at) => at !== null && at.x >= left && at.x <= right && at.y >= top && at.y <= bottom;
    const children = stars.flatMap((star) => star.children.map(where));
    return {
        widths: stars.filter(({ at }) => isSeen(at)).map(({ at }) => at.pixels * 2).sort((a, b) => a - b),
        stars: stars.length, children: children.length, seen: children.filter(isSeen).length,
    };
}

function assertShown({ widths, stars, children, seen }, where) {
    assert.ok(widths.length >= 0.6 * stars, `${where}: ${widths.length} of ${stars} stars are in view`);
    assert.ok(widths[widths.length >> 1] >= 4, `${where}: half of the stars are narrower than ${widths[widths.length >> 1]} pixels`);
    assert.ok(seen >= 0.6 * children, `${where}: ${seen} of ${children} bodies that orbit a star are in view`);
}

test('the first view and Fit show the stars and what orbits them, for every style and topology of the dialog', { timeout: 600_000 }, async () => {
    await create(server, 'start', {}, 'start');
    const seen = await visit('start'), { page } = seen;
    const styles = await choices(page, 'stylePreset'), topologies = await choices(page, 'topologyPreset');
    assert.equal(styles.length * topologies.length, 24);
    for (const stylePreset of styles) {
        for (const topologyPreset of topologies) {
            const id = `${stylePreset}-${topologyPreset}`;
            await generate(id, { stylePreset, topologyPreset });
            const { stars } = (await rest(server, 'GET', `/universes/${id}/summary`)).json.counts;
            await page.evaluate((to) => { location.hash = `#${to}`; }, id);
            await page.waitForFunction((count) => window.causeway.stats().bodies === count && window.causeway.stats().isSettled, stars);
            assertShown(await page.evaluate(look), id);
            await page.evaluate(() => window.causeway.visit(window.causeway.roots()[0]));
            await page.click('#fit');
            await page.waitForFunction(() => window.causeway.stats().isSettled);
            assertShown(await page.evaluate(look), `${id}, Fit`);
        }
    }
    await assertClean(seen);
    await seen.end();
});

test('systems without a group are apart in the picture, and the state keeps them where they were', async () => {
    await generate('apart', { stylePreset: 'crowded' });
    const before = await rest(server, 'GET', '/universes/apart/state');
    const seen = await visit('apart'), { page } = seen;
    await page.waitForFunction((count) => window.causeway.stats().bodies === count && window.causeway.stats().isSettled, Object.keys(before.json.stars).length);
    const at = await page.evaluate(() => window.causeway.roots().map(window.causeway.where));
    assert.equal(at.length, 15);
    at.forEach((one, i) => at.slice(0, i).forEach((two) => {
        const away = Math.hypot(one.x - two.x, one.y - two.y);
        assert.ok(away > Math.max(one.pixels, two.pixels), `two stars are ${away} pixels apart`);
    }));
    const after = await rest(server, 'GET', '/universes/apart/state');
    assert.equal(after.headers.get('etag'), before.headers.get('etag'));
    assert.equal(after.text, before.text);
    await assertClean(seen);
    await seen.end();
});

test('a universe that grows stays in view until the viewer moves the camera', async () => {
    await create(server, 'growing', {}, 'growing');
    const seen = await visit('growing'), { page } = seen;
    await send(server, 'growing', addStar('sun', null, { bodyType: 'star', radius: 2 }));
    for (const distance of [10, 100, 1000])
        await send(server, 'growing', addStar(`p${distance}`, 'sun', { orbitalDistance: distance, orbitalSpeed: 0 }));
    const isSeen = () => window.causeway.stats().bodies === 4 && window.causeway.stats().isSettled
        && [window.causeway.where('p1000')].every((at) => at && at.x > window.causeway.view().left && at.x < window.causeway.view().right);
    await page.waitForFunction(isSeen);
    await page.locator('#scene').focus();
    await page.keyboard.press('+');
    await page.waitForFunction(() => window.causeway.stats().isSettled);
    const before = await page.evaluate(() => window.causeway.where('sun'));
    await send(server, 'growing', addStar('p5000', 'sun', { orbitalDistance: 5000, orbitalSpeed: 0 }));
    await page.waitForFunction(() => window.causeway.stats().bodies === 5 && document.getElementById('count-bodies').textContent === '5');
    assert.equal((await page.evaluate(() => window.causeway.where('sun'))).pixels, before.pixels);
    await assertClean(seen);
    await seen.end();
});

/* The pixels of a square about a body, as the scene drew them in the last frame: [r, g, b, a,
 * ...]. */
function pixels({ id, half }) {
    return new Promise((resolve) => {
        requestAnimationFrame(() => {
            const scene = document.getElementById('scene'), copy = document.createElement('canvas'), { x, y } = window.causeway.where(id);
            const size = 2 * half + 1, ratio = scene.width / scene.clientWidth;
            copy.width = copy.height = size;
            copy.getContext('2d').drawImage(scene, Math.round(x * ratio) - half, Math.round(y * ratio) - half, size, size, 0, 0, size, size);
            resolve([...copy.getContext('2d').getImageData(0, 0, size, size).data]);
        });
    });
}

for (const scheme of ['dark', 'light']) {
    test(`a star has its colour, and no orbit is drawn across it, ${scheme}`, async () => {
        const id = `colour-${scheme}`;
        await create(server, id, {}, id);
        await send(server, id, addStar('blue', null, { bodyType: 'star', radius: 4, color: '#9BB0FF' }));
        for (let i = 0; i < 12; i++) {
            await send(server, id, addStar(`p${i}`, 'blue', {
                orbitalDistance: 10 + i, orbitalSpeed: 0, orbitalPhase: i * 30, orbitRotX: i * 15, radius: 0.01, color: '#FFFFFF' }));
        }
        const seen = await visit(id, { scheme }), { page } = seen;
        await page.waitForFunction(() => window.causeway.stats().bodies === 13 && window.causeway.stats().isSettled && window.causeway.stats().orbits === 12);
        const half = Math.floor((await page.evaluate(() => window.causeway.where('blue'))).pixels * 0.6);
        assert.ok(half > 10, `${half} pixels`);
        const withLines = await page.evaluate(pixels, { id: 'blue', half });
        for (let i = 0; i < withLines.length; i += 4) {
            const [r, g, b] = withLines.slice(i, i + 3);
            assert.ok(b - r >= 30 && b - g >= 15 && b > 160, `a blue star has a pixel of ${r} ${g} ${b}`);
        }
        await page.locator('#scene').focus();
        await page.keyboard.press('o');
        await page.waitForFunction(() => window.causeway.stats().orbits === 0);
        assert.deepEqual(await page.evaluate(pixels, { id: 'blue', half }), withLines);
        const label = await page.evaluate(() => getComputedStyle(document.querySelector('#labels span:not([hidden])')).backgroundColor);
        const [, alpha] = /^rgba\(.*, ([0-9.]+)\)$/.exec(label);
        assert.ok(Number(alpha) >= 0.5, `the glow shows through a label: ${label}`);
        await assertClean(seen);
        await seen.end();
    });
}
