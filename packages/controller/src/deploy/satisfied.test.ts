import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isSatisfied } from './satisfied.ts'

describe('a live object', () => {
  const kind = 'Deployment'
  const pod = (spec: object): { kind: string; spec: object } => ({ kind, spec: { template: { spec } } })

  it('may have more fields than wanted', () => {
    const wanted = pod({
      containers: [{ name: 'a', args: ['x'], env: [{ name: 'A', value: '1' }] }],
      volumes: [],
      affinity: {},
    })
    const live = pod({
      restartPolicy: 'Always',
      containers: [
        { name: 'injected' },
        { name: 'a', tty: false, args: ['x'], env: [{ name: 'B' }, { name: 'A', value: '1' }] },
      ],
    })
    assert.ok(isSatisfied(wanted, live))
  })

  it('may not lack fields, have other values, or have more items in an atomic list', () => {
    const wanted = pod({ containers: [{ name: 'a', args: ['x'] }], tolerations: [{ key: 'a' }] })
    const others = [
      pod({ containers: [{ name: 'a', args: ['x'] }] }),
      pod({ containers: [{ name: 'b', args: ['x'] }], tolerations: [{ key: 'a' }] }),
      pod({ containers: [{ name: 'a', args: ['x', 'y'] }], tolerations: [{ key: 'a' }] }),
      pod({ containers: [{ name: 'a', args: ['y'] }], tolerations: [{ key: 'a' }] }),
      pod({ containers: [{ name: 'a', args: ['x'] }], tolerations: [{ key: 'a' }, { key: 'b' }] }),
      pod({ containers: 'a', tolerations: [{ key: 'a' }] }),
      {},
    ]
    for (const live of others) assert.ok(!isSatisfied(wanted, live), JSON.stringify(live))
  })

  it('quantities are compared by value, other texts literally', () => {
    const limits = (cpu: unknown): object => pod({ containers: [{ name: 'a', resources: { limits: { cpu } } }] })
    for (const [one, other] of [
      ['1', '1000m'],
      [0.1, '100m'],
      ['1024Mi', '1Gi'],
      ['1e3', '1k'],
      ['1500u', '1.5m'],
    ] as const)
      assert.ok(isSatisfied({ ...limits(one) }, { ...limits(other) }), `${one} ${other}`)
    for (const [one, other] of [
      ['1', '1001m'],
      ['1G', '1Gi'],
      ['x', 'y'],
      ['1', ''],
    ] as const)
      assert.ok(!isSatisfied({ ...limits(one) }, { ...limits(other) }), `${one} ${other}`)
    assert.ok(!isSatisfied({ data: { a: '1' } }, { data: { a: '1000m' } }))
  })

  it('is satisfied by itself, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const wanted = { ...object, kind }
        assert.ok(isSatisfied(wanted, JSON.parse(JSON.stringify(wanted))))
      }),
    )
  })
})
