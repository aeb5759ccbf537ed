import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { OfferedTools, type ToolsConfig } from './offered-tools.ts'

const offered = (config: Partial<ToolsConfig>): OfferedTools =>
  new OfferedTools({ exclude: [], rename: {}, description: {}, ...config })

it('patterns choose tools, those of `exclude` last', () => {
  const tools = offered({ include: ['get_*', 'search'], exclude: ['*_secret'] })
  const names = ['get_a', 'search', 'get_secret', 'searches', 'put_a']
  assert.deepEqual(
    names.filter((name) => tools.isOffered(name)),
    ['get_a', 'search'],
  )
  assert.deepEqual(
    names.map((name) => tools.own(name)),
    ['get_a', 'search', null, null, null],
  )
})

it('a renamed tool has its new name alone', () => {
  const tools = offered({ rename: { search_issues: 'find', a: 'b', b: 'a' } })
  assert.equal(tools.shown('search_issues'), 'find')
  assert.equal(tools.own('find'), 'search_issues')
  assert.equal(tools.own('search_issues'), null)
  assert.deepEqual([tools.own('a'), tools.own('b')], ['b', 'a'], 'two may change places')
})

it('a tool whose name was given to another is not offered', () => {
  const tools = offered({ rename: { search_issues: 'find' } })
  assert.ok(tools.isDisplaced('find') && !tools.isOffered('find'))
  assert.equal(tools.own('find'), 'search_issues')
  const hidden = offered({ rename: { search_issues: 'find' }, exclude: ['search_issues'] })
  assert.equal(hidden.own('find'), 'find', 'a tool that is not offered takes no name')
})

it('a tool can be called by its shown name, and only if it is offered', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'ab', 'constructor', '__proto__')
  const pattern = fc.constantFrom('a', 'a*', '*b', '*', 'c', 'constructor')
  const rename = fc
    .uniqueArray(fc.tuple(name, name), { maxLength: 4, selector: ([, to]) => to })
    .map((entries) => Object.fromEntries(entries))
  const config = fc.record({
    include: fc.option(fc.array(pattern), { nil: undefined }),
    exclude: fc.array(pattern),
    rename,
  })
  fc.assert(
    fc.property(config, fc.uniqueArray(name), (parts, names) => {
      const tools = offered(parts)
      const kept = names.filter((own) => tools.isOffered(own))
      assert.equal(new Set(kept.map((own) => tools.shown(own))).size, kept.length)
      for (const own of kept) assert.equal(tools.own(tools.shown(own)), own)
      for (const shown of names) {
        const own = tools.own(shown)
        assert.ok(own === null || (tools.isOffered(own) && tools.shown(own) === shown))
      }
    }),
  )
})
