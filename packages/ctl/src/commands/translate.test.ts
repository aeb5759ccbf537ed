import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { runCommand } from '../testing/program.ts'

const page = readFileSync(new URL('../../../../docs/manifests.md', import.meta.url), 'utf8')
const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? assert.fail('the page has no example')

interface TranslateOutput {
  gateways: Record<string, { binds: { port: number }[]; routes: { name: string }[] }>
  endpoints: Record<string, Record<string, string[]>>
  statuses: Record<string, object>
}

function useFolder(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const gatewayOf = (name: string, port: number, more = ''): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name}, namespace: shop }
spec:
  gatewayClassName: portico
  listeners: [{ name: http, port: ${port}, protocol: HTTP }]
${more}`

describe('translate', () => {
  test('the example of the docs, in both forms', async (t) => {
    const folder = useFolder(t, { 'shop.yaml': example })
    const [yaml, json, file] = await Promise.all([
      runCommand(['translate', '-f', folder]),
      runCommand(['translate', '--file', folder, '--output', 'json', '--gateway', 'default/web']),
      runCommand(['translate', '-f', join(folder, 'shop.yaml'), '-o', 'yaml']),
    ])
    for (const { code, stderr } of [yaml, json, file]) assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    const shown = parse(yaml.stdout) as TranslateOutput
    assert.deepEqual(JSON.parse(json.stdout), shown)
    assert.equal(file.stdout, yaml.stdout)
    const { binds, routes } = shown.gateways['default/web'] ?? assert.fail(yaml.stdout)
    assert.deepEqual([binds[0]?.port, routes[0]?.name], [8080, 'default/shop'])
    assert.deepEqual(shown.endpoints, { 'default/web': { 'backend/service/default/orders/80': ['127.0.0.1:9000'] } })
    assert.deepEqual(Object.keys(shown.statuses), ['Gateway/default/web', 'HTTPRoute/default/shop'])
  })

  test('prints all Gateways, or the one that is named', async (t) => {
    const folder = useFolder(t, { 'one.yaml': gatewayOf('one', 80), 'deep/other.yml': gatewayOf('other', 81) })
    const [all, one, none] = await Promise.all([
      runCommand(['translate', '-f', folder]),
      runCommand(['translate', '-f', folder, '--gateway', 'shop/one']),
      runCommand(['translate', '-f', folder, '--gateway', 'shop/none']),
    ])
    const gatewaysOf = ({ stdout }: { stdout: string }) => Object.keys((parse(stdout) as TranslateOutput).gateways)
    assert.deepEqual([all.code, gatewaysOf(all)], [0, ['shop/one', 'shop/other']])
    assert.deepEqual([one.code, gatewaysOf(one)], [0, ['shop/one']])
    assert.deepEqual([none.code, gatewaysOf(none)], [1, []])
    assert.match(none.stderr, /found no Gateway shop\/none of class portico, but shop\/one, shop\/other/)
  })

  test('an invalid file is rejected with the location, and nothing is printed', async (t) => {
    const cases: [string, RegExp][] = [
      [gatewayOf('web', 80, '    - }'), /^\S+all\.yaml:\d+:\d+: found broken YAML/],
      [example.replace('port: 8080', 'port: http'), /^\S+all\.yaml:9:11: spec\.listeners\[0\]\.port: found a value/],
      [`${gatewayOf('web', 80)}---${gatewayOf('web', 81)}`, /^\S+:9:1: found Gateway shop\/web a second time/],
      ['binds: []\n', /^\S+:1:1: found no resource, expected apiVersion, kind and metadata\.name/],
      ['apiVersion: v1\nkind: Secret\nmetadata: { name: *a }\n', /^\S+:3:19: found the alias `\*a` without an anchor/],
    ]
    for (const [text, said] of cases) {
      const { code, stdout, stderr } = await runCommand(['translate', '-f', useFolder(t, { 'all.yaml': text })])
      assert.match(stderr, said)
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    }
  })

  test('a missing file, and a folder without a Gateway', async (t) => {
    const folder = useFolder(t, { 'notes.txt': 'no manifest' })
    const missing = await runCommand(['translate', '-f', join(folder, 'missing.yaml')])
    assert.deepEqual([missing.code, missing.stdout], [1, ''])
    assert.match(missing.stderr, /^\S+missing\.yaml: cannot be read: ENOENT: no such file.*\n$/)
    const empty = await runCommand(['translate', '-f', folder])
    assert.equal(empty.code, 1)
    assert.match(empty.stderr, /: found no Gateway of class portico, expected one\n$/)
  })

  test('an invalid condition is reported with its location, and everything is printed', async (t) => {
    const folder = useFolder(t, {
      'shop.yaml': example.replace('- name: orders\n      port', '- name: nothing\n      port'),
    })
    const { code, stdout, stderr } = await runCommand(['translate', '-f', folder])
    const said =
      /^\S+shop\.yaml:12:1: found HTTPRoute default\/shop not as it should be: ResolvedRefs \(BackendNotFound\): .*\n$/
    assert.match(stderr, said)
    assert.equal(code, 1)
    assert.deepEqual(Object.keys((parse(stdout) as TranslateOutput).gateways), ['default/web'])
  })

  test('ignored resources are reported, and are no failure', async (t) => {
    const folder = useFolder(t, {
      'all.yaml': `${example}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: orders }\n`,
      'strange.yaml': example
        .split('---\n')[1]!
        .replace('name: shop', 'name: "strange\\e[31m"')
        .replace('- name: web', '- name: elsewhere'),
    })
    const { code, stderr } = await runCommand(['translate', '-f', folder])
    assert.equal(code, 0, stderr)
    const [ignored, stranger, ...more] = stderr.split('\n')
    assert.match(ignored ?? '', /all\.yaml:\d+:7: found Deployment of apps\/v1, which is ignored/)
    assert.match(stranger ?? '', /found HTTPRoute default\/strange\\u001b\[31m without a Gateway of class portico/)
    assert.deepEqual(more, [''])
  })
})
