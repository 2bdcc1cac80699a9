import { hasInexactNumber } from "@satchel/prp";

/** Set in `_meta` of a tool call whose numbers parsing has changed, so that the call is refused and recorded. */
const inexactKey = "dev.satchel/inexact-number";

export function holdsInexactNumber(meta: unknown): boolean {
  return (meta as Record<string, unknown> | undefined)?.[inexactKey] === true;
}

/**
 * Looks at messages before they are parsed: a number that parsing would change, such as 9007199254740993, must not reach
 * a tool as another one (journal section 1). Messages come in pieces; `push` gives back what can be passed on.
 */
export class NumberGuard {
  private held: Buffer[] = [];
  private heldBytes = 0;
  /** The message is too large to be taken and goes on as it is. */
  private isPassing = false;

  /** @param options `separator`: the byte that ends a message; without one, `end` does */
  constructor(private readonly options: { limitBytes: number; separator?: number }) {}

  push(bytes: Buffer): Buffer[] {
    const { separator } = this.options;
    const passed: Buffer[] = [];
    let from = 0;
    for (;;) {
      const end = separator === undefined ? -1 : bytes.indexOf(separator, from);
      if (end < 0) break;
      passed.push(...this.take(bytes.subarray(from, end + 1)), ...this.end());
      from = end + 1;
    }
    return from < bytes.length ? [...passed, ...this.take(bytes.subarray(from))] : passed;
  }

  /** A message is over. */
  end(): Buffer[] {
    const held = Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = 0;
    this.isPassing = false;
    return held.length === 0 ? [] : [markInexact(held)];
  }

  private take(bytes: Buffer): Buffer[] {
    if (this.isPassing) return [bytes];
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    if (this.heldBytes <= this.options.limitBytes) return [];
    const passed = this.held;
    this.held = [];
    this.isPassing = true;
    return passed;
  }
}

interface Message {
  method?: unknown;
  params: { _meta?: Record<string, unknown> };
}

function markInexact(bytes: Buffer): Buffer {
  const text = bytes.toString("utf8");
  if (!hasInexactNumber(text)) return bytes;
  try {
    const parsed = JSON.parse(text);
    const messages: Message[] = Array.isArray(parsed) ? parsed : [parsed];
    const calls = messages.filter((message) => message?.method === "tools/call" && typeof message.params === "object");
    if (calls.length === 0) return bytes;
    for (const { params } of calls) params._meta = { ...params._meta, [inexactKey]: true };
    return Buffer.from(`${JSON.stringify(parsed)}\n`);
  } catch {
    return bytes; // No JSON, and answered as such.
  }
}
