import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { gatewayChecks } from '../../../ctl/src/import/gateway-checks.ts'
import type { ImportResult } from '../core/import-result.ts'
import { printImport } from '../core/print-import.ts'
import { importAgentgateway } from './import-agentgateway.ts'
import { files } from './testing/files.ts'

/** Returns the paths of all leaves of a value: its scalars, empty mappings and empty lists. */
function leavesOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const members = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item] as const)
    : Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
  return members.length === 0 ? [path] : members.flatMap(([below, item]) => leavesOf(item, below))
}

const importText = (text: string): ImportResult =>
  importAgentgateway([{ name: 'config.yaml', text }], () => 'there is no such file', gatewayChecks)

/** Matches problems about files that the config names; the test does not create these files. */
const OF_FILES = /cannot be read|no such file|ENOENT|unreadable|does not exist/

test('every field of any file is in the report, and the imported config has no problems', () => {
  fc.assert(
    fc.property(files, (file) => {
      const text = stringify(file, { aliasDuplicateObjects: false })
      const result = importText(text)
      if (!result.ok) return assert.match(result.problem.message, /found no port/)
      const entries = result.value.report.map((entry) => entry.name)
      const isListed = (leaf: string): boolean =>
        entries.some((entry) => leaf === entry || leaf.startsWith(`${entry}.`) || leaf.startsWith(`${entry}[`))
      assert.deepEqual(
        leavesOf(file, '').filter((leaf) => !isListed(leaf)),
        [],
      )
      const { config, tests, report } = printImport(result.value, ['config.yaml'], 'agentgateway')
      assert.ok(!`${tests}${report}`.includes('a-secret-key'))
      const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
      const problems = loaded.ok ? [] : loaded.problems.map(printProblem).filter((problem) => !OF_FILES.test(problem))
      assert.deepEqual(problems, [], `${text}\n${config}`)
    }),
    { numRuns: process.env.PROPERTIES === 'full' ? 2_000 : 60 },
  )
})

test('any text is imported, or refused with a location', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 200 }),
        fc.jsonValue().map((value) => stringify(value) ?? ''),
      ),
      (text) => {
        const result = importText(text)
        if (result.ok) return assert.ok(result.value.report.length > 0)
        assert.ok(result.problem.at.line >= 1 && result.problem.at.file === 'config.yaml')
      },
    ),
    { numRuns: 150 },
  )
})
