import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as other from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import * as fc from 'fast-check'
import { dyn } from './declarations.ts'
import { createEnvironment } from './environment.ts'
import { CelError } from './error.ts'
import { compile } from './program.ts'
import { isPlainMap } from './run/type-of.ts'
import { describeValue } from './testing/describe.ts'
import type { Scope } from './testing/expressions.ts'
import { scopes, sources, variableNames } from './testing/expressions.ts'
import { Double, Uint } from './value.ts'
import type { Value } from './value.ts'

/** The time limit in milliseconds of tests that count their cases, so that the shorter global limit drops none. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

/** Known differences from @bufbuild/cel, with our reasons. */
const differences: readonly { reason: string; isMet: (source: string, ours: string, theirs: string) => boolean }[] = [
  {
    reason: 'it reads an empty text as the int 0, and a text that is no number as NaN',
    isMet: (source, ours) => /\b(?:int|uint|double)\(/.test(source) && ours === 'error',
  },
  {
    reason: 'it takes whole doubles as keys of map literals',
    isMet: (source, ours) => /\{[^"}]/.test(source) && ours === 'error',
  },
  {
    reason: 'it answers has() of a value without fields with false, CEL with an error',
    isMet: (source) => source.includes('has('),
  },
  {
    reason: 'it fails for keys of other types in a map, cel-go says that they are not there',
    isMet: (source, _ours, theirs) => source.includes(' in ') && theirs === 'error',
  },
  {
    reason: 'it does not find keys whose value is null',
    isMet: (source) => /\bin \{|\bin m/.test(source),
  },
  {
    reason: 'it drops two minus signs, whatever follows them',
    isMet: (source) => /-\(?-/.test(source),
  },
  {
    reason: 'it finds no empty part in an empty text',
    isMet: (source) => source.includes('.replace('),
  },
]

describe('cel beside @bufbuild/cel', () => {
  const environment = createEnvironment({ variables: Object.fromEntries(variableNames.map((name) => [name, dyn])) })
  const otherEnvironment = other.celEnv({ funcs: strings })

  it('gives the same result for generated expressions, but for the differences listed', () => {
    const counts = { same: 0, failed: 0, excused: 0 }
    fc.assert(
      fc.property(sources.map(inPlane), scopes.map(inPlaneScope), (source, scope) => {
        const compiled = compile(source, environment)
        const ours = compiled.ok ? compiled.program.evaluate(scope) : new CelError('bad_value', 'refused')
        const [mine, theirs] = [ours instanceof CelError ? 'error' : describeValue(ours), evaluateOther(source, scope)]
        if (mine === theirs) counts[mine === 'error' ? 'failed' : 'same']++
        else if (differences.some(({ isMet }) => isMet(source, mine, theirs))) counts.excused++
        else assert.equal(mine, theirs, `${source} with ${describeValue(scope)}`)
      }),
      { seed: 44, numRuns: 4000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
    // Most cases must compare values, and few may be excused; otherwise the test proves little.
    assert.ok(counts.same > 2000 * SHARE && counts.excused < 150 * SHARE, JSON.stringify(counts))
  })

  function evaluateOther(source: string, scope: Scope): string {
    const bindings = Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, toOther(value)]))
    return describeOther(other.plan(otherEnvironment, other.parse(source))(bindings))
  }
})

/** @bufbuild/cel counts UTF-16 units where CEL counts code points, so texts here stay in the BMP. */
function inPlane(text: string): string {
  return text.replaceAll('😀', 'ß')
}

function inPlaneScope(scope: Scope): Scope {
  const plain = (value: Value): Value => {
    if (typeof value === 'string') return inPlane(value)
    if (Array.isArray(value)) return value.map(plain)
    return isPlainMap(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [inPlane(key), plain(item ?? null)]))
      : value
  }
  return Object.fromEntries(Object.entries(scope).map(([name, value]) => [name, plain(value)])) as Scope
}

function toOther(value: Value): other.CelInput {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value instanceof Uint8Array) return value
  if (value instanceof Double) return value.value
  if (value instanceof Uint) return other.celUint(value.value)
  if (Array.isArray(value)) return value.map(toOther)
  return new Map(Object.entries(value).map(([key, item]) => [key, toOther(item as Value)]))
}

function describeOther(value: unknown): string {
  if (other.isCelError(value)) return 'error'
  if (typeof value === 'number') return `double ${value + 0}`
  if (other.isCelUint(value)) return `uint ${value.value}`
  if (other.isCelType(value)) return `type ${value.name}`
  if (other.isCelList(value)) return `[${[...value].map(describeOther).join(', ')}]`
  if (!other.isCelMap(value)) return describeValue(value)
  const entries = [...value.entries()].map(([key, item]) => `${describeOther(key)}: ${describeOther(item)}`)
  return `{${entries.toSorted().join(', ')}}`
}
