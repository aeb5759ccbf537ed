import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { Ir } from '../ir/resources.ts'
import { RECORDER_DEFAULTS } from '../policies/frontend/recorder/settings.ts'
import { request } from '../testing/client.ts'
import { createAuthority } from '../testing/certificates.ts'
import { TestGateway } from '../testing/gateway.ts'
import { closedPort, useOrigin } from '../testing/scene.ts'
import { type Pick, usePicker } from '../testing/services/picker.ts'

/** Inference pools in the form of a cluster, whose members and picker get their addresses beside the config. */

const LISTENER = 'bind/0/web'
const POOL = 'backend/pool/models/llama'
const PICKER = 'backend/service/models/picker/9002:picker'

function config(failureMode: 'FailClosed' | 'FailOpen' | null): Ir {
  const key = `${LISTENER}/models/chat/0`
  const picker = failureMode === null ? null : { backend: PICKER, failureMode, timeoutMs: 5_000 }
  const host = 'picker.models.svc.cluster.local'
  return {
    binds: [{ key: 'bind/0', port: 0, address: '' }],
    listeners: [{ key: LISTENER, bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
    routes: [
      {
        key,
        listener: LISTENER,
        name: 'models/chat',
        rule: '',
        labels: {},
        hostnames: [],
        matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
        backends: [{ key: `${key}/backend/0`, backend: POOL, weight: 1 }],
      },
    ],
    backends: [
      { key: POOL, name: 'models/llama', target: { kind: 'inferencePool', endpoints: null, picker, version: 'HTTP1' } },
      { key: PICKER, name: 'models/picker:9002', target: { kind: 'service', host, port: 9002, version: 'HTTP2' } },
    ],
    policies: [
      {
        key: 'policy/models/records',
        target: { kind: 'gateway' },
        frontend: { recorder: { ...RECORDER_DEFAULTS, sampling: 'true' } },
        traffic: null,
        phase: 'PostRouting',
        backend: null,
      },
    ],
  }
}

async function setUp(t: TestContext, ir: Ir, pick?: Pick) {
  const members = [await useOrigin(t), await useOrigin(t)]
  const [first = '', second = ''] = members.map(({ host }) => host)
  const picker = await usePicker(t, pick ?? (() => second))
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use(ir)
  const reach = (pool: string[], pickers: string[] = [picker.host]): void =>
    gateway.setEndpoints({
      put: [
        [POOL, pool],
        [PICKER, pickers],
      ],
      drop: [],
    })
  reach([first, second])
  const ask = () => request(gateway.port(), { method: 'POST', body: 'hello' })
  return { gateway, picker, members, first, second, reach, ask }
}

test('the picker chooses among the members of the moment, without a new config', async (t) => {
  const { picker, members, first, second, reach, ask, gateway } = await setUp(t, config('FailClosed'))
  assert.equal((await ask()).status, 200)
  reach([first])
  const { status } = await ask()
  assert.equal(status, 503)
  assert.equal(members[1]?.seen.length, 1)
  assert.equal(members[0]?.seen.length, 0)
  const offered = picker.asked.map(({ head }) => {
    return head.metadataContext?.filterMetadata.get('envoy.lb.subset_hint')?.['x-gateway-destination-endpoint-subset']
  })
  assert.deepEqual(offered, [[first, second], [first]])
  await gateway.finished(2)
  assert.partialDeepStrictEqual(gateway.recorded()[0]?.variables?.inferencePool, {
    pool: 'models/llama',
    outcome: 'failed',
    strangers: [second],
  })
  assert.partialDeepStrictEqual(gateway.recorded()[1]?.variables?.inferencePool, { outcome: 'picked', served: second })
})

test('the record has the failed call and the endpoint that served, when the first one refuses connections', async (t) => {
  const gone = `127.0.0.1:${await closedPort()}`
  const order: string[] = []
  const { gateway, members, reach, second, ask } = await setUp(t, config('FailClosed'), () => order.join())
  order.push(gone, second)
  reach([gone, second])
  assert.equal((await ask()).status, 200)
  assert.equal(members[1]?.seen.length, 1)
  await gateway.finished(1)
  const record = gateway.recorded()[0] ?? assert.fail('no record')
  assert.partialDeepStrictEqual(record.variables?.inferencePool, { picked: [gone, second], served: second })
  const failed = record.calls?.find(({ error }) => error !== null)
  assert.equal(failed?.target, gone)
  assert.match(failed?.error ?? '', /^connect_failed/)
})

test('without addresses of the picker, a pool fails closed or open', async (t) => {
  const closed = await setUp(t, config('FailClosed'))
  closed.reach([closed.first], [])
  assert.equal((await closed.ask()).status, 503)
  const open = await setUp(t, config('FailOpen'))
  open.reach([open.first], [])
  assert.equal((await open.ask()).status, 200)
  await open.gateway.finished(1)
  assert.partialDeepStrictEqual(open.gateway.recorded()[0]?.variables?.inferencePool, {
    outcome: 'fallback',
    served: open.first,
  })
})

test('a pool without a picker is balanced, and one without members answers 503', async (t) => {
  const { picker, members, reach, first, ask } = await setUp(t, config(null))
  for (let times = 0; times < 20; times++) assert.equal((await ask()).status, 200)
  assert.ok(members.every(({ seen }) => seen.length > 0))
  assert.equal(picker.asked.length, 0)
  reach([])
  assert.equal((await ask()).status, 503)
  reach([first])
  assert.equal((await ask()).status, 200)
})

test('policies for a pool apply to the calls of its members, whether a picker or the gateway chooses', async (t) => {
  const authority = createAuthority()
  const names: unknown[] = []
  const server = createServer(authority.issue({ names: ['servers.test'] }), (message, response) => {
    names.push((message.socket as TLSSocket & { servername: string }).servername)
    response.end(message.headers.authorization)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const member = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const secured = (failureMode: 'FailClosed' | null, sni: string): Ir => {
    const ir = config(failureMode)
    const tls = { caCertificateRefs: [authority.cert], sni, verifySubjectAltNames: [sni] }
    const target = { kind: 'backend', key: POOL } as const
    const none = { frontend: null, traffic: null, phase: 'PostRouting' } as const
    ir.policies.push(
      { key: 'policy/models/auth', target, ...none, backend: { auth: { key: 'token' } } },
      { key: 'tls/pool', target, ...none, backend: { tls } },
    )
    return ir
  }
  for (const failureMode of ['FailClosed', null] as const) {
    const { gateway, reach, ask } = await setUp(t, secured(failureMode, 'servers.test'), () => member)
    reach([member])
    const { status, body } = await ask()
    assert.deepEqual([status, body], [200, 'Bearer token'])
    await gateway.use(secured(failureMode, 'others.test'))
    assert.equal((await ask()).status, 503)
  }
  assert.deepEqual(names, ['servers.test', 'servers.test'])
})
