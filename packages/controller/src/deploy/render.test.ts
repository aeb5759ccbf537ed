import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { configFile, validate } from '@portico/gateway/schema'
import type { Resource } from '@portico/translate'
import * as fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { readDeployCases, desiredOf } from '../testing/deploy-cases.ts'
import { listAt, textAt } from '@portico/translate/json'
import { type DeploySettings, type RenderResult, render } from './render.ts'

/** `PORTICO_UPDATE_GOLDEN=1` writes the result; a reviewer reads the difference. */
const isUpdating = process.env['PORTICO_UPDATE_GOLDEN'] === '1'
const cases = readDeployCases()

const settings: DeploySettings = { image: {}, version: '1.2.3' }

describe('golden cases of the objects of a Gateway', () => {
  for (const { name, folder, resources, settings } of cases)
    it(name, () => {
      const found = print(renderAll(resources, settings))
      const file = join(folder, 'out.yaml')
      if (isUpdating) writeFileSync(file, found)
      assert.equal(found, readFileSync(file, 'utf8'))
    })
})

describe('the deployed objects fit the data plane', () => {
  const rendered = cases.map(({ resources, settings }) => renderAll(resources, settings))
  const objects = rendered.flatMap((rendered) => (rendered.ok ? rendered.objects : []))

  it('the data plane loads every config file', () => {
    const files = objects.flatMap(({ kind, data }) =>
      kind === 'ConfigMap' ? (textAt(data, 'gateway.yaml') ?? '') : [],
    )
    assert.ok(files.length > 20)
    for (const file of files.filter((file) => !file.includes('${')))
      assert.deepEqual(validate(configFile, parse(file)).ok, true, file)
  })

  it('the data plane or glibc reads every variable', () => {
    const page = readFileSync(new URL('../../../../docs/environment.md', import.meta.url), 'utf8')
    const names = listAt(containerOf('connected'), 'env').map((variable) => textAt(variable, 'name') ?? '')
    assert.equal(names.length, 13)
    const isOfAllocator = (name: string): boolean => name.startsWith('MALLOC_')
    assert.equal(names.filter(isOfAllocator).length, 2)
    for (const name of names)
      assert.ok(page.includes(isOfAllocator(name) ? `\n- \`${name}\`: ` : `\n| \`${name}\` |`), name)
  })

  it('the data plane accepts the values of the variables, also for the longest shutdown', (t) => {
    const variables = listAt(containerOf('shutdown-longest'), 'env')
    const env = variables.map((variable) => [textAt(variable, 'name'), textAt(variable, 'value') ?? ''])
    const folder = mkdtempSync(join(tmpdir(), 'portico-deploy-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'gateway.yaml')
    writeFileSync(file, 'config: {}\n')
    const program = fileURLToPath(new URL('../../../../portico', import.meta.url))
    const options = { encoding: 'utf8', env: { PATH: process.env['PATH'], ...Object.fromEntries(env) } } as const
    const { status, stderr } = spawnSync(program, ['-f', file, '--validate-only'], options)
    assert.equal(status, 0, stderr)
  })
})

describe('a controller with a new CA', () => {
  const { resources = [], settings } = cases.find(({ name }) => name === 'connected') ?? {}
  assert.ok(settings?.controller)
  const before = renderAll(resources, settings)
  const other = { ...settings, controller: { ...settings.controller, ca: 'another CA' } }
  const after = renderAll(resources, other)

  it('passes it to Pods in a file, and replaces no Pod', () => {
    assert.ok(before.ok && after.ok)
    const changed = after.objects.filter((object, index) => !isDeepStrictEqual(object, before.objects[index]))
    assert.deepEqual(
      changed.map(({ kind, data }) => [kind, textAt(data, 'controller-ca.crt')]),
      [['ConfigMap', 'another CA']],
    )
  })
})

describe('the page about data planes', () => {
  const page = readFileSync(new URL('../../../../docs/data-planes.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => parse(text) as Resource)
  const examples = blocks.filter(({ kind }) => kind === 'GwParameters')

  it('has examples that are rendered', () => {
    const parametersRef = { group: 'portico.dev', kind: 'GwParameters', name: 'edge' }
    const gateway = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: 'shop' },
      spec: { infrastructure: { parametersRef }, listeners: [{ port: 80 }] },
    }
    assert.equal(examples.length, 4)
    for (const example of examples)
      assert.deepEqual(renderAll([gateway, example], settings).ok, true, JSON.stringify(example))
  })
})

describe('untrusted Gateways', () => {
  it('are rendered, or rejected with a reason', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('IPAddress', '10.0.0.1', '__proto__'))
    const thing = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.dictionary(text, text))
    const spec = fc.record(
      { infrastructure: fc.record({ labels: thing, annotations: thing }), addresses: fc.array(thing) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(spec, thing), fc.array(fc.integer({ min: -1, max: 70_000 })), (spec, ports) => {
        const gateway = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata: { name: 'a' }, spec }
        const rendered = render({ gateway, className: 'portico', ports, levels: [], sessionKey: 'key' }, settings)
        assert.ok(rendered.ok ? rendered.objects.length === 5 : rendered.problems.length > 0)
      }),
      { numRuns: 1_000 },
    )
  })
})

function renderAll(resources: readonly Resource[], settings: DeploySettings): RenderResult {
  const asked = desiredOf(resources)
  return asked.ok ? render({ ...asked.desired, sessionKey: '0123456789abcdef'.repeat(4) }, settings) : asked
}

function containerOf(name: string): unknown {
  const found = cases.find((one) => one.name === name)
  assert.ok(found, name)
  const rendered = renderAll(found.resources, found.settings)
  const deployment = rendered.ok ? rendered.objects.find(({ kind }) => kind === 'Deployment') : undefined
  return listAt(deployment?.spec, 'template', 'spec', 'containers')[0]
}

function print(rendered: RenderResult): string {
  const options = { lineWidth: 120, aliasDuplicateObjects: false }
  if (!rendered.ok) return stringify({ problems: rendered.problems }, options)
  const skipped = rendered.skippedPorts.length === 0 ? [] : [{ skippedPorts: rendered.skippedPorts }]
  return [...skipped, ...rendered.objects].map((object) => stringify(object, options)).join('---\n')
}
