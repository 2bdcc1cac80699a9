import { describe, expect, it } from "vitest";
import { createSecretScan } from "./secret-scan.js";

/** Shapes are put together here, so that no scanner takes this file for a leak. */
const secrets: [kind: string, text: string][] = [
  ["AWS access key id", ["AKIA", "Q7XM2RLTW5NDE3KP"].join("")],
  ["Google API key", ["AIza", "SyB3_x9QmLr7TtVwEeKk2Zz5Nn8Pp1Aa4Gg"].join("")],
  ["Stripe secret key", ["sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dc"].join("")],
  ["OpenAI API key", ["sk-", "proj-", "a8K2".repeat(12)].join("")],
  ["GitLab token", ["glpat", "-", "x4Kp9QmZ2LrT7vWsB1nD"].join("")],
  ["Hugging Face token", ["hf", "_", "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"].join("")],
  ["private key", ["-----BEGIN ", "RSA PRIVATE", " KEY-----"].join("")],
  ["private key", ["-----BEGIN ", "PRIVATE", " KEY-----"].join("")],
  ["private key", ["-----BEGIN ", "PGP PRIVATE", " KEY BLOCK-----"].join("")],
  ["age secret key", ["AGE-SECRET", "-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"].join("")],
];

const ownRules: [name: string, text: string][] = [
  ["GitHub token", ["gh", "p_", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"].join("")],
  ["Slack token", ["xo", "xb-", "123456789012-1234567890123-aBcDeFgHiJkLmNoPqRsTuVwX"].join("")],
];

const harmless = [
  "",
  "The key is under the mat.",
  "AKIA is how such ids begin; sk- and hf_ are other beginnings.",
  "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
  "-----BEGIN CERTIFICATE-----",
  "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "550e8400-e29b-41d4-a716-446655440000",
  "task_live_migration and disk_live_resize are names",
  "日本語の文章だけのページ",
];

describe("secret scan", () => {
  const scan = createSecretScan();

  it.each([...secrets, ...ownRules])("finds a %s on its line and never repeats it", async (_kind, secret) => {
    const found = await scan(`# Title\n\nbefore ${secret} after\nlast line\n`);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map(({ line }) => line))).toEqual(new Set([3]));
    expect(JSON.stringify(found)).not.toContain(secret.slice(8));
  });

  it.each(secrets)("names the kind: %s", async (kind, secret) => {
    expect((await scan(secret)).map((found) => found.kind)).toContain(kind);
  });

  it.each(harmless)("leaves alone: %j", async (text) => {
    expect(await scan(text)).toEqual([]);
  });

  it("reports several by line, also when scans run at once", async () => {
    const text = `${secrets[4]![1]}\n\n${secrets[0]![1]}\nplain\n${secrets[9]![1]}`;
    const scans = await Promise.all(Array.from({ length: 5 }, () => createSecretScan()(text)));
    for (const found of scans) {
      const lines = found.map(({ line }) => line);
      expect([...new Set(lines)]).toEqual([1, 3, 5]);
      expect([...lines].sort((a, b) => a - b)).toEqual(lines);
    }
  });

  it("takes the largest page without trouble", async () => {
    const filler = "plain words of a long page\n".repeat(9000);
    const found = await scan(`${filler}${secrets[0]![1]}\n`);
    expect(new Set(found.map(({ line }) => line))).toEqual(new Set([9001]));
  });
});
