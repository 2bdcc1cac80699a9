/** Entry point of its own, so that the terminal and stdio load no HTTP code. */
export { type HttpSettings, startHttpServer } from "./mcp/http-server.js";
