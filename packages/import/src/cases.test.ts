import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadConfig, printProblem } from '../../gateway/src/sources/config-file.ts'
import { loadTests, runTests } from '../../gateway/src/config-tests/index.ts'
import { gatewayChecks } from '../../ctl/src/import/gateway-checks.ts'
import { IMPORT_FILES, importers, positionText, printImport, type SourceKind } from './index.ts'

/** Each case has sources (`in.…`) and what the import writes. `PORTICO_UPDATE_GOLDEN=1` writes it anew. */
const isUpdating = process.env.PORTICO_UPDATE_GOLDEN === '1'
const cases = fileURLToPath(new URL('../cases', import.meta.url))

for (const from of readdirSync(cases)) {
  describe(`import from ${from}`, () => {
    for (const name of readdirSync(join(cases, from))) {
      test(name, async () => {
        const folder = join(cases, from, name)
        const file = readdirSync(folder).find((each) => each.startsWith('in.')) ?? assert.fail('no source')
        const result = importers[from as SourceKind](
          [{ name: file, text: readFileSync(join(folder, file), 'utf8') }],
          () => 'there is no such file',
          gatewayChecks,
        )
        assert.ok(result.ok, result.ok ? '' : `${positionText(result.problem.at)}: ${result.problem.message}`)
        const texts = printImport(result.value, [file], from)
        for (const [kind, golden] of Object.entries(IMPORT_FILES)) {
          const text = texts[kind as keyof typeof texts] ?? ''
          if (isUpdating) writeFileSync(join(folder, golden), text)
          else assert.equal(text, readFileSync(join(folder, golden), 'utf8'), golden)
        }
        const { env } = result.value.behavior
        const loaded = loadConfig(texts.config, { file: 'gateway.yaml', dir: folder, env })
        assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.map(printProblem).join('\n'))
        assert.deepEqual(await failuresOf(texts.config, texts.tests ?? ''), [])
      })
    }
  })
}

/** The tests that fail; all tests run from files, as a user runs them. */
async function failuresOf(config: string, tests: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-import-'))
  try {
    writeFileSync(join(folder, IMPORT_FILES.config), config)
    writeFileSync(join(folder, IMPORT_FILES.tests), tests)
    const loaded = loadTests(join(folder, IMPORT_FILES.tests))
    assert.ok(loaded.ok, loaded.ok ? '' : loaded.problems.map(printProblem).join('\n'))
    const run = await runTests(loaded.value, { filter: null })
    assert.ok(run.ok, run.ok ? '' : run.problems.join('\n'))
    assert.ok(run.results.length > 0)
    return run.results.flatMap(({ name, failures }) =>
      failures.map(({ unknown, differences, headline }) => JSON.stringify({ name, unknown, differences, headline })),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
