/*
 * universe.mjs - the peer of the server universe: Express and the official TypeScript SDK, one
 * process, states in memory, written as one would. The reducers are pure: each makes a new state.
 * It knows the commands that we measure; what a command came to is answered as ours does, the whole
 * state unless `return` says less.
 *
 *     node universe.mjs PORT
 */
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { z } from "zod";

const universes = new Map();

const reducers = {
  tick: (state, { dt }) => [{ ...state, time: state.time + dt }, []],
  updateStar: (state, { id, payload }) => {
    const star = state.stars[id];
    if (!star) return [state, [{ type: "starNotFound", id }]];
    const stars = { ...state.stars, [id]: { ...star, ...payload } };
    return [{ ...state, stars }, [{ type: "starUpdated", id }]];
  },
};

/** @returns {{universe: object, events: object[]}} or null: there is no such universe */
function send(id, command) {
  const universe = universes.get(id);
  if (!universe) return null;
  const reduce = reducers[command.type];
  if (!reduce) return { universe, events: [{ type: "invalidCommand" }] };
  const [state, events] = reduce(universe.state, command);
  universe.state = state;
  universe.version++;
  return { universe, events };
}

function answer({ universe, events }, how, command) {
  const { state, version } = universe;
  if (how === "minimal") return { version, time: state.time, events };
  if (how === "delta") {
    const stars = command.id ? { [command.id]: state.stars[command.id] } : {};
    return { version, time: state.time, events, delta: { stars } };
  }
  return { nextState: state, events };
}

const text = (value) => [{ type: "text", text: JSON.stringify(value) }];

function tools() {
  const server = new McpServer({ name: "universe", version: "1.0.0" });
  server.registerTool(
    "send_universe_command",
    {
      description: "Sends a command to a universe.",
      inputSchema: {
        universeId: z.string(),
        command: z.object({ type: z.string() }).passthrough(),
        return: z.string().optional(),
      },
    },
    ({ universeId, command, return: how }) => {
      const sent = send(universeId, command);
      if (!sent) return { isError: true, content: text({ error: "Universe not found", universeId }) };
      return { content: text(answer(sent, how, command)) };
    },
  );
  return server;
}

const app = express();
const transports = new Map();
app.use(express.json({ limit: "64mb" }));

app.post("/universes", (request, response) => {
  const { id, name, state } = request.body;
  universes.set(id, { name, state, version: 0 });
  response.status(201).json({ id, name });
});

app.post("/universes/:id/commands", (request, response) => {
  const sent = send(request.params.id, request.body);
  if (!sent) return response.status(404).json({ error: "Universe not found" });
  return response.json(answer(sent, request.query.return, request.body));
});

app.post("/mcp", async (request, response) => {
  let transport = transports.get(request.headers["mcp-session-id"]);
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    await tools().connect(transport);
  }
  await transport.handleRequest(request, response, request.body);
});

/* Clients are idle while the other servers are measured; Node.js would disconnect them after 5
 * s. */
app.listen(Number(process.argv[2]), "127.0.0.1").keepAliveTimeout = 600_000;
