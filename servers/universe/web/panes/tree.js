/*
 * tree.js - the hierarchy as a list of rows, and the search in it.
 *
 * Only the rows that can be seen exist as elements. The tree itself has the focus, and
 * aria-activedescendant names the active row: a hundred thousand rows are one stop of the Tab key.
 * What the viewer does shows at once. What the stream changed is collected in small steps, one in
 * each frame.
 */
import { typeOf } from '../kinds.js';
import { kindName } from '../words.js';

const SPARE = 6, FOUND_MAX = 1000, BREATH = 256, DEPTH_MAX = 64;
const ROW = 26, ROW_TOUCH = 44; /* CSS pixels; style.css has the same two heights */
const whole = new Intl.NumberFormat('en');

function counted(count, one, many) {
    return `${whole.format(count)} ${count === 1 ? one : many}`;
}

export class Tree {
    /** @param on {choose(id), visit(id)} */
    constructor(element, found, model, on) {
        Object.assign(this, { element, found, model, on });
        this.inner = element.querySelector('.all');
        this.open = new Set();
        this.rows = [];
        this.pool = [];
        this.active = 0;
        this.chosen = null;
        this.query = '';
        this.kind = '';
        this.coarse = matchMedia('(pointer: coarse)');
        this.coarse.addEventListener('change', () => { this.isStale = true; this.refresh(); });
        this.isStale = true;
        this.isNew = true;
        this.gathering = null;
        this.rogues = new Set();
        model.listen((change) => {
            if (change.reset) {
                this.open.clear();
                this.isNew = true;
                this.rogues.clear();
            }
            this.#noteRogues(change.reset ? model.stars.keys() : change.changed.stars ?? []);
            if (change.reset || change.roots || change.changed.stars || change.changed.groups)
                this.isStale = true;
        });
        element.addEventListener('scroll', () => this.paint(), { passive: true });
        element.addEventListener('keydown', (event) => this.#key(event));
        element.addEventListener('click', (event) => this.#click(event));
        element.addEventListener('dblclick', (event) => {
            const row = this.#rowOf(event);
            if (row && !row.isGroup)
                on.visit(row.id);
        });
        new ResizeObserver(() => this.paint()).observe(element);
    }

    get rowHeight() {
        return this.coarse.matches ? ROW_TOUCH : ROW;
    }

    get #searches() {
        return this.query !== '' || this.kind !== '';
    }

    /** Begin to collect the rows again if something changed. Called a few times a second. */
    begin() {
        if (this.isStale && !this.gathering)
            this.#gather();
    }

    /** Continue to collect, until `deadline` (of performance.now). */
    work(deadline) {
        while (this.gathering) {
            const { done, value } = this.gathering.next();
            if (done)
                this.#take(value);
            else if (performance.now() >= deadline)
                break;
        }
    }

    /** At once. */
    refresh() {
        if (!this.isStale)
            return;
        this.#gather();
        this.work(Infinity);
    }

    #gather() {
        this.isStale = false;
        if (this.isNew && this.model.stars.size > 0) {
            this.isNew = false;
            if (this.model.rootIds.length + this.model.rootGroupIds.length === 1)
                this.open.add(this.model.rootGroupIds[0] ?? this.model.rootIds[0]);
        }
        this.gathering = this.#searches ? this.#search() : this.#walk();
    }

    #take(rows) {
        this.gathering = null;
        this.rows = rows;
        this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
        this.inner.style.height = `${this.rows.length * this.rowHeight + 8}px`;
        this.#say();
        this.paint();
    }

    /* A rogue planet without a parent is no root of a system. Rogues are listed after the
     * systems. */
    #noteRogues(ids) {
        for (const id of ids) {
            const star = this.model.stars.get(id);
            if (star?.isRoguePlanet && star.parentId === null)
                this.rogues.add(id);
            else
                this.rogues.delete(id);
        }
    }

    #say() {
        const { stars } = this.model;
        this.found.textContent = this.#searches
            ? `${whole.format(this.rows.length)}${this.rows.length === FOUND_MAX ? ' or more' : ''} found`
            : `${counted(stars.size, 'body', 'bodies')} in ${counted(this.model.rootIds.length, 'system', 'systems')}`;
    }

    /* The rows from top to bottom; yields after every few. */
    *#walk() {
        const rows = [];
        for (const [id, isGroup] of this.#roots()) {
            const stack = [{ id, isGroup, depth: 0 }];
            while (stack.length > 0) {
                const { children, ...row } = this.#row(stack.pop());
                if (children === undefined)
                    continue;
                rows.push(row);
                if (rows.length % BREATH === 0)
                    yield;
                if (!this.open.has(row.id) || row.depth >= DEPTH_MAX)
                    continue;
                for (let i = children.length - 1; i >= 0; i--) {
                    const child = children[i];
                    stack.push({ id: row.isGroup ? child.id : child, isGroup: child.type === 'group', depth: row.depth + 1 });
                }
            }
        }
        return rows;
    }

    /* Groups, then the systems that are in none, then rogues. */
    *#roots() {
        const { model } = this, grouped = new Set();
        for (const item of model.groups.values()) {
            for (const child of item.children ?? [])
                grouped.add(child.id);
        }
        for (const id of model.rootGroupIds)
            yield [id, true];
        for (const id of model.rootIds) {
            if (!grouped.has(id))
                yield [id, false];
        }
        for (const id of this.rogues)
            yield [id, false];
    }

    #row({ id, isGroup, depth }) {
        const item = (isGroup ? this.model.groups : this.model.stars).get(id);
        if (!item)
            return {};
        const children = item.children ?? [];
        return { id, depth, name: item.name, color: item.color, size: children.length, isGroup, children };
    }

    *#search() {
        const rows = [], wanted = this.query.toLowerCase();
        let seen = 0;
        for (const star of this.model.stars.values()) {
            if (++seen % BREATH === 0)
                yield;
            const kind = typeOf(star);
            if ((this.kind !== '' && kind !== this.kind) || !(star.name?.toLowerCase().includes(wanted) || star.id === this.query))
                continue;
            rows.push({ id: star.id, depth: 0, name: star.name, color: star.color, size: 0, ...this.#whereIs(star, kind) });
            if (rows.length === FOUND_MAX)
                break;
        }
        const begins = ({ name }) => name?.toLowerCase().startsWith(wanted);
        return [...rows.filter(begins), ...rows.filter((row) => !begins(row))];
    }

    /* A hit says its system and its kind: many systems have a "Mercury". The title has the whole
     * way up. */
    #whereIs(star, kind) {
        const above = [];
        for (let up = this.model.stars.get(star.parentId); up && above.length < DEPTH_MAX; up = this.model.stars.get(up.parentId))
            above.push(up.name);
        const words = kindName(kind);
        return { more: above.length > 0 ? `${above.at(-1)} · ${words}` : words, way: [words, ...above].join(' · ') };
    }

    /** Show the bodies whose name contains this text, of one kind; without either the hierarchy. */
    search(text, kind = '') {
        this.query = text.trim();
        this.kind = kind;
        this.active = 0;
        this.element.scrollTop = 0;
        this.isStale = true;
        this.refresh();
    }

    /** Mark a body as the selected one, and open what is above it. */
    reveal(id) {
        this.chosen = id;
        if (id && !this.#searches) {
            const { stars } = this.model;
            for (let up = stars.get(id)?.parentId, i = 0; up && i < 64; up = stars.get(up)?.parentId, i++)
                this.open.add(up);
            this.isStale = true;
            this.refresh();
        }
        const at = this.rows.findIndex((row) => row.id === id);
        if (at >= 0) {
            this.active = at;
            this.#scrollTo(at);
        }
        this.paint();
    }

    #scrollTo(at) {
        const { element } = this, top = at * this.rowHeight, height = this.rowHeight;
        if (top < element.scrollTop)
            element.scrollTop = top;
        else if (top + height > element.scrollTop + element.clientHeight)
            element.scrollTop = top + height - element.clientHeight;
    }

    paint() {
        const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - SPARE);
        const count = Math.min(this.rows.length - first, Math.ceil(this.element.clientHeight / this.rowHeight) + 2 * SPARE);
        while (this.pool.length < count)
            this.pool.push(this.#make());
        this.pool.forEach((row, i) => {
            row.hidden = i >= count;
            if (i < count)
                this.#fill(row, first + i);
        });
        if (this.rows.length > 0)
            this.element.setAttribute('aria-activedescendant', `row-${this.active}`);
        else
            this.element.removeAttribute('aria-activedescendant');
    }

    #make() {
        const row = document.createElement('div');
        row.className = 'row';
        row.setAttribute('role', 'treeitem');
        for (const name of ['twist', 'dot', 'name', 'more']) {
            const part = document.createElement('span');
            part.className = name;
            row.append(part);
        }
        this.inner.append(row);
        return row;
    }

    #fill(row, at) {
        const item = this.rows[at], isOpen = this.open.has(item.id);
        const looks = `${at} ${item.depth} ${this.rows.length} ${item.size} ${item.color} ${item.more} ${this.rowHeight} ${at === this.active} ${item.id === this.chosen} ${isOpen} ${item.isGroup} ${item.name}`;
        if (row.looks === looks)
            return;
        row.looks = looks;
        const [twist, dot, name, more] = row.children;
        row.id = `row-${at}`;
        row.dataset.at = at;
        row.style.transform = `translateY(${at * this.rowHeight}px)`;
        row.style.paddingLeft = `${8 + Math.min(item.depth, 10) * 14}px`;
        row.setAttribute('aria-level', item.depth + 1);
        row.setAttribute('aria-posinset', at + 1);
        row.setAttribute('aria-setsize', this.rows.length);
        row.setAttribute('aria-selected', item.id === this.chosen);
        if (item.size > 0)
            row.setAttribute('aria-expanded', isOpen);
        else
            row.removeAttribute('aria-expanded');
        row.classList.toggle('active', at === this.active);
        twist.textContent = item.size > 0 ? (isOpen ? '▾' : '▸') : '';
        dot.className = item.isGroup ? 'dot group' : 'dot';
        dot.style.backgroundColor = /^#[0-9a-f]{6}$/i.test(item.color ?? '') ? item.color : '#8f98ad';
        name.textContent = item.name;
        row.title = item.way ?? '';
        more.textContent = item.more ?? (item.size > 0 ? whole.format(item.size) : '');
    }

    #rowOf(event) {
        const at = event.target.closest('.row')?.dataset.at;
        return at === undefined ? null : this.rows[Number(at)];
    }

    #click(event) {
        const row = this.#rowOf(event);
        if (!row)
            return;
        this.active = this.rows.indexOf(row);
        if (row.size > 0 && (event.target.className === 'twist' || row.isGroup))
            this.toggle(row);
        if (!row.isGroup && event.target.className !== 'twist')
            this.on.choose(row.id);
        this.paint();
    }

    toggle(row, open = !this.open.has(row.id)) {
        if (open)
            this.open.add(row.id);
        else
            this.open.delete(row.id);
        this.isStale = true;
        this.refresh();
    }

    #key(event) {
        const row = this.rows[this.active];
        if (!row || event.ctrlKey || event.metaKey || event.altKey)
            return;
        const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows.length, End: this.rows.length };
        if (moves[event.key] !== undefined) {
            this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + moves[event.key]));
        } else if (event.key === 'ArrowRight') {
            if (row.size > 0 && !this.open.has(row.id))
                this.toggle(row, true);
            else if (row.size > 0)
                this.active = Math.min(this.rows.length - 1, this.active + 1);
        } else if (event.key === 'ArrowLeft') {
            if (this.open.has(row.id) && row.size > 0)
                this.toggle(row, false);
            else
                this.active = Math.max(0, this.rows.slice(0, this.active).findLastIndex((up) => up.depth < row.depth));
        } else if (event.key === 'Enter') {
            if (row.isGroup)
                this.toggle(row);
            else if (row.id === this.chosen)
                this.on.visit(row.id);
            else
                this.on.choose(row.id);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
        this.#scrollTo(this.active);
        this.paint();
    }
}
