import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** Fills a gigabyte of buffers, of which few live at a time, and prints how often each kind of collection ran. */
const PROGRAM = `
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { spentBuffers } from '${import.meta.resolve('./socket-reader.ts')}'
const counts = { young: 0, whole: 0 }
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) {
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) counts.whole++
    else if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) counts.young++
  }
}).observe({ entryTypes: ['gc'] })
const live = []
for (let i = 0; i < 16384; i++) {
  live[i % 8] = Buffer.allocUnsafeSlow(65536).fill(1)
  spentBuffers.count(process.argv[1] === 'counted' ? 65536 : 0)
  if (i % 64 === 0) await turn()
}
await turn()
console.log(JSON.stringify(counts))
`

async function collections(mode: 'counted' | 'left alone'): Promise<{ young: number; whole: number }> {
  const args = ['--no-warnings', '--input-type=module', '-e', PROGRAM, mode]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout) as { young: number; whole: number }
}

test('buffers that are counted are freed by collections of what is young, hardly ever by one of the whole heap', async () => {
  const leftAlone = await collections('left alone')
  let counted = await collections('counted')
  // On a loaded machine the runtime adds collections of its own to some runs.
  for (let run = 1; run < 3 && counted.whole > 3; run++) counted = await collections('counted')
  // A gigabyte is counted, and eight megabytes are one collection.
  assert.ok(counted.young > 100 && counted.young < 2_000, `${counted.young} young ones`)
  assert.ok(counted.whole <= 3, `${counted.whole} whole ones`)
  // The runtime's own behavior is the reason for the counter: when this fails, the counter can be removed.
  assert.ok(leftAlone.whole > counted.whole, `${leftAlone.whole} whole ones when left alone`)
})
