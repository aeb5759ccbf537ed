import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { EMPTY_IR } from '../../ir/change.ts'
import type { Ir } from '../../ir/resources.ts'
import { type EndpointsChange, ServiceAddresses } from '@portico/http/client'
import { ReachedServices } from './reached-services.ts'

function irOf(keys: readonly string[]): Ir {
  const target = { kind: 'service', host: 'h', port: 80, version: null } as const
  return { ...EMPTY_IR, backends: keys.map((key) => ({ key, name: key, target })) }
}

function useServices() {
  const workers = new ServiceAddresses()
  const told: EndpointsChange[] = []
  const services = new ReachedServices((change) => {
    told.push(change)
    workers.take(change)
  })
  return { services, told, known: () => new Map(workers.whole().put) }
}

const key = fc.constantFrom('a', 'b', 'c', 'd')
const wholes = fc.array(
  fc.dictionary(key, fc.uniqueArray(fc.constantFrom('10.0.0.1:80', '10.0.0.2:80')), { noNullPrototype: true }),
)

test('changes and whole lists lead to the same addresses', () => {
  fc.assert(
    fc.property(wholes, (states) => {
      const [whole, parts] = [useServices(), useServices()]
      let before: Record<string, string[]> = {}
      for (const state of states) {
        whole.services.takeAll(Object.entries(state))
        const drop = Object.keys(before).filter((key) => !(key in state))
        const put = Object.entries(state).filter(
          ([key, now]) => String(before[key]) !== String(now) || !(key in before),
        )
        parts.services.take({ put, drop })
        assert.deepEqual(parts.known(), whole.known())
        assert.deepEqual(new Map(parts.services.all()), new Map(Object.entries(state)))
        before = state
      }
      for (const { services, known } of [whole, parts]) {
        services.wentLive(irOf(Object.keys(before)))
        assert.deepEqual(known(), new Map(Object.entries(before)))
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a Service that is dropped is reached until no config that is live needs it', () => {
  const { services, known } = useServices()
  services.takeAll([
    ['a', ['10.0.0.1:80']],
    ['b', ['10.0.0.2:80']],
  ])
  services.take({ put: [], drop: ['a'] })
  assert.ok(known().has('a'))
  services.wentLive(irOf(['a', 'b']))
  assert.ok(known().has('a'))
  services.wentLive(irOf(['b']))
  assert.deepEqual([...known().keys()], ['b'])
  services.take({ put: [['c', []]], drop: [] })
  services.take({ put: [], drop: ['c'] })
  assert.deepEqual([...known().keys()], ['b'])
})

test('workers do not hear of what is as it was', () => {
  const { services, told } = useServices()
  services.takeAll([
    ['a', ['10.0.0.1:80']],
    ['b', []],
  ])
  services.takeAll([
    ['a', ['10.0.0.1:80']],
    ['b', ['10.0.0.2:80']],
  ])
  services.takeAll([
    ['a', ['10.0.0.1:80']],
    ['b', ['10.0.0.2:80']],
  ])
  assert.deepEqual(told.slice(1), [{ put: [['b', ['10.0.0.2:80']]], drop: [] }])
})
