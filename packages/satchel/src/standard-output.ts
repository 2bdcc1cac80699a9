import { Writable } from "node:stream";

/*
 * Over stdio nothing but MCP may go to standard output, whatever a dependency prints. Imported before every dependency,
 * so that what one prints while it is loaded goes to standard error too.
 */

const write = process.stdout.write.bind(process.stdout);

if (process.argv[2] === "mcp" && !process.argv.some((word) => word === "--help" || word === "-h")) {
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}

/** Resolves when everything written so far has left the process, or its readers have gone. */
export async function flushOutput(): Promise<void> {
  const errors = process.stderr.write.bind(process.stderr);
  await Promise.all([write, errors].map((put) => new Promise((resolve) => put("", resolve))));
}

/** Standard output itself, for the protocol. */
export function protocolOutput(): Writable {
  const output = new Writable({ write: (chunk, _encoding, done) => void write(chunk, (error) => done(error)) });
  process.stdout.on("error", (error) => output.destroy(error));
  return output;
}
