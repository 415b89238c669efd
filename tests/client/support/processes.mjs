/*
 * processes.mjs - the processes of a server, from /proc.
 */
import fs from 'node:fs';

/** The processes below one, at whatever depth. @returns their ids */
export function below(pid) {
    const parents = new Map();
    for (const name of fs.readdirSync('/proc').filter((one) => /^[0-9]+$/.test(one))) {
        try {
            const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
            parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
        } catch { /* it has ended */ }
    }
    const isBelow = (one) => one !== undefined && (parents.get(one) === pid || isBelow(parents.get(one)));
    return [...parents.keys()].filter(isBelow);
}
