// An HTTP server with the official SDKs. Arguments: mode, port, the SDKs' folder.
// sessions: version 1 with a session map, 400 for an unknown session, as in its examples.
// single: version 1 with one transport, 404 for an unknown session.
// modern: version 2, MCP 2026-07-28.
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
const [mode, port, folder] = process.argv.slice(2);
const { z } = createRequire(`${folder}/${mode === "modern" ? "server" : "sdk"}/package.json`)("zod");
const tool = (server) => {
  const config = { description: "Says hello.", inputSchema: z.object({}) };
  const hello = async () => ({ content: [{ type: "text", text: "hello" }] });
  if (mode === "modern") server.registerTool("fetch", config, hello);
  else server.tool("fetch", "Says hello.", hello);
  return server;
};
const read = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};
let answer;
if (mode === "modern") {
  const { McpServer, createMcpHandler } = await import(`${folder}/server/dist/index.mjs`);
  const handler = createMcpHandler(() => tool(new McpServer({ name: "up", version: "1" })));
  answer = async (request, response) => {
    const body = await read(request);
    const init = { method: request.method, headers: request.headers };
    if (request.method === "POST") init.body = body;
    const reply = await handler.fetch(new Request(`http://localhost:${port}/mcp`, init));
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    response.end(Buffer.from(await reply.arrayBuffer()));
  };
} else {
  const base = `${folder}/sdk/dist/esm/server`;
  const { McpServer } = await import(`${base}/mcp.js`);
  const { StreamableHTTPServerTransport } = await import(`${base}/streamableHttp.js`);
  const transports = {};
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => { transports[id] = transport; },
    });
    await tool(new McpServer({ name: "up", version: "1" })).connect(transport);
    return transport;
  };
  let current;
  answer = async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const body = request.method === "POST" ? JSON.parse(await read(request)) : undefined;
    if (body?.method === "server/discover") return response.writeHead(404).end();
    let transport = transports[id];
    if (!transport && body?.method === "initialize") transport = current = await open();
    if (!transport && mode === "single" && current) transport = current;
    if (transport) return transport.handleRequest(request, response, body);
    const error = { code: -32000, message: "Bad Request: No valid session ID provided" };
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
  };
  if (mode === "single") {
    // Another client's session: the transport accepts one session id and refuses every other.
    current = await open();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    globalThis.first = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  }
}
const listener = createServer((request, response) => answer(request, response).catch((error) => {
  response.writeHead(500).end(String(error));
}));
listener.listen(Number(port), "127.0.0.1", async () => {
  if (globalThis.first) {
    await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(globalThis.first),
    });
  }
  console.log("ready");
});
