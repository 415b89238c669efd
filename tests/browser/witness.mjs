/*
 * witness.mjs - what a browser test that fails leaves in its output: of each page that is open the
 * address, the requests that failed, the errors and the visible text; and the end of the servers'
 * logs. Those pages are closed, so that they do not disturb the next test.
 */
import { afterEach } from 'node:test';

const TEXT_MAX = 4000, LOG_MAX = 4000, NOTES_MAX = 50, ANSWER_MS = 10_000;
const pages = new Map();

/** Note what a page does. @param faults the texts of its errors, which its test collects */
export function watch(page, faults) {
    const notes = [];
    const note = (words) => { notes.push(words); notes.splice(0, notes.length - NOTES_MAX); };
    pages.set(page, { notes, faults });
    page.on('close', () => pages.delete(page));
    page.on('requestfailed', (request) => note(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`));
    page.on('response', (response) => {
        if (response.status() >= 400)
            note(`${response.request().method()} ${response.url()}: ${response.status()}`);
    });
}

/* A page that hangs gives no text. */
async function textOf(page) {
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(resolve, ANSWER_MS, 'It does not answer.'); });
    const text = await Promise.race([page.evaluate(() => document.body.innerText), late]).catch((error) => `It gives no text: ${error.message}`);
    clearTimeout(timer);
    return text.replace(/\n{2,}/g, '\n').slice(0, TEXT_MAX);
}

async function describe(page, { notes, faults }) {
    const part = (title, lines) => (lines.length ? `${title}:\n${lines.join('\n')}\n` : '');
    return `the page at ${page.url().replace(/token=.*/, 'token=…')}\n${part('its failed requests', notes)}${part('its errors', faults)}its visible text:\n${await textOf(page)}\n`;
}

/** Print this after each test of the file that fails. @param logs gives the logs of the servers */
export function reportFailures(logs) {
    afterEach(async (t) => {
        if (t.passed)
            return;
        console.log(`what was there when “${t.name}” failed:`);
        for (const [page, seen] of [...pages]) {
            console.log(await describe(page, seen));
            await page.context().close();
        }
        for (const log of logs())
            console.log(`the end of a server’s log:\n${log.slice(-LOG_MAX)}`);
    });
}
