import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeAudit } from './judge-audit.mjs'

const report = (severity) => JSON.stringify({ vulnerabilities: { a: { name: 'a', severity, range: '<2' } } })

test('an advisory of high severity fails the run, a lower one is printed', () => {
  assert.deepEqual(judgeAudit(report('high'), ''), {
    lines: ['high: a <2', '1 packages with advisories'],
    failed: true,
  })
  assert.equal(judgeAudit(report('critical'), '').failed, true)
  assert.equal(judgeAudit(report('moderate'), '').failed, false)
  assert.equal(judgeAudit('{"vulnerabilities":{}}', '').failed, false)
})

test('a registry without advisories is reported, and is no failure', () => {
  const said = '{ "message": "405 Method Not Allowed", "statusCode": 405 }'
  assert.deepEqual(judgeAudit(said, 'npm error'), {
    lines: ['skipped: the registry offers no advisories (status 405)'],
    failed: false,
  })
  assert.equal(judgeAudit('', 'npm error code ENOTFOUND').failed, false)
})

test('a report that cannot be read fails the run', () => {
  assert.equal(judgeAudit('', 'npm error this command needs a lockfile').failed, true)
  assert.equal(judgeAudit('{ "vulnerab', '').failed, true)
})
