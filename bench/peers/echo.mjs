/*
 * echo.mjs - the peer: the official TypeScript SDK's server with the one tool that we measure, over
 * stdio.
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "1.0.0" });
server.registerTool(
  "echo",
  { description: "Returns its message.", inputSchema: { message: z.string() } },
  ({ message }) => ({ content: [{ type: "text", text: message }] }),
);
await server.connect(new StdioServerTransport());
