// Starts crowd.mjs on the load core and communicates with it.
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LOAD_CORE, startChild } from '../children.mjs'

const GATHER_MS = 30_000

export async function gatherCrowd({ mode, contender, count, path }) {
  const log = join(mkdtempSync(join(contender.dir, 'crowd-')), 'output.log')
  const args = [join(import.meta.dirname, '../crowd.mjs'), mode, String(contender.port), String(count), path]
  const child = startChild({ command: process.execPath, args, core: LOAD_CORE, log })
  const said = async (pattern) => {
    const deadline = Date.now() + GATHER_MS
    for (;;) {
      const found = pattern.exec(readFileSync(log, 'utf8'))
      if (found || child.hasEnded() || Date.now() > deadline) return found
      await delay(5)
    }
  }
  await said(/^ready$/m)
  const countOpen = async () => {
    process.kill(child.pid, 'SIGUSR2')
    return Number((await said(/^open (\d+)$/m))?.[1] ?? 0)
  }
  return { countOpen, stop: () => child.stop(500) }
}
