import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { McpItemKind } from '../records/mcp-record.ts'
import { Namer, type PrefixMode } from './names.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

const targetName = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,80}[a-z0-9])?$/)
const targetNames = fc.uniqueArray(targetName, { minLength: 1, maxLength: 5 })
const anyText = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 90 }), fc.stringMatching(/^[a-zA-Z0-9_-]{1,140}$/))
const uri = fc.oneof(
  anyText,
  fc.webUrl(),
  anyText.map((text) => `ui://${text}`),
  anyText.map((text) => `a+${text}`),
)
const kind = fc.constantFrom<McpItemKind[]>('tool', 'prompt', 'resource', 'task')
const mode = fc.constantFrom<PrefixMode[]>('Conditional', 'Always')

test('several targets put their names before names, URIs and ids', () => {
  const namer = new Namer(['git', 'files'], 'Conditional')
  assert.equal(namer.exposed('tool', 'git', 'log_all'), 'git_log_all')
  assert.equal(namer.exposed('prompt', 'files', 'sum'), 'files_sum')
  assert.equal(namer.exposed('resource', 'files', 'file:///a'), 'files+file:///a')
  assert.equal(namer.exposed('resource', 'files', 'file:///{path}'), 'files+file:///{path}')
  assert.equal(namer.exposed('resource', 'git', 'ui://view/1'), 'ui://git+view/1')
  assert.equal(namer.exposed('task', 'git', '7'), 'git+7')
  assert.deepEqual(namer.owner('tool', 'git_log_all'), { target: 'git', name: 'log_all' })
  assert.deepEqual(namer.owner('resource', 'ui://git+view/1'), { target: 'git', name: 'ui://view/1' })
})

test('one target keeps its names, unless a prefix is always wanted', () => {
  const plain = new Namer(['git'], 'Conditional')
  for (const each of ['tool', 'prompt', 'resource', 'task'] as const) {
    assert.equal(plain.exposed(each, 'git', 'x'.repeat(100)), 'x'.repeat(100))
    assert.deepEqual(plain.owner(each, 'git_x'), { target: 'git', name: 'git_x' })
  }
  assert.equal(new Namer(['git'], 'Always').exposed('tool', 'git', 'log'), 'git_log')
})

test('a name of no target, or without a prefix, is nobody’s', () => {
  const namer = new Namer(['git', 'files'], 'Conditional')
  for (const name of ['log', '_log', 'other_log', 'gi_log', 'GIT_log', '']) {
    assert.equal(namer.owner('tool', name), null)
    assert.deepEqual(namer.targetsToList('tool', name), [])
  }
  for (const name of ['file:///a', 'other+file:///a', '+x', 'ui://x', 'ui://other+x']) {
    assert.equal(namer.owner('resource', name), null)
  }
})

test('Never leaves names alone, which then do not tell their target; ids of tasks still do', () => {
  const namer = new Namer(['git', 'files'], 'Never')
  assert.equal(namer.exposed('tool', 'git', 'log'), 'log')
  assert.equal(namer.exposed('resource', 'git', 'ui://x'), 'ui://x')
  assert.equal(namer.owner('tool', 'log'), null)
  assert.ok(namer.needsOwners)
  assert.deepEqual(namer.targetsToList('tool', 'log'), ['git', 'files'])
  assert.deepEqual(namer.owner('task', namer.exposed('task', 'git', '7')), { target: 'git', name: '7' })
  assert.ok(!new Namer(['git'], 'Never').needsOwners)
})

test('an exposed name is resolved to its target and original name, for any name', () => {
  fc.assert(
    fc.property(targetNames, mode, kind, uri, fc.nat(), (targets, prefixMode, each, name, pick) => {
      const namer = new Namer(targets, prefixMode)
      const target = targets[pick % targets.length]!
      assert.deepEqual(namer.owner(each, namer.exposed(each, target, name)), { target, name })
    }),
    { seed: 5, numRuns: 2000 },
  )
})

test('no name is longer than 64, and another worker makes the same of it', () => {
  fc.assert(
    fc.property(targetNames, anyText, fc.nat(), (targets, name, pick) => {
      const target = targets[pick % targets.length]!
      const [one, other] = [new Namer(targets, 'Always'), new Namer(targets, 'Always')]
      const exposed = one.exposed('tool', target, name)
      assert.ok(exposed.length <= 64, exposed)
      assert.equal(other.exposed('tool', target, name), exposed)
      assert.equal(one.isShortened(exposed), exposed !== `${target}_${name}`)
    }),
    { seed: 5, numRuns: 2000 },
  )
})

test('a short name that was not seen here yet says whose list to ask for', () => {
  fc.assert(
    fc.property(targetNames, fc.stringMatching(/^[a-z_]{64,120}$/), fc.nat(), (targets, name, pick) => {
      const target = targets[pick % targets.length]!
      const exposed = new Namer(targets, 'Always').exposed('tool', target, name)
      const elsewhere = new Namer(targets, 'Always')
      assert.equal(elsewhere.owner('tool', exposed), null)
      assert.deepEqual(elsewhere.targetsToList('tool', exposed), [target])
      elsewhere.exposed('tool', target, name)
      assert.deepEqual(elsewhere.owner('tool', exposed), { target, name })
      assert.deepEqual(elsewhere.targetsToList('tool', exposed), [])
    }),
    { seed: 5, numRuns: 500 },
  )
})

test('different names stay different', () => {
  fc.assert(
    fc.property(targetNames, fc.uniqueArray(anyText, { maxLength: 20 }), (targets, names) => {
      const namer = new Namer(targets, 'Always')
      const exposed = targets.flatMap((target) => names.map((name) => namer.exposed('tool', target, name)))
      assert.equal(new Set(exposed).size, targets.length * names.length)
    }),
    { seed: 5, numRuns: 300 },
  )
})

test('a name that looks like a short one is none: it is shortened too', () => {
  const namer = new Namer(['git'], 'Always')
  const name = `${'x'.repeat(51)}_deadbeef`
  const exposed = namer.exposed('tool', 'git', name)
  assert.equal(`git_${name}`.length, 64)
  assert.notEqual(exposed, `git_${name}`)
  assert.deepEqual(namer.owner('tool', exposed), { target: 'git', name })
})

test('a made-up name never throws', () => {
  fc.assert(
    fc.property(targetNames, fc.constantFrom<PrefixMode[]>('Conditional', 'Always', 'Never'), kind, uri, (...given) => {
      const [targets, prefixMode, each, name] = given
      const namer = new Namer(targets, prefixMode)
      const owned = namer.owner(each, name)
      if (owned !== null) assert.ok(targets.includes(owned.target))
      for (const target of namer.targetsToList(each, name)) assert.ok(targets.includes(target))
    }),
    { seed: 5, numRuns: 1000 },
  )
})
