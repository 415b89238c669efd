/*
 * particles.js - the places of the particles of belts, disks and nebulae. They follow from the seed
 * alone, so all viewers see the same particles.
 *
 * A particle has four numbers: distance, angle, height and shade in belts and disks; x, y, z and
 * shade in nebulae.
 */

const FIELD_MAX = 20000, DISK_MAX = 20000;

/** The number of a seed: the seed itself, or the absolute value of the 31-multiplier hash of a
 *  text. */
export function seedOf(seed) {
    if (typeof seed === 'number')
        return Math.trunc(seed) >>> 0;
    let hash = 0;
    for (const letter of String(seed ?? 0))
        hash = (Math.imul(31, hash) + letter.codePointAt(0)) | 0;
    return Math.abs(hash) >>> 0;
}

/** A linear congruential generator: numbers from 0 to 1. */
export function lcg(seed) {
    let state = seedOf(seed);
    return () => {
        state = (Math.imul(1664525, state) + 1013904223) >>> 0;
        return state / 4294967295;
    };
}

function gauss(next) {
    const u = Math.max(next(), 1e-12), v = next();
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

function table(most) {
    return { places: new Float32Array(most * 4), lots: new Float32Array(most), count: 0 };
}

function put(out, a, b, c, shade, lot) {
    out.places.set([a, b, c, shade], out.count * 4);
    out.lots[out.count] = lot;
    out.count++;
}

export function fieldParticles(field) {
    const most = Math.min(field.particleCount ?? 1000, FIELD_MAX), out = table(most), next = lcg(field.seed);
    const kuiper = field.beltType === 'kuiper';
    const sigma = (field.thickness ?? 0.5) * (kuiper ? 1 + (field.inclinationSigma ?? 0) : 1);
    const clumps = field.clumpiness ?? 0, waves = kuiper ? 5 : 8;
    for (let i = 0; i < most; i++) {
        const r = field.innerRadius + (0.4 + 0.6 * next()) * (field.outerRadius - field.innerRadius);
        const angle = next() * 2 * Math.PI;
        const y = gauss(next) * sigma * 0.5;
        const noise = (Math.sin(angle * waves + 0.2 * r) / 2 + 0.5) * clumps;
        if (next() > 1 - 0.15 * clumps + 0.2 * noise)
            continue;
        put(out, r, angle, y, next(), next());
    }
    return out;
}

export function diskParticles(disk) {
    const most = Math.min(disk.particleCount ?? 3000, DISK_MAX), out = table(most), next = lcg(disk.seed);
    const span = disk.outerRadius - disk.innerRadius, bands = disk.bandFrequency ?? 5;
    const strength = disk.bandStrength ?? 0.5, arms = disk.spiralArmCount ?? 2, spiral = disk.spiralStrength ?? 0.1;
    for (let i = 0; i < most; i++) {
        const along = Math.sqrt(next()), r = disk.innerRadius + along * span, angle = next() * 2 * Math.PI;
        const wave = Math.sin(along * bands * 2 * Math.PI) / 2 + 0.5;
        const arm = Math.sin(angle * arms + along * 9) / 2 + 0.5;
        const y = gauss(next) * (disk.thickness ?? 0.3) * 0.4 * (0.4 + along);
        if (next() < strength * (1 - wave) * 0.8 + spiral * (1 - arm) * 0.5)
            continue;
        put(out, r, angle, y, Math.max(0, 1 - along * (disk.temperatureGradient ?? 1.5) * 0.7) * 0.8 + next() * 0.2, next());
    }
    return out;
}

export function nebulaParticles(nebula) {
    const most = Math.floor(8000 * Math.min(2, Math.max(0.5, nebula.radius / 150))), out = table(most);
    const next = lcg(nebula.seed), size = nebula.dimensions ?? { x: nebula.radius, y: nebula.radius * 0.6, z: nebula.radius };
    const f = (nebula.noiseScale ?? 1) * 3;
    for (let i = 0; i < most; i++) {
        const z = next() * 2 - 1, around = next() * 2 * Math.PI, r = next() ** 0.42, flat = Math.sqrt(1 - z * z);
        const x = flat * Math.cos(around) * r, y = z * r, w = flat * Math.sin(around) * r;
        const noise = (Math.sin(x * f + 2 * Math.sin(w * f * 1.3)) * Math.sin(y * f * 1.7 + 1) * Math.sin(w * f + x * 2) + 1) / 2;
        if (next() > (0.08 + noise * noise * 1.3) * (1.15 - r))
            continue;
        put(out, x * size.x, y * size.y, w * size.z, Math.min(1, noise * 0.7 + r * 0.4), next());
    }
    return out;
}
