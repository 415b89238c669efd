/*
 * casparian.mjs - what the measurements of casparian share: a table of trades, runs of the program,
 * and the lines of figures.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';

import { program } from '../../tests/client/casparian.mjs';

const decimal = { kind: 'decimal', precision: 18, scale: 4 };
export const columns = [
    { name: 'id', type: 'int64', nullable: false }, { name: 'account', type: 'string' }, { name: 'symbol', type: 'string' },
    { name: 'side', type: 'string' }, { name: 'quantity', type: 'int64' }, { name: 'price', type: decimal },
    { name: 'fee', type: decimal }, { name: 'traded_at', type: 'timestamp', format: '%Y-%m-%d %H:%M:%S' },
    { name: 'settled_at', type: 'timestamp', format: '%Y-%m-%dT%H:%M:%S' }, { name: 'note', type: 'string' },
];

export const HEAD = `${columns.map(({ name }) => name).join(',')}\n`;

export const two = (n) => String(n).padStart(2, '0');
export const tradeOf = (i) => `${i},ACC${String(i * 7919 % 100000).padStart(5, '0')},${['AAPL', 'MSFT', 'IBM', 'ORCL'][i % 4]},${'BS'[i & 1]},${1 + i % 500},`
    + `${10 + i % 900}.${two(i % 100)},${i % 9}.${String(i % 10000).padStart(4, '0')},2024-${two(1 + i % 12)}-${two(1 + i % 28)} ${two(i % 24)}:${two(i % 60)}:${two(i * 7 % 60)},`
    + `2024-${two(1 + i % 12)}-${two(1 + i % 28)}T${two(i % 24)}:${two(i % 60)}:${two(i % 60)},fill ${i % 1000} of order\n`;

export function fill(file, count, line, head = '') {
    const fd = fs.openSync(file, 'w');
    let text = head;
    for (let i = 0; i < count; i++) {
        text += line(i);
        if (text.length > 1 << 20) {
            fs.writeSync(fd, text);
            text = '';
        }
    }
    fs.writeSync(fd, text);
    fs.closeSync(fd);
}

export const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
export const at = (values, share) => values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
export function print(what, figure, goal) {
    console.log(`  ${what.padEnd(58)} ${figure.padStart(16)}   ${goal}`);
}
export const perSecond = (rows, ms) => `${Math.round(rows / ms * 1000).toLocaleString('en')} /s`;
export const millis = (ms) => `${ms.toFixed(1)} ms`;

/** [The milliseconds of a function, its result]. */
export async function timed(work) {
    const begin = performance.now();
    const result = await work();
    return [performance.now() - begin, result];
}

/** The memory of a process and all that it started, in MiB, without mapped files. */
export function memoryOf(pid) {
    let total = 0;
    try {
        total = Number(/RssAnon:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
        for (const thread of fs.readdirSync(`/proc/${pid}/task`))
            for (const child of fs.readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean))
                total += memoryOf(child);
    } catch { /* it has ended */ }
    return total;
}

/** Run casparian to its end: { ms, peak }. */
export async function run(self, args) {
    const begin = performance.now();
    const child = spawn(program, args, { cwd: self.dir, env: self.env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '', peak = 0;
    child.stderr.on('data', (bytes) => { errors += bytes; });
    const watch = setInterval(() => { peak = Math.max(peak, memoryOf(child.pid)); }, 50);
    const [status] = await once(child, 'exit');
    clearInterval(watch);
    if (status !== 0)
        throw new Error(`casparian ${args.join(' ')}: ${status}: ${errors}`);
    return { ms: performance.now() - begin, peak };
}

export const runOf = (plugin, input, ...more) => ['run', plugin, input, '--force', '-q', '--sink', 'parquet://./out/', ...more];
