import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { recordsOf, wholeConfig } from '../../../gateway/src/backtest/testing/recorded.ts'
import { makeCapsule } from '../../../gateway/src/capsule/make-capsule.ts'
import { explain } from '../../../gateway/src/explain/explain.ts'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

const CONFIG = `binds:
- port: 8080
  listeners:
  - name: web
    routes:
    - name: all
      policies: { authorization: { rules: [{ deny: 'request.path == "/b"' }] } }
      backends: [{ host: "127.0.0.1:9000" }]
`

/** Starts an admin server that has the capsule of a denied request, and creates an empty folder. */
async function useCapsule(t: TestContext, change: object = {}): Promise<{ folder: string; admin: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-capsule-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { ir } = await wholeConfig(CONFIG)
  const [record] = await recordsOf(await wholeConfig(CONFIG), [{ target: '/b' }])
  assert.ok(record !== undefined)
  const config = { isKnown: true, ir, locate: () => null, live: 1, isEarlier: false }
  const capsule = await makeCapsule({ record, ir, explanation: explain(record, config) })
  assert.ok(typeof capsule === 'object')
  const port = await useServer(t, (request, response) => {
    if (request.url !== '/api/requests/abc/capsule') return void response.writeHead(404).end('no record x\n')
    response.end(JSON.stringify({ ...capsule, ...change }))
  })
  return { folder, admin: ['--admin', `127.0.0.1:${port}`] }
}

describe('capsule', () => {
  test('writes a file that test replays', async (t) => {
    const { folder, admin } = await useCapsule(t)
    const to = join(folder, 'abc.capsule.json')
    const { code, stdout, stderr } = await runCommand(['capsule', 'abc', '--to', to, ...admin])
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /abc\.capsule\.json: authorization denied the request/)
    const run = await runCommand(['test', folder])
    assert.deepEqual([run.code, run.stderr], [0, ''], run.stdout)
    assert.match(run.stdout, /✓ GET \/b: 403 by authorization .*\n\n1 passed, 0 failed\n$/)
    writeFileSync(to, readFileSync(to, 'utf8').replaceAll('/b\\"', '/c\\"'))
    const changed = await runCommand(['test', to])
    assert.equal(changed.code, 1)
    assert.match(changed.stdout, /abc\.capsule\.json:1:1: GET \/b/)
    const again = await runCommand(['capsule', 'abc', '--to', to, ...admin])
    assert.match(again.stderr, /exists: name another file with --to/)
  })

  test('a request that cannot be replayed is written, and fails with the reason', async (t) => {
    const { folder, admin } = await useCapsule(t, { test: null, problem: 'the client left before a response' })
    const to = join(folder, 'abc.capsule.json')
    const { code, stderr } = await runCommand(['capsule', 'abc', '--to', to, ...admin])
    assert.equal(code, 1)
    assert.match(stderr, /the request cannot be replayed: the client left before a response\n/)
    const run = await runCommand(['test', to])
    assert.equal(run.code, 1)
    assert.match(run.stdout, /the capsule cannot be replayed: the client left before a response/)
  })

  test('an unknown request, and bad usage', async (t) => {
    const { admin } = await useCapsule(t)
    const none = await runCommand(['capsule', 'xyz', ...admin])
    assert.deepEqual([none.code, none.stderr], [1, 'porticoctl: no record x\n'])
    for (const args of [[], ['A/B'], ['abc', 'gateway']]) {
      const { code } = await runCommand(['capsule', ...args])
      assert.equal(code, 2)
    }
  })
})
