import * as http from 'node:http'
import { createInterface } from 'node:readline'
import type { LoadSettings, Report } from './constant-load.ts'

/**
 * Asks at a constant rate, however long answers take: every other time on a connection that is kept. Each line of its
 * standard input is answered with what has come since the line before; it ends with its input.
 */

const LIMIT_MS = 10_000

const { urls, perSecond } = JSON.parse(process.argv[2] ?? '') as LoadSettings
const kept = new http.Agent({ keepAlive: true })
const fresh = new http.Agent({ keepAlive: false })
let report: Report = { total: 0, failures: [] }
let count = 0

function ask(): void {
  const url = urls[count % urls.length] ?? ''
  const agent = Math.floor(count / urls.length) % 2 === 0 ? kept : fresh
  count += 1
  let isOver = false
  const over = (problem?: string): void => {
    if (isOver) return
    isOver = true
    report.total += 1
    if (problem !== undefined) report.failures.push(`${new Date().toISOString()} ${url}: ${problem}`)
  }
  const request = http.get(url, { agent, timeout: LIMIT_MS }, (response) => {
    const { statusCode } = response
    response
      .on('error', (error) => over(error.message))
      .on('end', () => over(statusCode === 200 ? undefined : `status ${statusCode}`))
    response.resume()
  })
  request.on('timeout', () => request.destroy(new Error('no answer in time')))
  request.on('error', (error) => over(error.message))
}

// Late ticks are made up for, so that a busy machine gets the same number of requests.
const startedAt = performance.now()
setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * perSecond
  while (count < due) ask()
}, 1000 / perSecond)

createInterface({ input: process.stdin })
  .on('line', () => {
    process.stdout.write(`${JSON.stringify(report)}\n`)
    report = { total: 0, failures: [] }
  })
  .on('close', () => process.exit(0))
