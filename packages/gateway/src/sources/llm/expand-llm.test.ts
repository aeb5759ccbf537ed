import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { request } from '../../testing/client.ts'
import { useGateway } from '../../testing/scene.ts'
import { loadConfig } from '../file.ts'
import { PartCache } from '../part-cache.ts'
import { printProblems } from '../print-problems.ts'
import { printExpanded } from './print-expanded.ts'

const MODELS = `  models:
  - name: small
    provider: { mock: {} }
  - name: house
    targets: [{ model: small }]
`

const load = (text: string, known: PartCache | null = null) =>
  loadConfig(text, { file: 'gateway.yaml', dir: '.', env: { KEY: 'secret-of-the-environment' } }, known)

function problemsOf(text: string): string {
  const loaded = load(text)
  assert.ok(!loaded.ok, 'the config has no problems')
  return printProblems(loaded.problems)
}

test('the models are served, and policies apply', async (t) => {
  const { llm } = parse(`llm:\n  port: 0\n${MODELS}`) as { llm: object }
  const policies = { headerModifiers: { response: { set: [{ name: 'x-served', value: 'llm' }] } } }
  const gateway = await useGateway(t, { llm: { ...llm, policies } })
  const body = JSON.stringify({ model: 'house', messages: [{ role: 'user', content: 'hello' }] })
  const headers = { 'content-type': 'application/json' }
  const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', headers, body })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-served'], 'llm')
  assert.match((await request(gateway.port(), { path: '/v1/models' })).body, /"id":"house"/)
})

test('the short form gives the same resources as its long form', () => {
  const short = `binds:\n- { port: 8080, listeners: [{ routes: [{ policies: { directResponse: { status: 204 } } }] }] }\nllm:\n  address: 127.0.0.1\n${MODELS}`
  const [one, other] = [load(short), load(printExpanded(short))]
  assert.ok(one.ok && other.ok)
  assert.deepEqual(one.ir, other.ir)
  assert.deepEqual(
    one.ir.binds.map(({ port }) => port),
    [8080, 4000],
  )
})

test('a config that is loaded again keeps its short form', () => {
  const known = new PartCache()
  const text = `backends:\n- name: a\n  static: { host: a, port: 1 }\nllm:\n${MODELS}`
  for (let each = 0; each < 2; each++) {
    const loaded = load(text, known)
    assert.ok(loaded.ok)
    assert.equal(loaded.ir.listeners[0]?.name, 'llm')
  }
})

test('problems are at their lines in the short form', () => {
  assert.match(problemsOf(`llm:\n  ports: 1\n${MODELS}`), /^gateway\.yaml:2:\d+: llm\.ports: unknown key `ports`/)
  assert.match(problemsOf('llm: { models: [] }\n'), /^gateway\.yaml:1:\d+: llm\.models/)
  assert.match(problemsOf('llm: 5\n'), /^gateway\.yaml:1:\d+: llm/)
  assert.match(problemsOf('llm: {}\n'), /^gateway\.yaml:1:\d+: llm[^]*`models`/)
  assert.match(
    problemsOf(`llm:\n${MODELS}  - name: other\n    targets: [{ model: smal }]\n`),
    /^gateway\.yaml:8:\d+: llm\.models\[2\]\.targets\[0\]\.model: [^]*did you mean `small`/,
  )
  assert.match(
    problemsOf(`binds:\n- { port: 4000, listeners: [{ routes: [] }] }\nllm:\n  port: 4000\n${MODELS}`),
    /gateway\.yaml:4:\d+: llm\.port: /,
  )
  assert.match(
    problemsOf(`llm:\n${MODELS}  policies: { backend: { auth: { secretRef: { env: NOWHERE } } } }\n`),
    /gateway\.yaml:7:\d+: llm\.policies\.backend\.auth[^]*NOWHERE/,
  )
})

test('TLS makes an HTTPS listener', () => {
  const text = `llm:\n  tls: { cert: nowhere.pem, key: nowhere.key }\n${MODELS}`
  assert.match(problemsOf(text), /gateway\.yaml:2:\d+: llm\.tls\.cert/)
  const expanded = parse(printExpanded(text)) as { binds: { listeners: { protocol: string }[] }[] }
  assert.equal(expanded.binds[0]?.listeners[0]?.protocol, 'HTTPS')
})

test('the printed long form keeps comments and variables', () => {
  const text = `# The gateway.\nllm:\n  models:\n  - name: small # the cheap one\n    provider: { groq: {} }\n    policies: { auth: { key: "\${KEY}" } }\n`
  const printed = printExpanded(text)
  assert.match(printed, /^# The gateway\.\nbinds:\n {2}# The long form of `llm`\.\n {2}- port: 4000\n/)
  assert.match(printed, /# the cheap one/)
  assert.match(printed, /\$\{KEY\}/)
  assert.ok(load(printed).ok)
})

test('aliases are resolved in the printed long form', () => {
  const printed = printExpanded(
    `backends:\n- { name: a, static: &s { host: a, port: 1 } }\n- { name: b, static: *s }\nllm:\n${MODELS}`,
  )
  assert.doesNotMatch(printed, /[&*]s\b/)
  assert.ok(load(printed).ok)
})

test('a config without the short form is printed as it is', () => {
  const text = 'binds:\n  - port: 8080\n    listeners:\n      - routes: []\n'
  assert.equal(printExpanded(text), text)
})
