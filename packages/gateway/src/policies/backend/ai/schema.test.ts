import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validate } from '../../../schema/validate.ts'
import { ai } from './schema.ts'

function problemsOf(config: unknown): string[] {
  const result = validate(ai.schema, config)
  return result.ok ? [] : result.problems.map(({ code, path }) => `${code} ${path.join('.')}`)
}

const fields = (count: number) => Array.from({ length: count }, (_, at) => ({ field: `f${at}`, value: at }))
const expressions = (count: number) => Array.from({ length: count }, (_, at) => ({ field: `f${at}`, expression: '1' }))
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 'x']))

test('every field of the spec is accepted as users write it', () => {
  assert.deepEqual(
    problemsOf({
      prompt: { prepend: [{ role: 'SYSTEM', content: 'Be kind.' }], append: [{ role: 'user', content: 'Thanks.' }] },
      promptGuard: { request: [{ regex: { builtins: ['Ssn'] } }] },
      defaults: [{ field: 'temperature', value: 0.2 }],
      overrides: [
        { field: 'a', value: null },
        { field: 'b', value: { c: [1, 'x', false] } },
      ],
      transformations: [{ field: 'user', expression: 'default(jwt.sub, llmRequest.user)' }],
      modelAliases: { fast: 'gpt-4o-mini', 'claude-*': 'claude-sonnet-4-5' },
      promptCaching: {},
      routes: { '/v1/chat/completions': 'completions', '*': 'Passthrough', '/count': 'MessagesTokenCount' },
    }),
    [],
  )
})

test('defaults of promptCaching are those of the spec', () => {
  const result = validate(ai.schema, { promptCaching: {} })
  assert.ok(result.ok)
  assert.deepEqual(result.value.promptCaching, {
    cacheSystem: true,
    cacheMessages: true,
    cacheTools: false,
    minTokens: 1_024,
    cacheMessageOffset: 0,
  })
})

test('defaults, overrides, transformations, modelAliases: 64 each', () => {
  const of = (count: number) => ({
    defaults: fields(count),
    overrides: fields(count),
    transformations: expressions(count),
    modelAliases: entries(count),
  })
  assert.deepEqual(problemsOf(of(64)), [])
  assert.deepEqual(problemsOf(of(65)).toSorted(), [
    'out_of_range defaults',
    'out_of_range modelAliases',
    'out_of_range overrides',
    'out_of_range transformations',
  ])
  assert.deepEqual(problemsOf({ defaults: [], overrides: [], transformations: [] }).length, 3)
})

test('bad values are refused where they stand', () => {
  assert.deepEqual(problemsOf({ defaults: [{ field: 'a' }] }), ['missing_key defaults.0.value'])
  assert.deepEqual(problemsOf({ defaults: [{ field: '', value: 1 }] }), ['out_of_range defaults.0.field'])
  assert.deepEqual(problemsOf({ overrides: [{ field: 'a', value: NaN }] }), ['wrong_type overrides.0.value'])
  assert.deepEqual(problemsOf({ overrides: [{ field: 'a', value: [new Date(0)] }] }), ['wrong_type overrides.0.value'])
  assert.deepEqual(problemsOf({ overrides: [{ field: 'a', value: 'x'.repeat(70_000) }] }), [
    'out_of_range overrides.0.value',
  ])
  const twice = [
    { field: 'a', value: 1 },
    { field: 'a', value: 2 },
  ]
  assert.deepEqual(problemsOf({ defaults: twice }), ['duplicate defaults.1.field'])
  assert.deepEqual(problemsOf({ transformations: [{ field: 'a', expression: 'llmReqest.x' }] }), [
    'bad_expression transformations.0.expression',
  ])
  assert.deepEqual(problemsOf({ prompt: { prepend: [{ role: 'tool', content: 'x' }] } }), [
    'not_allowed prompt.prepend.0.role',
  ])
  assert.deepEqual(problemsOf({ promptCaching: { minTokens: -1 } }), ['out_of_range promptCaching.minTokens'])
  assert.deepEqual(problemsOf({ routes: { '/x': 'Ranking' } }), ['not_allowed routes./x'])
  assert.deepEqual(problemsOf({ promptGuard: { request: [{}] } }), ['missing_key promptGuard.request.0'])
})
