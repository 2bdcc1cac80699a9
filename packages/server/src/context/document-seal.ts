import type { Environment } from "./context.js";
import { openBytes, sealBytes } from "./sealed-bytes.js";

/** Namespaces whose documents are stored encrypted under a key of their own (pcp section 4). */
const sealedNamespaces: ReadonlySet<string> = new Set(["pcp.health", "pcp.residency"]);

export function isSealedNamespace(namespace: string): boolean {
  return sealedNamespaces.has(namespace);
}

type Document = Record<string, unknown>;

/** Turns profile documents into what is stored, and back. */
export interface DocumentSeal {
  seal(namespace: string, document: Document): Document;
  /** Throws when the stored form was changed, or belongs to another namespace. */
  open(namespace: string, stored: Document): Document;
}

/** AES-256-GCM with the namespace as authenticated data. Other namespaces are stored as they are. */
export function createDocumentSeal(key: Buffer, environment: Pick<Environment, "randomBytes">): DocumentSeal {
  return {
    seal(namespace, document) {
      if (!sealedNamespaces.has(namespace)) return document;
      const sealedFor = { key, subject: Buffer.from(namespace) };
      return { sealed: sealBytes(sealedFor, JSON.stringify(document), environment.randomBytes).toString("base64") };
    },
    open(namespace, stored) {
      if (!sealedNamespaces.has(namespace)) return stored;
      const sealed = Buffer.from(String(stored.sealed), "base64");
      const text = openBytes({ key, subject: Buffer.from(namespace) }, sealed);
      return JSON.parse(text.toString("utf8")) as Document;
    },
  };
}
