import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { chartFiles, readValueSchema } from './chart-files.ts'
import type { ValueSchema } from './chart-values.ts'

const root = new URL('../../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const values = parse(read('deploy/helm/portico/values.yaml')) as Record<string, unknown>

describe('values of the chart', () => {
  it('are printed from their schema; otherwise run `npm run generate`', () => {
    for (const [path, content] of chartFiles()) assert.equal(read(path), content, `${path} is stale`)
  })

  it('have a description each, and a default at their end', () => {
    const visit = (schema: ValueSchema, path: string): void => {
      assert.ok((schema.description ?? '').length > 3, path)
      if (schema.default !== undefined) return
      assert.ok(schema.properties, `${path} has no default`)
      for (const [name, member] of Object.entries(schema.properties)) visit(member, `${path}.${name}`)
    }
    for (const [name, member] of Object.entries(readValueSchema().properties ?? {})) visit(member, name)
  })

  it('match their schema', () => {
    const validate = new Ajv2020({ strict: true, strictRequired: false, code: { optimize: false } }).compile(
      readValueSchema(),
    )
    assert.ok(validate(values), JSON.stringify(validate.errors))
  })

  it('belong to charts with the version of the programs', () => {
    const { version } = JSON.parse(read('packages/controller/package.json')) as { version: string }
    for (const chart of ['portico', 'portico-crds']) {
      const printed = parse(read(`deploy/helm/${chart}/Chart.yaml`)) as Record<string, string>
      assert.deepEqual([printed['version'], printed['appVersion']], [version, version])
    }
  })

  it('are all used by the chart, and the chart uses no others', () => {
    const folder = 'deploy/helm/portico/templates/'
    const names = ['_helpers.tpl', ...TEMPLATES.map((name) => `${name}.yaml`)]
    const text = names.map((name) => read(folder + name)).join('\n')
    const used = new Set([...text.matchAll(/\.Values\.(\w+)/g)].map(([, name = '']) => name))
    assert.deepEqual([...used].toSorted(), Object.keys(values).toSorted())
  })
})

const TEMPLATES = [
  'deployment',
  'gateway-class',
  'network-policy',
  'pod-disruption-budget',
  'pod-monitors',
  'rbac',
  'service',
  'service-account',
]
