/*
 * failures.mjs - a reporter of node's test runner, in the form of TAP: what failed, with its cause;
 * what was skipped, with its reason; how many passed. A test that passed has no line, so the failed
 * one stays in sight when only a part of the output is kept. An error after the end of its test is
 * only a diagnostic of the runner and an exit status of the file.
 */
import { inspect } from 'node:util';

const COUNTS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
const indent = (text, by) => text.replace(/^/gm, ' '.repeat(by));

function causeOf({ data: { line, details: { error, duration_ms: ms } } }) {
    const end = error.signal ?? (error.exitCode > 0 ? `exit status ${error.exitCode}` : null);
    return `after ${Math.round(ms)} ms, line ${line}: ${inspect(error.cause ?? error)}${end ? `, the file ended by ${end}` : ''}`;
}

/** @param events of the test runner */
export default async function* failures(events) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    yield 'TAP version 13\n';
    for await (const event of events) {
        const { type, data } = event;
        if (type === 'test:stdout' || type === 'test:stderr') {
            yield indent(data.message.trimEnd(), 2).replace(/^ /gm, '#') + '\n';
        } else if (type === 'test:diagnostic' && !COUNTS.test(data.message)) {
            yield indent(data.message, 2).replace(/^ /gm, '#') + '\n';
        } else if (type === 'test:pass' && data.skip !== undefined) {
            counts.skipped++;
            yield `ok - ${data.name} # SKIP ${data.skip === true ? '' : data.skip}\n`;
        } else if (type === 'test:pass') {
            counts.passed += data.details.type === 'suite' ? 0 : 1;
        } else if (type === 'test:fail') {
            const isParent = data.details.error.failureType === 'subtestsFailed';
            counts.failed += isParent ? 0 : 1;
            yield `not ok - ${data.name}\n`;
            if (!isParent)
                yield indent(causeOf(event), 2) + '\n';
        }
    }
    yield `# ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}
