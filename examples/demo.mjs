/*
 * demo.mjs - what an agent does with cobre, in one minute.
 *
 * Starts `cobre-mcp` as an MCP server over stdio and lets the official TypeScript client validate,
 * inspect, train, simulate and question a case. The case is copied first: a run writes into its
 * folder.
 *
 *     node examples/demo.mjs [CASE]        default: examples/cases/four-stages
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const source = path.resolve(process.argv[2] ?? path.join(root, 'examples', 'cases', 'four-stages'));
const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cobre-demo-')));
const caseDir = path.join(scratch, path.basename(source));
const isTerminal = Boolean(process.stdout.isTTY);

const bold = (text) => (isTerminal ? `\x1b[1m${text}\x1b[0m` : text);
const dim = (text) => (isTerminal ? `\x1b[2m${text}\x1b[0m` : text);
const money = (value) => value.toExponential(5).replace('e+', 'e');
const percent = (value) => `${(100 * value).toFixed(1)} %`;

function say(title, ...lines) {
    console.log(`\n${bold(title)}`);
    for (const line of lines)
        console.log(`  ${line}`);
}

async function ask(client, name, args, onprogress) {
    console.log(`\n${dim('agent >')} ${bold(name)} ${dim(JSON.stringify(args))}`);
    const result = await client.callTool({ name, arguments: args }, undefined,
                                         { onprogress, timeout: 120_000,
                                           resetTimeoutOnProgress: true });
    const value = JSON.parse(result.content[0].text);
    if (result.isError)
        throw new Error(`${name}: ${value.kind}: ${value.message}`);
    return value;
}

function printProgress(report) {
    if (report.message)
        console.log(`  ${report.message}`);
}

/* The first rows, the last ones, and in between every so many: a table that fits a screen. */
function printConvergence(rows) {
    const step = Math.max(1, Math.ceil(rows.length / 16));
    say('iteration   lower bound   upper bound        gap      ms');
    for (const [i, row] of rows.entries()) {
        if (i >= 4 && i % step !== 0 && i < rows.length - 2)
            continue;
        console.log(`  ${String(row.iteration).padStart(9)}${money(row.lower_bound).padStart(14)}`
                    + `${money(row.upper_bound).padStart(14)}${percent(row.gap).padStart(11)}`
                    + `${String(row.iteration_time_ms).padStart(8)}`);
    }
}

async function converse(client) {
    const server = client.getServerVersion();
    say(`Connected to ${server.name} ${server.version} over stdio`);
    const { tools } = await client.listTools();
    say('Tools', tools.map((tool) => tool.name).join(', '));

    const verdict = await ask(client, 'cobre/validate', { case_dir: caseDir });
    const { summary } = verdict;
    say(verdict.valid ? 'The case is valid' : 'The case is not valid',
        `${summary.files_checked} files, ${summary.entities_validated} entities, `
        + `${summary.layers_completed} layers, ${summary.error_count} errors, `
        + `${summary.warning_count} warnings`,
        ...verdict.errors.map((record) => `error: ${record.message}`),
        ...verdict.warnings.map((record) => `warning: ${record.message}`));

    const about = await ask(client, 'cobre/inspect-case', { case_dir: caseDir });
    say('The case', `${about.stages} stages; `
        + Object.entries(about.entities).map(([what, count]) => `${count} ${what}`).join(', '));

    const result = await ask(client, 'cobre/run', { case_dir: caseDir }, printProgress);
    say('cobre/run answers', ...JSON.stringify(result, null, 2).split('\n'));

    const history = await ask(client, 'cobre/query-convergence',
                              { output_dir: result.output_dir });
    printConvergence(history.iterations);
    say(`Training ended: ${history.termination_reason} after ${history.total_iterations} iterations`,
        `lower bound ${money(result.training.final_lower_bound)}, `
        + `${result.training.total_cuts} cuts; the policy's cost is known to be no less than that`);
}

fs.cpSync(source, caseDir, { recursive: true });
const transport = new StdioClientTransport({
    command: path.join(process.env.CAUSEWAY_BIN ?? path.join(root, 'build', 'bin'), 'cobre-mcp'),
    args: ['--allow-write', '--allowed-dirs', scratch],
    stderr: 'inherit',
});
const client = new Client({ name: 'causeway-demo', version: '1.0.0' });
try {
    await client.connect(transport);
    await converse(client);
    await client.close();
} catch (error) {
    console.error(`demo: ${error.message}`);
    process.exitCode = 1;
    await client.close().catch(() => {});
} finally {
    fs.rmSync(scratch, { recursive: true, force: true });
}
