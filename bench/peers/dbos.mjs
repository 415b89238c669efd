/*
 * dbos.mjs - the peer of portarium's gated runs: DBOS Transact, durable workflows in PostgreSQL.
 * Each workflow waits for a decision (DBOS.recv) and then performs one step.
 *
 *     node dbos.mjs DATABASE NAME CALLERS       in this process, by as many callers at once
 *     node dbos.mjs DATABASE NAME CALLERS PORT  the same, and served to clients as portarium is
 *
 * It prints `ready`; each line of standard input with a number runs so many workflows in this
 * process, each started, told the decision at once and awaited, and is answered by how many
 * milliseconds they took.
 *
 * What it serves, by Express and the official TypeScript SDK, is what the bench asks of portarium:
 * tools that start a workflow and decide, and the run, whose answer waits until it is at its gate,
 * and then until it has ended. A client must see that it is asked, so such a workflow publishes
 * its approval (DBOS.setEvent), as DBOS's own examples of a person in the loop do. It knows no
 * tokens.
 */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { z } from "zod";
import { serve } from "./serve.mjs";

const [database, name, callers, port] = process.argv.slice(2);
const write = console.log;
console.log = console.error; /* what the library has to say is no answer */

const gate = async (n) => {
  const decision = await DBOS.recv("decision", 60);
  if (decision !== "Approved") throw new Error("not approved");
  return DBOS.runStep(async () => n, { name: "one" });
};
const gated = DBOS.registerWorkflow(gate, { name: "gated" });
const asked = DBOS.registerWorkflow(
  async (n) => {
    await DBOS.setEvent("approval", DBOS.workflowID.replace("run-", "apr-"));
    return gate(n);
  },
  { name: "asked" },
);

DBOS.setConfig({ name: "bench", systemDatabaseUrl: database, runAdminServer: false, logLevel: "error", executorID: name });
await DBOS.launch();

/* The result of a workflow of another process is found by polling, once a second; of one that was
 * started here, the handle knows it at once. Clients stay with their process. */
const handles = new Map();

const reply = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

function register(server) {
  server.registerTool(
    "portarium_run_start",
    {
      description: "Starts a run of a workflow.",
      inputSchema: { workspaceId: z.string(), workflowId: z.string(), input: z.record(z.string(), z.unknown()).optional() },
    },
    async ({ workspaceId, workflowId, input }) => {
      const runId = `run-${randomUUID()}`;
      handles.set(runId, await DBOS.startWorkflow(asked, { workflowID: runId })(input?.n));
      return reply({ runId, workspaceId, workflowId, status: "Pending" });
    },
  );
  server.registerTool(
    "portarium_approval_submit",
    {
      description: "Decides an approval.",
      inputSchema: { workspaceId: z.string(), approvalId: z.string(), decision: z.string(), comment: z.string() },
    },
    async ({ approvalId, decision }) => {
      await DBOS.send(approvalId.replace("apr-", "run-"), decision, "decision");
      return reply({ approvalId, status: decision });
    },
  );
}

if (port) {
  const app = serve(Number(port), "dbos", register);
  app.get("/v1/workspaces/:workspace/runs/:run", async (request, response) => {
    const runId = request.params.run;
    if (request.headers["if-none-match"] === '"none"') {
      const pendingApprovalId = await DBOS.getEvent(runId, "approval", Number(request.query.wait));
      response.set("ETag", '"asked"').json({ runId, status: "WaitingForApproval", pendingApprovalId });
    } else {
      const result = await (handles.get(runId) ?? DBOS.retrieveWorkflow(runId)).getResult();
      handles.delete(runId);
      response.set("ETag", '"ended"').json({ runId, status: "Succeeded", result });
    }
  });
}
write("ready");

async function runAll(count) {
  let left = count;
  const from = performance.now();
  const caller = async () => {
    while (left-- > 0) {
      const handle = await DBOS.startWorkflow(gated)(left);
      await DBOS.send(handle.workflowID, "Approved", "decision");
      await handle.getResult();
    }
  };
  await Promise.all(Array.from({ length: Number(callers) }, caller));
  return performance.now() - from;
}

for await (const line of createInterface({ input: process.stdin })) write(`${await runAll(Number(line))}`);
await DBOS.shutdown();
process.exit(0);
