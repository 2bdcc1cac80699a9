/** Credentials found in a text: what kind, and on which line (from 1). Never the value. */
export interface FoundSecret {
  kind: string;
  line: number;
}

export type SecretScan = (text: string) => Promise<FoundSecret[]>;

/** Shapes the rule set does not know (or finds only with company). */
const furtherShapes: readonly [kind: string, shape: RegExp][] = [
  ["AWS access key id", /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/],
  ["Google API key", /\bAIza[\w-]{35}\b/],
  ["Stripe secret key", /\b[sr]k_live_[A-Za-z0-9]{16,}\b/],
  ["OpenAI API key", /\bsk-(?:proj-|svcacct-|admin-)[\w-]{40,}/],
  ["GitLab token", /\bglpat-[\w-]{20,}/],
  ["Hugging Face token", /\bhf_[A-Za-z0-9]{30,}\b/],
  ["private key", /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/],
  ["age secret key", /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/],
];

type Lint = (text: string) => Promise<FoundSecret[]>;

/** The rule set is loaded at the first write, off the start-up path. */
export function createSecretScan(): SecretScan {
  let lint: Promise<Lint> | undefined;
  return async (text) => {
    lint ??= loadRules();
    const found = [...(await (await lint)(text)), ...scanFurtherShapes(text)];
    return found.sort((a, b) => a.line - b.line);
  };
}

async function loadRules(): Promise<Lint> {
  const [{ lintSource }, { creator }, { secretLintProfiler }] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
    import("@secretlint/profiler"),
  ]);
  // It keeps every mark for ever and walks them all at each: a server writes too often for that.
  secretLintProfiler.mark = () => undefined;
  const config = { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: creator }] };
  return async (text) => {
    const result = await lintSource({
      source: { content: text, filePath: "page.md", ext: ".md", contentType: "text" },
      options: { config, noPhysicFilePath: true },
    });
    return result.messages
      .filter((message) => message.type === "message")
      .map((message) => ({ kind: kindOf(message.ruleId), line: message.loc.start.line }));
  };
}

function kindOf(ruleId: string): string {
  return `${ruleId.replace(/^.*secretlint-rule-/, "")} credential`;
}

function scanFurtherShapes(text: string): FoundSecret[] {
  return furtherShapes.flatMap(([kind, shape]) => {
    const match = shape.exec(text);
    return match ? [{ kind, line: lineAt(text, match.index) }] : [];
  });
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
