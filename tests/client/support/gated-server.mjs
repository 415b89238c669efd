/*
 * gated-server.mjs - an MCP server behind the gate of portarium: the official SDK over stdio.
 *
 * Each call is a line of the file that EFFECTS names, so that tests count what has happened.
 * write_slow answers when there is a file of that name with ".go" behind it, read_progress when
 * there is one with ".seen".
 */
import fs from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "gated", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });
const object = { type: "object", properties: { text: { type: "string" } } };
const sum = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
const tools = [
  { name: "read_note", title: "Read", description: "Reads.", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "write_note", inputSchema: object, annotations: { readOnlyHint: true } },
  { name: "delete_all", inputSchema: object },
  { name: "read_sum", inputSchema: object, outputSchema: sum },
  { name: "read_wrong", inputSchema: object, outputSchema: sum },
  { name: "read_failing", inputSchema: object },
  { name: "read_huge", inputSchema: object },
  { name: "write_large", inputSchema: object },
  { name: "read_hanging", inputSchema: object },
  { name: "write_dying", inputSchema: object },
  { name: "read_more", inputSchema: object },
  { name: "write_slow", inputSchema: object },
  { name: "read_rich", inputSchema: object },
  { name: "read_rich_failing", inputSchema: object },
  { name: "read_progress", inputSchema: object, _meta: { "causeway/scopes": "never", own: 1 } },
  { name: "write_secret", inputSchema: { type: "object", properties: { user: { type: "string" }, login: { type: "object", properties: { pin: { type: "string", writeOnly: true } } } } } },
  { name: "read-note", inputSchema: object },
  { name: "read_as_task", inputSchema: object, execution: { taskSupport: "required" } },
  { name: "read_untyped", inputSchema: object },
  { name: "read_null", title: null, description: null, inputSchema: object, outputSchema: null, annotations: { title: null, readOnlyHint: true },
    icons: null, _meta: null },
  { name: "read_broken", inputSchema: { type: "object", properties: { a: { type: "no such type" } } } },
];

const rich = {
  content: [{ type: "text", text: "three" }, { type: "resource", resource: { uri: "x://1", text: "one" } }],
  structuredContent: { n: 3, list: [null, 1.5] }, _meta: { "example.com/trace": "t-1" },
};
const exists = async (end) => {
  while (!fs.existsSync(process.env.EFFECTS + end))
    await new Promise((done) => setTimeout(done, 20));
};
const text = (what) => ({ content: [{ type: "text", text: what }] });

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {}, _meta } }, extra) => {
  fs.appendFileSync(process.env.EFFECTS, `${name} ${JSON.stringify(given)} ${_meta?.["portarium/idempotencyKey"]} ${_meta?.traceparent ?? "untraced"}\n`);
  switch (name) {
    case "read_sum":
      return { ...text('{"sum":3}'), structuredContent: { sum: 3 } };
    case "read_wrong":
      return { ...text('{"sum":"x"}'), structuredContent: { sum: "x" } };
    case "read_failing":
      return { ...text("no such note"), isError: true };
    case "read_huge":
      return text("x".repeat(20 * 2 ** 20));
    case "write_large":
      return text("x".repeat(64 * 2 ** 10 + 1));
    case "read_hanging":
      return new Promise(() => {});
    case "read_untyped": /* written directly: the SDK would refuse it */
      process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: extra.requestId, result: { content: [{ type: "text", text: 5 }] } })}\n`);
      return new Promise(() => {});
    case "write_dying":
      process.exit(3);
    case "write_slow":
      await exists(".go");
      return text("slow");
    case "read_rich":
      return rich;
    case "read_rich_failing":
      return { ...rich, isError: true };
    case "read_progress":
      for (const progress of [1, 2])
        await extra.sendNotification({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress } });
      await exists(".seen");
      return text("progressed");
    case "write_secret":
      return text(`${given.user} ${given.login.pin}`);
    case "read_more":
      tools.push({ name: "read_new", inputSchema: object });
      await server.sendToolListChanged();
      return text("more");
    default:
      return { content: [{ type: "text", text: `${name}: ${given.text}` }, { type: "image", data: "iVBORw==", mimeType: "image/png" }] };
  }
});
await server.connect(new StdioServerTransport());
