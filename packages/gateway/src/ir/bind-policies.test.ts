import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import { request } from '../testing/client.ts'
import { httpConfig, useGateway } from '../testing/scene.ts'
import type { AttachedPolicy, Ir } from './resources.ts'

const hello = { policies: { directResponse: { status: 200, body: 'hello' } } }

/** The config in plain data. */
function irOf(config: object): Ir {
  const loaded = loadConfig(JSON.stringify(config), { file: 'test.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok)
  return loaded.ir
}

/** The config with a policy for its port. */
function withPortPolicy(config: object, frontend: object): Ir {
  const ir = irOf(config)
  return { ...ir, policies: [...ir.policies, forPort(ir.binds[0]?.key ?? '', irOf(httpConfig([hello], { frontend })))] }
}

/** Returns the frontend policy of a config for one port. */
function forPort(key: string, { policies }: Ir): AttachedPolicy {
  const frontend = policies.find((policy) => policy.frontend !== null)?.frontend ?? null
  const target = { kind: 'bind', key } as const
  return { key: 'port', target, frontend, traffic: null, phase: 'PostRouting', backend: null }
}

const nobody = { networkAuthorization: { rules: [{ deny: 'source.port > 0' }] } }

test('a policy for a port admits no connection there, on the next config too, and ends with the policy', async (t) => {
  const gateway = await useGateway(t, httpConfig([hello]))
  const guarded = withPortPolicy(httpConfig([hello]), nobody)
  await gateway.use(guarded)
  assert.equal((await request(gateway.port())).text, '')
  assert.deepEqual(gateway.refusals, ['network_authorization'])
  await gateway.use({ ...guarded, routes: [] })
  assert.equal((await request(gateway.port())).text, '')
  await gateway.use(irOf(httpConfig([hello])))
  assert.equal((await request(gateway.port())).body, 'hello')
})

test('the fields for a port win over those of the gateway, and networkAuthorization of both must pass', async (t) => {
  const http = (http1MaxHeaders: number): object => ({ http: { http1MaxHeaders } })
  const strict = await useGateway(t, httpConfig([hello]))
  await strict.use(withPortPolicy(httpConfig([hello], { frontend: nobody }), http(100)))
  assert.equal((await request(strict.port())).text, '')
  const gateway = await useGateway(t, httpConfig([hello], { frontend: http(3) }))
  const headers = Object.fromEntries([1, 2, 3, 4, 5].map((index) => [`x-${index}`, 'y']))
  assert.equal((await request(gateway.port(), { headers })).status, 431)
  await gateway.use(withPortPolicy(httpConfig([hello], { frontend: http(3) }), http(100)))
  assert.equal((await request(gateway.port(), { headers })).status, 200)
})
