import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { createAuthority } from '../../testing/certificates.ts'
import { request } from '../../testing/client.ts'
import { eventually, runProgram, useProgram } from '../../testing/process.ts'
import { closedPort, useOrigin } from '../../testing/scene.ts'
import { requestTls } from '../../testing/tls-client.ts'

const page = readFileSync(new URL('../../../../../docs/manifests.md', import.meta.url), 'utf8')
const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? assert.fail('the page has no example')

function useFolder(t: TestContext, files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(files)) write(name, text)
  return { folder, write, remove: (name: string) => rmSync(join(folder, name)) }
}

/** The example of the docs, with free ports. */
const exampleAt = (port: number, backend: number): string =>
  example.replace('port: 8080', `port: ${port}`).replace('port: 9000', `port: ${backend}`)

describe('manifests without a cluster', () => {
  test('the example of the docs is served, and changes of the folder go live', async (t) => {
    const [origin, other] = [await useOrigin(t), await useOrigin(t)]
    const port = await closedPort()
    const { folder, write, remove } = useFolder(t, { 'shop.yaml': exampleAt(port, origin.port) })
    const program = await useProgram(t, { args: ['-f', folder] })
    const ask = (path: string) => request(program.port(), { path })
    assert.equal((await ask('/orders')).status, 200)
    assert.equal(origin.seen[0]?.headers['x-shop'], '1')
    assert.equal((await ask('/elsewhere')).status, 404)
    await program.logged(/request gateway=default\/web listener=.*http\.path=\/orders /)
    const metrics = await (await fetch(`${program.stats}/metrics`)).text()
    assert.match(metrics, /portico_requests_total\{.*gateway="default\/web"/)

    const more = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: more }
spec:
  parentRefs: [{ name: web }]
  rules:
  - matches: [{ path: { value: /gone } }]
    backendRefs: [{ name: nothing, port: 80 }]
  - matches: [{ path: { value: /more } }]
    filters: [{ type: URLRewrite, urlRewrite: { path: { type: ReplacePrefixMatch, replacePrefixMatch: / } } }]
    backendRefs: [{ name: orders, port: 80 }]
`
    write('more.yaml', more)
    await eventually('the new file is live', async () => (await ask('/more/x')).status === 200)
    assert.equal(origin.seen.at(-1)?.url, '/x')
    // The wrong rule answers for itself alone, and a warning has said so.
    assert.equal((await ask('/gone')).status, 500)
    await program.logged(
      /more\.yaml:2:1: found HTTPRoute default\/more not as it should be: ResolvedRefs \(BackendNotFound\): rules\[0\]: Service default\/nothing not found/,
    )

    write('shop.yaml', exampleAt(port, other.port))
    await eventually(
      'the other address is used',
      async () => (await ask('/orders')).status === 200 && other.seen.length > 0,
    )

    write('more.yaml', more.replace('name: orders, port: 80', 'name: orders, port: eighty'))
    await program.logged(
      /more\.yaml:12:41: spec\.rules\[1\]\.backendRefs\[0\]\.port: found a value that must be an integer from 1 to 65535, is "eighty"/,
    )
    assert.equal((await ask('/more/x')).status, 200)
    remove('more.yaml')
    await eventually('the route is gone', async () => (await ask('/more/x')).status === 404)
  })

  test('several Gateways are told of, and one is chosen', async (t) => {
    const origin = await useOrigin(t)
    const port = await closedPort()
    const second = `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: second }
spec: { gatewayClassName: portico, listeners: [{ name: http, port: 1, protocol: HTTP }] }
`
    const { folder } = useFolder(t, { 'all.yaml': exampleAt(port, origin.port) + second })
    const file = join(folder, 'all.yaml')
    const refused = await runProgram({ args: ['-f', file, '--validate-only'] })
    assert.equal(refused.code, 2)
    assert.match(
      refused.stderr,
      /found several Gateways: default\/second, default\/web, expected one of them, chosen by --gateway/,
    )
    const missing = await runProgram({ args: ['-f', file, '--gateway', 'default/third', '--validate-only'] })
    assert.match(missing.stderr, /found no Gateway default\/third of class portico, but default\/second, default\/web/)
    const program = await useProgram(t, { args: ['-f', file, '--gateway', 'default/web'] })
    assert.equal((await request(program.port(), { path: '/orders' })).status, 200)
  })

  test('certificates come from Secrets, and a listener without one turns clients away', async (t) => {
    const origin = await useOrigin(t)
    const authority = createAuthority()
    const { cert, key } = authority.issue({ names: ['good.example.com'] })
    const port = await closedPort()
    const listeners = ['good', 'bad'].map((name) => ({
      name,
      port,
      protocol: 'HTTPS',
      hostname: `${name}.example.com`,
      tls: { certificateRefs: [{ name }] },
    }))
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    const documents = [
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'Gateway',
        metadata: { name: 'web' },
        spec: { gatewayClassName: 'portico', listeners },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'good' },
        data: { 'tls.crt': encoded(cert), 'tls.key': encoded(key) },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bad' },
        data: { 'tls.crt': encoded(cert), 'tls.key': encoded('no key') },
      },
    ]
    const routes = exampleAt(port, origin.port).split('---\n').slice(1)
    const text = [...documents.map((document) => JSON.stringify(document)), ...routes].join('\n---\n')
    const program = await useProgram(t, { args: ['-f', useFolder(t, { 'tls.yaml': text }).folder] })
    const good = { servername: 'good.example.com', ca: authority.cert }
    assert.equal((await requestTls(program.port(), { ...good, path: '/orders' })).status, 200)
    await assert.rejects(requestTls(program.port(), { ...good, servername: 'bad.example.com' }))
    await program.logged(/listener bad, not as it should be: ResolvedRefs \(InvalidCertificateRef\)/)
    assert.doesNotMatch(program.stdout() + program.stderr(), /PRIVATE KEY/)
  })

  test('a file that is no manifest is rejected with a reason', async (t) => {
    const cases: readonly (readonly [text: string, message: RegExp])[] = [
      ['apiVersion: v1\nkind: [', /found broken YAML/],
      ['apiVersion: v1\nkind: Service\n', /:1:1: found no resource, expected apiVersion, kind and metadata\.name/],
      ['apiVersion: v1\nkind: Service\nmetadata: { name: a }\n', /found no Gateway of class portico/],
      [`${example}---\n${example}`, /found Gateway default\/web a second time/],
    ]
    for (const [text, message] of cases) {
      const { folder } = useFolder(t, { 'a.yaml': text })
      const { code, stderr } = await runProgram({ args: ['-f', folder, '--validate-only'] })
      assert.equal(code, 2)
      assert.match(stderr, message)
    }
    const config = useFolder(t, { 'a.yaml': 'binds: []\n' })
    const wrong = await runProgram({ args: ['-f', join(config.folder, 'a.yaml'), '--gateway', 'a/b'] })
    assert.match(wrong.stderr, /found a config file, but --gateway needs manifests with Gateways/)
  })
})
