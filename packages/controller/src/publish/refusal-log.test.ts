import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusalLog } from './refusal-log.ts'

test('a repeated rejection is logged once in ten seconds, with a count', () => {
  let now = 0
  const lines: unknown[] = []
  const log = new RefusalLog(
    (reason, fields) => lines.push([reason, fields]),
    () => now,
  )
  for (let index = 0; index < 100; index++) log.note('token', { address: `10.0.0.${index}` })
  const web = { namespace: 'shop', serviceAccount: 'web' }
  log.note('foreign_gateway', web)
  log.note('foreign_gateway', { ...web, serviceAccount: 'api' })
  now = 10_000
  log.note('token', { address: '10.0.0.7' })
  now = 20_000
  log.note('token', { address: '10.0.0.8' })
  assert.deepEqual(lines, [
    ['token', { address: '10.0.0.0' }],
    ['foreign_gateway', web],
    ['foreign_gateway', { ...web, serviceAccount: 'api' }],
    ['token', { address: '10.0.0.7', before: 99 }],
    ['token', { address: '10.0.0.8' }],
  ])
})
