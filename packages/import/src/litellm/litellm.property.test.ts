import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
import { importLitellm } from './import-litellm.ts'

const some = <Value>(...found: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...found)
const optional = { requiredKeys: [] as [] }

/** Values that configs have, and values that nobody expects there. */
const odd = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>('1', 0, 5, 30, 2.5, true, 'os.environ/SOME') },
  { weight: 1, arbitrary: fc.jsonValue() },
)

const params = fc.record(
  {
    model: some(
      'openai/a',
      'anthropic/*',
      'groq/b',
      'azure/c',
      'bedrock/d',
      'vertex_ai/e',
      'ollama/f',
      'other/g',
      '*',
      'gpt-4o',
    ),
    api_key: some('os.environ/KEY', 'literal-key', '', 'two\nlines'),
    api_base: some(
      'http://a.test:8000',
      'https://b.test/v1/',
      'os.environ/BASE',
      'no url',
      'https://[::1]:9000/x',
      'http://c.test:443',
    ),
    ...{ weight: odd, rpm: odd, order: odd, timeout: odd, temperature: odd, vertex_project: odd, aws_region_name: odd },
    extra_headers: fc.dictionary(some('X-A', 'b c', 'd'), odd),
  },
  { requiredKeys: ['model'] },
)
const name = some('one', 'two', 'three/x', 'pre/*', '*', 'bad name')
const names = fc.array(name, { maxLength: 3 })
const tables = fc.array(fc.dictionary(name, names), { maxLength: 3 })
const settings = fc.record(
  {
    ...{ fallbacks: tables, context_window_fallbacks: tables, default_fallbacks: names, num_retries: odd, cache: odd },
    cache_params: fc.record({ type: some('local', 'redis', 's3'), ttl: odd, host: odd, port: odd }, optional),
    ...{
      max_budget: odd,
      budget_duration: some('1d', '30d', '9y'),
      request_timeout: odd,
      allowed_fails: odd,
      master_key: odd,
    },
    ...{
      routing_strategy: some('simple-shuffle', 'least-busy', 'latency-based-routing'),
      cooldown_time: odd,
      unknown: fc.jsonValue(),
    },
    model_group_alias: fc.dictionary(some('alias', 'one'), name),
  },
  optional,
)
const configs = fc.record(
  {
    model_list: fc.array(
      fc.record(
        { model_name: name, litellm_params: params, model_info: odd },
        { requiredKeys: ['model_name', 'litellm_params'] },
      ),
      { minLength: 1, maxLength: 20 },
    ),
    ...{
      litellm_settings: settings,
      router_settings: settings,
      general_settings: settings,
      guardrails: fc.jsonValue(),
    },
  },
  { requiredKeys: ['model_list'] },
)

/** The paths of all values that are not collections, and of empty collections. */
function leavesOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const members = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item] as const)
    : Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
  return members.length === 0 ? [path] : members.flatMap(([below, item]) => leavesOf(item, below))
}

test('every field of any config is in the report, and the imported config has no problems', () => {
  fc.assert(
    fc.property(configs, (config) => {
      const result = importLitellm([{ name: 'in.yaml', text: stringify(config) }])
      if (!result.ok) return assert.match(result.problem.message, /found no model that can be imported/)
      const entries = result.value.report.map((entry) => entry.name)
      const isListed = (leaf: string): boolean =>
        entries.some((entry) => leaf === entry || leaf.startsWith(`${entry}.`) || leaf.startsWith(`${entry}[`))
      assert.deepEqual(
        leavesOf(config, '').filter((leaf) => !isListed(leaf)),
        [],
      )
      const texts = printImport(result.value, ['in.yaml'], 'litellm')
      const loaded = loadConfig(texts.config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
      const problems = loaded.ok ? [] : loaded.problems.map(printProblem)
      assert.deepEqual(problems, [], texts.config)
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('deployments without any weight above 0 share the requests', () => {
  const litellm_params = { model: 'openai/a', rpm: 0 }
  const text = stringify({
    model_list: [
      { model_name: 'one', litellm_params },
      { model_name: 'one', litellm_params },
    ],
  })
  const result = importLitellm([{ name: 'in.yaml', text }])
  assert.ok(result.ok)
  const { config } = printImport(result.value, ['in.yaml'], 'litellm')
  assert.match(config, /targets:\n\s+- \{ model: one@1 \}\n\s+- \{ model: one@2 \}\n/)
  const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
  assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.map(printProblem).join('\n'))
})

test('any text is imported, or refused with a location', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 200 }),
        fc.jsonValue().map((value) => stringify(value) ?? ''),
      ),
      (text) => {
        const result = importLitellm([{ name: 'in.yaml', text }])
        if (result.ok) return assert.ok(result.value.report.length > 0)
        assert.ok(result.problem.at.line >= 1 && result.problem.at.file === 'in.yaml')
      },
    ),
    { numRuns: 500 },
  )
})
