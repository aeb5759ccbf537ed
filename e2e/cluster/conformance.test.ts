import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutSuite } from './bed/programs.ts'
import { profilesOf, runSuite } from './suite.ts'

describe('the official suite of the Gateway API', { skip: withoutSuite }, () => {
  it('passes, with every feature that is claimed', async () => {
    const { code, output, report } = await runSuite({ suite: 'conformance', flags: [], isShown: false })
    const failed = output.match(/^ *--- FAIL: .*$/gm) ?? []
    assert.deepEqual(failed, [])
    assert.equal(code, 0, output.slice(-2000))
    assert.equal(
      report.match(/summary: Core tests succeeded\. Extended tests succeeded\./g)?.length,
      profilesOf.conformance.length,
    )
  })
})
