import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { waterfall } from './waterfall.ts'

const step = (name: string, at: number | null, phase = 'route') => ({
  ...{ step: name, phase, outcome: 'passed', status: null, reason: null, values: {}, at },
})

test('steps, calls and steps of the answer stand in one order, and each lasts until the next', () => {
  const steps = [step('jwt', 100), step('cors', null), step('limit', 200), step('headers', 900, 'response')]
  const calls = [{ target: 'a:80', status: null, error: 'refused', from: 300, to: 500 }]
  const record = { took: 1000, steps, calls } as unknown as RequestRecord
  const lines = waterfall(record).map(({ name, start, width }) => [name, start, Math.round(width * 10) / 10])
  assert.deepEqual(lines, [
    ['jwt', 0.1, 0.1],
    ['cors', null, 0],
    ['limit', 0.2, 0.1],
    ['a:80', 0.3, 0.2],
    ['headers', 0.9, 0],
  ])
})

test('odd times stay within the bar', () => {
  const calls = [{ target: 'a', status: 200, error: null, from: 900, to: 4000 }]
  const [late] = waterfall({ took: 1000, steps: null, calls } as unknown as RequestRecord)
  assert.deepEqual([late?.start, Math.round((late?.width ?? 0) * 10)], [0.9, 1])
  const [none] = waterfall({ took: 0, steps: [step('a', 5)], calls: null } as unknown as RequestRecord)
  assert.equal(none?.start, null)
})
