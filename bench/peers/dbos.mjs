/*
 * dbos.mjs - the peer of portarium's gated runs: DBOS Transact, durable workflows in PostgreSQL.
 * Each workflow waits for a decision (DBOS.recv) and then performs one step. It is started, decided
 * and awaited, by as many callers at once as are asked for.
 *
 *     node dbos.mjs DATABASE NAME CALLERS
 *
 * It prints `ready`; each line of standard input with a number runs so many workflows, and is
 * answered by how many milliseconds they took.
 */
import { createInterface } from "node:readline";
import { DBOS } from "@dbos-inc/dbos-sdk";

const [database, name, callers] = process.argv.slice(2);
const write = console.log;
console.log = console.error; /* what the library has to say is no answer */

const gated = DBOS.registerWorkflow(
  async (n) => {
    const decision = await DBOS.recv("decision", 60);
    if (decision !== "Approved") throw new Error("not approved");
    return DBOS.runStep(async () => n, { name: "one" });
  },
  { name: "gated" },
);

DBOS.setConfig({ name: "bench", systemDatabaseUrl: database, runAdminServer: false, logLevel: "error", executorID: name });
await DBOS.launch();
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
