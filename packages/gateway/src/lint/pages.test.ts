import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { lintCatalog } from './catalog.ts'
import { lintExample } from './testing/lint-example.ts'

describe('each check', () => {
  for (const { code, bad, good, severity } of lintCatalog()) {
    test(`${code} reports its first example at a location, and not its second`, () => {
      const { findings } = lintExample(bad)
      const found = findings.filter((finding) => finding.code === code)
      assert.ok(found.length > 0, JSON.stringify(findings, null, 2))
      for (const { location, severity: own } of found) {
        assert.deepEqual([location.file, own], ['gateway.yaml', severity])
        assert.ok(location.path !== '' || code.startsWith('ignore-'), JSON.stringify(location))
        assert.notEqual(
          bad
            .split('\n')
            .at(location.line - 1)
            ?.slice(location.column - 1)
            .trim() ?? '',
          '',
        )
      }
      // The second example is clean for every check, because people copy it.
      assert.deepEqual(lintExample(good).findings, [])
    })
  }

  test('has its own file, and every file of a check is in the list', () => {
    const folder = import.meta.dirname
    const codes = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'testing')
      .flatMap(({ name }) => readdirSync(join(folder, name)).map((file) => join(folder, name, file)))
      .flatMap((file) => /defineCheck\(\{\s*code: '([\w-]+)'/.exec(readFileSync(file, 'utf8'))?.[1] ?? [])
    const listed = new Set(lintCatalog().map(({ code }) => code))
    assert.ok(codes.length >= 30)
    assert.deepEqual(
      codes.filter((code) => !listed.has(code)),
      [],
    )
  })
})
