/*
 * wire.mjs - plays the transcripts of tests/wire and holds what the server said in them against the
 * official schemas. Whether it said the right thing is for the transcripts themselves.
 * usage: node wire.mjs RUN_WIRE RUN_HTTP
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Conversation } from './conversation.mjs';
import { top } from './everything.mjs';

/** The faults of one transcript's messages; `count.messages` grows. */
function faultsOf(text, count) {
    const conversation = new Conversation();

    for (const line of text.split('\n').filter(Boolean)) {
        let message;
        if (line.startsWith('!')) { /* the version header of a request */
            conversation.headed(line.slice(2));
            continue;
        }
        try {
            message = JSON.parse(line.slice(2));
        } catch {
            assert.ok(line.startsWith('>'), `the server said what is no JSON: ${line.slice(0, 200)}`);
            continue; /* a bad line is what some transcripts are about */
        }
        if (line.startsWith('>'))
            conversation.sent(message);
        else
            conversation.heard(message);
    }
    count.messages += conversation.received;
    return conversation.faults;
}

const folder = mkdtempSync(path.join(tmpdir(), 'wire-'));
try {
    const played = process.argv.slice(2).map((player) => spawnSync(player, [], {
        cwd: top, env: { ...process.env, CAUSEWAY_WIRE_LOG: folder }, encoding: 'utf8',
    }));
    const count = { messages: 0 };
    const files = readdirSync(folder).sort();
    const faults = files.flatMap((file) =>
        faultsOf(readFileSync(path.join(folder, file), 'utf8'), count).map((fault) => `${file}: ${fault}`));

    for (const fault of faults)
        console.log(fault);
    console.log(`${files.length} transcripts, ${count.messages} messages of servers, ${faults.length} faults`);
    for (const { status, stdout, stderr } of played)
        assert.equal(status, 0, `the transcripts do not hold: ${stdout.slice(-2000)}${stderr.slice(-2000)}`);
    assert.ok(files.length > 0 && count.messages > files.length);
    assert.equal(faults.length, 0);
} finally {
    rmSync(folder, { recursive: true, force: true });
}
