/*
 * chooser.js - the list of universes: a button with the name of the open one, and a list that can
 * be searched.
 *
 * The server gives the universes newest first, in pages. While the page is visible it asks for the
 * newest few every five seconds: what is new is at the front, and what is missing between the first
 * and the last of them is gone. The rest is read when the list opens. So the cost is bounded,
 * however many universes there are.
 */
const NEWEST = 50, PAGE = 499, PAGES_MAX = 40;
const SHOWN = 100;           /* rows; a search finds the others */
const whole = new Intl.NumberFormat('en');
const byId = (id) => document.getElementById(id);

/** The known list after the newest few were read again. @returns null where the two do not meet and
 *  all must be read */
export function mergeNewest(known, newest, isAll) {
    if (isAll)
        return newest;
    const last = known.findIndex(({ id }) => id === newest.at(-1)?.id);
    return last < 0 ? null : [...newest, ...known.slice(last + 1)];
}

/** Those whose name or id contains the words; a name that begins with them comes first. */
export function matching(all, words) {
    const wanted = words.trim().toLowerCase();
    if (wanted === '')
        return all;
    const found = all.filter(({ id, name }) => name.toLowerCase().includes(wanted) || id.toLowerCase().includes(wanted));
    const begins = ({ name }) => name.toLowerCase().startsWith(wanted);
    return [...found.filter(begins), ...found.filter((item) => !begins(item))];
}

export class Chooser {
    /** @param on {chosen(id), listed(isFirst, fresh), failed(error)}: `fresh` are universes that
     *  came since the list was last read */
    constructor(api, on) {
        Object.assign(this, { api, on });
        this.all = [];
        this.isListed = false;
        this.isWhole = true;    /* false: there are more than the page reads */
        this.current = null;
        this.found = [];
        this.active = 0;
        byId('universe').addEventListener('click', () => (this.isOpen ? this.close() : this.open()));
        byId('universe').addEventListener('keydown', (event) => {
            if (event.key === 'ArrowDown' && !this.isOpen) {
                event.preventDefault();
                this.open();
            }
        });
        byId('universe-search').addEventListener('input', () => { this.active = 0; this.#draw(); });
        byId('universe-search').addEventListener('keydown', (event) => this.#key(event));
        byId('universe-list').addEventListener('click', (event) => this.#take(event.target.closest('[data-id]')?.dataset.id));
        document.addEventListener('pointerdown', (event) => {
            if (this.isOpen && !event.target.closest('.chooser'))
                this.close();
        });
        document.querySelector('.chooser').addEventListener('focusout', (event) => {
            if (this.isOpen && event.relatedTarget && !event.relatedTarget.closest('.chooser'))
                this.close();
        });
    }

    get isOpen() {
        return !byId('universes').hidden;
    }

    nameOf(id) {
        return this.all.find((item) => item.id === id)?.name ?? id;
    }

    has(id) {
        return this.all.some((item) => item.id === id);
    }

    /** A universe that this page made. */
    add({ id, name }) {
        this.all = [{ id, name }, ...this.all];
    }

    /** Say which universe is open; null: none. */
    setCurrent(id) {
        this.current = id;
        byId('universe-name').textContent = id === null ? (this.isListed && this.all.length === 0 ? 'no universe yet' : 'none') : this.nameOf(id);
        byId('universe').title = id === null ? 'Choose a universe' : `Choose a universe (this one: ${id})`;
        if (this.isOpen)
            this.#draw();
    }

    /* ---- reading ----------------------------------------------------------------------------- */

    /** Read all of the list. */
    async readAll() {
        const all = [];
        let cursor = null, pages = 0;
        do {
            const page = await this.api.list(PAGE, cursor);
            all.push(...page.records);
            cursor = page.next;
        } while (cursor && ++pages < PAGES_MAX);
        this.isWhole = cursor === null;
        this.#have(all);
    }

    /** Read the newest few; all, where that is not enough. */
    async poll() {
        const { records, next } = await this.api.list(NEWEST);
        const merged = this.isListed ? mergeNewest(this.all, records, next === null) : records;
        this.isWhole = next === null || (this.isListed && this.isWhole);
        if (merged === null)
            await this.readAll();
        else
            this.#have(merged);
    }

    #have(all) {
        const before = new Set(this.all.map(({ id }) => id)), isFirst = !this.isListed;
        const known = all.findIndex(({ id }) => before.has(id));
        const fresh = isFirst ? [] : all.slice(0, known >= 0 ? known : before.size === 0 ? all.length : 0);
        this.all = all;
        this.isListed = true;
        this.setCurrent(this.current);
        this.on.listed(isFirst, fresh);
    }

    /* ---- the list ---------------------------------------------------------------------------- */

    open() {
        byId('universes').hidden = false;
        byId('universe').setAttribute('aria-expanded', true);
        byId('universe-search').value = '';
        this.found = matching(this.all, '');
        this.active = Math.max(0, Math.min(SHOWN - 1, this.found.findIndex(({ id }) => id === this.current)));
        this.#draw();
        byId('universe-search').focus();
        this.readAll().catch((error) => this.on.failed(error));
    }

    close() {
        byId('universes').hidden = true;
        byId('universe').setAttribute('aria-expanded', false);
    }

    #take(id) {
        if (id === undefined)
            return;
        this.close();
        byId('universe').focus();
        this.on.chosen(id);
    }

    #draw() {
        this.found = matching(this.all, byId('universe-search').value);
        const shown = this.found.slice(0, SHOWN);
        this.active = Math.max(0, Math.min(shown.length - 1, this.active));
        byId('universe-list').replaceChildren(...shown.map(({ id, name }, i) => {
            const row = document.createElement('div'), words = document.createElement('span'), short = document.createElement('small');
            row.id = `universe-row-${i}`;
            row.dataset.id = id;
            row.title = id;
            row.setAttribute('role', 'option');
            row.setAttribute('aria-selected', id === this.current);
            row.classList.toggle('active', i === this.active);
            words.textContent = name;
            short.textContent = id === name ? '' : id.slice(0, 8);
            row.append(words, short);
            return row;
        }));
        if (shown.length > 0)
            byId('universe-search').setAttribute('aria-activedescendant', `universe-row-${this.active}`);
        else
            byId('universe-search').removeAttribute('aria-activedescendant');
        byId('universe-count').textContent = this.#words(shown.length);
    }

    #words(shown) {
        const all = `${whole.format(this.all.length)}${this.isWhole ? '' : ' newest'} universe${this.all.length === 1 ? '' : 's'}`;
        if (this.found.length === this.all.length && shown === this.found.length)
            return all;
        return `${whole.format(this.found.length)} of ${all}${shown < this.found.length ? `, the first ${shown} are shown` : ''}`;
    }

    #key(event) {
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
        if (event.key === 'Escape') {
            this.close();
            byId('universe').focus();
        } else if (event.key === 'Enter') {
            this.#take(this.found[this.active]?.id);
        } else if (moves[event.key] !== undefined) {
            this.active += moves[event.key];
            this.#draw();
            byId(`universe-row-${this.active}`)?.scrollIntoView({ block: 'nearest' });
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
