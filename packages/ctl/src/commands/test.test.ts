import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { runCommand } from '../testing/program.ts'

const CONFIG = `
binds:
- port: 8080
  listeners:
  - routes:
    - name: hello
      matches: [{ path: { exact: /hello } }]
      policies: { directResponse: { status: 200, body: hello } }
    - name: other
      policies: { directResponse: { status: 201, body: other } }
`
const PASSING = '- { name: says hello, send: GET /hello, expect: { route: hello, body: hello } }'
const FAILING = '- { name: "says <bye> #1", send: GET /hello, expect: { body: bye } }'

function useFolder(t: TestContext, tests: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'gateway.yaml'), CONFIG)
  writeFileSync(join(folder, 'gateway.test.yaml'), `config: gateway.yaml\ntests:\n${tests}\n`)
  return folder
}

describe('test', () => {
  test('tests that pass', async (t) => {
    const folder = useFolder(t, PASSING)
    const { code, stdout, stderr } = await runCommand(['test', folder])
    assert.deepEqual([code, stderr], [0, ''])
    assert.equal(stdout, `${join(folder, 'gateway.test.yaml')}\n  ✓ says hello\n\n1 passed, 0 failed\n`)
  })

  test('a failure in all forms', async (t) => {
    const folder = useFolder(t, `${PASSING}\n${FAILING}`)
    const file = join(folder, 'gateway.test.yaml')
    const [text, tap, junit, json] = await Promise.all(
      ['text', 'tap', 'junit', 'json'].map((form) => runCommand(['test', file, '-o', form])),
    )
    for (const output of [text, tap, junit, json]) assert.deepEqual([output?.code, output?.stderr], [1, ''])
    assert.match(
      text?.stdout ?? '',
      /✗ says <bye> #1\n {4}\S+gateway\.test\.yaml:4:62: GET \/hello\n {6}body: expected "bye", found "hello"\n/,
    )
    assert.match(text?.stdout ?? '', /1 passed, 1 failed\n$/)
    assert.match(
      tap?.stdout ?? '',
      /^TAP version 14\n1\.\.2\nok 1 - [^\n]*says hello\nnot ok 2 - [^\n]*says <bye> \\#1\n {2}---\n/,
    )
    assert.match(junit?.stdout ?? '', /<testsuite name="[^"]+" tests="2" failures="1" errors="0">/)
    assert.match(
      junit?.stdout ?? '',
      /name="says &lt;bye&gt; #1" time="\d+\.\d+"><failure message="[^"]+">[^<]+<\/failure>/,
    )
    const { passed, failed, files } = JSON.parse(json?.stdout ?? '') as {
      passed: number
      failed: number
      files: { tests: { passed: boolean; failures: { differences: { field: string[] }[] }[] }[] }[]
    }
    assert.deepEqual([passed, failed, files[0]?.tests[1]?.failures[0]?.differences[0]?.field], [1, 1, ['body']])
  })

  test('coverage, and a least coverage', async (t) => {
    const folder = useFolder(t, PASSING)
    const enough = await runCommand(['test', folder, '--coverage', '--min', '50'])
    assert.deepEqual([enough.code, enough.stderr], [0, ''])
    assert.match(enough.stdout, /coverage: 50 %\n {2}not reached: route other \(\S+gateway\.yaml:9:7\)\n$/)
    const short = await runCommand(['test', folder, '--min', '51'])
    assert.equal(short.code, 1)
    assert.match(short.stderr, /the tests reach 50 % of the config, and --min expects 51 %/)
  })

  test('problems of files, and runs without tests, are failures', async (t) => {
    const folder = useFolder(t, '- { nme: a }')
    const broken = await runCommand(['test', folder])
    assert.equal(broken.code, 1)
    assert.match(broken.stdout, /gateway\.test\.yaml:3:5: tests\[0\]\.nme: unknown key[^]*did you mean `name`\?/)
    const filtered = await runCommand(['test', useFolder(t, PASSING), '--filter', 'nothing'])
    assert.deepEqual([filtered.code, /no test has "nothing" in its name/.test(filtered.stderr)], [1, true])
    const missing = await runCommand(['test', join(folder, 'none')])
    assert.deepEqual([missing.code, /none cannot be read: ENOENT/.test(missing.stderr)], [1, true])
  })

  test('bad usage', async () => {
    for (const args of [
      ['-o', 'xml'],
      ['--min', 'much'],
      ['--min', '101'],
    ]) {
      const { code, stderr } = await runCommand(['test', ...args])
      assert.deepEqual([code, /^porticoctl test: found /.test(stderr)], [2, true], args.join(' '))
    }
  })
})
