import assert from 'node:assert/strict'
import { request } from '../client.ts'
import { createSigningKey, keySetOf, sign } from '../services/issuer.ts'
import { useOrigin } from '../scene.ts'
import { ALICE, bearer, type ExampleCase } from './example-case.ts'

/** Examples about who may do what. */
export const accessExamples: Record<string, ExampleCase> = {
  async 'jwt.yaml'(t) {
    const key = createSigningKey('k1')
    const issuer = await useOrigin(t, (_request, response) => response.end(keySetOf(key)))
    const orders = await useOrigin(t)
    const claims = { iss: 'https://idp.example.com/', aud: 'orders', sub: 'ann', scope: 'profile orders:read' }
    const reader = await sign(key, claims)
    return {
      replace: { 'port: 9001': `port: ${issuer.port}`, '127.0.0.1:9000': orders.host },
      gateway: { env: { TOKEN: reader } },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*ok$/, /^HTTP\/1.1 401 [^]*no bearer token found$/],
      async check(gateway) {
        const statusOf = async (token: string, method: string) =>
          (await request(gateway.port(), { method, headers: bearer(token) })).status
        assert.equal(await statusOf(reader, 'GET'), 200)
        assert.equal(issuer.seen[0]?.url, '/.well-known/jwks.json')
        assert.equal(orders.seen[0]?.headers['x-user'], 'ann')
        assert.equal(await statusOf(reader, 'POST'), 403)
        const writer = await sign(key, { ...claims, scope: 'orders:read orders:write' })
        assert.equal(await statusOf(writer, 'POST'), 200)
        assert.equal(await statusOf(await sign(key, { ...claims, scope: undefined }), 'GET'), 403)
        assert.equal(await statusOf(await sign(key, { ...claims, aud: 'other' }), 'GET'), 401)
        assert.equal(await statusOf(await sign(createSigningKey('k1'), claims), 'GET'), 401)
        assert.equal(issuer.seen.length, 1)
      },
    }
  },

  async 'api-keys.yaml'(t) {
    const api = await useOrigin(t)
    return {
      replace: { '127.0.0.1:9000': api.host },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*ok$/, /^HTTP\/1.1 403 /],
      async check(gateway) {
        const statusOf = async (key: string, path: string) =>
          (await request(gateway.port(), { path, headers: { 'x-api-key': key } })).status
        assert.equal(await statusOf('k-globex-77b1e0', '/prices/42'), 200)
        assert.equal(api.seen.at(-1)?.headers['x-partner'], 'globex')
        assert.equal(api.seen.at(-1)?.headers['x-api-key'], undefined)
        assert.equal(await statusOf('k-globex-77b1e0', '/others'), 403)
        assert.equal(await statusOf('k-globex-000000', '/stock/42'), 401)
      },
    }
  },

  async 'keys-and-limits.yaml'(t) {
    const orders = await useOrigin(t)
    return {
      replace: { '127.0.0.1:9000': orders.host },
      // A clock that stands still: no budget is filled up again.
      gateway: { env: { ALICE_KEY: ALICE }, monotonic: () => 1000 },
      shows: [/^HTTP\/1.1 200 OK\r\n[^]*ok$/],
      async check(gateway) {
        assert.equal((await request(gateway.port())).status, 401)
        const ask = (method: string) => request(gateway.port(), { method, headers: bearer(ALICE) })
        assert.equal((await ask('DELETE')).status, 403)
        while ((await ask('GET')).status === 200);
        assert.equal(orders.seen.length, 10)
        assert.equal(orders.seen[0]?.headers['x-plan'], 'free')
      },
    }
  },
}
