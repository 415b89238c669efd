/*
 * run.mjs - one leg of the official conformance suite against examples/everything.c.
 * usage: node run.mjs LEG        LEG: a key of LEGS
 *
 * The suite scores only a part of what it runs, and passes a leg in which it found nothing to run;
 * so its results are read from the disk, and each check of each scenario has to pass. Skipped
 * checks are printed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { start, stop, top } from './everything.mjs';

const SUITE = path.join(top, 'node_modules', '@modelcontextprotocol', 'conformance');
const SUITE_01 = path.join(top, 'node_modules', 'conformance-0.1');

/* `scenarios`: how many the suite has for the leg (mcp-conformance: 30 + 3, 37 + 13); fewer is a
 * suite cut short. */
const LEGS = {
    '2025-11-25': { suite: SUITE, args: ['--requirements', '2025-11-25'], scenarios: 33 },
    '2026-07-28': { suite: SUITE, args: ['--requirements', '2026-07-28'], scenarios: 50 },
    '2025-06-18': { suite: SUITE, args: ['--spec-version', '2025-06-18', '--suite', 'all'], scenarios: 27 },
    '2025-03-26': { suite: SUITE, args: ['--spec-version', '2025-03-26', '--suite', 'all'], scenarios: 1 },
    '0.1.16': { suite: SUITE_01, args: ['--suite', 'all'], scenarios: 32 },
};

/** Runs the suite; its exit status and what it said. */
async function runSuite(leg, url, results) {
    const expected = path.join(top, 'tests', 'conformance', 'expected-failures.yml');
    const suite = spawn(process.execPath, [path.join(leg.suite, 'dist', 'index.js'), 'server', '--url', url.href,
        ...leg.args, '--expected-failures', expected, '-o', results], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';

    for (const stream of [suite.stdout, suite.stderr])
        stream.on('data', (bytes) => { said += bytes; });
    const [status] = await once(suite, 'close');
    return { status, said };
}

/** Every check on the disk: scenario, id, status, words. */
function readChecks(results) {
    return readdirSync(results, { recursive: true }).map(String)
        .filter((file) => path.basename(file) === 'checks.json')
        .flatMap((file) => {
            const scenario = path.dirname(file).replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, '');
            const checks = JSON.parse(readFileSync(path.join(results, file), 'utf8'));
            return checks.map((check) => ({ scenario, ...check }));
        });
}

function report(checks) {
    const count = (status) => checks.filter((check) => check.status === status).length;

    for (const check of checks.filter(({ status }) => !['SUCCESS', 'INFO'].includes(status))) {
        const words = check.errorMessage ?? check.details?.note ?? check.details?.message ?? '';
        console.log(`${check.status} ${check.scenario}: ${check.id}: ${words}`);
        if (check.status === 'FAILURE')
            console.log(`    ${JSON.stringify(check.details)?.slice(0, 1500)}`);
    }
    console.log(`${count('SUCCESS')} passed, ${count('FAILURE')} failed, ${count('WARNING')} warnings, ` +
        `${count('SKIPPED')} skipped`);
}

const name = process.argv[2];
const leg = LEGS[name];
assert.ok(leg, `usage: node run.mjs ${Object.keys(LEGS).join('|')}`);

const results = mkdtempSync(path.join(tmpdir(), 'conformance-'));
const server = await start();
try {
    const { status, said } = await runSuite(leg, server.url, results);
    const checks = readChecks(results);
    const failures = checks.filter((check) => ['FAILURE', 'WARNING'].includes(check.status));
    const scenarios = readdirSync(results, { recursive: true })
        .filter((file) => path.basename(String(file)) === 'checks.json').length;

    report(checks);
    if (status !== 0 || failures.length > 0)
        console.log(said.slice(-4000));
    assert.equal(failures.length, 0, `${failures.length} checks of ${name} did not pass`);
    assert.equal(status, 0, `the suite ended with ${status}`);
    assert.ok(scenarios >= leg.scenarios, `${scenarios} scenarios ran, ${leg.scenarios} are there`);
} finally {
    await stop(server);
    rmSync(results, { recursive: true, force: true });
}
