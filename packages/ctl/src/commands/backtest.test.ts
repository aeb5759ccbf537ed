import { Ajv } from 'ajv'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { recordsOf, wholeConfig } from '../../../gateway/src/backtest/testing/recorded.ts'
import { SARIF } from '../testing/sarif.ts'
import { runCommand } from '../testing/program.ts'

const OPEN =
  'binds: [{ port: 8080, listeners: [{ routes: [{ name: all, backends: [{ host: "127.0.0.1:9000" }] }] }] }]\n'
const CLOSED = OPEN.replace(
  'name: all,',
  `name: all, policies: { authorization: { rules: [{ deny: 'request.path.startsWith("/admin")' }] } },`,
)

/** Creates a folder with both configs, and the records of two requests. */
async function useFolder(t: TestContext): Promise<Record<'before' | 'after' | 'records', string>> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-backtest-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const records = await recordsOf(await wholeConfig(OPEN), [{ target: '/admin' }, { target: '/' }])
  const files = { before: join(folder, 'old.yaml'), after: join(folder, 'new.yaml'), records: join(folder, 'r.jsonl') }
  writeFileSync(files.before, OPEN)
  writeFileSync(files.after, CLOSED)
  writeFileSync(files.records, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return files
}

describe('backtest', () => {
  test('prints what flips, with an example and the location', async (t) => {
    const { before, after, records } = await useFolder(t)
    const { code, stdout, stderr } = await runCommand([
      'backtest',
      '-f',
      after,
      '--before',
      before,
      '--records',
      records,
    ])
    assert.deepEqual([code, stderr], [0, ''])
    const lines = stdout.split('\n')
    assert.match(lines[0] ?? '', /^2 requests from 2026-01-31 12:00:01 to 2026-01-31 12:00:02, decided by .*old\.yaml$/)
    assert.equal(lines[1], '1 alike, 1 flipped, 0 unknown')
    assert.equal(lines[3], '1 newly-denied: 403 by authorization (authorization_denied) on route all')
    assert.match(lines[4] ?? '', /new\.yaml:1:\d+$/)
    assert.match(lines[5] ?? '', /^ {4}such as [0-9a-z]+: GET a\.test\/admin$/)
  })

  test('fails at the kinds of --fail-on alone', async (t) => {
    const { before, after, records } = await useFolder(t)
    const args = ['backtest', '-f', after, '--before', before, '--records', records, '--fail-on']
    const codes: (number | null)[] = []
    for (const kinds of ['newly-denied', 'newly-admitted,any', 'newly-admitted', 'unknown']) {
      codes.push((await runCommand([...args, kinds])).code)
    }
    assert.deepEqual(codes, [1, 1, 0, 0])
    const { code, stderr } = await runCommand([...args, 'denied'])
    assert.equal(code, 2)
    assert.match(stderr, /found --fail-on "denied", expected newly-denied, /)
  })

  test('prints JSON and valid SARIF', async (t) => {
    const { before, after, records } = await useFolder(t)
    const args = ['backtest', '-f', after, '--before', before, '--records', records, '-o']
    const json = JSON.parse((await runCommand([...args, 'json'])).stdout) as { counts: object; before: string }
    assert.deepEqual([json.counts, json.before], [{ 'newly-denied': 1 }, before])
    const log: unknown = JSON.parse((await runCommand([...args, 'sarif'])).stdout)
    const isValid = new Ajv({ strict: false }).compile(SARIF)
    assert.ok(isValid(log), JSON.stringify(isValid.errors))
    assert.match(JSON.stringify(log), /"ruleId":"newly-denied".*new\.yaml/)
  })

  test('reports what cannot be used, with its place', async (t) => {
    const { before, after, records } = await useFolder(t)
    const run = async (...args: string[]) => runCommand(['backtest', ...args])
    assert.deepEqual((await run('--records', records)).code, 2)
    assert.match((await run('-f', after, '--records', `${records}.no`)).stderr, /r\.jsonl\.no cannot be read: ENOENT/)
    writeFileSync(records, '{"id":"a","at":1}\n')
    assert.match((await run('-f', after, '--records', records)).stderr, /r\.jsonl:1: found a request of a list/)
    writeFileSync(records, '\n')
    assert.match((await run('-f', after, '--records', records)).stderr, /no recorded requests/)
    writeFileSync(before, 'binds: 1\n')
    const many = await useFolder(t)
    const broken = await run('-f', before, '--records', many.records)
    assert.deepEqual([broken.code, broken.stdout], [1, ''])
    assert.match(broken.stderr, /the new config cannot go live:\n.*old\.yaml:1:8/)
    // A missing key file is a problem: the command loads a new config as a gateway does, without stand-ins for absent keys.
    writeFileSync(before, 'binds: [{ port: 1, listeners: [{ protocol: HTTPS, tls: { cert: a.crt, key: a.key } }] }]\n')
    const absent = await run('-f', before, '--records', many.records)
    assert.deepEqual([absent.code, absent.stdout], [1, ''])
    assert.match(absent.stderr, /the new config cannot go live:\n[^]*no readable file \S+a\.key/)
  })
})
