import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Ir } from '../ir/resources.ts'
import { loadConfig } from '../sources/file.ts'
import { type PolicyTestsJob, type PolicyTestsResult, testPolicy } from './index.ts'
import { runPolicyTests } from './run-policy-tests.ts'

const SECRET = 'sk-this-is-the-key-of-another-team'

/** A config whose backend gets a key, as a controller sends it. */
function irOf(): Ir {
  const backends = [{ host: '127.0.0.1:9000', policies: { auth: { key: SECRET } } }]
  const policies = { authorization: { rules: ['request.method == "GET"'] } }
  const config = { binds: [{ port: 8080, listeners: [{ routes: [{ name: 'page', policies, backends }] }] }] }
  const loaded = loadConfig(JSON.stringify(config), { file: 'gateway.yaml', dir: '.', env: {} })
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.problems))
  return loaded.ir
}

function jobOf(tests: string): PolicyTestsJob {
  const gateways = [{ gateway: 'shop/web', ir: irOf(), endpoints: {} }]
  return { tests, location: 'ConfigMap shop/tests tests.yaml', gateways }
}

/** Runs tests in this thread. */
function run(tests: string): Promise<PolicyTestsResult> {
  return runPolicyTests(jobOf(tests))
}

const world = 'world: { upstreams: { "127.0.0.1:9000": { body: ok } } }\n'

function messageOf(result: PolicyTestsResult): string {
  return result.kind === 'passed' ? assert.fail(JSON.stringify(result)) : result.message
}

describe('tests of a policy', () => {
  test('pass, or name the first test that fails and the difference', async () => {
    const passing = `${world}tests:\n- { name: read, send: GET /, expect: { status: 200 } }\n`
    assert.deepEqual(await run(passing), { kind: 'passed', tests: 1, gateways: ['shop/web'] })
    const failing = `${passing}- { name: write, send: POST /, expect: { status: 200 } }\n`
    assert.match(
      messageOf(await run(failing)),
      /^at Gateway shop\/web: ConfigMap shop\/tests tests\.yaml:4:11: the test "write" failed: POST \/: status: expected 200, found 403/,
    )
  })

  test('see stand-ins in place of secrets', async () => {
    const guess = `${world}tests:\n- { name: key, send: GET /, expect: { upstream: { headers: { authorization: "Bearer ${SECRET}" } } } }\n`
    const result = await run(guess)
    assert.equal(result.kind, 'failed')
    const [guessed = '', found = ''] = messageOf(result).split(', found ')
    assert.ok(guessed.endsWith(`expected "Bearer ${SECRET}"`))
    assert.match(found, /^"Bearer stand-in/)
    assert.ok(!found.includes(SECRET))
  })

  test('are invalid with a location, and when they name a Gateway that the policy does not reach', async () => {
    const broken = await run('tests:\n- { name: broken, sends: GET / }\n')
    assert.equal(broken.kind, 'invalid')
    assert.match(messageOf(broken), /^ConfigMap shop\/tests tests\.yaml:2:\d+: .*sends/)
    const elsewhere = await run('gateway: shop/other\ntests:\n- { name: a, send: GET /, expect: { status: 200 } }\n')
    assert.match(messageOf(elsewhere), /does not reach the Gateway shop\/other/)
  })

  test('are bounded in time, and end with the leadership', async () => {
    const slow = `${world}tests:\n- { name: many, repeat: 100000, send: GET /, expect: { status: 200 } }\n`
    const leadership = new AbortController()
    const runApart = (ms: number) => testPolicy(jobOf(slow), { ms, heapMb: 256, signal: leadership.signal })
    assert.deepEqual(await runApart(500), { kind: 'exceeded', message: 'the tests took longer than 0.5 s' })
    const running = runApart(600_000)
    leadership.abort()
    assert.equal(await running, null)
    assert.equal(await runApart(600_000), null)
  })

  test('run in a thread of their own', async () => {
    const passing = `${world}tests:\n- { name: read, send: GET /, expect: { status: 200 } }\n`
    const limits = { ms: 600_000, heapMb: 256, signal: new AbortController().signal }
    assert.equal((await testPolicy(jobOf(passing), limits))?.kind, 'passed')
  })
})
