import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { useTarget } from '../../packages/gateway/src/testing/mcp/mcp-target.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { whatWasLost } from '../mcp/conformance/compare.ts'
import { type Findings, runSuite } from '../mcp/conformance/run-suite.ts'
import { suites } from '../mcp/conformance/suites.ts'
import { remoteTargets, useMcpGateway } from '../mcp/gateway.ts'
import { buildGoProgram, withoutGo } from './go.ts'

const EVERYTHING = 'github.com/modelcontextprotocol/go-sdk/conformance/everything-server'
/** The gateway speaks both protocol versions; with sessions, the server rejects the newer version by name. */
const RUNS = suites.filter(({ title }) => /^20(25-11-25|26-07-28) \(release 0\.2/.test(title))

for (const mode of ['sessions', 'no sessions']) {
  test(
    `the server of the Go SDK among others passes what it passes directly: ${mode}`,
    { skip: withoutGo },
    async (t) => {
      const program = await buildGoProgram(t, 'mcp', EVERYTHING)
      const port = await startServer(t, program, mode === 'no sessions')
      const gateway = await useMcpGateway(t, { two: remoteTargets({ go: port, other: (await useOther(t)).port }) })
      assert.ok(RUNS.length === 2)
      for (const suite of RUNS) {
        await t.test(suite.title, async () => {
          const direct = await runSuite(suite, `http://127.0.0.1:${port}/mcp`)
          const through = await runSuite(suite, gateway.url('two'))
          const lost = new Map<string, string[]>()
          for (const [scenario, checks] of direct) {
            const found = whatWasLost(
              checks,
              await looked(through, scenario, checks, () => runSuite(suite, gateway.url('two'), scenario)),
            )
            if (found.length > 0) lost.set(scenario, found)
          }
          assert.deepEqual([...lost], [])
        })
      }
    },
  )
}

type Checks = Parameters<typeof whatWasLost>[0]

/** Repeats a scenario alone if checks are missing: on a busy machine they can time out. */
async function looked(
  through: Findings,
  scenario: string,
  direct: Checks,
  again: () => Promise<Findings>,
): Promise<Checks> {
  const checks = through.get(scenario) ?? []
  if (whatWasLost(direct, checks).length === 0) return checks
  return (await again()).get(scenario) ?? checks
}

async function startServer(t: TestContext, program: string, isStateless: boolean): Promise<number> {
  const port = await closedPort()
  const child = spawn(program, ['-http', `127.0.0.1:${port}`, `-stateless=${isStateless}`], { stdio: 'ignore' })
  t.after(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await eventually('the server listens', () => {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
  })
  return port
}

/** A server with one tool, so that there is something to merge. */
function useOther(t: TestContext) {
  return useTarget(t, (request) => {
    if (request.method !== 'tools/list') return false
    request.result({ tools: [{ name: 'of_the_other', description: 'Does nothing.', inputSchema: { type: 'object' } }] })
    return true
  })
}
