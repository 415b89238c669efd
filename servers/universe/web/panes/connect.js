/*
 * connect.js - the pane that says how an agent connects: the MCP address, and a line to copy for
 * each common client.
 */
/* in localStorage: the pane stays closed at the next visit */
const CLOSED = 'causeway.connect.closed';
const byId = (id) => document.getElementById(id);
const PLACEHOLDER = 'Bearer YOUR_TOKEN';

/** The clients: what to do with the line, and the line. @param hasToken whether the server asks for
 *  a token */
export const CLIENTS = {
    'Claude Code': {
        how: 'Run in a terminal:',
        line: (url, hasToken) => `claude mcp add --transport http universe ${url}${hasToken ? ` --header "Authorization: ${PLACEHOLDER}"` : ''}`,
    },
    'VS Code': {
        how: 'Run in a terminal:',
        line: (url, hasToken) => `code --add-mcp ${JSON.stringify(JSON.stringify({ name: 'universe', type: 'http', url, ...headers(hasToken) }))}`,
    },
    Cursor: {
        how: 'Put into ~/.cursor/mcp.json:',
        line: (url, hasToken) => JSON.stringify({ mcpServers: { universe: { url, ...headers(hasToken) } } }),
    },
};

function headers(hasToken) {
    return hasToken ? { headers: { Authorization: PLACEHOLDER } } : {};
}

function wasClosed() {
    try {
        return localStorage.getItem(CLOSED) !== null;
    } catch {
        return false; /* storage may be forbidden */
    }
}

function noteClosed() {
    try {
        localStorage.setItem(CLOSED, '1');
    } catch { /* then the pane opens again at the next visit */ }
}

/* Outside of https and of this machine there is no clipboard object. */
async function copy(element) {
    if (navigator.clipboard)
        return navigator.clipboard.writeText(element.textContent);
    getSelection().selectAllChildren(element);
    if (!document.execCommand('copy'))
        throw new Error('this browser does not let the page copy; the text is selected');
}

export class Connect {
    /** @param page {say(words, kind), attempt(task), resized()}; @param isWide whether there is
     *  room for the pane */
    constructor(page, isWide) {
        this.page = page;
        this.hasToken = false;
        byId('connect-client').append(...Object.keys(CLIENTS).map((name) => new Option(name)));
        byId('connect-client').addEventListener('change', () => this.#fill());
        byId('toggle-connect').addEventListener('click', () => this.toggle());
        byId('connect-close').addEventListener('click', () => this.toggle(false));
        for (const button of byId('connect').querySelectorAll('[data-copy]')) {
            button.addEventListener('click', () => page.attempt(async () => {
                await copy(byId(button.dataset.copy));
                page.say('Copied.', 'good');
            }));
        }
        this.#fill();
        this.#show(isWide && !wasClosed());
    }

    /** The server asks for a token: the lines have a place for it. */
    needToken() {
        this.hasToken = true;
        this.#fill();
    }

    /** Say which universe is open: an agent names it in each call. */
    setUniverse(id) {
        byId('connect-id').textContent = id === null ? '' : `The id of this universe is “${id}”.`;
    }

    /** Open the pane because there is nothing else to see. */
    offer() {
        if (!byId('connect').hidden)
            return;
        this.#show(true);
        this.page.resized();
    }

    toggle(isOpen = byId('connect').hidden) {
        if (!isOpen)
            noteClosed();
        this.#show(isOpen);
        this.page.resized();
    }

    #show(isOpen) {
        byId('connect').hidden = !isOpen;
        byId('toggle-connect').setAttribute('aria-expanded', isOpen);
    }

    #fill() {
        const url = new URL('/mcp', location.href).href, { how, line } = CLIENTS[byId('connect-client').value];
        byId('connect-address').textContent = url;
        byId('connect-how').textContent = how;
        byId('connect-line').textContent = line(url, this.hasToken);
    }
}
