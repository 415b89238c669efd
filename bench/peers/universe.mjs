/*
 * universe.mjs - the peer of the server universe: Express and the official TypeScript SDK, one
 * process, states in memory, written as one would. The reducers are pure: each makes a new state.
 * It knows the commands that we measure; what a command came to is answered as ours does, the whole
 * state unless `return` says less.
 *
 *     node universe.mjs PORT
 */
import { z } from "zod";
import { serve } from "./serve.mjs";

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

function register(server) {
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
}

const app = serve(Number(process.argv[2]), "universe", register);

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
