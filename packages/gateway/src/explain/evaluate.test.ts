import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type ExpressionPhase, variablesByPhase } from '../expressions/variables.ts'
import type { ExplainedPart } from '../findings/explanation.ts'
import { evaluate } from './evaluate.ts'
import { expressionPlaces } from './expression-attachments.ts'
import { givenScope } from './given-scope.ts'

const variables = {
  request: { method: 'GET', path: '/admin?x=1', headers: { 'X-Team': 'ops', 'x-tag': ['a', 'b'] } },
  jwt: { sub: 'ann', groups: ['dev'] },
}

function on(expression: string, given: unknown = variables, phase: ExpressionPhase = 'request') {
  const scope = givenScope(given, variablesByPhase[phase])
  assert.ok('scope' in scope, JSON.stringify(scope))
  // Time stands still: the limit of time has a test of its own.
  return evaluate(expression, phase, scope, () => 0)
}

function leaves(part: ExplainedPart | null): string[] {
  if (part === null) return []
  return [
    `${part.text} = ${part.state === 'found' ? JSON.stringify(part.value) : part.state}`,
    ...part.parts.flatMap(leaves),
  ]
}

describe('an expression on written variables', () => {
  it('has the value of each part', () => {
    const told = on('jwt.sub == "ann" && "ops" in jwt.groups')
    assert.deepEqual([told.type, told.failure, told.problems, told.isCut], ['bool', null, [], false])
    assert.deepEqual(leaves(told.tree), [
      'jwt.sub == "ann" && "ops" in jwt.groups = false',
      'jwt.sub == "ann" = true',
      'jwt.sub = "ann"',
      '"ops" in jwt.groups = false',
      'jwt.groups = ["dev"]',
    ])
  })

  it('reads headers without regard to case, and what the parts of a target say of one another', () => {
    const values = '[request.headers["x-team"], request.headers["x-tag"], request.pathAndQuery, request.host]'
    assert.deepEqual(on(values).tree?.value, ['ops', ['a', 'b'], '/admin?x=1', 'localhost'])
    const byUri = { request: { uri: 'https://shop.example.com:8443/a?b=2' } }
    const parts = '[request.path, request.host, request.scheme, request.pathAndQuery]'
    assert.deepEqual(on(parts, byUri).tree?.value, ['/a', 'shop.example.com:8443', 'https', '/a?b=2'])
  })

  it('says what would be refused, with its place, and what is unknown in that phase', () => {
    const [problem] = on('request.path ==\n  request.pth').problems
    assert.deepEqual([problem?.line, problem?.column, problem?.suggestion], [2, 11, 'path'])
    assert.match(on('response.code == 200').problems[0]?.message ?? '', /response/)
    assert.equal(on('response.code == 200', { response: { code: 200 } }, 'response').tree?.value, true)
  })

  it('fails as it would in a config, and says with what', () => {
    const { tree, failure, warnings } = on('jwt.missing == "x"')
    assert.deepEqual([tree?.state, tree?.error], ['failed', 'no_such_key'])
    assert.notEqual(failure, null)
    assert.match(warnings[0]?.message ?? '', /may be absent/)
  })

  it('ends: a loop in a loop meets its budget, a long tree its time', () => {
    const list = Array.from({ length: 400 }, (_, i) => i)
    const costly = 'jwt.l.all(a, jwt.l.all(b, jwt.l.all(c, a + b + c >= 0)))'
    const { tree } = on(costly, { jwt: { l: list } })
    assert.deepEqual([tree?.state, tree?.error], ['failed', 'budget'])
    const scope = givenScope({ jwt: { l: list } }, variablesByPhase.request)
    assert.ok('scope' in scope)
    let now = 0
    const cut = evaluate('jwt.l.size() > 1 && jwt.l.size() > 2', 'request', scope, () => (now += 60))
    assert.equal(cut.isCut, true)
    assert.equal(cut.tree?.value, true)
  })

  it('patterns run in linear time', () => {
    const { tree } = on('jwt.s.matches("(a+)+$")', { jwt: { s: `${'a'.repeat(50_000)}b` } })
    assert.equal(tree?.value, false)
  })
})

describe('variables that do not fit', () => {
  const cases: [unknown, RegExp][] = [
    [[], /expected an object/],
    [{ requests: {} }, /variables\.requests: expected one of/],
    [{ request: { method: 5 } }, /variables\.request\.method: expected a string/],
    [{ request: { headers: { a: 1 } } }, /variables\.request\.headers\.a: expected a string/],
    [{ source: { port: 'x' } }, /variables\.source\.port: expected a whole number/],
    [{ request: { startTime: 'then' } }, /expected a time/],
    [{ basicAuth: 'ann' }, /variables\.basicAuth: expected an object/],
  ]
  for (const [given, problem] of cases) {
    it(`are told: ${JSON.stringify(given)}`, () => {
      const told = givenScope(given, variablesByPhase.request)
      assert.match('problem' in told ? told.problem : '', problem)
    })
  }

  it('anything written is taken or told, and what is taken can be evaluated', () => {
    const names = fc.constantFrom('request', 'jwt', 'source', 'basicAuth', 'response', 'llm', 'backend', 'mcp')
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), (given) => {
        const told = givenScope(given, variablesByPhase.log)
        if ('problem' in told) return assert.equal(typeof told.problem, 'string')
        const { tree } = evaluate(
          'has(jwt.a) || request.path == "" || response.code > 1 || llm.inputTokens > 2',
          'log',
          told,
        )
        assert.notEqual(tree, null)
      }),
    )
  })
})

it('every place of expressions has its variables', () => {
  const { places } = expressionPlaces()
  assert.deepEqual(places.map(({ phase }) => phase).toSorted(), Object.keys(variablesByPhase).toSorted())
  const log = places.find(({ phase }) => phase === 'log')
  assert.deepEqual(log?.variables.find(({ name }) => name === 'mcp')?.isOptional, true)
  assert.ok(log?.variables.find(({ name }) => name === 'request')?.fields?.includes('pathAndQuery'))
})
