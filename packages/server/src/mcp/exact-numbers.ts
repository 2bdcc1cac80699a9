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

function markInexact(bytes: Buffer): Buffer {
  const text = bytes.toString("utf8");
  if (!hasInexactNumber(text)) return bytes;
  try {
    const message = JSON.parse(text);
    if (message?.method !== "tools/call" || typeof message.params !== "object") return bytes;
    message.params._meta = { ...message.params._meta, [inexactKey]: true };
    return Buffer.from(`${JSON.stringify(message)}\n`);
  } catch {
    return bytes; // No JSON, and answered as such.
  }
}
