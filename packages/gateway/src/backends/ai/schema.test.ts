import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { compile, createEnvironment, present } from '@portico/cel'
import { toCrdSchema } from '../../schema/print/crd.ts'
import { toJsonSchema } from '../../schema/print/json-schema.ts'
import { type JsonObject, object } from '../../schema/kit.ts'
import { validate } from '../../schema/validate.ts'
import { integer } from '../../schema/fields/values.ts'
import { aiBackend } from './schema.ts'

const policies = () => object({ mark: integer({ min: 0, max: 9 }).optional().describe('A mark.') })
const schema = aiBackend(policies, policies)
const check = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  code: { optimize: false },
}).compile(toJsonSchema(schema))

/** Problems as `code path`; JSON Schema must have the same opinion where it can. */
function problemsOf(input: unknown): string[] {
  const result = validate(schema, input)
  const problems = result.ok ? [] : result.problems.map(({ code, path }) => `${code} ${path.join('.')}`)
  const isSayable = problems.some((problem) => !/^(bad_format|duplicate|out_of_range)/.test(problem))
  if (problems.length === 0 || isSayable) assert.equal(check(input), problems.length === 0, JSON.stringify(input))
  return problems
}

function ofProvider(provider: unknown): string[] {
  return problemsOf({ provider })
}

test('every provider of the spec is accepted as users write it', () => {
  for (const provider of [
    { openai: {} },
    { openai: { model: 'gpt-4o' }, host: 'llm', port: 8000, path: '/api/chat?a=b' },
    { openai: {}, host: 'api.groq.com', pathPrefix: '/openai/v1' },
    { anthropic: { model: 'claude' }, pathPrefix: '/x' },
    { azureopenai: { endpoint: 'https://a.openai.azure.com', deploymentName: 'd', apiVersion: '2024-10-21' } },
    { azureopenai: { endpoint: 'a.openai.azure.com' } },
    { azure: { resourceName: 'a', resourceType: 'OpenAI', model: 'm' } },
    { azure: { resourceName: 'a', resourceType: 'foundry', projectName: 'p', apiVersion: 'preview' } },
    { gemini: { model: 'gemini-2.5-pro' } },
    { vertexai: { projectId: 'p', region: 'us-east5', model: 'm' } },
    {
      bedrock: { region: 'eu-west-1', model: 'm', guardrail: { identifier: 'g', version: '1' } },
      host: '127.0.0.1',
      port: 1,
    },
  ]) {
    assert.deepEqual(ofProvider(provider), [], JSON.stringify(provider))
  }
})

test('defaults are filled in', () => {
  const value = (provider: object) => {
    const result = validate(schema, { provider })
    assert.ok(result.ok)
    return result.value.provider
  }
  assert.deepEqual(value({ bedrock: {} }), { bedrock: { region: 'us-east-1' } })
  assert.deepEqual(value({ vertexai: { projectId: 'p' } }), { vertexai: { projectId: 'p', region: 'global' } })
  assert.deepEqual(value({ azureopenai: { endpoint: 'https://A.openai.azure.com/' } }), {
    azureopenai: { endpoint: { host: 'a.openai.azure.com', project: null }, apiVersion: 'v1' },
  })
})

test('exactly one provider, and exactly one of provider and groups', () => {
  assert.deepEqual(ofProvider({}), ['missing_key provider'])
  assert.deepEqual(ofProvider({ openai: {}, gemini: {} }), ['conflict provider.gemini'])
  assert.deepEqual(problemsOf({}), ['missing_key '])
  assert.deepEqual(problemsOf({ provider: { openai: {} }, groups: [{ providers: [{ name: 'a', openai: {} }] }] }), [
    'conflict groups',
  ])
})

test('overrides of the connection keep their rules', () => {
  assert.deepEqual(ofProvider({ openai: {}, port: 80 }), ['conflict provider.port'])
  assert.deepEqual(ofProvider({ openai: {}, path: '/a', pathPrefix: '/b' }), ['conflict provider.pathPrefix'])
  for (const key of ['gemini', 'bedrock']) {
    assert.deepEqual(ofProvider({ [key]: {}, pathPrefix: '/b' }), [`conflict provider.${key}`])
  }
  for (const path of ['x', '/a b', '/a#b', '/a/../b', '/a/%2E%2e', '/a\\b', '/%?x']) {
    assert.equal(ofProvider({ openai: {}, path }).length, path === '/%?x' ? 0 : 1, path)
  }
  assert.deepEqual(ofProvider({ openai: {}, host: 'a b' }), ['bad_format provider.host'])
  assert.deepEqual(ofProvider({ openai: {}, host: 'a', port: 0 }), ['out_of_range provider.port'])
})

test('fields of providers keep their rules', () => {
  assert.deepEqual(ofProvider({ azure: { resourceName: 'a', resourceType: 'Foundry' } }), [
    'missing_key provider.azure',
  ])
  assert.deepEqual(ofProvider({ azureopenai: { endpoint: 'a', apiVersion: '2024-10-21' } }), [
    'missing_key provider.azureopenai',
  ])
  assert.deepEqual(ofProvider({ azure: { resourceName: 'a.b', resourceType: 'OpenAI' } }), [
    'bad_format provider.azure.resourceName',
  ])
  assert.deepEqual(ofProvider({ vertexai: {} }), ['missing_key provider.vertexai.projectId'])
  assert.deepEqual(ofProvider({ vertexai: { projectId: 'a/b' } }), ['bad_format provider.vertexai.projectId'])
  assert.deepEqual(ofProvider({ bedrock: { region: 'EU.evil.com/' } }), ['bad_format provider.bedrock.region'])
  assert.deepEqual(ofProvider({ bedrock: { guardrail: { identifier: 'g' } } }), [
    'missing_key provider.bedrock.guardrail.version',
  ])
  for (const endpoint of ['a.b/c', 'a b', 'ftp://a', 'a@b.c', 'a.openai.azure.com/api/projects/..', '']) {
    assert.deepEqual(ofProvider({ azureopenai: { endpoint } }), ['bad_format provider.azureopenai.endpoint'], endpoint)
  }
})

const named = (name: string, more: object = {}) => ({ name, openai: {}, ...more })
const groupsOf = (...groups: object[][]) => ({ groups: groups.map((providers) => ({ providers })) })

test('groups have limits, and names that differ everywhere', () => {
  assert.deepEqual(problemsOf(groupsOf([named('a', { policies: { mark: 1 } }), named('b')], [named('c')])), [])
  assert.deepEqual(problemsOf(groupsOf([named('a'), named('a')])), ['duplicate groups.0.providers.1.name'])
  assert.deepEqual(problemsOf(groupsOf([named('a')], [named('b'), named('a')])), ['duplicate groups'])
  assert.deepEqual(problemsOf({ groups: [] }), ['out_of_range groups'])
  assert.deepEqual(problemsOf(groupsOf([])), ['out_of_range groups.0.providers'])
  const many = (count: number) => Array.from({ length: count }, (_, at) => named(`p${at}`))
  assert.deepEqual(problemsOf(groupsOf(many(16))), [])
  assert.deepEqual(problemsOf(groupsOf(many(17))), ['out_of_range groups.0.providers'])
  assert.deepEqual(problemsOf(groupsOf(...many(8).map((one) => [one]))), [])
  assert.deepEqual(problemsOf(groupsOf(...many(9).map((one) => [one]))), ['out_of_range groups'])
  assert.deepEqual(problemsOf(groupsOf([{ openai: {} }])), ['missing_key groups.0.providers.0.name'])
  assert.deepEqual(problemsOf(groupsOf([named('a', { policies: { mark: 'x' } })])), [
    'wrong_type groups.0.providers.0.policies.mark',
  ])
})

test('rules of custom resources say the same in CEL', () => {
  const crd = toCrdSchema(schema)
  const provider = (crd['properties'] as JsonObject)['provider'] as JsonObject
  const azure = (provider['properties'] as JsonObject)['azure'] as JsonObject
  const azureopenai = (provider['properties'] as JsonObject)['azureopenai'] as JsonObject
  assert.ok(holds(azure, { resourceType: 'OpenAI' }))
  assert.ok(holds(azure, { resourceType: 'Foundry', projectName: 'p' }))
  assert.ok(!holds(azure, { resourceType: 'Foundry' }))
  assert.ok(holds(azureopenai, { apiVersion: 'v1' }))
  assert.ok(!holds(azureopenai, { apiVersion: 'preview' }))
  assert.ok(holds(azureopenai, { apiVersion: 'preview', deploymentName: 'd' }))
  assert.ok(holds(provider, { openai: {}, pathPrefix: '/x' }))
  assert.ok(!holds(provider, { gemini: {}, pathPrefix: '/x' }))
  assert.match(rulesOf(crd).join(), /sum\(\) == 1/)
})

function rulesOf(crd: JsonObject): string[] {
  return (crd['x-kubernetes-validations'] as { rule: string }[]).map(({ rule }) => rule)
}

function holds(crd: JsonObject, self: object): boolean {
  const environment = createEnvironment({ variables: { self: present } })
  return rulesOf(crd).every((rule) => {
    const compiled = compile(rule, environment)
    assert.ok(compiled.ok, rule)
    return compiled.program.evaluate({ self }) === true
  })
}
