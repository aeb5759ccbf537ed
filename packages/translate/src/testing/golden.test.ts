import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { printTranslated, readCases, translateAll } from './golden.ts'

/** `PORTICO_UPDATE_GOLDEN=1` writes the result; a reviewer reads the difference. */
const isUpdating = process.env.PORTICO_UPDATE_GOLDEN === '1'

describe('golden cases of translation', () => {
  for (const { name, folder, resources } of readCases()) {
    it(name, () => {
      const file = join(folder, 'out.yaml')
      const found = printTranslated(translateAll(resources))
      if (isUpdating) writeFileSync(file, found)
      assert.equal(found, readFileSync(file, 'utf8'))
    })
  }
})
