import type { SemanticToolEnvelope } from "@satchel/prp";
import { makeToken, type Running, startCommand, startServe } from "./harness.js";

/*
 * Processes that are killed, and the clients that call through them. A client's call ends with an answer, or with
 * undefined when its process was gone before the answer came.
 */

export interface Answered {
  content: Record<string, unknown> & { error?: { code: string } };
  receipt: SemanticToolEnvelope | undefined;
}

export interface CallRequest {
  name: string;
  arguments: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

type Call = (request: CallRequest) => Promise<Answered | undefined>;

/** One process that can be killed and started again, and its clients. */
export interface Ship {
  clients: { name: string; call: Call }[];
  isUp: boolean;
  /** How many calls it answered since it was started. */
  answered: number;
  /** Settles when it answers again after it was killed. */
  up: Promise<void>;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Ends it as a client does that has no more to ask. */
  end(): Promise<void>;
}

interface Message {
  id?: number;
  result?: { structuredContent?: Answered["content"]; _meta?: Record<string, unknown> };
}

function toAnswer({ result }: Message): Answered {
  if (!result?.structuredContent) throw new Error("an answer without structured content");
  return {
    content: result.structuredContent,
    receipt: result._meta?.["dev.satchel/receipt"] as SemanticToolEnvelope | undefined,
  };
}

/** What every ship does alike; `begin` starts the process and settles when it answers. */
function makeShip(
  clients: Ship["clients"],
  { begin, end }: { begin(): Promise<Running>; end(running: Running): unknown },
): Ship {
  let running: Running | undefined;
  let settleUp = () => {};
  const ship: Ship = {
    clients,
    isUp: false,
    answered: 0,
    up: Promise.resolve(),
    async start() {
      running = await begin();
      ship.answered = 0;
      ship.isUp = true;
      settleUp();
    },
    async kill() {
      ship.isUp = false;
      ship.up = new Promise((resolve) => {
        settleUp = resolve;
      });
      running?.child.kill("SIGKILL");
      await running?.exit;
    },
    async end() {
      await ship.up;
      if (running) end(running);
      await running?.exit;
    },
  };
  return ship;
}

/** A `satchel mcp` with one client. */
export function stdioShip(data: string, name: string): Ship {
  let session: ReturnType<typeof openSession> | undefined;
  const call: Call = async (request) => session?.ask("tools/call", { ...request }).then((it) => it && toAnswer(it));
  return makeShip([{ name, call }], {
    async begin() {
      session = openSession(startCommand(["mcp", "--data", data, "--client", `client:${name}`]));
      const clientInfo = { name: "crash", version: "0" };
      const asked = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
      if (!(await session.ask("initialize", asked))) throw new Error(`it did not start: ${session.running.stderr()}`);
      session.send({ method: "notifications/initialized" });
      return session.running;
    },
    end: ({ child }) => child.stdin.end(),
  });
}

/** JSON-RPC over the standard input and output of a process. */
function openSession(running: Running) {
  const waiting = new Map<number, (message: Message | undefined) => void>();
  const decoder = new TextDecoder();
  let rest = "";
  let asked = 0;
  running.child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const message of lines.map((line) => JSON.parse(line) as Message)) waiting.get(message.id ?? -1)?.(message);
  });
  let isGone = false;
  void running.exit.then(() => {
    isGone = true;
    for (const settle of waiting.values()) settle(undefined);
  });
  const send = (message: object) => running.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method: string, params: object) =>
    new Promise<Message | undefined>((resolve) => {
      const id = asked++;
      if (isGone) resolve(undefined);
      waiting.set(id, (message) => {
        waiting.delete(id);
        resolve(message);
      });
      send({ id, method, params });
    });
  return { running, send, ask };
}

/** A `satchel serve` with a client for each name. */
export async function serveShip(data: string, names: string[]): Promise<Ship> {
  let origin = "";
  const scopes = "profile.core:read profile.core:write memory:read memory:write memory:propose";
  const clients: Ship["clients"] = [];
  for (const name of names) {
    const token = await makeToken(data, scopes, ["--client", `client:${name}`]);
    clients.push({ name, call: (request) => post(`${origin}/mcp`, token, request) });
  }
  return makeShip(clients, {
    async begin() {
      const served = await startServe(data);
      ({ origin } = served);
      return served;
    },
    end: ({ child }) => child.kill("SIGTERM"),
  });
}

let posted = 0;

async function post(url: string, token: string, params: CallRequest): Promise<Answered | undefined> {
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
    Authorization: `Bearer ${token}`,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: ++posted, method: "tools/call", params });
  const answer = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
  const text = await answer?.text().catch(() => undefined);
  if (text === undefined || text === "") return undefined;
  const line = text.startsWith("{") ? text : /^data: (\{.*\})$/m.exec(text)?.[1];
  return line === undefined ? undefined : toAnswer(JSON.parse(line));
}
