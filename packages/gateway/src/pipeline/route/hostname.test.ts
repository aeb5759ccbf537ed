import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { canonicalHostname, createHostnameTable, normalizeHost } from './hostname.ts'

describe('normalizeHost', () => {
  const cases: [string, string][] = [
    ['example.com', 'example.com'],
    ['EXAMPLE.com:8080', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com.:443', 'example.com'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[::1]:8080', '::1'],
    ['[2001:DB8::1]', '2001:db8::1'],
    ['::1', '::1'],
    ['localhost:', 'localhost'],
    ['[broken', '[broken'],
    ['', ''],
    ['.', ''],
  ]
  for (const [authority, host] of cases) {
    it(`makes '${host}' of '${authority}'`, () => assert.equal(normalizeHost(authority), host))
  }
})

describe('hostname table', () => {
  const table = createHostnameTable(
    ['example.com', 'a.example.com', '*.example.com', '*.b.example.com', '*', '*.Org'].map((name) => [name, name]),
  )
  const cases: [string, string][] = [
    ['example.com', 'example.com'],
    ['a.example.com', 'a.example.com'],
    ['x.example.com', '*.example.com'],
    ['x.y.example.com', '*.example.com'],
    ['b.example.com', '*.example.com'],
    ['x.b.example.com', '*.b.example.com'],
    ['x.y.z.b.example.com', '*.b.example.com'],
    ['x.org', '*.Org'],
    ['org', '*'],
    ['.org', '*'],
    ['.example.com', '*'],
    ['notexample.com', '*'],
    ['', '*'],
    ['::1', '*'],
  ]
  for (const [host, name] of cases) it(`finds ${name} for '${host}'`, () => assert.equal(table.best(host), name))

  it('finds nothing when no hostname fits', () => {
    const small = createHostnameTable([['*.example.com', 1]])
    assert.equal(small.best('example.com'), null)
    assert.equal(small.best('example.org'), null)
  })

  it('keeps the first of two entries with one hostname', () => {
    const twice = createHostnameTable([
      ['a.com', 1],
      ['A.com', 2],
      ['', 3],
      ['*', 4],
    ])
    assert.equal(twice.best('a.com'), 1)
    assert.equal(twice.best('b.com'), 3)
  })

  it('offers the values most specific first until one is taken', () => {
    const offered: string[] = []
    const visit = (name: string): null => {
      offered.push(name)
      return null
    }
    assert.equal(table.first('x.b.example.com', visit, null), null)
    assert.deepEqual(offered, ['*.b.example.com', '*.example.com', '*'])
    const taken = table.first('a.example.com', (name, start: string) => (name.startsWith(start) ? name : null), '*.')
    assert.equal(taken, '*.example.com')
  })

  it('agrees with a search through all names', () => {
    const label = fc.constantFrom('', 'a', 'b', 'c')
    const host = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'))
    const hostname = fc.oneof(
      host,
      host.map((name) => `*.${name}`),
      fc.constant('*'),
    )
    fc.assert(
      fc.property(fc.uniqueArray(hostname, { selector: canonicalHostname, maxLength: 8 }), host, (names, asked) => {
        const found = createHostnameTable(names.map((name) => [name, name])).best(normalizeHost(asked))
        assert.equal(found, slowBest(names, normalizeHost(asked)))
      }),
      { seed: 40, numRuns: 3000 },
    )
  })
})

function slowBest(names: string[], host: string): string | null {
  const exact = names.find((name) => canonicalHostname(name) !== '' && canonicalHostname(name) === host)
  if (exact !== undefined) return exact
  const wildcards = names
    .filter((name) => canonicalHostname(name).startsWith('*.'))
    .filter((name) => host.endsWith(suffix(name)) && host.length > suffix(name).length)
    .toSorted((left, right) => suffix(right).length - suffix(left).length)
  return wildcards[0] ?? names.find((name) => canonicalHostname(name) === '') ?? null
}

function suffix(wildcard: string): string {
  return canonicalHostname(wildcard).slice(1)
}
