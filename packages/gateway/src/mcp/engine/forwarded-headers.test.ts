import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'

const SECRETS = {
  authorization: 'Bearer of-the-client',
  cookie: 'session=of-the-client',
  'proxy-authorization': 'Basic of-the-client',
  'x-api-key': 'key of-the-client',
  'api-key': 'key of-the-client',
  'x-auth-token': 'token of-the-client',
}

describe('headers of the client', () => {
  it('reach the target, but not what is between client and gateway', async (t) => {
    const target = await useTarget(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller
      .with({
        ...SECRETS,
        origin: 'http://localhost:1',
        referer: 'http://localhost:1/x',
        'x-own': 'kept',
        'mcp-param-a': 'kept',
      })
      .begin()
    await session.ask('tools/call', { name: 'a' })
    await session.listen({ 'last-event-id': 'x' })
    await session.end()
    assert.ok(target.requests.length >= 4)
    for (const { headers, verb } of target.requests) {
      for (const name of ['origin', 'referer', ...Object.keys(SECRETS)]) assert.equal(headers[name], undefined, name)
      assert.ok(!JSON.stringify(headers).includes('of-the-client'))
      assert.notEqual(headers['mcp-session-id'], session.session)
      assert.deepEqual([headers['x-own'], headers['mcp-param-a']], ['kept', 'kept'], verb)
      assert.equal(headers.host, `127.0.0.1:${target.port}`)
    }
  })

  it('that are credentials reach it where the config says so', async (t) => {
    const target = await useTarget(t)
    const key = createSigningKey('a')
    const token = await sign(key)
    const jwtAuthentication = { providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] }
    const policies = { jwtAuthentication, backend: { auth: { passthrough: {} } } }
    const { caller } = await useMcpScene(t, { one: target }, { policies })
    await caller.with({ authorization: `Bearer ${token}` }).begin()
    assert.ok(target.requests.every(({ headers }) => headers.authorization === `Bearer ${token}`))
  })

  it('that were checked here do not reach it otherwise', async (t) => {
    const target = await useTarget(t)
    const data = { alice: { key: 'alice-key-0123456789' } }
    const apiKeyAuthentication = { secretRef: { data }, location: { header: { name: 'x-key' } } }
    const { caller } = await useMcpScene(t, { one: target }, { policies: { apiKeyAuthentication } })
    await caller.with({ 'x-key': 'alice-key-0123456789' }).begin()
    assert.ok(!JSON.stringify(target.requests.map(({ headers }) => headers)).includes('alice-key'))
  })
})
