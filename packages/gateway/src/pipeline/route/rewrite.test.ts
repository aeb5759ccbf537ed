import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { RequestContext } from '../context/request-context.ts'
import { rewriteAuthority, rewriteTarget } from './rewrite.ts'

const segments = fc.array(fc.stringMatching(/^[a-z%.~]{1,4}$/), { maxLength: 3 })
const query = fc.stringMatching(/^[a-z=&?/]{0,6}$/)

function pathOf(parts: readonly string[], slash: boolean): string {
  return `/${parts.join('/')}${slash && parts.length > 0 ? '/' : ''}`
}

test('a prefix changes nothing but the matched segments', () => {
  fc.assert(
    fc.property(segments, segments, segments, query, fc.boolean(), (matched, rest, prefix, asked, slash) => {
      const path = pathOf([...matched, ...rest], slash)
      // The index keeps matched prefixes without their last slash.
      const match = { pathPrefix: pathOf(matched, false).replace(/\/$/, '') } as unknown as RequestContext['match']
      const target = rewriteTarget({ path, query: asked, match }, { prefix: pathOf(prefix, slash) })
      const [newPath, ...newQuery] = target.split('?')
      assert.deepEqual(
        newPath!.split('/').filter((part) => part !== ''),
        [...prefix, ...rest],
      )
      assert.equal(newQuery.join('?'), asked)
      assert.ok(target.startsWith('/') && !newPath!.includes('//'))
    }),
    { seed: 7, numRuns: 500 },
  )
})

test('an authority changes in the given part alone', () => {
  const hosts = fc.constantFrom('a.test', '127.0.0.1', '[::1]')
  fc.assert(
    fc.property(
      hosts,
      fc.option(fc.integer({ min: 1, max: 65_535 })),
      hosts,
      fc.integer({ min: 1 }),
      (host, port, newHost, newPort) => {
        const authority = port === null ? host : `${host}:${port}`
        assert.equal(rewriteAuthority(authority, { host: newHost }), port === null ? newHost : `${newHost}:${port}`)
        assert.equal(rewriteAuthority(authority, { port: newPort }), `${host}:${newPort}`)
        assert.equal(rewriteAuthority(authority, { full: 'b.test:1' }), 'b.test:1')
      },
    ),
    { seed: 7, numRuns: 200 },
  )
})
