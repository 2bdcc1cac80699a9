import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createHttpApp, type HttpSettings } from "./http.js";

export type { HttpSettings };

/** Answers under way when the server is closed get this long; then connections are cut. */
const lastAnswersMs = 2000;

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
              const cut = setTimeout(
                () => "closeAllConnections" in server && server.closeAllConnections(),
                lastAnswersMs,
              );
              server.close(() => {
                clearTimeout(cut);
                closed();
              });
              if ("closeIdleConnections" in server) server.closeIdleConnections();
            }),
        });
      },
    );
    server.once("error", reject);
  });
}
