import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { addAsking } from '../../testing/mcp/asking-server.ts'
import { useFleet } from '../../testing/workers/fleet.ts'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { mcpConfig } from '../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { eventually, useConfigFile, useProgram } from '../../testing/process.ts'

const CALL = { name: 'elicit', arguments: { message: 'who?' } }
const ABLE = { elicitation: {} }

const ask = async (caller: McpCaller, more: object = {}) => {
  const { messages } = await caller.askModern('tools/call', { ...CALL, ...more }, ABLE)
  return messages.at(-1)!
}

describe('a call that waits for answers', () => {
  it('is gone with its worker, and the client is told so', async (t) => {
    const server = await useMcpServer(t, { setUp: addAsking })
    const fleet = await useFleet(t, { workers: 1 })
    await fleet.apply(mcpConfig({ one: server }))
    const caller = new McpCaller(fleet.port(), { connection: 'close' })
    const { requestState } = (await ask(caller)).result!
    fleet.tell({ name: null, how: 'die' })
    await eventually('another worker is there', () => fleet.restarts() === 1)
    const inputResponses = { 'input-1': { action: 'accept' } }
    let answer = null
    await eventually('it answers', async () => {
      answer = await ask(caller, { requestState, inputResponses }).catch(() => null)
      return answer !== null
    })
    assert.deepEqual(answer!['error'], {
      code: -32602,
      message: 'Invalid or expired requestState: make a new call',
    })
    assert.equal((await ask(caller)).result?.['resultType'], 'input_required')
  })

  it('does not hold up the end of the program', async (t) => {
    const server = await useMcpServer(t, { setUp: addAsking })
    const { file } = useConfigFile(t, mcpConfig({ one: server }))
    const program = await useProgram(t, { args: ['-f', file], env: { SESSION_KEY: randomBytes(32).toString('hex') } })
    const caller = new McpCaller(program.port(), { connection: 'close' })
    assert.equal((await ask(caller)).result?.['resultType'], 'input_required')
    const stoppedAt = performance.now()
    program.child.kill('SIGTERM')
    await program.ended
    // Far below the time that requests under way are given.
    assert.ok(performance.now() - stoppedAt < 20_000)
    assert.equal(program.child.exitCode, 0)
  })
})
