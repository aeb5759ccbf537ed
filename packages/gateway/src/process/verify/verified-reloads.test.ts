import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { eventually, metric, type Program, runProgram, useConfigFile, useProgram } from '../../testing/process.ts'

const TESTS = `config: gateway.yaml
tests:
- name: guests may read
  send: GET /page
  expect: { status: 200 }
- name: guests may not write
  send: POST /page
  expect: { status: 403 }
`

/** Returns a config that allows some methods, and answers each request with the text `said`. */
function config(said: string, methods: string, verify: object = { tests: 'gateway.test.yaml' }) {
  const policies = {
    authorization: { rules: [`request.method in ${methods}`] },
    directResponse: { status: 200, body: said },
  }
  return {
    config: { workers: 1, verify },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [{ name: 'page', policies }] }] }],
  }
}

const READ = '["GET"]'
const ALL = '["GET", "POST"]'

function useTested(t: TestContext, first: object) {
  const file = useConfigFile(t, first)
  const tests = join(file.folder, 'gateway.test.yaml')
  writeFileSync(tests, TESTS)
  return { ...file, tests }
}

async function said(program: Program): Promise<string> {
  return (await request(program.port(), { path: '/page' })).body
}

async function ready(program: Program): Promise<string> {
  return (await fetch(`${program.readiness}/healthz/ready`)).text()
}

describe('config.verify', () => {
  test('keeps the last good config when a test fails, and says which test', async (t) => {
    const file = useTested(t, config('one', READ))
    const program = await useProgram(t, { args: ['-f', file.file] })
    await program.logged(/config verified.*tests=2/)
    assert.equal(await ready(program), 'ready\n')
    file.edit(config('two', ALL))
    await program.logged(/config not verified.*first="guests may not write"/)
    await program.logged(
      /gateway\.test\.yaml:\d+:\d+: the test "guests may not write" failed: POST \/page: status: expected 403, found 200/,
    )
    await program.logged(/config rejected, config 1 stays active/)
    assert.equal(await said(program), 'one')
    assert.match(
      await ready(program),
      /^ready\nconfig 1 stays active: .* because the test "guests may not write" failed\n$/,
    )
    assert.equal(await metric(program, 'portico_config_synchronized'), 0)
    assert.equal(await metric(program, 'portico_config_failed_tests'), 1)
    const state = (await (await fetch(`${program.admin}/api/state`)).json()) as {
      verification: { isVerified: boolean; failed: { test: string; line: number }[] }
    }
    assert.equal(state.verification.isVerified, false)
    assert.deepEqual(
      state.verification.failed.map(({ test: name, line }) => [name, line]),
      [['guests may not write', 6]],
    )
    file.edit(config('three', READ))
    await eventually('live', async () => (await said(program)) === 'three')
    assert.equal(await ready(program), 'ready\n')
    const metrics = await (await fetch(`${program.stats}/metrics`)).text()
    assert.doesNotMatch(metrics, /^portico_config_failed_tests/m)
    assert.match(metrics, /^portico_config_verifications_total\{result="failure"\} 1$/m)
  })

  test('is repeated when the file of tests changes', async (t) => {
    const file = useTested(t, config('one', READ))
    const program = await useProgram(t, { args: ['-f', file.file] })
    file.edit(config('two', ALL))
    await program.logged(/config not verified/)
    writeFileSync(file.tests, TESTS.replace('403', '200'))
    await eventually('live', async () => (await said(program)) === 'two')
  })

  test('rejects when the file of tests is missing, broken, or about another config', async (t) => {
    const file = useTested(t, config('one', READ))
    const program = await useProgram(t, { args: ['-f', file.file] })
    rmSync(file.tests)
    file.edit(config('two', READ))
    await program.logged(/gateway\.test\.yaml:1:1: cannot be read: ENOENT/)
    writeFileSync(file.tests, TESTS.replace('expect:', 'expects:'))
    await program.logged(/gateway\.test\.yaml:5:\d+: .*unknown key `expects`/)
    writeFileSync(file.tests, TESTS.replace('gateway.yaml', 'other.yaml'))
    await program.logged(/gateway\.test\.yaml:1:9: found other\.yaml, expected the config that names these tests/)
    assert.equal(await said(program), 'one')
    writeFileSync(file.tests, TESTS)
    await eventually('live', async () => (await said(program)) === 'two')
  })

  test('keeps a gateway from starting, and --validate-only says the same', async (t) => {
    const file = useTested(t, config('one', ALL))
    const outputs = [
      await runProgram({
        args: ['-f', file.file],
        env: { ADMIN_ADDR: 'off', STATS_ADDR: 'off', READINESS_ADDR: 'off' },
      }),
      await runProgram({ args: ['-f', file.file, '--validate-only'] }),
    ]
    for (const { code, stderr } of outputs) {
      assert.equal(code, 2)
      assert.match(stderr, /the test "guests may not write" failed: POST \/page: status: expected 403, found 200/)
    }
    file.edit(config('one', READ))
    assert.equal((await runProgram({ args: ['-f', file.file, '--validate-only'] })).code, 0)
  })

  test('decides recorded requests again, and rejects a config that would refuse them', async (t) => {
    const verify = { backtest: { maxNewlyDenied: 1 } }
    const file = useConfigFile(t, config('one', ALL, verify))
    const program = await useProgram(t, { args: ['-f', file.file] })
    const post = () => request(program.port(), { method: 'POST', path: '/page' })
    assert.deepEqual([(await post()).status, (await post()).status], [200, 200])
    await eventually('recorded', async () => {
      const list = (await (await fetch(`${program.admin}/api/requests`)).json()) as { requests: object[] }
      return list.requests.length === 2
    })
    file.edit(config('two', READ, verify))
    await program.logged(
      /the back-test failed: 2 of 2 recorded requests passed and would be refused now, and `maxNewlyDenied` is 1/,
    )
    assert.equal(await said(program), 'one')
    file.edit(config('three', READ, { backtest: { maxNewlyDenied: 2 } }))
    await eventually('live', async () => (await said(program)) === 'three')
  })

  test('is bounded in time', async (t) => {
    const { file } = useTested(t, config('one', READ, { tests: 'gateway.test.yaml', timeout: '1s' }))
    const slow = `config: gateway.yaml\ntests:\n- { name: many, repeat: 100000, send: GET /page, expect: { status: 200 } }\n`
    writeFileSync(join(file, '..', 'gateway.test.yaml'), slow)
    const { code, stderr } = await runProgram({ args: ['-f', file, '--validate-only'] })
    assert.deepEqual([code, stderr], [2, 'the config could not be verified: it took longer than 1 s\n'])
  })
})
