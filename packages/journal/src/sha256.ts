import { hash } from "node:crypto";

/** Text counts as UTF-8. */
export function sha256(data: string | Uint8Array): Uint8Array {
  // As text and back, since Node takes twice as long to give out bytes.
  return Buffer.from(hash("sha256", data, "binary"), "binary");
}

/** In lowercase hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}
