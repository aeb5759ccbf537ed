import * as fc from 'fast-check'
import type { VariableType } from '../declarations.ts'
import { dyn, headers, present, struct } from '../declarations.ts'
import { HeadersView } from '../value.ts'
import type { Scope } from './expressions.ts'
import { scopes, sources, variableNames } from './expressions.ts'

class TestHeaders extends HeadersView {
  get(name: string): string | readonly string[] | undefined {
    return name === 'x-one' ? 'a' : name === 'x-many' ? ['a', 'b'] : undefined
  }

  keys(): Iterable<string> {
    return ['x-one', 'x-many']
  }
}

class TestRequest {
  readonly headers = new TestHeaders()

  get path(): string {
    return '/v1/items'
  }

  get inner(): { code: number; missing: undefined } {
    return { code: 200, missing: undefined }
  }
}

/** Variables declared as in a gateway; `absent` and `none` have no value. */
export const richVariables: Readonly<Record<string, VariableType>> = {
  ...Object.fromEntries(variableNames.map((name) => [name, dyn])),
  request: struct({ path: present, headers, inner: struct({ code: present, missing: dyn }), gone: struct({ x: dyn }) }),
  none: struct({ x: dyn, headers, inner: struct({ y: dyn }) }, { optional: true }),
  absent: dyn,
}

export type RichScope = Scope & { request: TestRequest; random: () => number }

export const richScopes: fc.Arbitrary<RichScope> = scopes.map((scope) => ({
  ...scope,
  request: new TestRequest(),
  random: () => 0.25,
}))

const HOST_READS = [
  'request',
  'request.path',
  'request.headers',
  'request.headers["X-One"]',
  'request.headers.`x-many`',
  'request.headers["x-none"]',
  'request.headers[s]',
  'request.inner',
  'request.inner.code',
  'request.inner.missing',
  'request.gone',
  'request.gone.x',
  'request[s]',
  'request["path"]',
  'none',
  'none.x',
  'none.inner.y',
  'none.headers["a"]',
  'absent',
  'absent.x',
  'absent.x.y',
  'has(absent.x)',
  'has(none.inner.y)',
  'has(request.headers["x-one"])',
  'request.?gone.?x',
  'request.headers[?"x-one"]',
  'absent.?x.orValue(1)',
  'mm.?key.?x.orValue(2)',
  'mm.?nothing.x',
  '"x-one" in request.headers',
  'size(request.headers)',
  'request.headers.join()',
  'ip(s).family()',
  'toJson(request)',
  'random()',
  'mm.constructor',
  'm["__proto__"]',
]

const FORMS = [
  'default(#, #)',
  'coalesce(#, #, #)',
  'cel.bind(w, #, [w, w, #])',
  '#.with(w, [#, w])',
  '(# ? # : #)',
  '(# && # && #)',
  '(# || #)',
  '(b && # && c && # && b && c && # && #)',
  '[#, ?optional.of(#), ?optional.none()]',
  '{"a": #, ?"b": optional.of(#)}',
  'optional.of(#).or(optional.of(#)).value()',
  'optional.ofNonZeroValue(#).orValue(#)',
  'optional.of(#).optMap(w, [w, #])',
  '#.?a.optFlatMap(w, optional.of([w, #]))',
  '#.map(w, [w, #])',
  '#.filter(w, w == #)',
  '#.all(k, w, k != #)',
  '#.exists(k, w, w == #)',
  '#.exists_one(w, #)',
  '#.transformList(k, w, [k, w, #])',
  '#.transformMap(k, w, w != #, [k, #])',
  '#.mapValues(w, [w, #])',
  '#.filterKeys(w, w != #)',
  '#.merge(#)',
  '#.a',
  '#["key"]',
  '#[0]',
  '#[#]',
  'has(#.a)',
  '#.?a',
  '(# == #)',
  '(# + #)',
  '(# in #)',
  'string(#)',
  'type(#)',
  'size(#)',
  'toJson(#)',
  'fail(#)',
  '[1, 2].map(p, [3].map(q, [p, q, #]))',
]

/** Expressions with macros, optionals, host paths and fallbacks around plain ones. */
export const richSources: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => {
  const form = (template: string): fc.Arbitrary<string> => {
    const parts = Array.from({ length: template.split('#').length - 1 }, () => tie('any'))
    return fc.tuple(...parts).map((values) => values.reduce((text, value) => text.replace('#', () => value), template))
  }
  return {
    any: fc.oneof(
      { maxDepth: 2, depthIdentifier: 'rich' },
      sources,
      // Most other forms fail on most values, so `coalesce` brings expressions that succeed.
      form('coalesce(#, #, 1)'),
      form('coalesce([#], [])'),
      fc.constantFrom(...HOST_READS),
      ...FORMS.map((template) => form(template)),
    ),
  }
}).any
