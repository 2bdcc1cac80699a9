export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Standard base64 with padding, in its one canonical form, of exactly `length` bytes when given. */
export function decodeBase64(text: string, length?: number): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) return undefined;
  return length === undefined || bytes.length === length ? bytes : undefined;
}
