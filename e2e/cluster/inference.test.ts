import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withoutInferenceSuite } from './bed/programs.ts'
import { runSuite } from './suite.ts'

describe('the official suite of inference pools', { skip: withoutInferenceSuite }, () => {
  it('passes with the endpoint picker of its module', async () => {
    const { code, output, report } = await runSuite({ suite: 'inference', flags: [], isShown: false })
    const failed = output.match(/^ *--- FAIL: .*$/gm) ?? []
    assert.deepEqual(failed, [])
    assert.equal(code, 0, output.slice(-2000))
    assert.match(report, /summary: Core tests succeeded\./)
  })
})
