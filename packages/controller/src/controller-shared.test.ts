import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Resource } from '@portico/translate'
import { listAt, valueAt } from '@portico/translate/json'
import { conditionOf, gateway, GATEWAY, GATEWAY_API, reasonOf, useController } from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'

const PLANE = 'infra/merged:edge'
const OTHER = `/apis/${GATEWAY_API}/namespaces/billing/gateways/web`

const parametersRef = { group: 'portico.dev', kind: 'GwParameters', namespace: 'infra', name: 'edge' }
const gatewayClass: Resource = {
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'portico', generation: 2 },
  spec: { controllerName: 'portico.dev/gateway', parametersRef },
}

const parameters = (spec: object, generation: number): Resource => ({
  apiVersion: 'portico.dev/v1alpha1',
  kind: 'GwParameters',
  metadata: { namespace: 'infra', name: 'edge', generation },
  spec,
})

/** A Gateway in another namespace, on a port of its own. */
const other = (): Resource => {
  const listeners = [{ name: 'http', port: 81, protocol: 'HTTP' }]
  const spec = { listeners, infrastructure: { labels: { team: 'billing' } } }
  return { ...gateway(spec), metadata: { namespace: 'billing', name: 'web', generation: 1 } }
}

describe('the controller of Gateways that share a data plane', () => {
  it('publishes one config, deploys one data plane, and reports its state in the status of each Gateway', async (t) => {
    const scene = await useController(t)
    for (const resource of [gatewayClass, parameters({ mergeGateways: true }, 1), other()]) scene.api.put(resource)
    scene.controller.lead()
    scene.start()
    await eventually('it is published', () => scene.order.includes(`publish ${PLANE}`))
    assert.deepEqual(
      scene.published.at(-1)?.binds.map(({ port }) => port),
      [80, 81],
    )
    const path = (): string | undefined =>
      scene.api.asked
        .map((asked) => asked.path)
        .find((each) => each.startsWith('/api/v1/namespaces/infra/services/merged-edge-'))
    await eventually('it is deployed', () => scene.api.get(path() ?? '') !== undefined)
    assert.equal(scene.api.get('/api/v1/namespaces/shop/services/web'), undefined)
    const service = scene.api.get(path() ?? '') ?? assert.fail('there is no Service')
    scene.api.put({ ...service, ...{ status: { loadBalancer: { ingress: [{ ip: '10.97.0.1' }] } } } })
    for (const gatewayPath of [GATEWAY, OTHER]) {
      await eventually('it waits', () => reasonOf(scene.api, gatewayPath, 'Programmed') === 'Pending')
    }
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged(PLANE)
    for (const gatewayPath of [GATEWAY, OTHER]) {
      await eventually('it is programmed', () => conditionOf(scene.api, gatewayPath, 'Programmed') === 'True')
      const addresses = valueAt(scene.api.get(gatewayPath), 'status', 'addresses')
      assert.deepEqual(addresses, [{ type: 'IPAddress', value: '10.97.0.1' }])
    }
    // An address that the Gateway requests is not applied, and its status says so.
    scene.api.put({ ...other(), spec: { ...(other().spec as object), addresses: [{ value: '10.97.0.9' }] } })
    await eventually('it is refused', () => reasonOf(scene.api, OTHER, 'Programmed') === 'AddressNotUsable')
    scene.api.put(other())
    await eventually('it is programmed', () => conditionOf(scene.api, OTHER, 'Programmed') === 'True')
    // The labels that a Gateway requests have no effect, but it is served.
    assert.equal(reasonOf(scene.api, OTHER, 'Accepted'), 'InvalidParameters')
    assert.equal(conditionOf(scene.api, GATEWAY, 'Accepted'), 'True')
    const listeners = listAt(scene.api.get(OTHER), 'status', 'listeners').flatMap((one) => listAt(one, 'conditions'))
    const programmed = listeners.find((one) => valueAt(one, 'type') === 'Programmed')
    assert.equal(valueAt(programmed, 'status'), 'True')
  })

  it('publishes the configs of both Gateways when they share no longer, and retires the shared one', async (t) => {
    const scene = await useController(t)
    for (const resource of [gatewayClass, parameters({ mergeGateways: true }, 1), other()]) scene.api.put(resource)
    scene.controller.lead()
    scene.start()
    await eventually('it is published', () => scene.order.includes(`publish ${PLANE}`))
    scene.api.put(parameters({}, 2))
    await eventually('it is retired', () => scene.order.includes(`retire ${PLANE}`))
    for (const key of ['shop/web', 'billing/web']) assert.ok(scene.order.includes(`publish ${key}`), key)
    scene.api.put(parameters({ mergeGateways: true }, 3))
    await eventually('they are retired', () =>
      ['shop/web', 'billing/web'].every((key) => scene.order.includes(`retire ${key}`)),
    )
    assert.equal(scene.order.filter((each) => each === `publish ${PLANE}`).length, 2)
  })

  it('records rejections of a data plane as an Event of the GwParameters', async (t) => {
    const scene = await useController(t)
    for (const resource of [gatewayClass, parameters({ mergeGateways: true }, 1)]) scene.api.put(resource)
    scene.controller.lead()
    scene.start()
    await eventually('it is published', () => scene.order.includes(`publish ${PLANE}`))
    scene.state = { connected: 1, acknowledged: false, problems: ['not like that'] }
    scene.controller.stateChanged(PLANE)
    await scene.api.received('/api/v1/namespaces/infra/events')
    const event = scene.api.asked.find(({ path }) => path.endsWith('/events'))
    assert.equal(
      valueAt(event?.body, 'involvedObject', 'kind') ?? valueAt(event?.body, 'regarding', 'kind'),
      'GwParameters',
    )
    await eventually('it is invalid', () => reasonOf(scene.api, GATEWAY, 'Programmed') === 'Invalid')
  })
})
