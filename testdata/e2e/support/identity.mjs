// A real OAuth provider on loopback, and an API that accepts its tokens. Users log in and
// approve or deny in its forms. A refresh token is valid once: if it is used again, the whole
// grant is revoked.
import { once } from 'node:events';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import http from 'node:http';

const secret = 'e2e-secret-of-the-client';

/** Starts it for one client with a redirectUri. lifetime is that of access tokens, in seconds. */
export async function startIdentity({ redirectUri, lifetime = 600 }) {
  const { warn } = console;
  console.warn = () => {}; // it warns that it stores everything in memory, and about unsupported versions of Node
  const { default: Provider } = await import('oidc-provider');

  const server = http.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  const provider = new Provider(url, {
    clients: [{
      client_id: 'blueprintd', client_secret: secret, redirect_uris: [redirectUri], response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'], id_token_signed_response_alg: 'ES256',
    }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'e2e' }] },
    cookies: { keys: [randomUUID()] },
    scopes: ['openid', 'offline_access', 'notes'],
    features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true }, revocation: { enabled: true } },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: { AccessToken: lifetime, IdToken: 600, ClientCredentials: lifetime, RefreshToken: 86_400, Grant: 86_400, Session: 86_400, Interaction: 600, AuthorizationCode: 60 },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  });

  console.warn = warn;

  // A record: the grant types of valid and invalid token requests, and every token.
  const granted = [];
  const refused = [];
  const tokens = new Set([secret]);
  const grants = new Set();
  provider.on('grant.success', (ctx) => {
    granted.push(ctx.oidc.params.grant_type);
    for (const name of ['access_token', 'refresh_token', 'id_token']) if (ctx.body[name]) tokens.add(ctx.body[name]);
    if (ctx.oidc.entities.Grant) grants.add(ctx.oidc.entities.Grant.jti);
    for (const name of ['code', 'code_verifier']) if (ctx.oidc.params[name]) tokens.add(ctx.oidc.params[name]);
  });
  provider.on('grant.error', (ctx, error) => refused.push([ctx.oidc.params.grant_type, error.error]));

  /** The form and its handler. */
  async function interaction(request, response) {
    const details = await provider.interactionDetails(request, response);
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<form method="post"><button name="answer" value="allow">${details.prompt.name}</button><button name="answer" value="deny">no</button></form>`);
      return;
    }
    let body = '';
    for await (const part of request) body += part;
    let result;
    if (new URLSearchParams(body).get('answer') === 'deny') {
      result = { error: 'access_denied', error_description: 'not today' };
    } else if (details.prompt.name === 'login') {
      result = { login: { accountId: 'ann' } };
    } else {
      const grant = new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id });
      grant.addOIDCScope(details.params.scope);
      result = { consent: { grantId: await grant.save() } };
    }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/interaction/')) return handle(request, response);
    interaction(request, response).catch((error) => {
      response.writeHead(500);
      response.end(String(error));
    });
  });

  const api = http.createServer(async (request, response) => {
    const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const found = token && (await provider.AccessToken.find(token) ?? await provider.ClientCredentials.find(token));
    calls.push({ path: request.url, token, status: found ? 200 : 401 });
    response.writeHead(found ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ? { notes: ['milk'], whose: found.accountId ?? found.clientId } : { error: 'who are you?' }));
  });
  const calls = [];
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');

  return {
    url, secret, granted, refused, tokens, calls,
    api: `http://127.0.0.1:${api.address().port}`,
    config: (more = {}) => ({
      flow: 'authorization_code', authorizationUrl: `${url}/auth`, tokenUrl: `${url}/token`, clientId: 'blueprintd', clientSecret: secret,
      scopes: ['openid', 'notes'], hosts: [`127.0.0.1:${api.address().port}`], ...more,
    }),
    /** Revokes all grants. */
    withdraw: async () => {
      for (const id of grants) {
        await Promise.all(['AccessToken', 'RefreshToken', 'AuthorizationCode'].map((model) => provider[model].revokeByGrantId(id)));
        await (await provider.Grant.find(id))?.destroy();
      }
      grants.clear();
    },
    stop: async () => {
      for (const one of [server, api]) {
        one.close();
        one.closeAllConnections();
        await once(one, 'close');
      }
    },
  };
}
