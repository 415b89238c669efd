/*
 * redraw.js - drawing again what a person is using. An element that is replaced between the press
 * and the release of a button loses the click, and one that had the focus loses it. So drawing
 * waits for the release; what is the same stays; and the focus goes to the element that takes the
 * place of the one that had it.
 */

/* While a button or the space bar is down: a promise of its release, and what resolves it. */
let held = null, letGo = null;

function press() {
    held ??= new Promise((done) => { letGo = done; });
}

/* The click is a part of the same task as the release. */
function release() {
    if (held)
        setTimeout(letGo);
    held = null;
}

addEventListener('pointerdown', (event) => { if (event.button === 0) press(); }, true);
addEventListener('pointermove', (event) => { if (event.buttons === 0) release(); }, true);
addEventListener('keydown', (event) => { if (event.key === ' ' && event.target.closest?.('button, input, select')) press(); }, true);
for (const type of ['pointerup', 'pointercancel', 'keyup'])
    addEventListener(type, release, true);
addEventListener('blur', release); /* of the window: that of an element does not come up to here */

/** Wait until nothing is held down. @return whether that took time, so what was built is old */
export async function released() {
    const hasWaited = held !== null;
    while (held)
        await held;
    return hasWaited;
}

/* The words of a moment change each second, and are no reason to replace what is around them. */
function isSame(old, fresh) {
    const times = fresh.querySelectorAll('time');
    old.querySelectorAll('time').forEach((time, i) => {
        if (times[i] && time.dateTime === times[i].dateTime && time.textContent !== times[i].textContent)
            time.textContent = times[i].textContent;
    });
    return old.isEqualNode(fresh);
}

/* How an element is found again among new ones. */
function selectorOf(element) {
    const name = ['name', 'href', 'data-key', 'data-path'].find((one) => element.getAttribute(one));
    return name ? `${element.localName}[${name}="${CSS.escape(element.getAttribute(name))}"]` : element.localName;
}

function focusAgain(where, old) {
    const field = [...where.querySelectorAll(selectorOf(old))].find((one) => one.localName !== 'button' || one.textContent === old.textContent);
    field?.focus({ preventScroll: true });
    if (field?.setSelectionRange && Number.isInteger(old.selectionStart))
        field.setSelectionRange(old.selectionStart, old.selectionEnd);
}

/** Show these elements in `where`, unless they are there already. */
export function show(where, ...elements) {
    const fresh = where.cloneNode(false), focused = where.contains(document.activeElement) && document.activeElement !== where ? document.activeElement : null;
    fresh.append(...elements.flat().filter(Boolean));
    if (isSame(where, fresh))
        return;
    where.replaceChildren(...fresh.childNodes);
    if (focused)
        focusAgain(where, focused);
}
