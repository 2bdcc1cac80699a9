import { defineConfig } from "vitest/config";

const source = (path: string) => new URL(path, import.meta.url).pathname;

export default defineConfig({
  resolve: {
    alias: {
      "@satchel/pcp": source("./packages/pcp/src/index.ts"),
      "@satchel/prp": source("./packages/prp/src/index.ts"),
      "@satchel/journal/sqlite": source("./packages/journal/src/sqlite.ts"),
      "@satchel/journal": source("./packages/journal/src/index.ts"),
      "@satchel/server/http": source("./packages/server/src/http.ts"),
      "@satchel/server/stdio": source("./packages/server/src/stdio.ts"),
      "@satchel/server": source("./packages/server/src/index.ts"),
    },
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 600_000,
    maxWorkers: 2,
  },
});
