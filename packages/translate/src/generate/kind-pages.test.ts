import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, it, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { kindOf } from '../resources/kinds.ts'
import { ownKinds } from '../resources/own-kinds.ts'
import { keyOf, type Resource } from '../resources/resource.ts'
import { translateAll } from '../testing/golden.ts'
import { kindPages } from './kind-pages.ts'

const root = new URL('../../../../', import.meta.url)

test('the pages of own kinds are fresh; otherwise run `npm run generate`', () => {
  const pages = kindPages()
  for (const [path, content] of pages) {
    assert.ok(existsSync(new URL(path, root)), `${path} is missing`)
    assert.equal(readFileSync(new URL(path, root), 'utf8'), content, `${path} is stale`)
  }
  for (const name of readdirSync(new URL('docs/kinds/', root))) {
    assert.ok(pages.has(`docs/kinds/${name}`), `docs/kinds/${name} belongs to nothing`)
  }
})

test('links of the pages lead somewhere', () => {
  for (const [path, content] of kindPages()) {
    for (const [, link = ''] of content.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      assert.ok(existsSync(new URL(link, new URL(path, root))), `${path}: ${link}`)
    }
  }
})

/** Objects that the examples assume. */
const surroundings = parse(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: portico }
spec: { controllerName: portico.dev/gateway }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { namespace: shop, name: web }
spec: { gatewayClassName: portico, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: v1
kind: Service
metadata: { namespace: shop, name: orders }
spec: { ports: [{ name: http, port: 8080 }] }
---
apiVersion: v1
kind: Service
metadata: { namespace: shop, name: search, labels: { tools: "yes" } }
spec: { ports: [{ name: mcp, port: 3001, appProtocol: portico.dev/mcp }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { namespace: shop, name: orders }
spec: { parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: orders, port: 8080 }] }] }
---
apiVersion: v1
kind: Secret
metadata: { namespace: shop, name: model-key }
stringData: { Authorization: sk-1 }
---
apiVersion: v1
kind: Secret
metadata: { namespace: shop, name: api-keys }
stringData: { ann: k-1 }
`)

describe('examples of the pages', () => {
  for (const { kind } of ownKinds) {
    it(`for ${kind} are accepted unchanged`, () => {
      const page = kindPages().get(`docs/kinds/${kind.toLowerCase()}.md`) ?? ''
      const resources = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].flatMap(([, text = '']) => parse(text))
      assert.ok(resources.some((resource) => resource.kind === kind))
      const translator = translateAll([...surroundings, ...resources])
      for (const resource of resources) {
        const known = kindOf(resource)
        assert.ok(known !== null, resource.kind)
        assert.deepEqual(translator.problemsOf(known, keyOf(resource)), [], resource.metadata.name)
        const status = JSON.stringify(translator.statuses.get(`${resource.kind}/${keyOf(resource)}`) ?? {})
        assert.doesNotMatch(status, /"type":"(Accepted|Attached|ResolvedRefs|Programmed)","status":"False"/)
      }
    })
  }
})

function parse(text: string): Resource[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Resource)
}
