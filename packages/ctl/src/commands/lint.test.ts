import { Ajv } from 'ajv'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { runCommand } from '../testing/program.ts'
import { SARIF } from '../testing/sarif.ts'

const CLEAN = 'binds: [{ port: 8080, listeners: [{ routes: [{ backends: [{ host: "127.0.0.1:9000" }] }] }] }]\n'
const SLOPPY = CLEAN.replace('{ backends', '{ matches: [{ method: get }], backends')
const LOOP = CLEAN.replace('9000', '8080')

function useFile(t: TestContext, text: string, name = 'gateway.yaml'): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-lint-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

describe('lint', () => {
  test('the exit code depends on the findings and on --fail-on', async (t) => {
    const files = [CLEAN, SLOPPY, LOOP].map((text) => useFile(t, text))
    const codes = await Promise.all(
      ['warning', 'error'].flatMap((severity) =>
        files.map(async (file) => (await runCommand(['lint', file, '--fail-on', severity])).code),
      ),
    )
    assert.deepEqual(codes, [0, 1, 1, 0, 0, 1])
    const clean = await runCommand(['lint', '-f', files[0] ?? ''])
    assert.deepEqual([clean.stdout, clean.stderr], ['0 errors, 0 warnings\n', ''])
  })

  test('a finding in all forms', async (t) => {
    const file = useFile(t, SLOPPY, 'gateway of shop.yaml')
    const [text, json, sarif] = await Promise.all(
      ['text', 'json', 'sarif'].map((form) => runCommand(['lint', file, '-o', form])),
    )
    const line = `warning: ${file}:1:60: binds[0].listeners[0].routes[0].matches[0].method: found \`get\`, expected \`GET\` [method-lower-case]`
    assert.equal(text?.stdout, `${line}\n    Write the method in upper case.\n0 errors, 1 warnings\n`)
    assert.deepEqual(JSON.parse(json?.stdout ?? ''), {
      ...{ errors: 0, warnings: 1, ignored: 0 },
      findings: [
        {
          ...{ code: 'method-lower-case', severity: 'warning', file, line: 1, column: 60 },
          path: 'binds[0].listeners[0].routes[0].matches[0].method',
          message: 'found `get`, expected `GET`',
          fix: 'Write the method in upper case.',
          page: 'docs/lint/method-lower-case.md',
        },
      ],
    })
    const log = JSON.parse(sarif?.stdout ?? '') as SarifLog
    const { runs } = log
    const isValid = new Ajv({ strict: false }).compile(SARIF)
    assert.ok(isValid(log), JSON.stringify(isValid.errors))
    const [run] = runs
    const [result] = run?.results ?? []
    assert.equal(run?.tool.driver.rules[result?.ruleIndex ?? -1]?.id, 'method-lower-case')
    assert.match(result?.locations[0]?.physicalLocation.artifactLocation.uri ?? '', /^file:\/\/\/.*gateway%20of%20shop/)
  })

  test('a config that is rejected is an error in all forms', async (t) => {
    const file = useFile(t, CLEAN.replace('8080', 'many'))
    for (const form of ['text', 'json', 'sarif']) {
      const { code, stdout } = await runCommand(['lint', file, '-o', form, '--fail-on', 'error'])
      assert.equal(code, 1)
      assert.match(stdout, /wrong-type/)
      if (form === 'sarif') {
        const isValid = new Ajv({ strict: false }).compile(SARIF)
        assert.ok(isValid(JSON.parse(stdout)), JSON.stringify(isValid.errors))
      }
    }
  })

  test('bad usage, and files that do not exist', async () => {
    const cases: [string[], number, RegExp][] = [
      [['--fail-on', 'info'], 2, /found --fail-on "info", expected error or warning/],
      [['-o', 'xml'], 2, /found output "xml", expected text, json or sarif/],
      [['--gateway', 'web'], 2, /expected <namespace>\/<name>/],
      [['/does/not/exist.yaml'], 1, /\/does\/not\/exist\.yaml cannot be read: ENOENT/],
    ]
    for (const [args, code, said] of cases) {
      const output = await runCommand(['lint', ...args])
      assert.deepEqual([output.code, output.stdout], [code, ''])
      assert.match(output.stderr, said)
    }
  })
})

interface SarifLog {
  runs: {
    tool: { driver: { rules: { id: string }[] } }
    results: { ruleIndex: number; locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }[]
  }[]
}
