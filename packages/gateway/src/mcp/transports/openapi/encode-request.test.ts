import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type OpenApiOperation, type OpenApiParameter, STYLES } from '../../../formats/openapi/operation.ts'
import { isObject, type Json } from '@portico/http/json'
import type { SeenRequest } from '../../../testing/origin.ts'
import { useOrigin } from '../../../testing/scene.ts'
import { type ApiRequest, encodeRequest } from './encode-request.ts'
import { BadArgument } from './parameter-text.ts'

function parameter(
  place: OpenApiParameter['in'],
  name: string,
  more: Partial<OpenApiParameter> = {},
): OpenApiParameter {
  const style = place === 'query' ? 'form' : 'simple'
  return { in: place, name, required: place === 'path', style, explode: place === 'query', keys: null, ...more }
}

function operation(parameters: OpenApiParameter[], more: Partial<OpenApiOperation> = {}): OpenApiOperation {
  const path = [
    '/v1/pets',
    ...parameters.flatMap((each) => (each.in === 'path' ? ['/', { parameter: each.name }] : [])),
  ]
  const tool = { name: 'test', description: 'test', inputSchema: {} }
  return { tool, method: 'GET', path, parameters, body: null, accept: 'application/json', ...more }
}

/** Target, or what is said against it. */
function targetOf(parameters: OpenApiParameter[], args: Json): string {
  const encoded = encodeRequest(operation(parameters), args)
  return encoded instanceof BadArgument ? encoded.message : encoded.target
}

function headersOf(parameters: OpenApiParameter[], args: Json): ApiRequest['headers'] | string {
  const encoded = encodeRequest(operation(parameters), args)
  return encoded instanceof BadArgument ? encoded.message : encoded.headers
}

describe('styles', () => {
  const color = { r: 100, g: true }
  it('are encoded in paths', () => {
    const plain = [parameter('path', 'c')]
    const spread = [parameter('path', 'c', { explode: true })]
    assert.equal(targetOf(plain, { path: { c: 'a b' } }), '/v1/pets/a%20b')
    assert.equal(targetOf(plain, { path: { c: ['a,b', 2] } }), '/v1/pets/a%2Cb,2')
    assert.equal(targetOf(plain, { path: { c: color } }), '/v1/pets/r,100,g,true')
    assert.equal(targetOf(spread, { path: { c: color } }), '/v1/pets/r=100,g=true')
    assert.equal(targetOf(plain, { path: { c: "!'()*;=:@&+$" } }), '/v1/pets/%21%27%28%29%2A%3B%3D%3A%40%26%2B%24')
  })

  it('are encoded in queries', () => {
    const spread = [parameter('query', 'c')]
    const plain = [parameter('query', 'c', { explode: false })]
    const deep = [parameter('query', 'c', { style: 'deepObject' })]
    const json = [parameter('query', 'c', { style: 'json' })]
    assert.equal(targetOf(spread, { query: { c: 'a&b=c#d' } }), '/v1/pets?c=a%26b%3Dc%23d')
    assert.equal(targetOf(spread, { query: { c: ['a', 'b&'] } }), '/v1/pets?c=a&c=b%26')
    assert.equal(targetOf(plain, { query: { c: ['a', 'b,c'] } }), '/v1/pets?c=a,b%2Cc')
    assert.equal(targetOf(spread, { query: { c: color } }), '/v1/pets?r=100&g=true')
    assert.equal(targetOf(plain, { query: { c: color } }), '/v1/pets?c=r,100,g,true')
    assert.equal(targetOf(deep, { query: { c: color } }), '/v1/pets?c%5Br%5D=100&c%5Bg%5D=true')
    assert.equal(targetOf(json, { query: { c: { a: ['&'] } } }), '/v1/pets?c=%7B%22a%22%3A%5B%22%26%22%5D%7D')
    for (const style of [spread, plain, deep]) assert.equal(targetOf(style, { query: { c: [] } }), '/v1/pets')
    assert.equal(targetOf(spread, { query: { c: '' } }), '/v1/pets?c=')
    assert.equal(targetOf(spread, { query: { c: null } }), '/v1/pets')
    assert.equal(targetOf(spread, { query: null }), '/v1/pets')
    assert.equal(targetOf(spread, {}), '/v1/pets')
  })

  it('are encoded in headers', () => {
    assert.deepEqual(headersOf([parameter('header', 'X-C')], { header: { 'X-C': 'a, b' } }), [['x-c', 'a, b']])
    assert.deepEqual(headersOf([parameter('header', 'X-C')], { header: { 'X-C': ['a', 1] } }), [['x-c', 'a,1']])
    const spread = [parameter('header', 'X-C', { explode: true })]
    assert.deepEqual(headersOf(spread, { header: { 'X-C': color } }), [['x-c', 'r=100,g=true']])
  })

  // The table of the OpenAPI Specification, "Style Examples".
  const values: Json[] = ['blue', ['blue', 'black'], { R: 100, G: 200 }]
  const table: [place: 'path' | 'query', style: OpenApiParameter['style'], explode: boolean, written: string[]][] = [
    ['path', 'matrix', false, [';color=blue', ';color=blue,black', ';color=R,100,G,200']],
    ['path', 'matrix', true, [';color=blue', ';color=blue;color=black', ';R=100;G=200']],
    ['path', 'label', false, ['.blue', '.blue,black', '.R,100,G,200']],
    ['path', 'label', true, ['.blue', '.blue.black', '.R=100.G=200']],
    ['query', 'spaceDelimited', false, ['color=blue', 'color=blue%20black', 'color=R%20100%20G%20200']],
    ['query', 'pipeDelimited', false, ['color=blue', 'color=blue%7Cblack', 'color=R%7C100%7CG%7C200']],
    ['query', 'deepObject', true, ['color=blue', 'color=blue&color=black', 'color%5BR%5D=100&color%5BG%5D=200']],
  ]
  for (const [place, style, explode, written] of table) {
    it(`${style} in a ${place}, ${explode ? '' : 'not '}exploded`, () => {
      const parameters = [parameter(place, 'color', { style, explode })]
      const start = place === 'path' ? '/v1/pets/' : '/v1/pets?'
      assert.deepEqual(
        values.map((color) => targetOf(parameters, { [place]: { color } })),
        written.map((text) => start + text),
      )
    })
  }

  it('deep objects hold lists and objects', () => {
    const deep = [parameter('query', 'f', { style: 'deepObject', explode: true })]
    const f = { a: { b: [1, 2], c: null }, d: 'x' }
    assert.equal(targetOf(deep, { query: { f } }), '/v1/pets?f%5Ba%5D%5Bb%5D=1&f%5Ba%5D%5Bb%5D=2&f%5Bd%5D=x')
    assert.match(targetOf(deep, { query: { f: { a: [[1]] } } }), /must be a string/)
  })

  it('are encoded in cookies', () => {
    const cookiesOf = (more: Partial<OpenApiParameter>, value: Json): string[] | string => {
      const encoded = encodeRequest(operation([parameter('cookie', 'c', more), parameter('cookie', 'd')]), {
        cookie: { c: value },
      })
      return encoded instanceof BadArgument ? encoded.message : encoded.cookies
    }
    assert.deepEqual(cookiesOf({}, 'a b;c=d'), ['c=a%20b%3Bc%3Dd'])
    assert.deepEqual(cookiesOf({ style: 'form', explode: true }, ['a', 'b']), ['c=a,b'])
    assert.deepEqual(cookiesOf({ style: 'form', explode: true }, color), ['r=100', 'g=true'])
    assert.deepEqual(cookiesOf({ style: 'form', explode: false }, color), ['c=r,100,g,true'])
    assert.match(String(cookiesOf({ style: 'form', explode: true }, { d: 1 })), /must not contain `d`/)
    assert.match(String(cookiesOf({ style: 'form', explode: true }, { 'a;b': 1 })), /must not contain `a;b`/)
  })
})

describe('arguments that mean more than a value are refused', () => {
  it('in paths', () => {
    for (const value of [
      '..',
      '.',
      '',
      'a/b',
      'a\\b',
      '/',
      'a\r\nb',
      'a\0',
      '\u007f',
      '\ud800',
      [],
      {},
      ['a', '../b'],
      [['a']],
    ]) {
      const said = targetOf([parameter('path', 'c')], { path: { c: value } })
      assert.ok(!said.startsWith('/'), `${JSON.stringify(value)} gives ${said}`)
    }
    const joined = operation([parameter('path', 'a'), parameter('path', 'b')], {
      path: ['/x/', { parameter: 'a' }, { parameter: 'b' }],
    })
    assert.ok(encodeRequest(joined, { path: { a: '.', b: '.' } }) instanceof BadArgument)
    assert.equal((encodeRequest(joined, { path: { a: '.', b: 'a' } }) as ApiRequest).target, '/x/.a')
    assert.equal(targetOf([parameter('path', 'c')], { path: { c: '%2e%2e%2f' } }), '/v1/pets/%252e%252e%252f')
  })

  it('in queries', () => {
    const parameters = [parameter('query', 'filter'), parameter('query', 'admin')]
    assert.equal(targetOf(parameters, { query: { filter: { a: 1, 'b&c': 2 } } }), '/v1/pets?a=1&b%26c=2')
    assert.match(targetOf(parameters, { query: { filter: { admin: true } } }), /`admin`, which is another parameter/)
    const closed = [parameter('query', 'filter', { keys: ['a'] })]
    assert.match(targetOf(closed, { query: { filter: { b: 1 } } }), /no member `b`/)
    assert.match(targetOf(closed, { query: { filter: { a: { b: 1 } } } }), /must be a string/)
    assert.match(targetOf(closed, { query: { other: 1 } }), /unknown argument `other` in `query`/)
    assert.match(targetOf(closed, { query: { toString: 1 } }), /unknown argument `toString`/)
    assert.match(targetOf(closed, { query: { filter: 'x'.repeat(40_000) } }), /too long/)
  })

  it('in headers', () => {
    const values: Json[] = [
      'a\r\nx: y',
      'a\n',
      'a\r',
      '\0',
      '\u0100',
      'ĊĊ',
      ['a,b'],
      { a: 'b=c' },
      { 'a\n': 1 },
      '\u0007',
    ]
    for (const value of values) {
      const said = headersOf([parameter('header', 'x-c')], { header: { 'x-c': value } })
      assert.equal(typeof said, 'string', `${JSON.stringify(value)} gives ${JSON.stringify(said)}`)
    }
  })

  it('in bodies, and around them', () => {
    const bytes = operation([], {
      body: { mediaType: 'application/octet-stream', as: 'base64', required: true, fields: {} },
    })
    for (const body of [null, 1, 'a', 'a===', 'a b=', {}])
      assert.ok(encodeRequest(bytes, { body }) instanceof BadArgument)
    assert.ok(encodeRequest(bytes, {}) instanceof BadArgument)
    const inputs: Json[] = [[], 'a', 1, { body: 1 }, { path: {} }, { query: 'a' }, { constructor: {} }]
    for (const input of inputs) {
      assert.ok(encodeRequest(operation([]), input) instanceof BadArgument, JSON.stringify(input))
    }
  })
})

describe('whatever the arguments are', () => {
  const hostile = fc.constantFrom(
    ...[
      '..',
      '.',
      '/',
      '\\',
      '%2f',
      '%2e%2e',
      '?',
      '#',
      '&',
      '=',
      ';',
      ',',
      '\r\n',
      '\n',
      '\0',
      ' ',
      '\t',
      '+',
      '@',
      ':',
      '//',
    ],
    ...[
      '\u2028',
      'é',
      '\u{1f600}',
      '\ud800',
      'HTTP/1.1',
      'host: evil',
      '[',
      ']',
      '"',
      '<',
      '__proto__',
      'admin',
      'tag',
    ],
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(hostile, fc.string({ maxLength: 3 })), { maxLength: 6 }).map((all) => all.join('')),
  )
  const scalar: fc.Arbitrary<Json> = fc.oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
  )
  const value: fc.Arbitrary<Json> = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(text, scalar, { maxKeys: 3 }),
  )
  const styled = (place: OpenApiParameter['in'], name: string): fc.Arbitrary<OpenApiParameter> =>
    fc
      .record({
        explode: fc.boolean(),
        style:
          place === 'query'
            ? fc.constantFrom<OpenApiParameter['style']>(
                'form',
                'deepObject',
                'json',
                'spaceDelimited',
                'pipeDelimited',
              )
            : fc.constantFrom<OpenApiParameter['style']>('simple', 'json', ...(place === 'path' ? STYLES.path : [])),
      })
      .map((more) => parameter(place, name, more))
  const call = fc.record({
    parameters: fc.tuple(
      styled('path', 'id'),
      styled('query', 'tag'),
      styled('query', 'admin'),
      styled('header', 'x-a'),
    ),
    args: fc.record({
      path: fc.record({ id: value }),
      query: fc.record({ tag: value }, { requiredKeys: [] }),
      header: fc.record({ 'x-a': value }, { requiredKeys: [] }),
    }),
  })

  it('a real server sees the path, the query and the headers of the document', async (t) => {
    const origin = await useOrigin(t)
    await fc.assert(
      fc.asyncProperty(call, async ({ parameters, args }) => {
        const encoded = encodeRequest(operation(parameters), args)
        if (encoded instanceof BadArgument) return
        const seen = await send(origin, encoded)
        const url = new URL(seen.url, 'http://a')
        assert.equal(url.pathname + url.search, seen.url, 'means something else to another reader')
        assert.deepEqual(url.pathname.split('/').slice(0, 3), ['', 'v1', 'pets'])
        assert.equal(url.pathname.split('/').length, 4)
        const [id, tag] = parameters
        if (id.style !== 'matrix') assert.ok(!url.pathname.includes(';'), url.pathname)
        assert.ok(!/\\|%2f|%5c|%0|%1/i.test(url.pathname), url.pathname)
        const isSpread = tag.style !== 'json' && tag.style !== 'deepObject' && tag.explode && isObject(args.query.tag)
        for (const name of url.searchParams.keys()) {
          if (isSpread) assert.ok(Object.hasOwn(args.query.tag as object, name) && name !== 'admin', name)
          else assert.ok(name === 'tag' || (tag.style === 'deepObject' && /^tag\[.*\]$/s.test(name)), name)
        }
        const names = seen.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
        assert.deepEqual(
          names.filter((name) => !['host', 'connection'].includes(name)),
          args.header['x-a'] === undefined ? [] : ['x-a'],
        )
      }),
      { numRuns: 400 },
    )
  })

  it('texts arrive as they are', async (t) => {
    const origin = await useOrigin(t)
    const parameters = [parameter('path', 'id'), parameter('query', 'tag')]
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), async (id, tag) => {
        const encoded = encodeRequest(operation(parameters), { path: { id }, query: { tag } })
        if (encoded instanceof BadArgument) return
        const seen = await send(origin, encoded)
        const url = new URL(seen.url, 'http://a')
        assert.equal(decodeURIComponent(url.pathname.split('/')[3]!), id)
        assert.deepEqual(url.searchParams.getAll('tag'), tag)
      }),
      { numRuns: 200 },
    )
  })

  it('nothing is thrown', () => {
    fc.assert(
      fc.property(fc.jsonValue(), call, (args, { parameters }) => {
        encodeRequest(
          operation(parameters, { body: { mediaType: 'a', as: 'base64', required: false, fields: {} } }),
          args as Json,
        )
      }),
    )
  })
})

/** ParameterStyle as it is: no client of this test corrects anything. */
async function send(
  { port, seen }: { port: number; seen: SeenRequest[] },
  { method, target, headers }: ApiRequest,
): Promise<SeenRequest> {
  const before = seen.length
  await new Promise<void>((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      method,
      path: target,
      headers: Object.fromEntries(headers),
      agent: false,
    }
    const sent = httpRequest(options, (response) => void response.resume().on('end', resolve))
    sent.on('error', reject).end()
  })
  assert.equal(seen.length, before + 1)
  return seen.at(-1)!
}
