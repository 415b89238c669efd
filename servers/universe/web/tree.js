/*
 * tree.js - the hierarchy as a list of rows of which only those in sight exist, and the search in it.
 *
 * One element has the focus, the tree itself; the active row is named by aria-activedescendant, so a hundred thousand
 * rows need no hundred thousand stops of the Tab key.
 */
const ROW = 26, SPARE = 6, FOUND_MAX = 1000;

function counted(count, one, many) {
    return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
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
        this.isStale = true;
        this.isNew = true;
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

    /** At most a few times a second. */
    refresh() {
        if (!this.isStale)
            return;
        this.isStale = false;
        if (this.isNew && this.model.stars.size > 0) {
            this.isNew = false;
            if (this.model.rootIds.length + this.model.rootGroupIds.length === 1)
                this.open.add(this.model.rootGroupIds[0] ?? this.model.rootIds[0]);
        }
        this.rows = this.query ? this.#search() : this.#walk();
        this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
        this.inner.style.height = `${this.rows.length * ROW + 8}px`;
        this.#say();
        this.paint();
    }

    /* Rogues without a parent are no roots of systems, and are listed after them. */
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
        this.found.textContent = this.query
            ? `${this.rows.length}${this.rows.length === FOUND_MAX ? ' or more' : ''} found`
            : `${counted(stars.size, 'body', 'bodies')} in ${counted(this.model.rootIds.length, 'system', 'systems')}`;
    }

    #walk() {
        const { model } = this, rows = [], grouped = new Set();
        const body = (id, depth) => {
            const star = model.stars.get(id);
            if (!star)
                return;
            const children = star.children ?? [];
            rows.push({ id, depth, name: star.name, color: star.color, size: children.length });
            if (this.open.has(id) && depth < 64)
                children.forEach((child) => body(child, depth + 1));
        };
        const group = (id, depth) => {
            const item = model.groups.get(id);
            if (!item || depth > 64)
                return;
            const children = item.children ?? [];
            rows.push({ id, depth, name: item.name, color: item.color, size: children.length, isGroup: true });
            if (this.open.has(id))
                children.forEach((child) => (child.type === 'group' ? group : body)(child.id, depth + 1));
        };
        for (const item of model.groups.values()) {
            for (const child of item.children ?? [])
                grouped.add(child.id);
        }
        model.rootGroupIds.forEach((id) => group(id, 0));
        for (const id of model.rootIds) {
            if (!grouped.has(id))
                body(id, 0);
        }
        for (const id of this.rogues)
            body(id, 0);
        return rows;
    }

    #search() {
        const rows = [], wanted = this.query.toLowerCase();
        for (const star of this.model.stars.values()) {
            if (star.name?.toLowerCase().includes(wanted) || star.id === this.query) {
                rows.push({ id: star.id, depth: 0, name: star.name, color: star.color, size: 0, kind: star.bodyType });
                if (rows.length === FOUND_MAX)
                    break;
            }
        }
        return rows;
    }

    search(text) {
        this.query = text.trim();
        this.active = 0;
        this.element.scrollTop = 0;
        this.isStale = true;
        this.refresh();
    }

    /** Show a body as the chosen one, its ancestors open. */
    reveal(id) {
        this.chosen = id;
        if (id && !this.query) {
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
        const { element } = this, top = at * ROW;
        if (top < element.scrollTop)
            element.scrollTop = top;
        else if (top + ROW > element.scrollTop + element.clientHeight)
            element.scrollTop = top + ROW - element.clientHeight;
    }

    paint() {
        const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - SPARE);
        const count = Math.min(this.rows.length - first, Math.ceil(this.element.clientHeight / ROW) + 2 * SPARE);
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
        const item = this.rows[at], [twist, dot, name, more] = row.children;
        row.id = `row-${at}`;
        row.dataset.at = at;
        row.style.transform = `translateY(${at * ROW}px)`;
        row.style.paddingLeft = `${8 + Math.min(item.depth, 10) * 14}px`;
        row.setAttribute('aria-level', item.depth + 1);
        row.setAttribute('aria-posinset', at + 1);
        row.setAttribute('aria-setsize', this.rows.length);
        row.setAttribute('aria-selected', item.id === this.chosen);
        if (item.size > 0)
            row.setAttribute('aria-expanded', this.open.has(item.id));
        else
            row.removeAttribute('aria-expanded');
        row.classList.toggle('active', at === this.active);
        twist.textContent = item.size > 0 ? (this.open.has(item.id) ? '▾' : '▸') : '';
        dot.className = item.isGroup ? 'dot group' : 'dot';
        dot.style.backgroundColor = /^#[0-9a-f]{6}$/i.test(item.color ?? '') ? item.color : '#8f98ad';
        name.textContent = item.name;
        more.textContent = item.kind ?? (item.size > 0 ? item.size.toLocaleString('en') : '');
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
        const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
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
