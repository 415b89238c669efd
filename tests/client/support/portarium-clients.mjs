/*
 * portarium-clients.mjs - official clients of a plane, over each transport.
 */
import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';

import { program } from '../portarium-rest.mjs';

/** The client's WebSocket sends no token; this one does, and is gone after the connection. */
function withToken(token) {
    const Plain = globalThis.WebSocket;
    globalThis.WebSocket = class extends Plain {
        constructor(url, protocols) {
            super(url, { protocols, headers: { Authorization: `Bearer ${token}` } });
        }
    };
    return () => { globalThis.WebSocket = Plain; };
}

const headers = (token) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });
const MAKERS = {
    stdio: (self, token, args) => new StdioClientTransport({
        command: program, args: ['mcp', 'serve', '--db', self.db, ...args], stderr: 'ignore',
        env: { ...process.env, PORTARIUM_TOKEN: token },
    }),
    http: (self, token) => new StreamableHTTPClientTransport(new URL('/mcp', self.base), headers(token)),
    sse: (self, token) => new SSEClientTransport(new URL('/sse', self.base), {
        ...headers(token),
        eventSourceInit: { fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }) },
    }),
    ws: (self) => new WebSocketClientTransport(new URL('/ws', self.base.replace('http', 'ws'))),
};

export const TRANSPORTS = Object.keys(MAKERS);

/** A client that has met the server; over stdio of a process of its own on the same database. */
export async function connect(kind, self, token, ...args) {
    const restore = kind === 'ws' ? withToken(token) : () => {};
    const client = new Client({ name: 'test', version: '1' });
    try {
        await client.connect(MAKERS[kind](self, token, args));
    } finally {
        restore();
    }
    return client;
}

/** The result of a call that is answered, read as JSON. */
export async function call(client, name, args, meta) {
    const result = await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) });
    assert.ok(!result.isError, JSON.stringify(result));
    return JSON.parse(result.content[0].text);
}

/** The JSON-RPC error of a call. */
export async function failure(client, name, args) {
    try {
        await client.callTool({ name, arguments: args });
    } catch (error) {
        return error;
    }
    return assert.fail(`${name} was answered`);
}
