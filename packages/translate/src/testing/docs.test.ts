import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { allPolicies } from '@portico/gateway/schema'
import { kindOf } from '../resources/kinds.ts'
import { keyOf, type Resource } from '../resources/resource.ts'
import type { Condition } from '../resources/status.ts'
import { translateAll } from './golden.ts'

const docs = new URL('../../../../docs/', import.meta.url)
const pages = globSync(['cluster.md', 'migrating/*.md', 'kubernetes/*.md'], { cwd: docs })
  .filter((page) => /^apiVersion: .*gateway/m.test(readFileSync(new URL(page, docs), 'utf8')))
  .toSorted()

/** Objects that the pages assume in every cluster. */
const surroundings: Resource[] = [
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'portico' },
    spec: { controllerName: 'portico.dev/gateway' },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'orders' },
    spec: { ports: [{ name: 'http', port: 8080 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'orders-next' },
    spec: { ports: [{ name: 'http', port: 8080 }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'search', labels: { tools: 'yes' } },
    spec: { ports: [{ name: 'http', port: 3001, appProtocol: 'portico.dev/mcp' }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'shop', name: 'shop-tls' },
    stringData: { 'tls.crt': 'shop.crt', 'tls.key': 'shop.key' },
  },
]

describe('pages about clusters', () => {
  it('are found', () => assert.ok(pages.length >= 8, pages.join()))

  for (const page of pages) {
    const text = readFileSync(new URL(page, docs), 'utf8')

    it(`${page}: its resources are accepted without problems`, () => {
      const resources = manifestsOf(text)
      assert.ok(resources.length > 0)
      const translator = translateAll([...surroundings, ...resources])
      for (const [id, status] of translator.statuses) assert.deepEqual(complaints(status), [], id)
      for (const resource of resources) {
        const kind = kindOf(resource)
        assert.ok(kind !== null, resource.kind)
        assert.deepEqual(translator.problemsOf(kind, keyOf(resource)), [], resource.metadata.name)
      }
    })

    it(`${page}: the policies that it names exist`, () => {
      const known = new Set(allPolicies.map(({ section, name }) => `${section}.${name}`))
      const named = [...text.matchAll(/`((?:traffic|backend|frontend)\.\w+)/g)].map(([, name]) => name ?? '')
      for (const name of named) assert.ok(known.has(name), name)
    })
  }
})

/**
 * Returns the manifests of a page. Blocks marked `before` are skipped, because they show the config of another product.
 */
function manifestsOf(page: string): Resource[] {
  const fences = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text ?? '')
  const manifests = fences.filter((text) => text.startsWith('apiVersion:'))
  return manifests.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Resource))
}

/** Conditions with a problem, anywhere in a status. */
function complaints(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { type, status, message } = value as Partial<Condition>
  if (typeof type !== 'string' || typeof status !== 'string') return Object.values(value).flatMap(complaints)
  const isGood = status === (BAD_WHEN_TRUE.has(type) ? 'False' : 'True')
  return isGood ? [] : [`${type}: ${message}`]
}

const BAD_WHEN_TRUE = new Set(['Conflicted', 'OverlappingTLSConfig', 'PartiallyInvalid'])
