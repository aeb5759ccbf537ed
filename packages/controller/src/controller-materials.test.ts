import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Resource } from '@portico/translate'
import { createAuthority, issueServing, type KeyPair } from './publish/certificate.ts'
import { type ControllerScene, gateway, reasonOf, GATEWAY, route, useController } from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'
import { answer, failCall } from './testing/scripted-api.ts'

const SECRET = '/api/v1/namespaces/shop/secrets/cert'

describe('Secrets that a Gateway refers to', () => {
  it('are read one by one, follow rotation, and are dropped with the last reference', async (t) => {
    const scene = await useController(t)
    const [first, second] = [createPair(), createPair()]
    scene.api.put(secret('cert', first))
    scene.api.put(secret('other', createPair()))
    scene.api.put(withTls())
    scene.controller.lead()
    scene.start()
    await eventually('it is published', () => certificateOf(scene) === first.cert)
    assert.equal(scene.published.length, 1)
    scene.api.put(secret('cert', second))
    await eventually('it rotates', () => certificateOf(scene) === second.cert)
    const asked = scene.api.asked.filter(({ path }) => /\/secrets\b/.test(path))
    const contents = asked.filter(({ headers }) => !/as=PartialObjectMetadata/.test(headers.accept ?? ''))
    // Requests with a label selector, and for the session key, are about objects that the controller deploys.
    const ofUsers = contents.filter(
      ({ path, query }) => query.get('labelSelector') === null && !path.endsWith('/web-session-key'),
    )
    assert.deepEqual(new Set(ofUsers.map(({ path }) => path)), new Set([SECRET]))
    assert.equal(heldSecrets(scene), 1)
    const plain = gateway()
    scene.api.put({ ...plain, metadata: { ...plain.metadata, generation: 2 } })
    await eventually('it is let go', () => heldSecrets(scene) === 0)
  })

  it('hold back only the Gateways that need them while they cannot be read', async (t) => {
    const scene = await useController(t)
    const pair = createPair()
    scene.api.put(secret('cert', pair))
    scene.controller.lead()
    scene.start()
    await eventually('it is published', () => scene.published.length === 1)
    await eventually('it has a status', () => reasonOf(scene.api, GATEWAY, 'Accepted') === 'Accepted')
    let refusals = 0
    scene.api.intercept = ({ path }, response) => {
      if (path !== SECRET) return false
      refusals += 1
      if (refusals % 2 === 0) failCall(response, 404, 'not found')
      else failCall(response, 500, 'tired')
      return true
    }
    const other = { ...gateway(), metadata: { namespace: 'shop', name: 'other', generation: 1 } }
    scene.api.put({ ...scene.api.get(GATEWAY), ...withTls(2) })
    scene.api.put(route('/late'))
    scene.api.put(other)
    await eventually('another Gateway goes on', () => scene.order.includes('publish shop/other'))
    await eventually('it was tried several times', () => refusals > 3)
    assert.equal(scene.order.filter((told) => told === 'publish shop/web').length, 1)
    assert.equal(reasonOf(scene.api, GATEWAY, 'Accepted'), 'Accepted')
    assert.equal(scene.api.get(GATEWAY)?.metadata.generation, 2)
    scene.api.intercept = () => false
    await eventually('it is published', () => certificateOf(scene) === pair.cert)
    assert.match(JSON.stringify(scene.published.at(-1)?.routes), /\/late/)
  })

  it('are awaited at the start, and the status of the Gateway stays as it was', async (t) => {
    const scene = await useController(t)
    const pair = createPair()
    const conditions = [{ type: 'Programmed', status: 'True', reason: 'Programmed', observedGeneration: 1 }]
    scene.api.put(secret('cert', pair))
    scene.api.put({ ...withTls(), ...{ status: { conditions } } })
    let release = (): void => undefined
    scene.api.intercept = ({ path }, response) => {
      if (path !== SECRET) return false
      release = () => answer(response, 200, scene.api.get(SECRET) ?? {})
      return true
    }
    scene.controller.lead()
    scene.start()
    await scene.api.received(SECRET)
    assert.deepEqual(scene.controller.pending, [])
    scene.controller.stateChanged('shop/web')
    assert.equal(scene.published.length, 0)
    assert.equal(reasonOf(scene.api, GATEWAY, 'Programmed'), 'Programmed')
    scene.api.intercept = () => false
    release()
    await eventually('it is published', () => certificateOf(scene) === pair.cert)
    assert.deepEqual(scene.order, ['reach shop/web', 'publish shop/web'])
  })
})

describe('Secrets and ConfigMaps that nothing refers to', () => {
  it('take next to no memory, whatever they hold and whatever was applied', async (t) => {
    const scene = await useController(t)
    const big = 'x'.repeat(100_000)
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': big }
    for (let index = 0; index < 2_000; index++) {
      const metadata = { namespace: 'others', name: `s${index}`, ...(index % 10 === 0 && { annotations }) }
      scene.api.put({ apiVersion: 'v1', kind: index % 2 ? 'Secret' : 'ConfigMap', metadata, data: { big } })
    }
    const before = heapUsed()
    scene.start()
    await eventually('it is published', () => scene.published.length === 1)
    // Response buffers are freed once the sockets release them.
    await eventually('their memory is freed', () => heapUsed() - before < 10_000_000)
    assert.equal(heldSecrets(scene), 0)
  })
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapUsed(): number {
  collect()
  const { heapUsed: heap, external } = process.memoryUsage()
  return heap + external
}

function createPair(): KeyPair {
  const day = 86_400_000
  const validity = { from: new Date(Date.now() - day), to: new Date(Date.now() + day) }
  return issueServing(createAuthority('Test', validity), { names: ['shop.example'], name: 'shop', validity })
}

function secret(name: string, { cert, key }: KeyPair): Resource {
  const data = { 'tls.crt': Buffer.from(cert).toString('base64'), 'tls.key': Buffer.from(key).toString('base64') }
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'shop', name }, data }
}

function withTls(generation = 1): Resource {
  const tls = { certificateRefs: [{ name: 'cert' }] }
  const made = gateway({ listeners: [{ name: 'https', port: 443, protocol: 'HTTPS', tls }] })
  return { ...made, metadata: { ...made.metadata, generation } }
}

function certificateOf({ published }: ControllerScene): string | undefined {
  return published.at(-1)?.listeners[0]?.tls?.cert
}

function heldSecrets({ controller, metrics }: ControllerScene): number {
  controller.measure()
  return Number(/portico_controller_materials\{kind="Secret"\} (\d+)/.exec(metrics.print())?.[1])
}
