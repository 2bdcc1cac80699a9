import { type EraseRequestInput, parsePath, validateInput } from "@satchel/pcp";
import { type EraseInput, erase } from "../../context/erasure.js";
import type { ErasureSelector } from "../../context/erasure-plan.js";
import { describeErasure, erasureReplay, erasureSaltMetaKey } from "../../context/erasure-receipt.js";
import { invalidInput, isRefusal, type Refusal } from "../../domain/refusal.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const eraseRequest = defineTool({
  name: "erase_request",
  permit: needsAnyScope("erase:write"),
  parse(args): EraseInput | Refusal {
    const violations = validateInput("erase_request", args);
    if (violations.length > 0) return invalidInput(violations);
    const { include_derived = true, dry_run = true, ...input } = args as EraseRequestInput;
    const selector = parseSelector(input);
    return isRefusal(selector) ? selector : { selector, includeDerived: include_derived, dryRun: dry_run };
  },
  run: erase,
  withheld: ["subject", "paths", "ids"],
  refused: { category: "erase", action: "erase" },
  audit: (erased) =>
    erased.dryRun ? { category: "erase", action: "read", targets: [] } : describeErasure(erased.receipt).audit,
  receipt: (erased) => (erased.dryRun ? {} : describeErasure(erased.receipt).receipt),
  replay: () => erasureReplay,
  present: (erased) =>
    erased.dryRun
      ? { dry_run: true, would_erase: erased.counts }
      : describeErasure(erased.receipt).result.structuredContent,
  meta: (erased) => (erased.dryRun ? undefined : { [erasureSaltMetaKey]: erased.salt }),
});

function parseSelector({ subject, paths, ids }: EraseRequestInput): ErasureSelector | Refusal {
  const given = [subject, paths, ids].filter((selector) => selector !== undefined);
  if (given.length !== 1) return invalidInput(["exactly one of subject, paths and ids is needed"]);
  if (subject !== undefined) return { kind: "subject", subject };
  if (ids !== undefined) return { kind: "ids", ids };
  const parsed = (paths ?? []).map((path) => parsePath(path));
  const violations = parsed.flatMap((path, at) =>
    path.ok ? [] : path.violations.map((violation) => `/paths/${at}: ${violation}`),
  );
  if (violations.length > 0) return invalidInput(violations);
  return { kind: "paths", paths: parsed.flatMap((path) => (path.ok ? [path.path] : [])) };
}
