import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import type { AttachedPolicy, Backend, Ir, Listener, Route } from '../../ir/resources.ts'
import { request } from '../../testing/client.ts'
import { eventually, metric, useProgram } from '../../testing/process.ts'
import { closedPort, useOrigin } from '../../testing/scene.ts'
import { type ScriptedStream, useController } from '../../testing/controller/scripted-controller.ts'

/** Tenants with a route each on one shared listener; `host` is where their backends are. */
function sharedIr(port: number, origin: number, tenants: readonly string[]): Ir {
  const [bind, listener] = [`bind/${port}`, `bind/${port}/http`]
  const routeOf = (tenant: string): Route => ({
    key: `${listener}/${tenant}/web/0`,
    listener,
    name: `${tenant}/web`,
    rule: '',
    labels: {},
    hostnames: [`${tenant}.test`],
    matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
    backends: [{ key: `${listener}/${tenant}/web/0/backend/0`, backend: `backend/${tenant}/app`, weight: 1 }],
  })
  const backendOf = (tenant: string): Backend => ({
    key: `backend/${tenant}/app`,
    name: `${tenant}/app`,
    target: { kind: 'static', host: '127.0.0.1', port: origin },
  })
  return {
    binds: [{ key: bind, port, address: '127.0.0.1' }],
    listeners: [{ key: listener, bind, name: 'http', hostname: '', protocol: 'HTTP', tls: null }],
    routes: tenants.map(routeOf),
    backends: tenants.map(backendOf),
    policies: [],
  }
}

function policyOn(target: AttachedPolicy['target'], parts: object, name = 'a/policy'): AttachedPolicy {
  const key = `policy/${name}@${target.kind}${target.kind === 'gateway' ? '' : `/${target.key}`}`
  return { key, target, frontend: null, traffic: null, phase: 'PostRouting', backend: null, ...parts }
}

const TWINS = {
  basicAuthentication: { mode: 'Strict', realm: 'x', users: [1, 2].map(() => ({ username: 'u', hash: '{SHA}x' })) },
}
const DENY = { authorization: { rules: [{ mode: 'deny', expression: 'true' }] } }

describe('a data plane quarantines what it cannot compile', () => {
  const statusOf = async (port: number, host: string) => (await request(port, { headers: { host } })).status
  const answerTo = async (stream: ScriptedStream, ir: Ir) => {
    const { generation } = stream.config(ir)
    const found = () => stream.answers().find((each) => 'generation' in each && each.generation === generation) ?? null
    await eventually('the config is answered', () => found() !== null)
    return found()
  }
  const variables = (controller: { address: string; caFile: string; tokenFile: string }) => ({
    CONTROLLER_ADDR: controller.address,
    CONTROLLER_CA_FILE: controller.caFile,
    CONTROLLER_TOKEN_FILE: controller.tokenFile,
    NAMESPACE: 'shop',
    GATEWAY: 'edge',
    POD_NAME: 'edge-1',
    SESSION_KEY: 'ab'.repeat(32),
    WORKER_THREADS: '2',
  })

  it('closes the routes of one tenant, applies all else, and names the object', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    const program = await useProgram(t, { env: variables(controller) })
    const stream = await controller.stream(0)
    stream.send({ type: 'endpoints', whole: true, put: [], drop: [] })
    const base = sharedIr(port, origin.port, ['a', 'b'])
    await stream.live(base)
    const listener = `bind/${port}/http`
    const bad = policyOn({ kind: 'route', key: `${listener}/a/web` }, { traffic: TWINS })
    const deny = policyOn({ kind: 'route', key: `${listener}/b/web` }, { traffic: DENY }, 'b/deny')
    const answer = await answerTo(stream, { ...base, policies: [bad, deny] })
    assert.ok(answer?.type === 'ack')
    assert.deepEqual(answer.quarantined, [
      {
        object: bad.key,
        problem: 'traffic.basicAuthentication.users.1: found user "u" a second time, expected each user once',
        units: [`route ${listener}/a/web/0`],
      },
    ])
    assert.deepEqual([await statusOf(port, 'a.test'), await statusOf(port, 'b.test')], [500, 403])
    assert.equal(origin.seen.length, 0)
    assert.equal(await metric(program, 'portico_config_synchronized'), 1)
    assert.equal(await metric(program, 'portico_config_quarantined_units'), 1)
    await program.logged(/resource quarantined/)

    // A change elsewhere is applied, and what is mended is served again.
    const more = sharedIr(port, origin.port, ['a', 'b', 'c'])
    await answerTo(stream, { ...more, policies: [bad, deny] })
    assert.deepEqual([await statusOf(port, 'c.test'), await statusOf(port, 'a.test')], [200, 500])
    await answerTo(stream, { ...more, policies: [] })
    for (const tenant of ['a', 'b', 'c']) assert.equal(await statusOf(port, `${tenant}.test`), 200)
    assert.equal(await metric(program, 'portico_config_quarantined_units'), 0)
  })

  it('closes what a policy holds for that a newer controller has sent', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    await useProgram(t, { env: variables(controller) })
    const stream = await controller.stream(0)
    stream.send({ type: 'endpoints', whole: true, put: [], drop: [] })
    const base = sharedIr(port, origin.port, ['a', 'b'])
    const newer = policyOn({ kind: 'route', key: `bind/${port}/http/a/web` }, { traffic: { moat: { depth: 3 } } })
    const answer = await answerTo(stream, { ...base, policies: [newer] })
    assert.ok(answer?.type === 'ack')
    const problem = 'found `traffic.moat`, which this version does not know'
    assert.deepEqual(answer.quarantined, [{ object: newer.key, problem, units: [`route bind/${port}/http/a/web/0`] }])
    assert.deepEqual([await statusOf(port, 'a.test'), await statusOf(port, 'b.test')], [500, 200])
  })

  it('closes a backend, a listener and a port by themselves', async (t) => {
    const origin = await useOrigin(t)
    const controller = await useController(t)
    const port = await closedPort()
    await useProgram(t, { env: variables(controller) })
    const stream = await controller.stream(0)
    stream.send({ type: 'endpoints', whole: true, put: [], drop: [] })
    const base = sharedIr(port, origin.port, ['a', 'b'])
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    t.after(() => taken.close())
    const { port: busy } = taken.address() as { port: number }
    const other = await closedPort()
    const listenerAt = (at: number): Listener => ({
      ...base.listeners[0]!,
      key: `bind/${at}/http`,
      bind: `bind/${at}`,
    })
    const auth = policyOn({ kind: 'backend', key: 'backend/a/app' }, { backend: { auth: { aws: {} } } })
    const before = policyOn(
      { kind: 'listener', key: `bind/${other}/http` },
      { traffic: TWINS, phase: 'PreRouting' },
      'x/pre',
    )
    const answer = await answerTo(stream, {
      ...base,
      binds: [...base.binds, ...[busy, other].map((at) => ({ key: `bind/${at}`, port: at, address: '127.0.0.1' }))],
      listeners: [...base.listeners, listenerAt(busy), listenerAt(other)],
      policies: [auth, before],
    })
    assert.ok(answer?.type === 'ack')
    assert.deepEqual(
      answer.quarantined?.map(({ object }) => object).toSorted(),
      [`bind/${busy}`, auth.key, before.key].toSorted(),
    )
    assert.deepEqual([await statusOf(port, 'a.test'), await statusOf(port, 'b.test')], [500, 200])
    assert.equal(await statusOf(other, 'b.test'), 500)
  })
})
