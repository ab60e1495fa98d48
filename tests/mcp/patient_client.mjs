// A client of the official SDK that waits 6.5 s for each call; argv: the SDK's module of
// clients, that of stdio, the Python program, the package.
const [clients, stdio, python, name] = process.argv.slice(2);
const { Client } = await import(clients);
const { StdioClientTransport } = await import(stdio);
const client = new Client({ name: "patient", version: "1" });
await client.connect(new StdioClientTransport({ command: python, args: ["-m", name] }));
const call = async (options) => {
  const told = [];
  const asked = { timeout: 6500, ...options(told) };
  const params = { name: "take_long", arguments: {} };
  // The second argument of the first SDK is the schema of the answer.
  const given = client.callTool.length === 1 ? [params, undefined, asked] : [params, asked];
  try {
    const result = await client.callTool(...given);
    return { text: result.content[0].text, told };
  } catch (error) {
    return { error: String(error.message), told };
  }
};
const [reset, kept, silent] = await Promise.all([
  call((told) => ({ onprogress: (p) => told.push(p), resetTimeoutOnProgress: true })),
  call((told) => ({ onprogress: (p) => told.push(p) })),
  call(() => ({ resetTimeoutOnProgress: true })),
]);
console.log(JSON.stringify({ reset, kept, silent }));
await client.close();
