/*
 * serve.mjs - what the peers over Streamable HTTP have alike: Express, and the official TypeScript
 * SDK with a transport a session, answering in JSON as it can.
 */
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";

/** Serve /mcp with the tools that `register` gives to each session's server. Returns the Express
 *  application, for routes of its own. */
export function serve(port, name, register) {
  const app = express();
  const transports = new Map();
  app.use(express.json({ limit: "64mb" }));
  app.post("/mcp", async (request, response) => {
    let transport = transports.get(request.headers["mcp-session-id"]);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (id) => transports.set(id, transport),
      });
      const server = new McpServer({ name, version: "1.0.0" });
      register(server);
      await server.connect(transport);
    }
    await transport.handleRequest(request, response, request.body);
  });
  /* Clients are idle while the others are measured; Node.js would disconnect them after 5 s. */
  app.listen(port, "127.0.0.1").keepAliveTimeout = 600_000;
  return app;
}
