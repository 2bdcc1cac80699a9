import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createHttpApp, type HttpSettings } from "./http.js";

export type { HttpSettings };

export interface RunningServer {
  /** Where it listens, without a trailing slash. */
  url: string;
  close(): Promise<void>;
}

/** Listens until closed. Rejects with the system's error (`EADDRINUSE` …) when it can't. */
export async function startHttpServer(
  settings: HttpSettings,
  at: { host: string; port: number },
): Promise<RunningServer> {
  const app = createHttpApp(settings);
  return new Promise((resolve, reject) => {
    const server = serve(
      { fetch: app.fetch, hostname: at.host, port: at.port },
      ({ port, address, family }: AddressInfo) => {
        const host = family === "IPv6" ? `[${address}]` : address;
        resolve({
          url: `http://${host}:${port}`,
          close: () =>
            new Promise((closed) => {
              server.close(() => closed());
              if ("closeIdleConnections" in server) server.closeIdleConnections();
            }),
        });
      },
    );
    server.once("error", reject);
  });
}
