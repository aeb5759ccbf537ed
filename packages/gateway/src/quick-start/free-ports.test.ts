import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findFreePorts, usualPorts } from './free-ports.ts'

const without =
  (...busy: number[]) =>
  (port: number) =>
    Promise.resolve(!busy.includes(port))

describe('the ports of the quick start', () => {
  it('are the usual ones where they are free', async () => {
    assert.deepEqual(await findFreePorts({}, without()), usualPorts)
  })

  it('move together where one of them is taken', async () => {
    const expected = { traffic: 3200, admin: 15_200, stats: 15_220, readiness: 15_221 }
    assert.deepEqual(await findFreePorts({}, without(15_020, 3100)), expected)
  })

  it('are not looked at where a variable says another', async () => {
    const env = { PORT: '8000', ADMIN_ADDR: 'off', STATS_ADDR: '127.0.0.1:1', READINESS_ADDR: '' }
    assert.deepEqual(await findFreePorts(env, without(3000, 15_000, 15_020)), usualPorts)
    assert.equal((await findFreePorts(env, without(15_021))).readiness, 15_121)
  })

  it('are the usual ones, and the start says what is wrong, where everything is taken', async () => {
    assert.deepEqual(await findFreePorts({}, () => Promise.resolve(false)), usualPorts)
  })
})
