import { startCommand } from "./harness.js";

/** JSON-RPC lines to and from a `satchel mcp` process. */
export function startSession(data: string, more: string[] = []) {
  const session = startCommand(["mcp", "--data", data, ...more]);
  const send = (message: unknown) =>
    session.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n`);
  const lines = () => session.stdout().split("\n").slice(0, -1);
  const answers = () => lines().map((line) => JSON.parse(line) as { id?: number; result?: { isError?: boolean } });
  const until = async (id: number) => {
    while (!answers().some((answer) => answer.id === id)) {
      if (session.child.exitCode !== null || session.child.signalCode !== null)
        throw new Error(`ended: ${session.stderr()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  send({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } },
  });
  send({ method: "notifications/initialized" });
  const write = (id: number, path: string, body: string) =>
    send({ id, method: "tools/call", params: { name: "memory_write", arguments: { path, body } } });
  return { ...session, send, lines, answers, until, write };
}
