/** Entry point of its own, so that the terminal loads no MCP code. */
export { serveOverStdio } from "./mcp/stdio.js";
