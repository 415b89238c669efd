/*
 * processes.mjs - the processes of a server and their threads, from /proc.
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

/** A file of /proc for each thread of a process: [id, text]; not of threads that have ended. */
export function threads(pid, file) {
    return fs.readdirSync(`/proc/${pid}/task`).flatMap((id) => {
        try {
            return [[id, fs.readFileSync(`/proc/${pid}/task/${id}/${file}`, 'utf8')]];
        } catch (error) {
            if (error.code === 'ENOENT' || error.code === 'ESRCH')
                return [];
            throw error;
        }
    });
}
