import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { condition, type GatewayStatus, type Reason } from '@portico/translate'
import { completeGatewayStatus, completeListenerSetStatus, type GatewayFacts } from './gateway-status.ts'

const say = (type: Reason, isTrue = true, reason = type) =>
  condition(type, isTrue, { reason, message: '', generation: 1 })
const listener = (name: string, isProgrammed = true) => ({
  name,
  supportedKinds: [],
  attachedRoutes: 0,
  conditions: [say('Programmed', isProgrammed, isProgrammed ? 'Programmed' : 'Invalid')],
})
const translated: GatewayStatus = {
  conditions: [say('Accepted'), say('Programmed')],
  listeners: [listener('http'), listener('broken', false)],
  attachedListenerSets: 0,
}
const address = { type: 'IPAddress' as const, value: '10.97.0.1' }
const fine: GatewayFacts = {
  addresses: [address],
  askedAddresses: [],
  scopedRequests: null,
  parameterProblems: [],
  deployFailures: [],
  refusals: [],
  isProgrammed: true,
  isLost: false,
  notServing: 0,
}

/** Reasons of Accepted, of Programmed, and of Programmed of each listener; false conditions have a mark. */
function reasons(facts: Partial<GatewayFacts>, status = translated): string[] {
  const { conditions, listeners } = completeGatewayStatus(status, { ...fine, ...facts }) as GatewayStatus
  const all = [...conditions, ...listeners.flatMap((one) => one.conditions)]
  return all.map(({ reason, status: is }) => (is === 'True' ? reason : `not ${reason}`))
}

describe('the status of a Gateway', () => {
  it('is that of its translation once data planes run it, with its addresses', () => {
    assert.deepEqual(completeGatewayStatus(translated, fine), { ...translated, addresses: [address] })
  })

  it('reports why it is not programmed, also for its listeners', () => {
    const pending = ['Accepted', 'not Pending', 'not Pending', 'not Invalid']
    assert.deepEqual(reasons({ isProgrammed: false }), pending)
    assert.deepEqual(reasons({ addresses: [] }), ['Accepted', 'not AddressNotAssigned', 'not Pending', 'not Invalid'])
    const refused = ['Accepted', 'not Invalid', 'not Invalid', 'not Invalid']
    assert.deepEqual(reasons({ refusals: ['no'] }), refused)
    assert.deepEqual(reasons({ refusals: ['no'], isProgrammed: false }), refused)
  })

  it('reports that no data plane serves it, unless the deployment explains it', () => {
    const lost = { isProgrammed: false, isLost: true }
    assert.deepEqual(reasons(lost), ['Accepted', 'not NotServing', 'not Pending', 'not Invalid'])
    const failed = { ...lost, deployFailures: ['Deployment shop/web: quota'] }
    assert.deepEqual(reasons(failed).slice(0, 2), ['Accepted', 'not Pending'])
  })

  it('reports which addresses of a scope are assigned, and is programmed with some of them', () => {
    const any = { type: 'IPAddress', value: '', routability: '' }
    const inside = { ...any, routability: 'Cluster' }
    const own = { ...address, routability: 'Cluster' as const }
    const last = (facts: Partial<GatewayFacts>): [string, string | undefined, string | undefined] => {
      const { conditions } = completeGatewayStatus(translated, { ...fine, ...facts }) as GatewayStatus
      const found = conditions.at(-1)
      const programmed = conditions.find(({ type }) => type === 'Programmed')
      return [`${found?.type} ${found?.status} ${found?.reason}`, found?.message, programmed?.reason]
    }
    assert.deepEqual(last({ addresses: [own], scopedRequests: [inside] }), [
      'AddressesAssigned True Assigned',
      'All addresses are assigned',
      'Programmed',
    ])
    assert.deepEqual(last({ addresses: [own], scopedRequests: [{ ...inside, value: '10.9.9.9' }, inside] }), [
      'AddressesAssigned False PartiallyAssigned',
      'Not assigned: IPAddress 10.9.9.9 (Cluster)',
      'Programmed',
    ])
    assert.deepEqual(last({ addresses: [], scopedRequests: [inside, any] }), [
      'AddressesAssigned False NotAssigned',
      'Not assigned: IPAddress (Cluster), IPAddress',
      'AddressNotAssigned',
    ])
  })

  it('reports addresses that the platform does not assign', () => {
    const unusable = ['Accepted', 'not AddressNotUsable', 'not Pending', 'not Invalid']
    assert.deepEqual(reasons({ askedAddresses: ['10.97.0.9'], addresses: [] }), unusable)
    assert.deepEqual(reasons({ askedAddresses: ['10.97.0.1', '10.97.0.9'] }), unusable)
    assert.deepEqual(reasons({ askedAddresses: ['10.97.0.1'] })[1], 'Programmed')
  })

  it('says that a shared data plane does not apply requests for addresses', () => {
    const scoped = [{ type: 'IPAddress', value: '10.9.9.9', routability: 'Cluster' }]
    for (const [facts, type] of [
      [{ askedAddresses: ['10.97.0.9'] }, 'Programmed'],
      [{ scopedRequests: scoped }, 'AddressesAssigned'],
    ] as const) {
      const { conditions } = completeGatewayStatus(translated, {
        ...fine,
        ...facts,
        sharedBy: 'infra/edge',
      }) as GatewayStatus
      const found = conditions.find((one) => one.type === type)
      assert.equal(found?.status, 'False')
      assert.match(found.message, /has no effect on a shared data plane: .*GwParameters infra\/edge/)
    }
    assert.equal(reasons({ askedAddresses: ['10.97.0.1'], sharedBy: 'infra/edge' })[1], 'Programmed')
  })

  it('reports invalid parameters first, unless it is not accepted anyway', () => {
    const problems = { parameterProblems: ['no such parameters'], isProgrammed: false }
    assert.deepEqual(reasons(problems), ['not InvalidParameters', 'not Invalid', 'not Invalid', 'not Invalid'])
    const unsupported = { ...translated, conditions: [say('Accepted', false, 'UnsupportedAddress'), say('Programmed')] }
    assert.deepEqual(reasons(problems, unsupported).slice(0, 2), ['not UnsupportedAddress', 'not Invalid'])
  })

  it('contains the errors of data planes and deployment, shortened', () => {
    const message = (facts: Partial<GatewayFacts>): string => {
      const { conditions } = completeGatewayStatus(translated, { ...fine, ...facts }) as GatewayStatus
      return conditions[1]?.message ?? ''
    }
    assert.match(message({ refusals: ['route cart: odd'] }), /route cart: odd/)
    const stalled = message({ isProgrammed: false, isLost: true, notServing: 2 })
    assert.equal(stalled, 'No data plane serves the Gateway any more: 2 connected without a listening worker')
    assert.match(message({ isProgrammed: false, deployFailures: ['Service shop/web: taken'] }), /shop\/web: taken/)
    assert.equal(message({ refusals: ['x'.repeat(10_000)] }).length, 4096)
  })
})

describe('the status of a ListenerSet', () => {
  it('is programmed with its Gateway', () => {
    const { conditions, listeners } = translated
    const set = { conditions, listeners }
    assert.equal(completeListenerSetStatus(set, 'programmed'), set)
    assert.equal(completeListenerSetStatus(set, 'unanswered'), set)
    for (const standing of ['pending', 'lost'] as const) {
      const pending = completeListenerSetStatus(set, standing)
      const all = [...pending.conditions, ...pending.listeners.flatMap((one) => one.conditions)]
      assert.deepEqual(
        all.map(({ reason, status }) => `${status} ${reason}`),
        ['True Accepted', 'False Pending', 'False Pending', 'False Invalid'],
      )
    }
  })
})
