/*
 * echo_http.mjs - the peer over Streamable HTTP: the official TypeScript SDK's server with the two
 * tools that we measure, a transport a session, answering in JSON as it can.
 *
 *     node echo_http.mjs PORT
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const transports = new Map();

async function begin() {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Returns its message.", inputSchema: { message: z.string() } },
    ({ message }) => ({ content: [{ type: "text", text: message }] }),
  );
  server.registerTool(
    "length",
    { description: "Says how long a text is.", inputSchema: { text: z.string() } },
    ({ text }) => ({ content: [{ type: "text", text: String(text.length) }] }),
  );
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => transports.set(id, transport),
  });
  await server.connect(transport);
  return transport;
}

createServer(async (request, response) => {
  const id = request.headers["mcp-session-id"];
  const transport = id ? transports.get(id) : await begin();
  if (!transport) {
    response.writeHead(404).end();
    return;
  }
  await transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), "127.0.0.1").keepAliveTimeout = 600_000;
