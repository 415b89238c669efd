/*
 * universe-demo.mjs - an agent builds a universe over MCP while a viewer watches it over
 * server-sent events.
 *
 * Starts `universe serve` on a free port with its data in memory, lets the official TypeScript
 * client read the documentation and send commands, and prints what a viewer of the stream sees,
 * next to it.
 *
 *     node examples/universe-demo.mjs
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const bin = process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin');
const id = 'demo';

/** Start the server; resolves to its base URL once it listens. */
function startServer() {
    const server = spawn(path.join(bin, 'universe'),
                         ['serve', '--port', '0', '--db', 'memory'],
                         { stdio: ['ignore', 'ignore', 'pipe'] });
    const listens = new Promise((resolve, reject) => {
        let said = '';
        server.stderr.on('data', (bytes) => {
            said += bytes;
            const url = /serving (http:\S+)\/mcp/.exec(said)?.[1];
            if (url)
                resolve(url);
        });
        server.on('error', reject);
        server.on('exit', (status) => reject(new Error(`universe ended with ${status}: ${said}`)));
    });
    return { server, listens };
}

/** Read a stream, printing each command, until `count` have come. */
async function watch(response, count) {
    let text = '';
    let seen = 0;
    for await (const bytes of response.body) {
        text += Buffer.from(bytes).toString();
        const events = text.split('\n\n');
        text = events.pop();
        for (const event of events) {
            const version = /^id: (.*)$/m.exec(event)?.[1];
            const data = /^data: (.*)$/m.exec(event)?.[1];
            if (!/^event: command$/m.test(event))
                continue;
            console.log(`  viewer < version ${version}: ${data.slice(0, 80)}`);
            if (++seen === count)
                return;
        }
    }
}

const body = (name, bodyType, parentId, orbitalDistance, orbitalSpeed, radius, color) =>
    ({ name, bodyType, parentId, orbitalDistance, orbitalSpeed, radius, color, mass: radius ** 3 });

const commands = [
    { type: 'addStar', id: 'sol', payload: body('Sol', 'star', null, 0, 0, 3, '#FFF4EA') },
    { type: 'addStar', id: 'earth', payload: body('Earth', 'planet', 'sol', 50, 1, 0.8, '#4A90E2') },
    { type: 'addStar', id: 'luna', payload: body('Luna', 'moon', 'earth', 4, 12, 0.2, '#CCCCCC') },
    { type: 'tick', dt: 60 },
    { type: 'removeStar', id: 'nobody' },
];

const { server, listens } = startServer();
try {
    const base = await listens;
    await fetch(`${base}/universes`, { method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ id, name: 'Demo', state: {} }) });
    const client = new Client({ name: 'universe-demo', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
    const guide = await client.readResource({ uri: 'docs://universe/system-overview' });
    console.log(`agent reads docs://universe/system-overview: ${guide.contents[0].text.length} characters`);

    const viewer = watch(await fetch(`${base}/universes/${id}/events`), commands.length - 1);
    for (const command of commands) {
        console.log(`agent > ${JSON.stringify(command).slice(0, 80)}`);
        const result = await client.callTool({ name: 'send_universe_command',
                                               arguments: { universeId: id, command } });
        const answer = JSON.parse(result.content[0].text);
        console.log(`  agent < ${result.isError ? `${answer.error}: ${answer.reason}`
            : `done, events ${JSON.stringify(answer.events)}`}`);
    }
    await viewer;
    const places = await (await fetch(`${base}/universes/${id}/positions`)).json();
    places.ids.forEach((name, i) => {
        console.log(`${name} is at ${places.positions[i].map((x) => x.toFixed(2)).join(', ')}`);
    });
    await client.close();
} finally {
    server.removeAllListeners('exit');
    server.kill('SIGTERM');
}
