import * as fc from 'fast-check'
import type { Ir } from '../ir/resources.ts'

/** Small configs that often share resources, in any order. */
export const irs: fc.Arbitrary<Ir> = fc
  .record({
    backends: fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(2)), {
      selector: ([key]) => key,
    }),
    policies: fc.uniqueArray(fc.tuple(fc.constantFrom('p', 'q', 'r'), fc.nat(1)), { selector: ([key]) => key }),
  })
  .map(({ backends, policies }) => ({
    binds: [],
    listeners: [],
    routes: [],
    backends: backends.map(([key, port]) => ({
      key: `backend/${key}`,
      name: key,
      target: { kind: 'static' as const, host: 'é.example', port },
    })),
    policies: policies.map(([key, seconds]) => ({
      key,
      target: { kind: 'gateway' as const },
      frontend: null,
      traffic: { timeouts: { request: seconds } } as Ir['policies'][number]['traffic'],
      phase: 'PostRouting' as const,
      backend: null,
    })),
  }))
