// Times and tables.

/** Runs `call` and gives how long it took, in milliseconds. */
export async function timeMs(call) {
  const startedMs = performance.now();
  await call();
  return performance.now() - startedMs;
}

/** The value that a share of the values do not exceed (nearest rank). */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export function mean(values) {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** p50 and p95 of times in milliseconds. */
export function latency(timesMs) {
  return { calls: timesMs.length, p50Ms: percentile(timesMs, 0.5), p95Ms: percentile(timesMs, 0.95) };
}

export function formatMs(value) {
  return value === undefined ? "-" : value.toFixed(2);
}

export function formatLatency({ p50Ms, p95Ms }) {
  return `${formatMs(p50Ms)} / ${formatMs(p95Ms)}`;
}

export function formatShare(value) {
  return value === undefined ? "-" : value.toFixed(2);
}

export function formatMiB(bytes) {
  return (bytes / 1024 ** 2).toFixed(1);
}

/** A Markdown table, padded so that it reads well on a terminal too. */
export function formatTable(header, rows) {
  const lines = [header, ...rows].map((row) => row.map(String));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length), 3));
  const format = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [format(lines[0]), rule, ...lines.slice(1).map(format)].join("\n");
}
