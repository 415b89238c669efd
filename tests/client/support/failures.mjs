/*
 * failures.mjs - a reporter of node's test runner, in the form of TAP: what failed, with its cause;
 * what was skipped, with its reason; how many passed. A test that passed has no line, so the failed
 * one stays in sight when only a part of the output is kept.
 */
import { inspect } from 'node:util';

const indent = (text, by) => text.replace(/^/gm, ' '.repeat(by));

/** @param events of the test runner */
export default async function* failures(events) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    yield 'TAP version 13\n';
    for await (const { type, data } of events) {
        if (type === 'test:stdout' || type === 'test:stderr') {
            yield indent(data.message.trimEnd(), 2).replace(/^ /gm, '#') + '\n';
        } else if (type === 'test:pass' && data.skip !== undefined) {
            counts.skipped++;
            yield `ok - ${data.name} # SKIP ${data.skip === true ? '' : data.skip}\n`;
        } else if (type === 'test:pass') {
            counts.passed += data.details.type === 'suite' ? 0 : 1;
        } else if (type === 'test:fail') {
            const { error, duration_ms: ms } = data.details;
            const isParent = error.failureType === 'subtestsFailed';
            counts.failed += isParent ? 0 : 1;
            yield `not ok - ${data.name}\n`;
            if (!isParent)
                yield indent(`after ${Math.round(ms)} ms, line ${data.line}: ${inspect(error.cause ?? error)}`, 2) + '\n';
        }
    }
    yield `# ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}
