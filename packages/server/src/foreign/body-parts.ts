/** A body cut into pieces of at most `maxBytes` UTF-8 bytes that, joined, are the body: at blank lines, else lines, else words. */
export function splitBody(body: string, maxBytes: number): string[] {
  if (Buffer.byteLength(body) <= maxBytes) return [body];
  const room = new Uint8Array(maxBytes);
  const encoder = new TextEncoder();
  const parts: string[] = [];
  for (let start = 0; start < body.length; ) {
    const window = body.slice(start, start + maxBytes);
    const { read } = encoder.encodeInto(window, room);
    const end = start + read >= body.length ? read : boundary(window, read);
    parts.push(window.slice(0, end));
    start += end;
  }
  return parts;
}

// A boundary in the first half would make many small pages of a text with few of them.
function boundary(window: string, most: number): number {
  for (const mark of ["\n\n", "\n", " "]) {
    const found = window.lastIndexOf(mark, most - mark.length);
    if (found > most / 2) return found + mark.length;
  }
  return most;
}
