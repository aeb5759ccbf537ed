import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { reads } from '../analyse.ts'
import { createEnvironment } from '../environment.ts'
import { compile } from '../program.ts'
import type { RichScope } from '../testing/rich-expressions.ts'
import { richScopes, richSources, richVariables } from '../testing/rich-expressions.ts'

/** The time limit in milliseconds of tests that count their cases, so that the shorter global limit drops none. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

describe('cel references', () => {
  const environment = createEnvironment({ variables: richVariables })

  it('name everything that an evaluation reads', () => {
    let seen = 0
    fc.assert(
      fc.property(richSources, richScopes, (source, scope) => {
        const compiled = compile(source, environment)
        if (!compiled.ok) return
        const read: string[][] = []
        compiled.program.evaluate(recordingScope(scope, read))
        seen += read.length
        for (const path of read) assert.ok(reads(compiled.program.references, path), `${path.join('.')} of ${source}`)
      }),
      { seed: 51, numRuns: 4000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
    assert.ok(seen > 5000 * SHARE, `${seen} reads`)
  })
})

/** A scope that records which variables, request fields and headers are read. */
function recordingScope(scope: RichScope, read: string[][]): object {
  const note =
    (base: readonly string[]) =>
    (target: object, name: string | symbol): unknown => {
      if (typeof name === 'string' && name !== 'random') read.push([...base, name])
      return Reflect.get(target, name)
    }
  const request = new Proxy(scope.request, { get: note(['request']) })
  return new Proxy({ ...scope, request }, { get: note([]) })
}
