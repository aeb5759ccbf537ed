import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fold } from '../check/fold.ts'
import type { TypeInference } from '../check/infer.ts'
import { inferTypes } from '../check/infer.ts'
import { resolve } from '../check/resolve.ts'
import { generate } from '../emit/generate.ts'
import { interpret } from '../emit/interpret.ts'
import type { Environment } from '../declarations.ts'
import { createEnvironment } from '../environment.ts'
import { CelError } from '../error.ts'
import { parse } from '../parse/parser.ts'
import type { Plan } from '../plan.ts'
import { typeOfValue } from '../run/type-of-value.ts'
import { describeValue } from '../testing/describe.ts'
import { includesType } from '../testing/includes-type.ts'
import { describeType } from '../types.ts'
import type { Result } from '../value.ts'
import { asDeduced, readType } from './json-types.ts'
import type { Vector } from './vectors.ts'
import { coreSections, extensionSections, loadVectors } from './vectors.ts'

/** Vectors run with and without folding: most consist of literals, so folding would compute them at load. */
const ways: Readonly<Record<string, (plan: Plan, environment: Environment) => (scope: object) => Result>> = {
  closures: (plan, { budget }) => interpret(plan, budget),
  generated: (plan, { budget }) => generate(plan, budget),
  'folded and generated': (plan, environment) =>
    generate(
      fold(plan, environment, () => {}),
      environment.budget,
    ),
}

describe('cel: official vectors', () => {
  const vectors = loadVectors()
  const passed = new Map<string, number>()
  const counted = new Map<string, number>()
  const failures: string[] = []
  for (const vector of vectors) {
    counted.set(vector.section, (counted.get(vector.section) ?? 0) + 1)
    const wrong = vector.checkOnly
      ? wrongTypes(vector)
      : Object.entries(ways).flatMap(([way, evaluate]) => {
          const result = run(vector, evaluate)
          return isExpected(vector, result)
            ? []
            : [`${vector.name} ${way}: ${show(result)}, not ${show(vector.expected)}`]
        })
    if (wrong.length === 0) passed.set(vector.section, (passed.get(vector.section) ?? 0) + 1)
    else failures.push(...wrong)
  }
  const sum = (counts: Map<string, number>, sections: readonly string[]): number =>
    sections.reduce((total, section) => total + (counts.get(section) ?? 0), 0)
  const all = [...coreSections, ...extensionSections]

  it('passes every section', () => {
    assert.deepEqual(Object.fromEntries(passed), Object.fromEntries(counted), failures.join('\n'))
  })

  it('passes the whole core', () => {
    assert.equal(sum(counted, coreSections), 1080)
    assert.equal(sum(passed, coreSections), 1080, failures.join('\n'))
  })

  it('passes everything that needs no protobuf', () => {
    assert.equal(sum(counted, all), 1650)
    assert.equal(sum(passed, all), 1650, failures.join('\n'))
  })
})

describe('cel: types of official vectors', () => {
  const vectors = loadVectors()

  it('match the deduced types', () => {
    const deduced = vectors.filter(({ deducedType }) => deducedType !== undefined)
    assert.equal(deduced.length, 26)
    assert.equal(deduced.filter(({ checkOnly }) => checkOnly).length, 14)
    assert.deepEqual(deduced.flatMap(wrongTypes), [])
  })

  it('match the results, and no vector with a result is rejected', () => {
    let count = 0
    for (const vector of vectors) {
      if (vector.lenient || vector.checkOnly || vector.expected === undefined) continue
      const { types, problems, plan } = typesOf(vector)
      assert.deepEqual(problems, [], vector.name)
      const [found, actual] = [types.get(plan) ?? 'dyn', typeOfValue(vector.expected)]
      assert.ok(includesType(found, actual), `${vector.name}: ${describeType(actual)} is no ${describeType(found)}`)
      count++
    }
    assert.ok(count > 1000, `${count}`)
  })
})

function wrongTypes(vector: Vector): string[] {
  const { types, problems, plan } = typesOf(vector)
  const found = describeType(asDeduced(types.get(plan) ?? 'dyn'))
  const expected = describeType(readType(vector.deducedType ?? {}))
  const wrong = problems.map(({ message }) => `${vector.name}: ${message}`)
  return found === expected ? wrong : [...wrong, `${vector.name}: ${found}, not ${expected}`]
}

function typesOf(vector: Vector): TypeInference & { plan: Plan } {
  const parsed = parse(vector.source)
  if (!parsed.ok) return { types: new Map(), problems: [], plan: failing(parsed.problem.message) }
  const { plan } = resolve(vector.source, parsed.expr, createEnvironment(vector))
  return { ...inferTypes(plan), plan }
}

function failing(message: string): Plan {
  return { kind: 'failure', offset: 0, error: new CelError('bad_value', message) }
}

function run(vector: Vector, evaluate: (typeof ways)[string]): Result {
  const environment = createEnvironment(vector)
  const parsed = parse(vector.source)
  if (!parsed.ok) return new CelError('bad_value', parsed.problem.message)
  const { plan, problems } = resolve(vector.source, parsed.expr, environment)
  const [problem] = problems
  return problem === undefined ? evaluate(plan, environment)(vector.scope) : new CelError('bad_value', problem.message)
}

function isExpected({ expected }: Vector, result: Result): boolean {
  if (expected === undefined) return result instanceof CelError && result.kind !== 'internal'
  return describeValue(result) === describeValue(expected)
}

function show(result: Result | undefined): string {
  return result === undefined ? 'an error' : describeValue(result)
}
