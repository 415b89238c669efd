/*
 * feed.js - the list of the newest events.
 *
 * Events wait until the next frame. Of a flood only those are drawn that the list keeps. Ticks in a
 * row share one line.
 */
import { commandWords } from '../words.js';

const KEPT = 60;

export class Feed {
    #waiting = [];
    #last = null;
    #commands = new WeakMap();

    /** @param nameOf gives the name of a body or group, or undefined */
    constructor(element, nameOf) {
        Object.assign(this, { element, nameOf });
        element.addEventListener('pointerover', ({ target }) => {
            if (this.#commands.has(target) && !target.title)
                target.title = JSON.stringify(this.#commands.get(target)).slice(0, 600);
        });
    }

    clear() {
        this.element.replaceChildren();
        this.#last = null;
        this.#waiting = [];
    }

    add(version, command) {
        this.#waiting.push({ version, command });
        if (this.#waiting.length > 2 * KEPT)
            this.#waiting = this.#waiting.slice(-KEPT);
    }

    /** Once a frame. */
    draw() {
        if (this.#waiting.length === 0)
            return;
        this.#waiting.slice(-KEPT).forEach(({ version, command }) => this.#draw(version, command));
        this.#waiting = [];
        while (this.element.children.length > KEPT)
            this.element.lastChild.remove();
    }

    #draw(number, command) {
        const last = this.#last;
        if (command.type === 'tick' && last?.type === 'tick') {
            last.count++;
            last.words.textContent = `tick × ${last.count}`;
            last.version.textContent = `v${number}`;
            return;
        }
        const item = document.createElement('li'), words = document.createElement('b'), version = document.createElement('span');
        words.textContent = commandWords(command, this.nameOf);
        version.textContent = `v${number}`;
        item.append(words, version);
        this.element.prepend(item);
        this.#commands.set(words, command);
        this.#last = { type: command.type, count: 1, words, version };
    }
}
