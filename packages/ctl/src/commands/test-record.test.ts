import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { recordsOf, wholeConfig } from '../../../gateway/src/backtest/testing/recorded.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

const KEY = 'key-of-ann-0123456789'
/** A constant, because `${}` inside of the config's template literal would be a placeholder of JavaScript. */
const VARIABLE = '${ANN_KEY}'
const CONFIG = `binds:
- port: 8080
  listeners:
  - name: web
    routes:
    - name: all
      policies:
        apiKeyAuthentication: { secretRef: { data: { ann: { key: "${VARIABLE}" } } } }
        authorization: { rules: [{ deny: 'request.path == "/b"' }] }
      backends: [{ host: "127.0.0.1:9000" }]
`

/** Creates a folder with a config, and starts an admin server with the records of four requests. */
async function useRecords(t: TestContext): Promise<{ folder: string; args: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-record-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const live = await wholeConfig(CONFIG.replace(VARIABLE, KEY))
  const headers = [['authorization', `Bearer ${KEY}`] as const]
  const requests = [{ target: '/a', headers }, { target: '/a', headers }, { target: '/b', headers }, { target: '/c' }]
  const records = await recordsOf(live, requests)
  records.push({ ...(records[0] ?? assert.fail()), id: 'left', status: 0, outcome: 'aborted' })
  const port = await useServer(t, (request, response) => {
    assert.equal(request.url, '/api/requests/download')
    response.end(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  })
  writeFileSync(join(folder, 'gateway.yaml'), CONFIG)
  const admin = ['--admin', `127.0.0.1:${port}`]
  return { folder, args: ['test', '--record', '20', '--config', join(folder, 'gateway.yaml'), ...admin] }
}

describe('test --record', () => {
  test('writes tests that pass, without secrets, and says what has no test', async (t) => {
    const { folder, args } = await useRecords(t)
    const to = join(folder, 'recorded.test.yaml')
    const { code, stdout, stderr } = await runCommand([...args, '--to', to], { env: { ANN_KEY: KEY } })
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /: 3 tests of 5 records, 1 alike\n {2}replaced in 2: the API key\n/)
    assert.match(stdout, /no test of GET \/a \(left\): the client left before a response\n$/)
    const text = readFileSync(to, 'utf8')
    assert.ok(!text.includes(KEY))
    assert.match(text, /^# Recorded requests and their outcomes\./)
    assert.match(text, /config: gateway\.yaml\nworld:\n {2}env: \{ ANN_KEY: stand-in-ANN_KEY \}\n/)
    const run = await runCommand(['test', to])
    assert.deepEqual([run.code, run.stderr], [0, ''], run.stdout)
    assert.match(run.stdout, /3 passed, 0 failed\n$/)
    const again = await runCommand([...args, '--to', to])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /recorded\.test\.yaml exists: name another file with --to/)
  })

  test('prints to standard output, and fails when no record has a test', async (t) => {
    const { folder, args } = await useRecords(t)
    const printed = await runCommand([...args, '--to', '-'], { env: { ANN_KEY: KEY } })
    assert.equal(printed.code, 0)
    assert.match(printed.stdout, /^# Recorded requests/)
    assert.match(printed.stderr, /^3 tests of 5 records/)
    writeFileSync(join(folder, 'gateway.yaml'), CONFIG.replace('name: all', 'name: other'))
    const to = join(folder, 'none.test.yaml')
    const { code, stdout } = await runCommand([...args, '--to', to], { env: { ANN_KEY: KEY } })
    assert.equal(code, 1)
    assert.match(stdout, /this config decides otherwise: route was "all", and is "other"\n/)
    assert.ok(!existsSync(to))
  })

  test('bad usage', async () => {
    for (const [args, problem] of [
      [['--record', 'all'], /expected a number from 1 to 1000/],
      [['--record', '5', 'a.test.yaml'], /expected gateway\/<name>/],
      [['--config', 'a.yaml'], /--config is for --record/],
    ] as const) {
      const { code, stderr } = await runCommand(['test', ...args])
      assert.equal(code, 2)
      assert.match(stderr, problem)
    }
  })
})
