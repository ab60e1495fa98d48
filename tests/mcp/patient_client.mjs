// A client of the official SDK with a timeout of 6.5 s for each call. Arguments: the SDK's client
// module, its stdio module, the Python executable and the server's module.
const [clients, stdio, python, name] = process.argv.slice(2);
const { Client } = await import(clients);
const { StdioClientTransport } = await import(stdio);
const client = new Client({ name: "patient", version: "1" });
await client.connect(new StdioClientTransport({ command: python, args: ["-m", name] }));
const call = async (options) => {
  const progress = [];
  const settings = { timeout: 6500, ...options(progress) };
  const params = { name: "take_long", arguments: {} };
  // The second parameter in version 1 of the SDK is the result schema.
  const args = client.callTool.length === 1 ? [params, undefined, settings] : [params, settings];
  try {
    const result = await client.callTool(...args);
    return { text: result.content[0].text, progress };
  } catch (error) {
    return { error: String(error.message), progress };
  }
};
const [reset, noReset, noProgress] = await Promise.all([
  call((progress) => ({ onprogress: (p) => progress.push(p), resetTimeoutOnProgress: true })),
  call((progress) => ({ onprogress: (p) => progress.push(p) })),
  call(() => ({ resetTimeoutOnProgress: true })),
]);
console.log(JSON.stringify({ reset, noReset, noProgress }));
await client.close();
