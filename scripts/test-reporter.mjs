// Prints failed and skipped tests, and one line of counts for the runner.
import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { inspect } from 'node:util'
import { cpuSeconds } from './cpu-seconds.mjs'

export async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const writeCost = process.env.CPU_TO ? costWriter(process.env.CPU_TO) : null
  writeCost?.('loading', process.argv.at(-1))
  for await (const { type, data } of events) {
    // An error outside of any test, such as an unhandled rejection, arrives as a diagnostic.
    if (type === 'test:diagnostic' && data.message.startsWith('Error: ')) {
      counts.failed++
      yield `  ✖ ${data.message}\n`
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const isSuite = data.details?.type === 'suite'
    if (!isSuite) writeCost?.(relative(process.cwd(), data.file ?? ''), data.name)
    if (data.skip !== undefined) {
      counts.skipped++
      yield `  skipped: ${data.name}: ${data.skip === true || data.skip === '' ? 'no reason given' : data.skip}\n`
    } else if (type === 'test:fail') {
      const { error } = data.details
      // A suite that failed because of one of its tests adds nothing.
      if (error?.failureType === 'subtestsFailed') continue
      counts.failed++
      const place = data.file === undefined ? '' : ` (${relative(process.cwd(), data.file)}:${data.line})`
      yield `  ✖ ${data.name}${place}\n${indent(inspect(error?.cause ?? error))}\n`
    } else if (!isSuite) counts.passed++
  }
  yield `counts ${JSON.stringify({ ...counts, cpu: cpuSeconds() })}\n`
}

/** Writes the CPU seconds since the last call. Events arrive late after tests that never wait, so their costs run together. */
function costWriter(file) {
  let before = 0
  return (place, name) => {
    const now = cpuSeconds()
    appendFileSync(file, `${(now - before).toFixed(3)}\t${place}\t${name}\n`)
    before = now
  }
}

function indent(text) {
  return text.replaceAll(/^/gm, '      ')
}
