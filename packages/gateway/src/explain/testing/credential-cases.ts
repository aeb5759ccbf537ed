import { hash } from 'node:crypto'
import { request, sendRaw } from '../../testing/client.ts'
import { createSigningKey, forge, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { closedPort, httpConfig, routeTo } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

const key = createSigningKey('main')
const stranger = createSigningKey('main')
const provider = { issuer: ISSUER, audiences: ['shop'], jwks: { inline: keySetOf(key) } }
const now = Math.floor(Date.now() / 1000)

type ExpectedRefusal = Pick<RefusalCase, 'says' | 'name' | 'code' | 'at' | 'passes' | 'alsoPass' | 'values'>

/** A case with a token that the route refuses. */
function refusedToken(
  make: () => string | Promise<string>,
  expected: ExpectedRefusal,
  providers: object[] = [provider],
): RefusalCase {
  let token = ''
  return {
    ...expected,
    config: ({ origin }) => httpConfig([routeTo(origin, { jwtAuthentication: { providers } })]),
    async send({ port }) {
      token = await make()
      await request(port, { headers: { authorization: `Bearer ${token}` } })
    },
    get hides() {
      return [token, token.split('.')[2] || token]
    },
  }
}

const jwtCases: RefusalCase[] = [
  {
    name: 'no token',
    config: ({ origin }) => httpConfig([routeTo(origin, { jwtAuthentication: { providers: [provider] } })]),
    send: ({ port }) => request(port),
    code: 'jwt_no_token',
    at: 'jwtAuthentication',
    passes: 'the client sends a token in the header authorization (Bearer).',
    alsoPass: ['`mode` is Optional.'],
  },
  {
    name: 'two tokens',
    config: ({ origin }) => httpConfig([routeTo(origin, { jwtAuthentication: { providers: [provider] } })]),
    send: ({ port }) =>
      sendRaw(port, 'GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n'),
    code: 'jwt_several_tokens',
    at: 'jwtAuthentication',
    passes: 'the client sends only one token in the header authorization (Bearer).',
  },
  refusedToken(() => 'no-token-at-all', {
    name: 'something that is no token',
    code: 'jwt_malformed',
    at: 'jwtAuthentication',
    passes: 'the client sends a token of a known issuer.',
  }),
  refusedToken(() => sign(key, { iss: 'https://other.test/', aud: 'shop' }), {
    name: 'a token of another issuer',
    code: 'jwt_unknown_issuer',
    at: 'providers',
    passes: `the token was issued by ${ISSUER}.`,
    values: { 'token.issuer': 'https://other.test/' },
  }),
  {
    name: 'a token of another issuer for an MCP server',
    config: ({ origin }) => {
      const mcpAuthentication = { issuer: ISSUER, audiences: ['shop'], jwks: { inline: keySetOf(key) } }
      return httpConfig([routeTo(origin, { mcpAuthentication })])
    },
    send: async ({ port }) => {
      const token = await sign(key, { iss: 'https://other.test/', aud: 'shop' })
      await request(port, { headers: { authorization: `Bearer ${token}` } })
    },
    code: 'jwt_unknown_issuer',
    at: 'issuer',
    passes: `the token was issued by ${ISSUER}.`,
    values: { 'token.issuer': 'https://other.test/' },
  },
  refusedToken(() => sign(key, { aud: 'bank' }), {
    name: 'a token for another audience',
    code: 'jwt_wrong_audience',
    at: 'audiences',
    says: /^the token was rejected: the token is for another audience$/,
    passes: 'the token is for shop.',
    values: { 'token.audience': 'bank' },
  }),
  refusedToken(() => sign(key, { aud: 'shop', exp: now - 900 }), {
    name: 'a token that has ended',
    code: 'jwt_expired',
    at: 'jwtAuthentication',
    passes: /^the client sends a newer token: this token expired 9\d\d s before/,
    values: { 'token.expiresAt': now - 900 },
  }),
  refusedToken(() => sign(key, { aud: 'shop', nbf: now + 900 }), {
    name: 'a token whose time has not come',
    code: 'jwt_not_yet_valid',
    at: 'jwtAuthentication',
    passes: `the token is used after ${new Date((now + 900) * 1000).toISOString()}.`,
  }),
  refusedToken(() => sign(key, { aud: 'shop', exp: undefined }), {
    name: 'a token without an end',
    code: 'jwt_no_expiry',
    at: 'jwtAuthentication',
    says: /: the token does not say when it expires$/,
    passes: 'the token says when it expires (`exp`).',
  }),
  refusedToken(() => sign(key, { aud: 'shop' }, { kid: 'other' }), {
    name: 'a token with a key that nobody knows',
    code: 'jwt_unknown_key',
    at: 'jwtAuthentication',
    passes: 'the token is signed with a current key of the issuer.',
    alsoPass: ['the key set contains the key of the token.'],
    values: { 'token.keyId': 'other' },
  }),
  refusedToken(() => sign(stranger, { aud: 'shop' }), {
    name: 'a token with a wrong signature',
    code: 'jwt_wrong_signature',
    at: 'jwtAuthentication',
    passes: 'the client sends the token unchanged, as its issuer signed it.',
    values: { 'token.issuer': ISSUER },
  }),
  refusedToken(() => forge({ alg: 'HS256', kid: 'main' }, { iss: ISSUER, aud: 'shop', exp: now + 60 }, 'x'), {
    name: 'a token with another algorithm than its key',
    code: 'jwt_wrong_algorithm',
    at: 'jwtAuthentication',
    passes: 'the token is signed with the algorithm of its key.',
    values: { 'token.algorithm': 'HS256' },
  }),
  {
    name: 'a token whose keys cannot be fetched',
    config: async ({ origin }) => {
      const backends = [{ name: 'keys', static: { host: '127.0.0.1', port: await closedPort() } }]
      const jwks = { remote: { backendRef: { name: 'keys' }, jwksPath: '/keys' } }
      const jwtAuthentication = { providers: [{ issuer: ISSUER, jwks }] }
      return httpConfig([routeTo(origin, { jwtAuthentication })], { backends })
    },
    send: async ({ port }) => request(port, { headers: { authorization: `Bearer ${await sign(key)}` } }),
    code: 'jwt_keys_unavailable',
    at: 'providers',
    passes: 'the key set of the issuer can be fetched.',
  },
]

const keys = { location: { header: { name: 'x-key' } }, secretRef: { data: { team: { key: 'right-key' } } } }

function refusedKey(sent: Record<string, string>, expected: ExpectedRefusal): RefusalCase {
  return {
    ...expected,
    config: ({ origin }) => httpConfig([routeTo(origin, { apiKeyAuthentication: keys })]),
    send: ({ port }) => request(port, { headers: sent }),
    hides: ['right-key', 'wrong-key'],
  }
}

const users = { users: [`ann:{SHA}${hash('sha1', 'right-word', 'base64')}`] }

function refusedUser(authorization: string | null, expected: ExpectedRefusal): RefusalCase {
  return {
    ...expected,
    config: ({ origin }) => httpConfig([routeTo(origin, { basicAuthentication: users })]),
    send: ({ port }) => request(port, { headers: authorization === null ? {} : { authorization } }),
    hides: ['right-word', 'wrong-word', ...(authorization === null ? [] : [authorization])],
  }
}

export const credentialCases: RefusalCase[] = [
  ...jwtCases,
  refusedKey(
    {},
    {
      name: 'no API key',
      code: 'api_key_missing',
      at: 'apiKeyAuthentication',
      passes: 'the client sends an API key in the header x-key.',
      alsoPass: ['`mode` is Optional.'],
    },
  ),
  refusedKey(
    { 'x-key': 'wrong-key' },
    {
      name: 'an API key that is not known',
      code: 'api_key_unknown',
      at: 'apiKeyAuthentication',
      passes: 'the client sends a known API key.',
      alsoPass: ['the policy lists this API key.'],
    },
  ),
  refusedKey(
    { 'x-key': 'right-key', 'X-Key': 'wrong-key' },
    {
      name: 'two API keys',
      code: 'api_key_several',
      at: 'apiKeyAuthentication',
      passes: 'the client sends only one API key in the header x-key.',
    },
  ),
  refusedUser(null, {
    name: 'no user',
    code: 'basic_missing',
    at: 'basicAuthentication',
    passes: 'the client sends a user and password in the header authorization (Basic).',
    alsoPass: ['`mode` is Optional.'],
  }),
  refusedUser(`Basic ${Buffer.from('ann:wrong-word').toString('base64')}`, {
    name: 'a wrong password',
    code: 'basic_unknown',
    at: 'basicAuthentication',
    passes: 'the client sends a known user and password.',
    alsoPass: ['the policy lists this user and password.'],
  }),
  refusedUser('Basic !!!', {
    name: 'a user that cannot be read',
    code: 'basic_malformed',
    at: 'basicAuthentication',
    passes: 'the client sends a known user and password.',
    alsoPass: ['the policy lists this user and password.'],
  }),
  {
    name: 'more passwords than can be checked',
    config: ({ origin }) => httpConfig([routeTo(origin, { basicAuthentication: { users: [SLOW_USER] } })]),
    async send({ port }) {
      const guess = (word: string): Promise<{ status: number }> =>
        request(port, { headers: { authorization: `Basic ${Buffer.from(`ann:${word}`).toString('base64')}` } })
      for (let wave = 0, isBusy = false; !isBusy && wave < 20; wave++) {
        const answers = await Promise.all(Array.from({ length: 150 }, (_, i) => guess(`${wave}-${i}`)))
        isBusy = answers.some(({ status }) => status === 503)
      }
    },
    pick: ({ status }) => status === 503,
    code: 'basic_busy',
    at: 'basicAuthentication',
    passes: 'a second has passed.',
  },
]

/** The hash of an unknown password, which takes a while to check. */
const SLOW_USER = 'ann:$2y$08$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO'
