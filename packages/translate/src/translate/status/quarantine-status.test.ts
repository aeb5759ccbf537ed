import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { QuarantinedResource } from '@portico/gateway/checks'
import type { Condition, GatewayStatus, PolicyStatus, RouteStatus, Status } from '../../resources/status.ts'
import { type QuarantineNote, quarantineNotes, withQuarantine } from './quarantine-status.ts'

const GATEWAY = 'infra/web'

function notesOf(object: string, ...units: string[]): Record<string, QuarantineNote[]> {
  return Object.fromEntries(quarantineNotes(GATEWAY, [{ object, problem: 'is broken', units }]))
}

describe('the resource at fault', () => {
  const owners: [what: string, object: string, owner: string | null][] = [
    ['a policy', 'policy/shop/limits', 'GwPolicy/shop/limits'],
    ['a policy at one of several targets', 'policy/shop/limits@1', 'GwPolicy/shop/limits'],
    ['a policy that a backend has inline', 'inline/backend/backend/shop/models', 'GwBackend/shop/models'],
    ['a backend', 'backend/shop/models', 'GwBackend/shop/models'],
    ['a backend that a policy calls', 'backend/policy/shop/limits/0', 'GwPolicy/shop/limits'],
    ['a backend in the namespace `service`', 'backend/service/models', 'GwBackend/service/models'],
    ['a backend in the namespace `policy`', 'backend/policy/models', 'GwBackend/policy/models'],
    ['an XTelemetryPolicy', 'telemetry/shop/traces', 'XTelemetryPolicy/shop/traces'],
    ['an XBackend', 'backend/xbackend/shop/orders', 'XBackend/shop/orders'],
    ['a policy of an XBackend', 'inline/backend/backend/xbackend/shop/orders', 'XBackend/shop/orders'],
    ['a Service, which has no status of ours', 'backend/service/shop/cart/80', null],
    ['a rule of an HTTPRoute', 'bind/80/http/shop/cart/2', 'HTTPRoute/shop/cart'],
    ['a rule of a GRPCRoute', 'bind/80/http/shop/cart:grpc/0', 'GRPCRoute/shop/cart'],
    ['a rule of a TLSRoute', 'bind/443/tls/shop/cart:tls/0', 'TLSRoute/shop/cart'],
    ['a rule of a TCPRoute', 'bind/5432/db/shop/cart:tcp/0', 'TCPRoute/shop/cart'],
    ['a rule of a UDPRoute', 'bind/udp/53/dns/shop/cart:udp/0', 'UDPRoute/shop/cart'],
    ['a backend of a rule', 'bind/80/http/shop/cart/2/backend/1', 'HTTPRoute/shop/cart'],
    ['a policy of a backend of a rule', 'inline/backend/bind/80/http/shop/cart/2/backend/1', 'HTTPRoute/shop/cart'],
    ['a rule at a listener of a ListenerSet', 'bind/81/shop/more/extra/shop/cart/2', 'HTTPRoute/shop/cart'],
    ['a backend of a rule there', 'bind/81/shop/more/extra/shop/cart/2/backend/1', 'HTTPRoute/shop/cart'],
    ['a route of a kind that is not known', 'bind/80/http/shop/cart:sctp/0', null],
    ['what is no key of a route', 'bind/80', null],
  ]
  for (const [what, object, owner] of owners) {
    it(`${what}: ${object}`, () => {
      const expected = owner === null ? {} : { [owner]: [{ gateway: GATEWAY, problem: 'is broken' }] }
      assert.deepEqual(notesOf(object), expected)
    })
  }

  it('is named in the notes of what is closed because of it', () => {
    const problem = 'GwPolicy shop/limits: is broken'
    const { 'GwPolicy/shop/limits': _own, ...closed } = notesOf(
      'policy/shop/limits',
      'route bind/80/http/shop/cart/2',
      'listener bind/80/http',
      'listener bind/81/shop/more/extra',
      'bind bind/82',
      'backend backend/shop/models',
      'gateway bind/80/http/shop/cart/3',
      'nonsense',
    )
    assert.deepEqual(closed, {
      'HTTPRoute/shop/cart': [{ gateway: GATEWAY, problem, rule: 2 }],
      'Gateway/infra/web': [
        { gateway: GATEWAY, problem, listener: 'http', port: 80 },
        { gateway: GATEWAY, problem, listener: null, port: 82 },
      ],
      'ListenerSet/shop/more': [{ gateway: GATEWAY, problem, listener: 'extra', port: 81 }],
      'XListenerSet/shop/more': [{ gateway: GATEWAY, problem, listener: 'extra', port: 81 }],
    })
  })

  it('is left out of the notes of others where it has no status', () => {
    const notes = notesOf('backend/service/shop/cart/80', 'route bind/80/http/shop/cart/0')
    assert.deepEqual(notes, { 'HTTPRoute/shop/cart': [{ gateway: GATEWAY, problem: 'is broken', rule: 0 }] })
  })

  it('has a note for each of its problems', () => {
    const found: QuarantinedResource[] = ['one', 'two'].map((problem) => ({
      object: 'policy/shop/limits',
      problem,
      units: [],
    }))
    const notes = quarantineNotes(GATEWAY, found).get('GwPolicy/shop/limits')
    assert.deepEqual(
      notes?.map(({ problem }) => problem),
      ['one', 'two'],
    )
  })
})

const condition = (type: string, status: 'True' | 'False', reason: string = type): Condition => {
  return { type, status, reason, message: `${type} as before`, observedGeneration: 3 }
}
const note = (more: Partial<QuarantineNote> = {}): QuarantineNote => ({
  gateway: GATEWAY,
  problem: 'is broken',
  ...more,
})

/** `type=status (reason) message` of each condition. */
function printConditions(conditions: readonly Condition[] = []): string[] {
  return conditions.map(({ type, status, reason, message }) => `${type}=${status} (${reason}) ${message}`)
}

describe('the status of a quarantined policy', () => {
  const at = (kind: string, namespace: string | undefined, name: string, status: 'True' | 'False' = 'True') => ({
    ancestorRef: { group: 'gateway.networking.k8s.io', kind, name, ...(namespace !== undefined && { namespace }) },
    controllerName: 'c',
    conditions: [condition('Accepted', 'True'), condition('Attached', status)],
  })
  const attached = (status: PolicyStatus, notes: QuarantineNote[]): string[] => {
    const { ancestors } = withQuarantine('GwPolicy/shop/limits', status, notes) as PolicyStatus
    return ancestors.flatMap(({ conditions }) => printConditions(conditions.slice(1)))
  }
  const BEFORE = 'Attached=True (Attached) Attached as before'

  it('says so for the Gateway that quarantines, and for no other', () => {
    const ancestors = [at('Gateway', 'infra', 'web'), at('Gateway', 'shop', 'web'), at('Gateway', 'infra', 'other')]
    assert.deepEqual(attached({ ancestors: [...ancestors, at('HTTPRoute', 'infra', 'web')] }, [note()]), [
      'Attached=False (Quarantined) Policy is quarantined, and its targets answer 500: is broken',
      BEFORE,
      BEFORE,
      BEFORE,
    ])
  })

  it('leaves `Accepted` as it was, and a condition that is False', () => {
    const ancestors = [at('Gateway', 'infra', 'web', 'False')]
    const status = withQuarantine('GwPolicy/shop/limits', { ancestors }, [note()])
    assert.deepEqual(status, { ancestors })
  })

  it('says each problem once', () => {
    const [said] = attached({ ancestors: [at('Gateway', 'infra', 'web')] }, [note(), note(), note({ problem: 'late' })])
    assert.match(said ?? '', /500: is broken; late$/)
  })
})

it('a quarantined backend is not accepted, and a backend without conditions gets none', () => {
  const status: Status = { conditions: [condition('Accepted', 'True'), condition('Ready', 'True')] }
  const said = (of: Status) =>
    printConditions((withQuarantine('GwBackend/shop/models', of, [note()]) as { conditions: Condition[] }).conditions)
  assert.deepEqual(said(status), [
    'Accepted=False (Quarantined) Backend is quarantined, and requests for it are answered with 500: is broken',
    'Ready=True (Ready) Ready as before',
  ])
  assert.deepEqual(said({ ancestors: [] }), [])
})

describe('the status of a route with a closed rule', () => {
  const parent = (parentRef: object, ...conditions: Condition[]) => ({ parentRef, controllerName: 'c', conditions })
  const told = (notes: QuarantineNote[], ...parents: object[]): string[][] => {
    const status = withQuarantine('HTTPRoute/shop/cart', { parents } as RouteStatus, notes) as RouteStatus
    return status.parents.map(({ conditions }) => printConditions(conditions))
  }
  const accepted = condition('Accepted', 'True')
  const ACCEPTED = 'Accepted=True (Accepted) Accepted as before'
  const CLOSED = 'PartiallyInvalid=True (Quarantined) Dropped Rule: rules[2]: answered with 500: is broken'
  const web = { kind: 'Gateway', namespace: 'infra', name: 'web' }

  it('says so at the Gateway that closes it, and at a ListenerSet', () => {
    const notes = [note({ rule: 2 })]
    const set = { kind: 'ListenerSet', namespace: 'shop', name: 'more' }
    assert.deepEqual(
      told(notes, parent(web, accepted), parent({ ...web, namespace: 'shop' }, accepted), parent(set, accepted)),
      [[ACCEPTED, CLOSED], [ACCEPTED], [ACCEPTED, CLOSED]],
    )
  })

  it('is of the generation that was accepted', () => {
    const status = withQuarantine('HTTPRoute/shop/cart', { parents: [parent(web, accepted)] } as RouteStatus, [note()])
    const [, closed] = (status as RouteStatus).parents[0]?.conditions ?? []
    assert.deepEqual(
      [closed?.observedGeneration, closed?.message],
      [3, 'Dropped Rule: rules[0]: answered with 500: is broken'],
    )
  })

  it('stays as it was where the route is not accepted, or nobody has said', () => {
    const notes = [note({ rule: 2 })]
    const refused = 'Accepted=False (Accepted) Accepted as before'
    assert.deepEqual(told(notes, parent(web, condition('Accepted', 'False')), parent(web)), [[refused], []])
  })

  it('adds to what was dropped before, and repeats nothing', () => {
    const before = {
      ...condition('PartiallyInvalid', 'True', 'UnsupportedValue'),
      message: 'Dropped Rule: rules[0]: x',
    }
    const closed = (message: string) => [ACCEPTED, `PartiallyInvalid=True (UnsupportedValue) ${message}`]
    const [added] = told([note({ rule: 2 }), note({ rule: 2 })], parent(web, accepted, before))
    assert.deepEqual(added, closed('Dropped Rule: rules[0]: x; rules[2]: answered with 500: is broken'))
    const known = { ...before, message: 'Dropped Rule: rules[2]: answered with 500: is broken' }
    assert.deepEqual(told([note({ rule: 2 })], parent(web, accepted, known)), [closed(known.message)])
  })
})

describe('the status of quarantined listeners', () => {
  const listener = (name: string) => ({
    name,
    supportedKinds: [],
    attachedRoutes: 0,
    conditions: [condition('Accepted', 'True'), condition('Programmed', 'True')],
  })
  const status = { conditions: [], listeners: [listener('http'), listener('https')] } as unknown as GatewayStatus
  const programmed = (id: string, notes: QuarantineNote[]): string[] => {
    const { listeners } = withQuarantine(id, status, notes) as GatewayStatus
    return listeners.flatMap(({ conditions }) => printConditions(conditions.slice(1)))
  }
  const BEFORE = 'Programmed=True (Programmed) Programmed as before'
  const CLOSED = 'Programmed=False (Quarantined) Listener is quarantined: is broken'

  it('says so for the named one, or for all of a port', () => {
    assert.deepEqual(programmed('Gateway/infra/web', [note({ listener: 'https' })]), [BEFORE, CLOSED])
    assert.deepEqual(programmed('ListenerSet/shop/more', [note({ listener: 'http' })]), [CLOSED, BEFORE])
    assert.deepEqual(programmed('Gateway/infra/web', [note({ listener: null })]), [CLOSED, CLOSED])
  })
})

it('a status without notes is the same object, and so is one of a kind that is never quarantined', () => {
  const status: Status = { ancestors: [] }
  assert.equal(withQuarantine('GwPolicy/shop/limits', status, []), status)
  assert.equal(withQuarantine('BackendTLSPolicy/shop/ca', status, [note()]), status)
})
