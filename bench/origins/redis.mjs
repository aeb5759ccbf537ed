import { join } from 'node:path'
import { LOAD_CORE, startChild } from '../children.mjs'
import { findProgram } from '../machine.mjs'
import { freePort, untilAnswers } from '../ports.mjs'

/** Starts a Redis that writes no files, on the CPU core of the load; returns `{ problem }` without a Redis. */
export async function startRedis(dir) {
  const command = findProgram('redis-server')
  if (!command) return { problem: 'redis-server not found' }
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir]
  const child = startChild({ command, args, core: LOAD_CORE, log: join(dir, 'redis.log') })
  const problem = await untilAnswers(`tcp://127.0.0.1:${port}`, child)
  if (!problem) return { port, stop: child.stop }
  await child.stop()
  return { problem: `Redis did not start: ${problem}` }
}
