import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../file.ts'
import { printProblem } from '../print-problems.ts'

const provider = { mock: {} }

function problemsOf(...models: object[]): string[] {
  const config = { binds: [{ port: 1, listeners: [{ routes: [{ backends: [{ ai: { models } }] }] }] }] }
  const loaded = loadConfig(JSON.stringify(config, null, 1), { file: 'gateway.yaml', dir: '.', env: {} })
  return loaded.ok ? [] : loaded.problems.map(printProblem)
}

const virtual = (name: string, ...targets: string[]) => ({ name, targets: targets.map((model) => ({ model })) })

test('a target or fallback that no model has is a problem, with the nearest name', () => {
  const [target, fallback, ...rest] = problemsOf(
    { name: 'smart', provider },
    { ...virtual('house', 'smrt'), fallback: { rateLimit: 'smat', timeout: 'next' } },
  )
  assert.match(target ?? '', /found no model named `smrt`.*did you mean `smart`/s)
  assert.match(fallback ?? '', /found no model named `smat`/)
  assert.deepEqual(rest, [])
})

test('a target may match a pattern', () => {
  assert.deepEqual(problemsOf({ name: 'anthropic/*', provider }, virtual('house', 'anthropic/claude-5')), [])
})

test('a cycle is a problem at the reference that begins it', () => {
  const problems = problemsOf(virtual('a', 'b'), virtual('b', 'c'), virtual('c', 'b'), virtual('self', 'self'))
  assert.equal(problems.length, 3)
  assert.match(problems[0] ?? '', /gateway\.yaml:\d+:\d+.*b → c → b/s)
  assert.match(problems[2] ?? '', /self → self/)
  const byFallback = problemsOf({ name: 'x', provider }, { ...virtual('a', 'x'), fallback: { timeout: 'a' } })
  assert.match(byFallback.join(), /a → a/)
})

test('chains are limited to four models', () => {
  const chain = [{ name: 'm4', provider }, virtual('m3', 'm4'), virtual('m2', 'm3'), virtual('m1', 'm2')]
  assert.deepEqual(problemsOf(...chain), [])
  assert.match(problemsOf(...chain, virtual('m0', 'm1')).join(), /m0 → m1 → m2 → m3 → m4.*at most 4 models/s)
})

test('the number of providers behind a model is limited', () => {
  const many = Array.from({ length: 16 }, () => 'x')
  const models = [{ name: 'x', provider }, virtual('wide', ...many), virtual('wider', ...many.map(() => 'wide'))]
  assert.match(problemsOf(...models).join(), /found 256 providers behind the model `wider`/)
})

test('a choice by price needs the price of every target', () => {
  const problems = problemsOf({ name: 'x', provider }, { ...virtual('house', 'x'), by: 'Price' })
  assert.match(problems.join(), /found the target `x`, which has no price/)
})

test('a choice by weight needs a weight, and a choice by hash an expression', () => {
  const zero = { name: 'house', by: 'Weight', targets: [{ model: 'x', weight: 0 }] }
  assert.match(problemsOf({ name: 'x', provider }, zero).join(), /only targets of weight 0/)
  assert.match(problemsOf({ name: 'x', provider }, { ...virtual('house', 'x'), by: 'Hash' }).join(), /hash/)
})

test('a star in the model of the provider needs a star in the name', () => {
  const problems = problemsOf({ name: 'x', provider: { openai: { model: 'gpt-*' } } })
  assert.match(problems.join(), /found `gpt-\*` for a name without `\*`/)
})
