import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listAt, textAt, valueAt } from '@portico/translate/json'
import {
  conditionOf,
  findCondition,
  gateway,
  GATEWAY,
  GATEWAY_API,
  reasonOf,
  route,
  ROUTE,
  slice,
  useController,
  withAddress,
} from './testing/controller-scene.ts'
import { eventually } from './testing/eventually.ts'

const ROUTES = `/apis/${GATEWAY_API}/httproutes`

describe('the controller', () => {
  it('publishes no config before all kinds are read', async (t) => {
    const scene = await useController(t)
    let release = (): void => undefined
    scene.api.intercept = ({ path }, response) => {
      if (path !== '/api/v1/services') return false
      release = () => response.destroy()
      return true
    }
    scene.start()
    await scene.api.received('/api/v1/services')
    await eventually('only these are missing', () => scene.controller.pending.join() === 'Service')
    assert.equal(scene.published.length, 0)
    scene.api.intercept = () => false
    release()
    await eventually('it is published', () => scene.published.length === 1)
    assert.deepEqual(scene.controller.pending, [])
    assert.deepEqual(scene.order, ['reach shop/web', 'publish shop/web'])
    assert.deepEqual(scene.reached.get('shop/web'), { 'backend/service/shop/cart/80': ['10.0.0.7:3000'] })
  })

  it('publishes changes, but not its own status writes', async (t) => {
    const scene = await useController(t)
    scene.controller.lead()
    scene.start()
    await eventually('the route has a status', () => conditionOf(scene.api, ROUTE, 'Accepted') === 'True')
    await eventually('the Gateway has one', () => conditionOf(scene.api, GATEWAY, 'Accepted') === 'True')
    const before = scene.published.length
    scene.api.put(route('/other'))
    await eventually('it is published', () => scene.published.length === before + 1)
    assert.match(JSON.stringify(scene.published.at(-1)?.routes), /\/other/)
    scene.api.put(slice('10.0.0.8'))
    await eventually('the address is known', () =>
      JSON.stringify(scene.reached.get('shop/web')).includes('10.0.0.8:3000'),
    )
    assert.equal(scene.published.length, before + 1)
    scene.api.drop(GATEWAY)
    await eventually('it is retired', () => scene.order.at(-1) === 'retire shop/web')
  })

  it('serves without missing kinds, and reads them once they exist', async (t) => {
    const scene = await useController(t)
    scene.api.setMissing(ROUTES, true)
    scene.start()
    await eventually('it is published', () => scene.published.length === 1)
    assert.equal(scene.published[0]?.routes.length, 0)
    scene.api.setMissing(ROUTES, false)
    await eventually('the route is there', () => scene.published.at(-1)?.routes.length === 1)
  })

  it('reports the state of data planes in the status of the Gateway', async (t) => {
    const scene = await useController(t)
    scene.controller.lead()
    scene.start()
    const reason = (): string | undefined => reasonOf(scene.api, GATEWAY, 'Programmed')
    await eventually('it waits for a data plane', () => reason() === 'Pending')
    await eventually('it is deployed', () => scene.api.get('/api/v1/namespaces/shop/services/web') !== undefined)
    scene.api.put(withAddress(scene.api))
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is programmed', () => reason() === 'Programmed')
    assert.deepEqual(valueAt(scene.api.get(GATEWAY), 'status', 'addresses'), [
      { type: 'IPAddress', value: '10.97.0.1' },
    ])
    // A change that is not acknowledged yet does not unset Programmed.
    scene.state = { connected: 1, acknowledged: false, problems: [] }
    scene.api.put(route('/next'))
    await eventually('it is published', () => /\/next/.test(JSON.stringify(scene.published.at(-1)?.routes)))
    scene.controller.stateChanged('shop/web')
    assert.equal(reason(), 'Programmed')
    scene.state = { connected: 1, acknowledged: false, problems: ['route cart: not like that'] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is invalid', () => reason() === 'Invalid')
    await scene.api.received('/api/v1/namespaces/shop/events')
    const event = scene.api.asked.find(({ path }) => path.endsWith('/events'))
    assert.equal(valueAt(event?.body, 'reason'), 'ConfigRefused')
    assert.match(textAt(event?.body, 'message') ?? '', /not like that/)
  })

  it('unsets Programmed when no worker serves a Gateway, and sets it again when one does', async (t) => {
    const scene = await useController(t)
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.lead()
    scene.start()
    const reason = (): string | undefined => reasonOf(scene.api, GATEWAY, 'Programmed')
    await eventually('it is deployed', () => scene.api.get('/api/v1/namespaces/shop/services/web') !== undefined)
    scene.api.put(withAddress(scene.api))
    await eventually('it is programmed', () => reason() === 'Programmed')
    scene.state = { connected: 1, notServing: 1, acknowledged: false, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is taken back', () => reason() === 'NotServing')
    assert.equal(conditionOf(scene.api, GATEWAY, 'Programmed'), 'False')
    assert.equal(conditionOf(scene.api, GATEWAY, 'Accepted'), 'True')
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is programmed again', () => reason() === 'Programmed')
  })

  it('reports why a Gateway outside its namespaces is not served, deploys nothing there, and serves the others', async (t) => {
    const scene = await useController(t, { namespaces: ['shop'] })
    const outside = gateway()
    const elsewhere = GATEWAY.replace('shop', 'bank')
    scene.api.put({ ...outside, metadata: { ...outside.metadata, namespace: 'bank' } })
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.lead()
    scene.start()
    await eventually('it is told', () => reasonOf(scene.api, elsewhere, 'Accepted') === 'NamespaceNotServed')
    assert.equal(conditionOf(scene.api, elsewhere, 'Programmed'), 'False')
    assert.match(
      textAt(findCondition(scene.api, elsewhere, 'Accepted'), 'message') ?? '',
      /no rights in namespace bank/,
    )
    await eventually('the other is deployed', () => scene.api.get('/api/v1/namespaces/shop/services/web') !== undefined)
    scene.api.put(withAddress(scene.api))
    await eventually('and programmed', () => reasonOf(scene.api, GATEWAY, 'Programmed') === 'Programmed')
    assert.deepEqual(
      scene.api.asked.filter(({ path }) => path.includes('/namespaces/bank/')).map(({ path }) => path),
      [`${elsewhere}/status`],
    )
    assert.equal(
      scene.order.some((one) => one.endsWith('bank/web')),
      false,
    )
  })

  it('reports a quarantined route, until it is fixed', async (t) => {
    const scene = await useController(t)
    scene.controller.lead()
    scene.start()
    await eventually('the route has a status', () => conditionOf(scene.api, ROUTE, 'Accepted') === 'True')
    const units = ['route bind/80/http/shop/cart/0']
    const quarantined = [{ object: 'policy/shop/sign@route/x', problem: 'traffic.x: not like that', units }]
    scene.state = { connected: 1, acknowledged: true, problems: [], quarantined }
    scene.controller.stateChanged('shop/web')
    await eventually('it is told', () => reasonOf(scene.api, ROUTE, 'PartiallyInvalid') === 'Quarantined')
    const message = textAt(findCondition(scene.api, ROUTE, 'PartiallyInvalid'), 'message')
    assert.equal(message, 'Dropped Rule: rules[0]: answered with 500: GwPolicy shop/sign: traffic.x: not like that')
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is mended', () => findCondition(scene.api, ROUTE, 'PartiallyInvalid') === undefined)
  })

  it('sets Programmed of a ListenerSet with its Gateway', async (t) => {
    const scene = await useController(t)
    const set = `/apis/${GATEWAY_API}/namespaces/shop/listenersets/more`
    const listeners = [{ name: 'more', port: 8080, protocol: 'HTTP' }]
    scene.api.put(gateway({ allowedListeners: { namespaces: { from: 'Same' } } }))
    scene.api.put({
      apiVersion: GATEWAY_API,
      kind: 'ListenerSet',
      metadata: { namespace: 'shop', name: 'more', generation: 1 },
      spec: { parentRef: { name: 'web' }, listeners },
    })
    scene.controller.lead()
    scene.start()
    await eventually('it waits', () => reasonOf(scene.api, set, 'Programmed') === 'Pending')
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.stateChanged('shop/web')
    await eventually('it is programmed', () => reasonOf(scene.api, set, 'Programmed') === 'Programmed')
    const ports = (): string =>
      listAt(scene.api.get('/api/v1/namespaces/shop/services/web'), 'spec', 'ports')
        .map((one) => valueAt(one, 'port'))
        .join()
    await eventually('its port is deployed', () => ports() === '80,8080')
  })

  it('does not update the status of a changed Gateway until it has the requested address', async (t) => {
    const scene = await useController(t)
    scene.state = { connected: 1, acknowledged: true, problems: [] }
    scene.controller.lead()
    scene.start()
    const service = '/api/v1/namespaces/shop/services/web'
    await eventually('it is deployed', () => scene.api.get(service) !== undefined)
    scene.api.put(withAddress(scene.api))
    await eventually('it is programmed', () => reasonOf(scene.api, GATEWAY, 'Programmed') === 'Programmed')
    const live = scene.api.get(GATEWAY) ?? assert.fail('there is no Gateway')
    const asking = gateway({ addresses: [{ value: '10.97.0.2' }] })
    scene.api.put({ ...live, spec: asking.spec, metadata: { ...live.metadata, generation: 2 } })
    const asked = (): boolean => valueAt(scene.api.get(service), 'spec', 'loadBalancerIP') === '10.97.0.2'
    await eventually('the address is asked for', asked)
    const observed = (): unknown => valueAt(findCondition(scene.api, GATEWAY, 'Programmed'), 'observedGeneration')
    assert.equal(observed(), 1)
    scene.api.put(withAddress(scene.api, '10.97.0.2'))
    await eventually('it is told of', () => observed() === 2)
    assert.equal(reasonOf(scene.api, GATEWAY, 'Programmed'), 'Programmed')
    assert.deepEqual(valueAt(scene.api.get(GATEWAY), 'status', 'addresses'), [
      { type: 'IPAddress', value: '10.97.0.2' },
    ])
  })

  it('reports invalid parameters, until they are valid', async (t) => {
    const scene = await useController(t)
    const parametersRef = { group: 'portico.dev', kind: 'GwParameters', name: 'small' }
    scene.api.put({ ...gateway({ infrastructure: { parametersRef } }) })
    scene.controller.lead()
    scene.start()
    await eventually('it is told', () => reasonOf(scene.api, GATEWAY, 'Accepted') === 'InvalidParameters')
    scene.api.put({
      apiVersion: 'portico.dev/v1alpha1',
      kind: 'GwParameters',
      metadata: { namespace: 'shop', name: 'small', generation: 1 },
      spec: {},
    })
    await eventually('it is mended', () => reasonOf(scene.api, GATEWAY, 'Accepted') === 'Accepted')
    await eventually(
      'it is deployed',
      () => scene.api.get('/apis/apps/v1/namespaces/shop/deployments/web') !== undefined,
    )
  })

  it('leaves statuses and Deployments to the leader', async (t) => {
    const scene = await useController(t)
    scene.start()
    await eventually('it is published', () => scene.published.length === 1)
    scene.controller.lead()
    await eventually('the route has a status', () => conditionOf(scene.api, ROUTE, 'Accepted') === 'True')
    await scene.controller.follow()
    const writes = (): number => scene.api.asked.filter(({ method }) => method !== 'GET').length
    const before = writes()
    assert.ok(before > 0)
    scene.api.put({ ...route('/late'), metadata: { ...route('/late').metadata, generation: 99 } })
    await eventually('it is published', () => /\/late/.test(JSON.stringify(scene.published.at(-1)?.routes)))
    assert.equal(writes(), before)
  })
})
