/*
 * words.js - numbers, kinds and commands as words for a reader.
 */

/** Three or four significant digits. */
export function number(value) {
    if (typeof value !== 'number' || !Number.isFinite(value))
        return '–';
    const size = Math.abs(value);
    if (size !== 0 && (size < 0.001 || size >= 1e9))
        return value.toExponential(2);
    return value.toLocaleString('en', { maximumSignificantDigits: size >= 1000 ? Math.ceil(Math.log10(size + 1)) : 4 });
}

/** Simulated seconds. */
export function span(seconds) {
    const size = Math.abs(seconds);
    if (size < 10000)
        return `${seconds.toFixed(1)} s`;
    return `${Math.floor(seconds).toLocaleString('en')} s`;
}

const KINDS = {
    star: 'Star', planet: 'Planet', moon: 'Moon', asteroid: 'Asteroid', comet: 'Comet', lagrangePoint: 'Lagrange point',
    blackHole: 'Black hole', rogue: 'Rogue planet',
};

export function kindName(kind) {
    return KINDS[kind] ?? kind;
}

/** A command in a few words. */
export function commandWords(command, nameOf) {
    const id = command.id ?? command.childId ?? command.planetId ?? command.groupId ?? command.disk?.id;
    const what = command.payload?.name ?? command.disk?.name ?? (id === undefined ? '' : nameOf(id) ?? id);
    const verb = command.type.replace(/([A-Z])/g, ' $1').toLowerCase();
    return what ? `${verb} · ${what}` : verb;
}
