import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ServingReport } from './serving-report.ts'

function useReport(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: boolean[] = []
  const workers = { listen: true }
  const report = new ServingReport({ isServing: () => workers.listen, send: (serving) => sent.push(serving) })
  const change = (listen: boolean): void => {
    workers.listen = listen
    report.check()
  }
  return { report, sent, change, wait: (ms: number) => t.mock.timers.tick(ms) }
}

describe('a report about workers', () => {
  it('tells nothing of an outage that is over soon', (t) => {
    const { sent, change, wait } = useReport(t)
    change(false)
    wait(1_999)
    change(true)
    wait(10_000)
    assert.deepEqual(sent, [])
  })

  it('tells an outage that lasts once, and its end at once', (t) => {
    const { sent, change, wait } = useReport(t)
    change(false)
    wait(1_000)
    // The replacement died too.
    change(false)
    wait(1_000)
    assert.deepEqual(sent, [false])
    change(false)
    wait(10_000)
    assert.deepEqual(sent, [false])
    change(true)
    assert.deepEqual(sent, [false, true])
  })

  it('is told anew on a new stream as long as the outage lasts', (t) => {
    const { report, sent, change, wait } = useReport(t)
    report.opened()
    change(false)
    wait(2_000)
    report.opened()
    assert.deepEqual(sent, [false, false])
    change(true)
    report.opened()
    assert.deepEqual(sent, [false, false, true])
  })
})
