import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutBed } from './bed/programs.ts'
import { install, ownImages, rolledOut } from './installed.ts'
import { ECHO_IMAGE, gateway, pods, route } from './shop.ts'

const PATIENCE_MS = 300_000
const SYSTEM = 'portico-system'

describe('a controller in a cluster', { skip: withoutBed }, () => {
  let bed: Bed
  let address = ''
  before(async () => {
    bed = await startBed({ images: { ...ownImages(), echo: ECHO_IMAGE } })
    await install(bed)
    await bed.kubectl('create', 'namespace', 'shop')
    await bed.apply(...pods('cart'), ...pods('other'), gateway(), route('cart', '/'))
    await eventually('the Gateway is programmed', () => isProgrammed(), PATIENCE_MS)
    address = await path('gateway', 'web', '.status.addresses[0].value')
  })
  after(async () => bed.stop())

  const path = async (kind: string, name: string, expression: string): Promise<string> =>
    bed.kubectl('-n', 'shop', 'get', kind, name, '-o', `jsonpath={${expression}}`)
  const isProgrammed = async (): Promise<boolean> =>
    (await path('gateway', 'web', '.status.conditions[?(@.type=="Programmed")].status')) === 'True'
  const ask = async (url: string): Promise<{ status: string; pod: string }> => {
    const { stdout } = await bed.exec(['curl', '-s', '-m', '5', '-w', '\n%{http_code}', `http://${address}${url}`])
    return { status: stdout.trim().split('\n').at(-1) ?? '', pod: /"pod":"([^"]+)"/.exec(stdout)?.[1] ?? '' }
  }

  /** Asks again and again until it is stopped; how many answers there were, and those that were not 200. */
  const askOn = (url: string): { stop(): Promise<{ total: number; bad: string[] }> } => {
    const over = new AbortController()
    let total = 0
    const bad: string[] = []
    const run = (async () => {
      while (!over.signal.aborted) {
        const { status } = await ask(url)
        total += 1
        if (status !== '200') bad.push(status)
      }
    })()
    return {
      async stop() {
        over.abort()
        await run
        return { total, bad }
      },
    }
  }

  it('has traffic flow through the address of the load balancer, and statuses that say so', async () => {
    const { status, pod } = await ask('/anything')
    assert.equal(status, '200')
    assert.match(pod, /^cart-/)
    const conditions = async (kind: string, name: string, list: string): Promise<string> =>
      path(kind, name, `range ${list}[*]}{.type}={.status} {.reason};{end`)
    assert.equal(
      await conditions('gateway', 'web', '.status.conditions'),
      'Accepted=True Accepted;Programmed=True Programmed;',
    )
    assert.match(await conditions('gateway', 'web', '.status.listeners[0].conditions'), /Programmed=True Programmed;/)
    assert.equal(await path('gateway', 'web', '.status.listeners[0].attachedRoutes'), '1')
    assert.equal(
      await conditions('httproute', 'cart', '.status.parents[0].conditions'),
      'Accepted=True Accepted;ResolvedRefs=True ResolvedRefs;',
    )
    const gatewayClass = await bed.kubectl('get', 'gatewayclass', 'portico', '-o', 'jsonpath={.status}')
    assert.match(gatewayClass, /"reason":"Accepted","status":"True"/)
    assert.match(gatewayClass, /"name":"HTTPRouteCORS"/)
  })

  it('makes a changed route live, and tells of one that leads nowhere', async () => {
    await bed.apply(route('cart', '/', 'other'))
    await eventually('it leads elsewhere', async () => (await ask('/')).pod.startsWith('other-'), PATIENCE_MS)
    await bed.apply(route('lost', '/lost', 'nowhere'))
    const reason = '.status.parents[0].conditions[?(@.type=="ResolvedRefs")].reason'
    await eventually(
      'it is told',
      async () => (await path('httproute', 'lost', reason)) === 'BackendNotFound',
      PATIENCE_MS,
    )
    assert.equal((await ask('/lost')).status, '500')
    assert.equal((await ask('/')).status, '200')
    assert.equal(await path('gateway', 'web', '.status.listeners[0].attachedRoutes'), '2')
    await bed.kubectl('-n', 'shop', 'delete', 'httproute', 'lost')
    await eventually(
      'it is gone',
      async () => (await path('gateway', 'web', '.status.listeners[0].attachedRoutes')) === '1',
      PATIENCE_MS,
    )
    await bed.apply(route('cart', '/'))
    await eventually('it leads back', async () => (await ask('/')).pod.startsWith('cart-'), PATIENCE_MS)
  })

  it('loses no request while Pods behind a Service are replaced', async () => {
    const asking = askOn('/')
    await bed.kubectl('-n', 'shop', 'rollout', 'restart', 'deployment/cart')
    await rolledOut(bed, 'shop', 'cart')
    const { total, bad } = await asking.stop()
    assert.ok(total > 10, `${total} requests`)
    assert.deepEqual(bad, [])
  })

  it('is not needed by data planes that have their config', async () => {
    const asking = askOn('/')
    await bed.kubectl('-n', SYSTEM, 'scale', 'deployment/portico-controller', '--replicas=0')
    await eventually(
      'there is no controller',
      async () => (await bed.kubectl('-n', SYSTEM, 'get', 'pods', '-o', 'name')) === '',
      PATIENCE_MS,
    )
    assert.equal((await ask('/')).status, '200')
    await bed.kubectl('-n', SYSTEM, 'scale', 'deployment/portico-controller', '--replicas=2')
    await rolledOut(bed, SYSTEM, 'portico-controller')
    const { bad } = await asking.stop()
    assert.deepEqual(bad, [])
    // New controllers know nothing of a data plane until it has connected to one of them.
    await eventually('it is programmed', isProgrammed, PATIENCE_MS)
  })

  it('leaves the lead to another when it ends', async () => {
    const holder = async (): Promise<string> =>
      bed.kubectl('-n', SYSTEM, 'get', 'lease', 'portico-controller', '-o', 'jsonpath={.spec.holderIdentity}')
    await eventually('one leads', async () => (await holder()) !== '', PATIENCE_MS)
    const first = await holder()
    const pods = (await bed.kubectl('-n', SYSTEM, 'get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ')
    assert.equal(pods.length, 2)
    assert.ok(pods.some((pod) => first.startsWith(`${pod}_`)))
    await bed.kubectl('-n', SYSTEM, 'delete', 'pod', first.slice(0, first.indexOf('_')), '--wait=false')
    await eventually('another leads', async () => !['', first].includes(await holder()), PATIENCE_MS)
    await bed.apply(route('late', '/late', 'other'))
    await eventually('it is served', async () => (await ask('/late')).pod.startsWith('other-'), PATIENCE_MS)
    const accepted = '.status.parents[0].conditions[?(@.type=="Accepted")].status'
    await eventually('it is told', async () => (await path('httproute', 'late', accepted)) === 'True', PATIENCE_MS)
  })

  it('hears of data planes that are connected to another, and says of a changed Gateway what they say', async () => {
    const logs = async (): Promise<string> =>
      bed.kubectl('-n', SYSTEM, 'logs', 'deployment/portico-controller', '--all-pods')
    await eventually('others are heard', async () => /connected to another controller/.test(await logs()), PATIENCE_MS)
    const listeners = [{ op: 'add', path: '/spec/listeners/-', value: { name: 'more', port: 8080, protocol: 'HTTP' } }]
    await bed.kubectl('-n', 'shop', 'patch', 'gateway', 'web', '--type=json', '-p', JSON.stringify(listeners))
    const programmed = '.status.conditions[?(@.type=="Programmed")]'
    const said = async (): Promise<string> =>
      path('gateway', 'web', `.metadata.generation}={${programmed}.observedGeneration} {${programmed}.status`)
    await eventually('it is told', async () => /^(\d+)=\1 True$/.test(await said()), PATIENCE_MS)
  })

  it('mends what somebody takes away', async () => {
    await bed.kubectl('-n', 'shop', 'delete', 'service', 'web')
    await eventually(
      'it is there again',
      async () => (await bed.kubectl('-n', 'shop', 'get', 'service', '-o', 'name')).includes('service/web\n'),
      PATIENCE_MS,
    )
  })
})
