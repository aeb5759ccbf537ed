import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { reads } from './analyse.ts'
import { check, readsWithoutGuard } from './check.ts'
import { dyn, headers, present, struct } from './declarations.ts'
import { createEnvironment } from './environment.ts'
import { HeadersView } from './value.ts'

const environment = createEnvironment({
  variables: {
    request: struct({ method: present, path: present, headers, body: dyn }),
    response: struct({ code: present }, { optional: true }),
    mcp: struct({ tool: struct({ name: present, arguments: dyn }, { optional: true }) }, { optional: true }),
    jwt: dyn,
  },
  functions: [
    {
      name: 'shout',
      style: 'receiver',
      minArgs: 0,
      maxArgs: 0,
      summary: 'Louder.',
      call: (text: string) => `${text}!`,
    },
    {
      name: 'lines',
      style: 'receiver',
      minArgs: 0,
      maxArgs: 0,
      summary: 'Count.',
      on: HeadersView,
      call: (view: HeadersView) => [...view.keys()].length,
    },
  ],
})

describe('cel check: rejected expressions', () => {
  const cases: readonly (readonly [source: string, message: RegExp, place: string, suggestion?: string])[] = [
    ['reqest.path', /unknown variable `reqest`/, '1:1', 'request'],
    ['request.pth == "/"', /`request` has no field `pth`/, '1:9', 'path'],
    ['request["heders"]', /`request` has no field `heders`/, '1:9', 'headers'],
    ['mcp.tool.nam', /`mcp.tool` has no field `nam`/, '1:10', 'name'],
    ['has(request.bdy)', /`request` has no field `bdy`/, '1:13', 'body'],
    ['request.path.startWith("/")', /unknown function `startWith`/, '1:14', 'startsWith'],
    ['startsWith(request.path, "/")', /is a method/, '1:1', 'x.startsWith(…)'],
    ['request.path.int()', /is not a method/, '1:14', 'int(…)'],
    ['base64.encod("a")', /unknown function `base64.encod`/, '1:8', 'base64.encode'],
    ['math.unheard(1)', /unknown function `math.unheard`/, '1:6'],
    ['[1].fliter(1)', /unknown function `fliter`/, '1:5', 'filter'],
    ['jwt.sub.startsWith()', /takes 1 argument, not 0/, '1:9'],
    ['"a".substring(1, 2, 3)', /takes 1 to 2 arguments, not 3/, '1:5'],
    ['[1].map(1, 2)', /name of a variable/, '1:9'],
    ['[1].map(a.b, 2)', /name of a variable/, '1:11'],
    ['[1].exists(a, a, true)', /same name/, '1:15'],
    ['has(jwt)', /takes a field/, '1:5'],
    ['has(jwt[0])', /takes a field/, '1:8'],
    ['cidr("10.0.0.0/33")', /not a range/, '1:6'],
    ['ip("010.0.0.1")', /not an IP address/, '1:4'],
    ['timestamp("yesterday")', /RFC 3339/, '1:11'],
    ['duration("1 hour")', /not a duration/, '1:10'],
    ['request.path.matches("(")', /missing closing/, '1:22'],
    ['request.path.regexReplace("(", "")', /missing closing/, '1:32'],
    ['[1].map(item, itm)', /unknown variable `itm`/, '1:15', 'item'],
  ]
  for (const [source, message, place, suggestion] of cases) {
    it(source, () => {
      const { problems } = check(source, environment)
      assert.equal(problems.length, 1, JSON.stringify(problems))
      const [problem] = problems
      assert.match(problem!.message, message)
      assert.equal(`${problem!.position.line}:${problem!.position.column}`, place)
      assert.equal(problem!.suggestion, suggestion)
    })
  }

  it('reports all problems at once, sorted by position, up to a maximum', () => {
    const { problems } = check('a + b.c(1) +\n foo(2) + cidr("x")', environment)
    assert.deepEqual(
      problems.map(({ position }) => `${position.line}:${position.column}`),
      ['1:1', '1:5', '1:7', '2:2', '2:16'],
    )
    const many = Array.from({ length: 1000 }, (_, i) => `a${i}`)
      .join('+')
      .slice(0, 1000)
    assert.ok(check(many, environment).problems.length <= 20)
  })

  it('accepts unknown names in a lenient environment', () => {
    const lenient = createEnvironment({ lenient: true })
    assert.deepEqual(check('a.b + f(1) + "x".g() + cidr("x")', lenient).problems, [])
  })
})

describe('cel check: references', () => {
  const cases: readonly (readonly [source: string, paths: string[]])[] = [
    ['request.path', ['request.path']],
    ['request["body"]', ['request.body']],
    ['request.headers["X-Team"] == "a"', ['request.headers.x-team']],
    ['request.headers.host', ['request.headers.host']],
    ['request.headers[jwt.name]', ['request.headers', 'jwt.name']],
    ['request.headers.lines()', ['request.headers']],
    ['request', ['request']],
    ['request[jwt.field]', ['request', 'jwt.field']],
    ['jwt.realm.roles[0]', ['jwt.realm.roles']],
    ['jwt["realm"]["roles"]', ['jwt.realm.roles']],
    ['jwt.groups[0].name', ['jwt.groups']],
    ['request[jwt.a].b["c"]', ['request', 'jwt.a']],
    ['has(request[jwt.a].b)', ['request', 'jwt.a', 'request']],
    ['default(request, {}).body', ['request']],
    ['(true ? request : request).body', ['request', 'request']],
    ['[request][0].body', ['request']],
    ['request.with(r, r.body)', ['request']],
    ['{"a": request}.a.body', ['request']],
    ['optional.of(request).body', ['request']],
    ['request.exists(k, v, v == b"")', ['request']],
    ['jwt.groups.exists(g, g == jwt.sub)', ['jwt.groups', 'jwt.sub']],
    ['[{}].exists(jwt, jwt.sub == 1)', []],
    ['[1].exists(request, request > 0) && request.method == "GET"', ['request.method']],
    ['cel.bind(r, request, r.path)', ['request']],
    ['has(jwt.sub)', ['jwt.sub']],
    ['mcp.?tool.?name', ['mcp.tool.name']],
    ['size(request.body)', ['request.body']],
    ['"x".shout()', []],
    ['"a" in jwt.groups ? jwt.a : jwt.b', ['jwt.groups', 'jwt.a', 'jwt.b']],
    ['variables()', ['request', 'response', 'mcp', 'jwt']],
    ['{"a": jwt.a, jwt.b: [jwt.c]}', ['jwt.a', 'jwt.b', 'jwt.c']],
  ]
  for (const [source, paths] of cases) {
    it(source, () => {
      const { references, problems } = check(source, environment)
      assert.deepEqual(problems, [])
      assert.deepEqual(
        references.map(({ path }) => path.join('.')),
        paths,
      )
    })
  }

  it('a path is read when it, something above or something beneath is', () => {
    const read = (source: string, ...path: string[]): boolean => reads(check(source, environment).references, path)
    assert.equal(read('request.path', 'request', 'body'), false)
    assert.equal(read('request.body', 'request', 'body'), true)
    assert.equal(read('request', 'request', 'body'), true)
    assert.equal(read('request[jwt.a]', 'request', 'body'), true)
    assert.equal(read('request[jwt.a].b.c', 'request', 'body'), true)
    assert.equal(read('json(request.body).a', 'request', 'body'), true)
    assert.equal(read('request.headers["a"]', 'request', 'headers'), true)
    assert.equal(read('variables()', 'request', 'body'), true)
  })
})

describe('cel check: reads without a guard', () => {
  const cases: readonly (readonly [source: string, paths: string[]])[] = [
    ['request.path == "/"', []],
    ['jwt.sub == "a"', ['jwt.sub']],
    ['jwt == null', []],
    ['request.body', ['request.body']],
    ['request.headers["a"] == "b"', ['request.headers.a']],
    ['size(request.headers) > 0', []],
    ['response.code >= 500', ['response.code']],
    ['mcp.tool.name == "a"', ['mcp.tool.name']],
    ['has(jwt.sub)', []],
    ['has(jwt.a.b)', ['jwt.a']],
    ['has(jwt.a) && has(jwt.a.b) && jwt.a.b == 1', []],
    ['has(mcp.tool.name) && mcp.tool.name == "a"', []],
    ['has(jwt.sub) && jwt.sub == "a"', []],
    ['jwt.sub == "a" && has(jwt.sub)', ['jwt.sub']],
    ['has(jwt.sub) || jwt.sub == "a"', ['jwt.sub']],
    ['!has(jwt.sub) || jwt.sub == "a"', []],
    ['has(jwt.sub) ? jwt.sub : jwt.name', ['jwt.name']],
    ['!(has(jwt.sub) && has(jwt.name)) ? "" : jwt.sub + jwt.name', []],
    ['has(jwt.a) && jwt.b', ['jwt.b']],
    ['has(jwt.a) && jwt.a.b', ['jwt.a.b']],
    ['has(jwt.ab) && jwt.a', ['jwt.a']],
    ['"a" in request.headers && request.headers["a"] == "b"', []],
    ['has(request.headers["X-A"]) && request.headers["x-a"] == "b"', []],
    ['jwt != null && jwt.sub == "a"', ['jwt.sub']],
    ['default(jwt.sub, "") == "a"', []],
    ['default(jwt.sub, jwt.name)', ['jwt.name']],
    ['coalesce(jwt.sub, jwt.name)', []],
    ['jwt.?sub.orValue("")', []],
    ['mcp.?tool.name', []],
    ['[1].map(v, jwt.sub)', ['jwt.sub']],
  ]
  for (const [source, paths] of cases) {
    it(source, () => {
      const { references, warnings, problems } = check(source, environment)
      assert.deepEqual(problems, [])
      const unguarded = readsWithoutGuard(references, environment).map(({ path }) => path.join('.'))
      assert.deepEqual(unguarded, paths)
      assert.equal(warnings.length, new Set(paths).size)
    })
  }

  it('a warning names the path and its position, once', () => {
    const { warnings } = check('request.path == "/" &&\n jwt.sub != jwt.sub', environment)
    assert.deepEqual(warnings, [
      {
        message: '`jwt.sub` may be absent, and the expression fails then: use has() or default()',
        position: { offset: 28, line: 2, column: 6 },
      },
    ])
  })
})
