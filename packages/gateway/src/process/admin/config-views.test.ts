import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../sources/file.ts'
import { viewBackends } from './backends-view.ts'
import { NOTHING_KNOWN } from './endpoint-states.ts'
import { viewConfig } from './config-view.ts'
import { viewRoutes } from './routes-view.ts'

const TEXT = `binds:
- port: 8080
  listeners:
  - name: web
    policies: { timeouts: { request: 10s }, authorization: { rules: ['true'] } }
    routes:
    - name: api
      policies: { cors: { allowOrigins: ["*"] }, timeouts: { request: 5s }, authorization: { rules: ['1 == 1'] } }
      backends:
      - host: "127.0.0.1:9000"
      - ai: { groups: [{ providers: [{ name: main, openai: {} }] }, { providers: [{ name: spare, mock: {} }] }] }
        policies: { auth: { key: sk-hidden } }
      - mcp: { targets: [{ name: files, stdio: { cmd: node, args: [server.js, --token=t0ken] } }] }
`

function load() {
  const loaded = loadConfig(TEXT, { file: 'test', dir: '.', env: {} })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  return loaded.ir
}

test('a route has its policies in running order, with what each took the place of', () => {
  const view = viewRoutes(load(), 3, { 'bind/8080': 18_080 })
  assert.deepEqual([view.generation, view.binds[0]?.port], [3, 18_080])
  const route = view.binds[0]?.listeners[0]?.routes[0]
  const told = route?.policies.map(({ name, from, others, isJoined, configs }) => [
    ...[name, from.on, others.map(({ on }) => on).join(), isJoined, configs.length],
  ])
  assert.deepEqual(told, [
    ['timeouts', 'rule', 'listener', false, 1],
    ['cors', 'rule', '', false, 1],
    ['authorization', 'rule', 'listener', true, 2],
  ])
  assert.deepEqual(route?.policies[0]?.configs, [{ request: 5000 }])
  assert.doesNotMatch(JSON.stringify(view), /sk-hidden/)
  assert.match(JSON.stringify(route?.backends[1]?.policies), /"name":"auth".*<redacted>/)
})

test('backends are told by kind, address and parts, without what is secret', () => {
  const { backends } = viewBackends(load(), 1, { endpoints: NOTHING_KNOWN, errorOf: () => null })
  assert.deepEqual(
    backends.map(({ kind, at, groups }) => [
      kind,
      at,
      groups.map((group) => group.map((part) => `${part.kind} ${part.name} ${part.at}`.trim())),
    ]),
    [
      ['static', '127.0.0.1:9000', []],
      ['ai', '', [['openai main'], ['mock spare']]],
      ['mcp', '', [['stdio files node']]],
    ],
  )
  assert.doesNotMatch(JSON.stringify(backends), /t0ken/)
})

const EDIT = {
  memory: null,
  edit: { isAllowed: false, reason: 'off', token: 'variable' },
  versionOf: (text: string) => `${text.length}`,
} as const

test('a config file is shown as it is now, with the places of what is wrong', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-shown-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gateway.yaml')
  const parts = { generation: 2, since: 5, problems: [`${file}:3:7: found a thing`, 'no place'], ...EDIT }
  const view = (text: string) => {
    writeFileSync(file, text)
    return viewConfig({ ...parts, file })
  }
  const { text, problems, reason } = view(TEXT)
  assert.ok(text?.includes('port: 8080') === true && !text.includes('sk-hidden'))
  assert.deepEqual(
    [reason, problems.map(({ line, column }) => [line, column])],
    [
      null,
      [
        [3, 7],
        [null, null],
      ],
    ],
  )
  assert.match(view('a: [').reason ?? '', /not valid YAML/)
  assert.match(view('apiVersion: v1\nkind: Secret').reason ?? '', /manifests/)
  assert.match(viewConfig({ ...parts, file: folder }).reason ?? '', /folder/)
  assert.match(viewConfig({ ...parts, file: join(folder, 'gone') }).reason ?? '', /ENOENT/)
  assert.match(viewConfig({ ...parts, file: '' }).reason ?? '', /without a config file/)
})
