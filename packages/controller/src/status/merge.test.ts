import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { condition, type GatewayStatus, type PolicyStatus, type RouteStatus } from '@portico/translate'
import { statusPatch } from './merge.ts'

const controllerName = 'portico.dev/gateway'
const now = new Date('2026-05-01T10:00:00.123Z')
const NOW = '2026-05-01T10:00:00Z'
const BEFORE = '2026-04-01T00:00:00Z'
const circumstances = { controllerName, now }

const accepted = (isTrue = true, generation = 1) =>
  condition('Accepted', isTrue, { reason: isTrue ? 'Accepted' : 'NoMatchingParent', message: '', generation })
const parentOf = (name: string) => ({ group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop', name })

function routeStatus(...names: string[]): RouteStatus {
  return {
    parents: names.map((name) => ({ parentRef: parentOf(name), controllerName, conditions: [accepted()] })),
  }
}

const timed = (conditions: object[], lastTransitionTime: string) =>
  conditions.map((one) => ({ ...one, lastTransitionTime }))
const foreign = { parentRef: parentOf('web'), controllerName: 'other.example/gateway', conditions: [{ type: 'Odd' }] }

describe('a wanted status', () => {
  it('is written when there was none', () => {
    assert.deepEqual(statusPatch(undefined, routeStatus('web'), circumstances), {
      parents: [{ parentRef: parentOf('web'), controllerName, conditions: timed([accepted()], NOW) }],
    })
  })

  it('is not written when it is unchanged', () => {
    const live = statusPatch(undefined, routeStatus('web', 'edge'), circumstances)
    assert.equal(statusPatch(live, routeStatus('web', 'edge'), { controllerName, now: new Date() }), null)
    assert.equal(statusPatch(live, routeStatus('edge', 'web'), circumstances), null)
  })

  it('keeps the transition time of an unchanged condition, and not of a changed one', () => {
    const live = { parents: [{ ...routeStatus('web').parents[0], conditions: timed([accepted()], BEFORE) }] }
    const say = (conditions: ReturnType<typeof accepted>[]): RouteStatus => ({
      parents: [{ parentRef: parentOf('web'), controllerName, conditions }],
    })
    const timeOf = (status: RouteStatus): unknown => {
      const patch = statusPatch(live, status, circumstances) as { parents: [{ conditions: [object] }] } | null
      return patch === null ? null : Reflect.get(patch.parents[0].conditions[0], 'lastTransitionTime')
    }
    assert.equal(timeOf(say([accepted(true, 2)])), BEFORE)
    assert.equal(timeOf(say([accepted(false, 2)])), NOW)
  })

  it('leaves conditions of others on a Gateway and its listeners, and drops its own outdated ones', () => {
    const odd = { type: 'example.com/Odd', status: 'True', lastTransitionTime: BEFORE }
    const outdated = { type: 'Conflicted', status: 'False', lastTransitionTime: BEFORE }
    const listener = { name: 'http', supportedKinds: [], attachedRoutes: 0, conditions: [accepted()] }
    const wanted: GatewayStatus = { conditions: [accepted()], listeners: [listener], attachedListenerSets: 0 }
    const live = { conditions: [odd], listeners: [{ ...listener, conditions: [odd, outdated] }] }
    const patch = statusPatch(live, wanted, circumstances) as {
      conditions: object[]
      listeners: { conditions: object[] }[]
    }
    const [own] = timed([accepted()], NOW)
    assert.deepEqual(patch.conditions, [odd, own])
    assert.deepEqual(patch.listeners[0]?.conditions, [odd, own])
  })

  it('leaves entries of other controllers unchanged and in place', () => {
    const own = { ...routeStatus('web').parents[0], conditions: timed([accepted()], BEFORE) }
    const gone = { ...own, parentRef: parentOf('gone') }
    const patch = statusPatch({ parents: [own, foreign, gone] }, routeStatus('web', 'edge'), circumstances)
    const parents = (patch as { parents: (typeof own)[] }).parents
    assert.deepEqual(parents.slice(0, 2), [own, foreign])
    assert.deepEqual(
      parents.map(({ parentRef }) => parentRef?.name),
      ['web', 'web', 'edge'],
    )
  })

  it('removes our entries from a resource that is no longer ours', () => {
    const own = routeStatus('web').parents[0]
    assert.deepEqual(statusPatch({ parents: [foreign, own] }, null, circumstances), { parents: [foreign] })
    assert.equal(statusPatch({ parents: [foreign] }, null, circumstances), null)
    assert.equal(statusPatch({ conditions: [accepted()] }, null, circumstances), null)
    assert.equal(statusPatch(undefined, null, circumstances), null)
  })

  it('has at most as many policy entries as the API allows, and drops none of others', () => {
    const others = Array.from({ length: 15 }, (_, index) => ({
      ancestorRef: parentOf(`other-${index}`),
      controllerName: 'other.example/gateway',
      conditions: [],
    }))
    const wanted: PolicyStatus = {
      ancestors: ['a', 'b', 'c'].map((name) => ({ ancestorRef: parentOf(name), controllerName, conditions: [] })),
    }
    const patch = statusPatch({ ancestors: others }, wanted, circumstances) as unknown as PolicyStatus
    assert.equal(patch.ancestors.length, 16)
    assert.deepEqual(patch.ancestors.slice(0, 15), others)
  })

  it('for a Gateway keeps conditions of others, and drops our outdated ones', () => {
    const theirs = { type: 'example.com/Billed', status: 'True', lastTransitionTime: BEFORE }
    const listener = { name: 'http', supportedKinds: [], attachedRoutes: 2, conditions: [accepted()] }
    const wanted: GatewayStatus = { conditions: [accepted()], listeners: [listener], attachedListenerSets: 0 }
    const live = {
      addresses: [{ type: 'IPAddress', value: '10.0.0.1' }],
      conditions: [
        theirs,
        { ...accepted(false), lastTransitionTime: BEFORE },
        { type: 'ResolvedRefs', status: 'False', lastTransitionTime: BEFORE },
      ],
      listeners: [
        { ...listener, conditions: timed([accepted()], BEFORE) },
        { ...listener, name: 'gone' },
      ],
      attachedListenerSets: 0,
    }
    assert.deepEqual(statusPatch(live, wanted, circumstances), {
      conditions: [theirs, { ...accepted(), lastTransitionTime: NOW }],
      listeners: [{ ...listener, conditions: timed([accepted()], BEFORE) }],
    })
    const address = { addresses: [{ type: 'IPAddress' as const, value: '10.0.0.2' }] }
    assert.deepEqual(
      (statusPatch(live, { ...wanted, ...address }, circumstances) as { addresses: unknown }).addresses,
      address.addresses,
    )
  })
})
