/*
 * portarium.mjs - the peer of portarium's starts of runs: Express and the official TypeScript SDK,
 * one process, node:sqlite, written as one would: each start checks its token and its workflow and
 * writes the run, its action, the evidence, the event and the head of the workspace in one
 * transaction, with synchronous=FULL. It performs no run. Needs Node.js 22.
 *
 *     node portarium.mjs PORT DATABASE      a database that portarium has made
 */
import { createHash, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { serve } from "./serve.mjs";

const db = new DatabaseSync(process.argv[3]);
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
const sql = {
  token: db.prepare("SELECT workspace, subject FROM api_tokens WHERE hash = ? AND revoked_at IS NULL"),
  head: db.prepare("SELECT evidence_seq, evidence_hash, event_seq FROM heads WHERE workspace = ?"),
  workflow: db.prepare("SELECT json FROM workflows WHERE workspace = ? AND id = ?"),
  run: db.prepare(
    "INSERT INTO runs (workspace, id, revision, created_at, json, hidden, status, workflow_id, due_at) VALUES (?, ?, 1, ?, ?, ?, 'Pending', ?, 0)",
  ),
  action: db.prepare(
    "INSERT INTO run_actions (workspace, id, revision, created_at, json, run_id, ord, state) VALUES (?, ?, 1, ?, ?, ?, 1, 'Pending')",
  ),
  evidence: db.prepare(
    "INSERT INTO evidence (workspace, seq, id, occurred_at, category, run_id, hash, json) VALUES (?, ?, ?, ?, 'Action', ?, ?, ?)",
  ),
  event: db.prepare(
    "INSERT INTO outbox (workspace, seq, type, kind, aggregate, run_id, json, created_at) VALUES (?, ?, 'RunStarted', 'run', ?, ?, ?, ?)",
  ),
  move: db.prepare("UPDATE heads SET evidence_seq = ?, evidence_hash = ?, evidence_at = ?, event_seq = ? WHERE workspace = ?"),
};

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** A transaction; the rows are those of portarium. */
function start(workspace, workflowId, parameters, subject) {
  const head = sql.head.get(workspace);
  const workflow = JSON.parse(sql.workflow.get(workspace, workflowId).json);
  const runId = `run-${randomUUID()}`, correlationId = randomUUID(), now = Date.now(), at = new Date(now).toISOString();
  const run = {
    schemaVersion: 1, runId, workspaceId: workspace, workflowId, workflowVersion: workflow.version, correlationId,
    executionTier: workflow.executionTier, initiatedByUserId: subject, status: "Pending", createdAtIso: at, parameters,
  };
  sql.run.run(workspace, runId, now, JSON.stringify(run), '{"initiator":{"roles":["operator"]}}', workflowId);
  for (const { actionId, order } of workflow.actions) {
    const action = { actionId, runId, order, state: "Pending", attempt: 0 };
    sql.action.run(workspace, `${runId}/${actionId}`, now, JSON.stringify(action), runId);
  }
  const entry = {
    actor: { kind: "User", userId: subject }, category: "Action", correlationId, evidenceId: `ev-${randomUUID()}`, links: { runId },
    occurredAtIso: at, previousHash: head.evidence_hash, schemaVersion: 1, summary: `Run of workflow ${workflowId} started`, workspaceId: workspace,
  };
  const hash = sha256(JSON.stringify(entry));
  sql.evidence.run(workspace, head.evidence_seq + 1, entry.evidenceId, now, runId, hash, JSON.stringify({ ...entry, hashSha256: hash }));
  const eventId = `evt-${randomUUID()}`;
  const event = {
    specversion: "1.0", id: eventId, source: "portarium://peer", type: "com.portarium.run.RunStarted", subject: `runs/${runId}`, time: at,
    datacontenttype: "application/json", tenantid: workspace, correlationid: correlationId, runid: runId,
    data: { schemaVersion: 1, eventId, eventType: "RunStarted", aggregateKind: "run", aggregateId: runId, occurredAtIso: at, workspaceId: workspace, correlationId, actorUserId: subject },
  };
  sql.event.run(workspace, head.event_seq + 1, runId, runId, JSON.stringify(event), now);
  sql.move.run(head.evidence_seq + 1, hash, now, head.event_seq + 1, workspace);
  return { runId, workspaceId: workspace, workflowId, status: "Pending" };
}

function startDurably(...given) {
  db.exec("BEGIN IMMEDIATE");
  try {
    const run = start(...given);
    db.exec("COMMIT");
    return run;
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

function register(server) {
  server.registerTool(
    "portarium_run_start",
    {
      description: "Starts a run of a workflow.",
      inputSchema: { workspaceId: z.string(), workflowId: z.string(), input: z.record(z.string(), z.unknown()).optional() },
    },
    ({ workspaceId, workflowId, input }, { requestInfo }) => {
      const token = sql.token.get(sha256(requestInfo.headers.authorization.slice("Bearer ".length)));
      if (token?.workspace !== workspaceId) return { isError: true, content: [{ type: "text", text: "denied" }] };
      return { content: [{ type: "text", text: JSON.stringify(startDurably(workspaceId, workflowId, input ?? {}, token.subject)) }] };
    },
  );
}

serve(Number(process.argv[2]), "portarium", register);
