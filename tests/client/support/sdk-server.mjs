/*
 * sdk-server.mjs - a server of the official TypeScript SDK, for the client in kit/client.
 *
 * usage: node sdk-server.mjs stdio | http        http prints the port that it listens on
 */
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const schema = { type: "object", properties: { text: { type: "string" } } };
const pages = { "": ["greet", "change"], 2: ["last"] };

function makeServer() {
  const server = new Server({ name: "sdk", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });

  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => ({
    tools: pages[params?.cursor ?? ""].map((name) => ({ name, inputSchema: schema, annotations: { readOnlyHint: true } })),
    ...(params?.cursor ? {} : { nextCursor: "2" }),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    if (params._meta?.progressToken !== undefined)
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken: params._meta.progressToken, progress: 1, total: 2, message: "half" },
      });
    if (params.name === "change")
      await server.sendToolListChanged();
    return { content: [{ type: "text", text: `hello ${params.arguments?.text}` }] };
  });
  return server;
}

async function serveHttp() {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
  process.stdin.resume().on("end", () => process.exit(0));
}

if (process.argv[2] === "http")
  await serveHttp();
else
  await makeServer().connect(new StdioServerTransport());
