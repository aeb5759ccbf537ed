import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { check } from '../check.ts'
import { dyn, headers, struct } from '../declarations.ts'
import { createEnvironment } from '../environment.ts'

const environment = createEnvironment({ variables: { request: struct({ headers }), jwt: dyn } })

describe('cel: comparisons of headers with one text', () => {
  const cases: readonly (readonly [source: string, leans: (boolean | undefined)[]])[] = [
    ['request.headers.a == "x"', [false]],
    ['"x" == request.headers.a', [false]],
    ['request.headers.a != "x"', [true]],
    ['!(request.headers.a == "x")', [true]],
    ['!(jwt.a && !(request.headers.a == "x"))', [false]],
    ['request.headers.a in ["x", "y"]', [false]],
    ['request.headers.a == jwt.sub', [false]],
    ['default(request.headers.a, "x") == "y"', [false]],
    ['request.headers[?"a"].orValue("x") == "y"', [false]],
    ['request.headers[jwt.name] == "y"', [false]],
    ['jwt.a ? request.headers.a == "x" : request.headers.a != "y"', [false, true]],
    ['request.headers.a == "x" ? jwt.a : jwt.b', [undefined]],
    ['(request.headers.a == "x") == jwt.a', [undefined]],
    ['jwt.l.exists(x, request.headers.a == x)', [false]],
    ['jwt.l.map(x, request.headers.a == "x").size() > 0', [undefined]],
    ['cel.bind(h, request.headers.a, h == "x")', [false]],
    // Comparisons with something else than one text, or of something else than a header.
    ['request.headers.a == ""', []],
    ['request.headers.a != null', []],
    ['request.headers.a == ["x", "y"]', []],
    ['request.headers.a == request.headers.b', []],
    ['"x" in request.headers.a', []],
    ['"x" in request.headers', []],
    ['jwt.a == "x"', []],
    ['request.headers.a.startsWith("x")', []],
  ]
  for (const [source, leans] of cases) {
    it(source, () => {
      const { problems, headerComparisons } = check(source, environment)
      assert.deepEqual(problems, [])
      assert.deepEqual(
        headerComparisons.map((comparison) => comparison.leans),
        leans,
      )
    })
  }

  it('have a name and a position', () => {
    const [found] = check('jwt.a &&\n default(request.headers["X-A"], "") == "x"', environment).headerComparisons
    assert.equal(found?.header, 'request.headers.x-a')
    assert.equal(`${found?.position.line}:${found?.position.column}`, '2:38')
  })
})
