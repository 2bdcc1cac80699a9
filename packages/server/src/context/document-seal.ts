import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Environment } from "./context.js";

/** Namespaces whose documents are stored encrypted under a key of their own (pcp section 4). */
const sealedNamespaces: ReadonlySet<string> = new Set(["pcp.health", "pcp.residency"]);

type Document = Record<string, unknown>;

/** Turns profile documents into what is stored, and back. */
export interface DocumentSeal {
  seal(namespace: string, document: Document): Document;
  /** Throws when the stored form was changed, or belongs to another namespace. */
  open(namespace: string, stored: Document): Document;
}

const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM with the namespace as authenticated data. Other namespaces are stored as they are. */
export function createDocumentSeal(key: Buffer, environment: Pick<Environment, "randomBytes">): DocumentSeal {
  return {
    seal(namespace, document) {
      if (!sealedNamespaces.has(namespace)) return document;
      const iv = environment.randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(namespace));
      const parts = [iv, cipher.update(JSON.stringify(document), "utf8"), cipher.final(), cipher.getAuthTag()];
      return { sealed: Buffer.concat(parts).toString("base64") };
    },
    open(namespace, stored) {
      if (!sealedNamespaces.has(namespace)) return stored;
      const sealed = Buffer.from(String(stored.sealed), "base64");
      const iv = sealed.subarray(0, ivBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(namespace)).setAuthTag(sealed.subarray(-tagBytes));
      const text = Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]);
      return JSON.parse(text.toString("utf8")) as Document;
    },
  };
}
