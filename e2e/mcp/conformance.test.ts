import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { mark, whatWasLost } from './conformance/compare.ts'
import { checkPage, type Row } from './conformance/doc.ts'
import { type Check, type Findings, runSuite } from './conformance/run-suite.ts'
import { type Suite, suites } from './conformance/suites.ts'
import { remoteTargets, useMcpGateway } from './gateway.ts'
import { startReferenceServer } from './reference/server.ts'

/** The official suite: what passes directly passes through the gateway, with one target and with two. */
test('conformance', async (t) => {
  const places = await openPlaces(t)
  const rowsBySuite = new Map<string, Row[]>()
  for (const suite of suites) {
    await t.test(suite.title, async (t) => {
      const [direct, one, two] = await Promise.all([
        runSuite(suite, places.direct),
        runSuite(suite, places.one),
        runSuite(suite, places.two),
      ])
      assert.ok(direct.size > 0, 'the suite ran no scenario')
      for (const scenario of direct.keys()) {
        await t.test(scenario, async (t) => {
          await t.test('directly', () => nothingFails({ suite, scenario, url: places.direct, found: direct }))
          const checks = direct.get(scenario) ?? []
          await t.test('one target', () =>
            nothingLost({ suite, scenario, url: places.one, direct: checks, found: one }),
          )
          await t.test('two targets', () =>
            nothingLost({ suite, scenario, url: places.two, direct: checks, found: two }),
          )
        })
      }
      // In one order, whichever scenario ends first.
      const rows = [...direct.keys()].toSorted().map((scenario): Row => {
        return [scenario, mark(direct.get(scenario)), mark(one.get(scenario)), mark(two.get(scenario))]
      })
      rowsBySuite.set(suite.title, rows)
    })
  }
  await t.test('docs/mcp-conformance.md tells what this run found', () => checkPage(rowsBySuite))
})

async function openPlaces(t: TestContext) {
  const whole = await startReferenceServer()
  const halves = [
    await startReferenceServer({ name: 'first', part: 0 }),
    await startReferenceServer({ name: 'second', part: 1 }),
  ]
  t.after(() => Promise.all([whole, ...halves].map((server) => server.close())))
  const gateway = await useMcpGateway(t, {
    one: remoteTargets({ whole: whole.port }),
    two: remoteTargets({ first: halves[0]!.port, second: halves[1]!.port }),
  })
  return { direct: whole.url, one: gateway.url('one'), two: gateway.url('two') }
}

interface Finding {
  suite: Suite
  scenario: string
  url: string
  /** The findings at `url`; a scenario that is run again is replaced here. */
  found: Findings
}

async function nothingFails(finding: Finding): Promise<void> {
  const failures = await lookAgain(finding, (checks) => checks.filter(({ status }) => status === 'FAILURE'))
  assert.deepEqual(failures, [])
}

async function nothingLost(finding: Finding & { direct: Check[] }): Promise<void> {
  const lost = await lookAgain(finding, (checks) => whatWasLost(finding.direct, checks))
  assert.deepEqual(lost, [])
}

/** Scenarios wait for notifications within fractions of a second: what a busy machine missed is run again, alone. */
async function lookAgain<Trouble>(finding: Finding, troublesOf: (checks: Check[]) => Trouble[]): Promise<Trouble[]> {
  const { suite, scenario, url, found } = finding
  let troubles = troublesOf(found.get(scenario) ?? [])
  for (let again = 0; again < 2 && troubles.length > 0; again++) {
    const checks = (await runSuite(suite, url, scenario)).get(scenario) ?? []
    troubles = troublesOf(checks)
    found.set(scenario, checks)
  }
  return troubles
}
