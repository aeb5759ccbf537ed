import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../testing/services/issuer.ts'
import { mcpConfig, useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type ScriptedTarget, useTarget } from '../../testing/mcp/mcp-target.ts'
import { httpConfig, until, useGateway } from '../../testing/scene.ts'

const pinging = (t: TestContext) =>
  useTarget(t, (request) => (request.method === 'ping' ? (request.result({}), true) : false))

/** Nobody but its owner gets anything for an id, whatever they try. */
async function isOnlyFor(owner: McpCaller, others: readonly McpCaller[], target: ScriptedTarget): Promise<void> {
  const session = await owner.begin()
  assert.equal((await session.ask('ping')).status, 200)
  const heard = target.requests.length
  for (const other of others) {
    const thief = other.with({ 'mcp-session-id': session.session })
    assert.equal((await thief.ask('ping')).status, 404)
    assert.equal((await thief.send({ jsonrpc: '2.0', method: 'notifications/x' })).status, 404)
    assert.equal((await thief.listen()).status, 404)
    assert.equal((await thief.end()).status, 404)
  }
  assert.equal(target.requests.length, heard)
  // The attempts of others have not ended the session.
  assert.equal((await session.ask('ping')).status, 200)
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('a session belongs to its caller', () => {
  it('by the subject of a token, which may be renewed', async (t) => {
    const target = await pinging(t)
    const key = createSigningKey('a')
    const jwtAuthentication = { mode: 'Optional', providers: [{ issuer: ISSUER, jwks: { inline: keySetOf(key) } }] }
    const { caller } = await useMcpScene(t, { one: target }, { policies: { jwtAuthentication } })
    const alice = caller.with(bearer(await sign(key, { sub: 'alice' })))
    await isOnlyFor(alice, [caller, caller.with(bearer(await sign(key, { sub: 'bob' })))], target)
    await isOnlyFor(caller, [alice], target)
    const session = await alice.begin()
    const renewed = session.with(bearer(await sign(key, { sub: 'alice', scope: 'more' })))
    assert.equal((await renewed.ask('ping')).status, 200)
  })

  it('by the name of an API key', async (t) => {
    const target = await pinging(t)
    const data = { alice: { key: 'alice-key-0123456789' }, bob: { key: 'bob-key-0123456789' } }
    const apiKeyAuthentication = { mode: 'Optional', secretRef: { data } }
    const { caller } = await useMcpScene(t, { one: target }, { policies: { apiKeyAuthentication } })
    const [alice, bob] = ['alice', 'bob'].map((name) => caller.with(bearer(`${name}-key-0123456789`)))
    await isOnlyFor(alice!, [bob!, caller], target)
  })

  it('by the name of a user', async (t) => {
    const target = await pinging(t)
    const hash = createHash('sha1').update('secret').digest('base64')
    const basicAuthentication = { mode: 'Optional', users: [`alice:{SHA}${hash}`, `bob:{SHA}${hash}`] }
    const { caller } = await useMcpScene(t, { one: target }, { policies: { basicAuthentication } })
    const as = (name: string) =>
      caller.with({ authorization: `Basic ${Buffer.from(`${name}:secret`).toString('base64')}` })
    await isOnlyFor(as('alice'), [as('bob'), caller], target)
  })

  it('and to its backend', async (t) => {
    const target = await pinging(t)
    const targets = [{ name: 'one', static: { host: '127.0.0.1', port: target.port } }]
    const routes = ['/mcp', '/other'].map((prefix) => ({
      matches: [{ path: { pathPrefix: prefix } }],
      backends: [{ mcp: { targets } }],
    }))
    const gateway = await useGateway(t, httpConfig(routes))
    await isOnlyFor(new McpCaller(gateway.port()), [new McpCaller(gateway.port(), {}, '/other')], target)
  })
})

describe('the end of a session', () => {
  it('comes with its time', async (t) => {
    const target = await pinging(t)
    let now = Date.now()
    const { caller } = await useMcpScene(
      t,
      { one: target },
      { backend: { sessionLifetime: '1m' }, gateway: { clock: () => now } },
    )
    const session = await caller.begin()
    now += 59_000
    assert.equal((await session.ask('ping')).status, 200)
    now += 3_000
    assert.equal((await session.ask('ping')).status, 404)
    assert.equal((await session.listen()).status, 404)
  })

  it('comes with DELETE, which the target hears of', async (t) => {
    const target = await pinging(t)
    const { caller, gateway } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    assert.equal((await session.end()).status, 200)
    await until(() => target.asked('DELETE').length > 0)
    assert.equal(target.asked('DELETE')[0]?.headers['mcp-session-id'], 'one')
    assert.equal((await session.ask('ping')).status, 404)
    assert.equal((await session.end()).status, 404)
    assert.deepEqual(gateway.bugs, [])
  })

  it('is the end in every worker', async (t) => {
    const target = await pinging(t)
    const fleet = await useFleet(t, { workers: 3 })
    await fleet.apply(mcpConfig({ one: target }))
    const caller = new McpCaller(fleet.port(), { connection: 'close' })
    const rounds = process.env['PROPERTIES'] === 'full' ? 10 : 4
    for (let round = 0; round < rounds; round += 1) {
      const session = await caller.begin()
      assert.ok(
        (await Promise.all(Array.from({ length: 6 }, () => session.ask('ping')))).every(({ status }) => status === 200),
      )
      assert.equal((await session.end()).status, 200)
      assert.ok(
        (await Promise.all(Array.from({ length: 6 }, () => session.ask('ping')))).every(({ status }) => status === 404),
      )
    }
  })
})

describe('the key', () => {
  it('is all that another gateway needs to go on', async (t) => {
    const target = await pinging(t)
    const sessionKey = createHash('sha256').update('one').digest('hex')
    const first = await useMcpScene(t, { one: target }, { gateway: { sessionKey } })
    const second = await useMcpScene(t, { one: target }, { gateway: { sessionKey } })
    const third = await useMcpScene(t, { one: target })
    const { session } = await first.caller.begin()
    assert.equal((await second.caller.with({ 'mcp-session-id': session }).ask('ping')).status, 200)
    assert.equal(target.asked('initialize').length, 1)
    assert.equal((await third.caller.with({ 'mcp-session-id': session }).ask('ping')).status, 404)
  })
})

it('a client that says much about itself has a session all the same', async (t) => {
  const noise = Array.from({ length: 200 }, (_, at) => createHash('sha256').update(String(at)).digest('hex')).join('')
  const target = await pinging(t)
  const { caller } = await useMcpScene(t, { one: target })
  const params = { protocolVersion: '2025-11-25', capabilities: { sampling: {}, noise }, clientInfo: { name: noise } }
  const begun = await caller.ask('initialize', params)
  assert.equal(begun.status, 200)
  assert.deepEqual(target.asked('initialize')[0]?.params, params)
  const id = begun.headers.get('mcp-session-id') ?? ''
  assert.equal((await caller.with({ 'mcp-session-id': id }).ask('ping')).status, 200)
})

describe('sessions whose targets have long ids', () => {
  const noise = (seed: string) =>
    Array.from({ length: 200 }, (_, at) => createHash('sha256').update(`${seed}${at}`).digest('hex')).join('')

  for (const [what, count, length] of [
    ['one target', 1, 11_000],
    ['32 targets', 32, 3_000],
  ] as const) {
    it(`have ids that fit a header all the same (${what})`, async (t) => {
      const targets = await Promise.all(
        Array.from({ length: count }, async (_, at) => {
          const session = noise(String(at)).slice(0, length)
          const target = await useTarget(
            t,
            (request) => {
              const { method, id, headers } = request
              if (method === 'initialize' || id === undefined) return false
              if (headers['mcp-session-id'] !== session) return (request.error(-32001, 'Session not found', 404), true)
              return method === 'tools/call' && (request.result({ content: [] }), true)
            },
            { session },
          )
          return [`t${at}`, target] as const
        }),
      )
      const { caller } = await useMcpScene(t, Object.fromEntries(targets), { backend: { prefixMode: 'Always' } })
      const session = await caller.begin({ capabilities: { noise: noise('client') } })
      assert.ok(session.session.length <= 6 * 1024, `${session.session.length} characters`)
      for (const [name, target] of targets) {
        const answer = await session.ask('tools/call', { name: `${name}_a` })
        assert.deepEqual(answer.messages[0]?.result, { content: [] }, answer.text)
        assert.equal(target.asked('initialize').length, 1)
      }
      assert.equal((await session.end()).status, 200)
      await until(() => targets.every(([, target]) => target.asked('DELETE').length === 1))
    })
  }
})
