/*
 * text.js - texts as elements. Texts of others are never HTML, and what would be invisible or
 * would change the order of the letters around it is shown as its number.
 */

/* Controls but tab and line feed, soft hyphen, zero widths, bidirectional marks, line separators,
 * tags and variation selectors. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

function number(letter) {
    const code = letter.codePointAt(0), digits = code.toString(16);
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
}

/** A text in which everything can be seen. */
export function visible(text) {
    return String(text).replace(HIDDEN, number);
}

/** The same on one line. */
export function oneLine(text) {
    return visible(text).replace(/\n/g, '\\n').replace(/\t/g, '\\t');
}

/** JSON as a text with indents, in which everything can be seen. */
export function json(value) {
    return visible(JSON.stringify(value, null, 2) ?? '');
}

/** An element: h('p', { class: 'note', onclick }, 'text', h('b', {}, 'more'), null). */
export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else
            element.setAttribute(name, value === true ? '' : visible(value));
    }
    for (const child of children.flat()) {
        if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : visible(child));
    }
    return element;
}

/** Names and values as a list; values that are absent are left out. */
export function facts(rows) {
    return h('dl', { class: 'facts' }, rows.filter(([, value]) => value !== undefined && value !== null && value !== '')
        .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

/** A status as a coloured word. */
export function chip(word) {
    return h('span', { class: 'chip', 'data-word': word }, String(word ?? 'unknown').replace(/([a-z])([A-Z])/g, '$1 $2'));
}

/** How many there are, or of how many there are more; nothing where there is none. */
export function counted(count, more) {
    return more ? `${count}+` : count || null;
}

/** A value as JSON in a box that is never folded. */
export function box(value) {
    return h('pre', { class: 'box' }, json(value));
}

/** A moment: how long ago, and in full on hover. */
export function moment(iso) {
    const at = Date.parse(iso), seconds = Math.round((Date.now() - at) / 1000);
    if (Number.isNaN(at))
        return 'never';
    const far = Math.abs(seconds);
    const words = far < 60 ? `${far} s` : far < 3600 ? `${Math.floor(far / 60)} min` : far < 86_400 ? `${Math.floor(far / 3600)} h` : `${Math.floor(far / 86_400)} d`;
    return h('time', { datetime: iso, title: iso }, seconds < 0 ? `in ${words}` : `${words} ago`);
}
