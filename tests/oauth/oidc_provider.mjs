// Run the third-party authorization server `oidc-provider` with its login pages.
// Usage: node oidc_provider.mjs MODULE ISSUER FORMAT

const [module, issuer, accessTokenFormat] = process.argv.slice(2);
const { Provider } = await import(module);
const scope = "shop money";

const provider = new Provider(issuer, {
  scopes: ["openid", "offline_access", ...scope.split(" ")],
  clientAuthMethods: ["none", "client_secret_basic"],
  clients: [
    {
      client_id: "shop",
      client_secret: "secret",
      grant_types: [],
      response_types: [],
      redirect_uris: [],
    },
  ],
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, audience) => ({
        scope,
        audience,
        accessTokenTTL: 600,
        accessTokenFormat,
      }),
    },
  },
});
const { hostname, port } = new URL(issuer);
provider.listen(Number(port), hostname, () => console.log("listens"));
