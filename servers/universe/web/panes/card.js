/*
 * card.js - the facts of the selected body.
 */
import { typeOf } from '../kinds.js';
import { kindName, number } from '../words.js';

function orbitFacts(star) {
    const a = star.semiMajorAxis ?? star.orbitalDistance, e = star.eccentricity ?? 0;
    return [
        ['Distance', number(star.orbitalDistance)],
        a !== star.orbitalDistance && ['Semi-major axis', number(a)],
        e > 0 && ['Eccentricity', number(e)],
        ['Speed', `${number(star.orbitalSpeed)} °/s`],
        star.orbitalSpeed !== 0 && ['Period', `${number(360 / Math.abs(star.orbitalSpeed))} s`],
        e > 0 && ['Nearest, farthest', `${number(a * (1 - e))}, ${number(a * (1 + e))}`],
    ];
}

function facts(star, model) {
    const parent = model.stars.get(star.parentId), children = star.children?.length ?? 0;
    return [
        ['Mass', number(star.mass)],
        ['Radius', number(star.radius)],
        parent && ['Orbits', parent.name],
        ...(star.orbitalDistance > 0 ? orbitFacts(star) : []),
        children > 0 && ['Bodies that orbit it', children.toLocaleString('en')],
        star.ring && ['Ring', `${number(star.ring.innerRadiusMultiplier)}–${number(star.ring.outerRadiusMultiplier)} radii`],
        star.comet && ['Tail', star.comet.hasTail ? 'yes' : 'no'],
        star.blackHole && ['Spin', number(star.blackHole.spin)],
        star.lagrangePoint && ['Point', `L${star.lagrangePoint.pointIndex}, ${star.lagrangePoint.stable ? 'stable' : 'unstable'}`],
    ].filter(Boolean);
}

export class Card {
    constructor(element, model) {
        Object.assign(this, { element, model });
        this.part = (name) => element.querySelector(`#card-${name}`);
        this.id = null;
        this.drawn = null;
    }

    show(id) {
        this.id = id;
        this.drawn = null;
        this.refresh();
    }

    refresh() {
        const star = this.id === null ? null : this.model.stars.get(this.id);
        this.element.hidden = !star;
        if (!star || star === this.drawn)
            return;
        this.drawn = star;
        this.part('name').textContent = star.name;
        this.part('name').title = star.id;
        this.part('dot').style.backgroundColor = /^#[0-9a-f]{6}$/i.test(star.color) ? star.color : '';
        this.part('kind').textContent = kindName(typeOf(star));
        this.part('facts').replaceChildren(...facts(star, this.model).flatMap(([term, words]) => {
            const dt = document.createElement('dt'), dd = document.createElement('dd');
            dt.textContent = term;
            dd.textContent = words;
            return [dt, dd];
        }));
    }
}
