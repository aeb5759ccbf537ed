import { parentPort, workerData } from 'node:worker_threads'
import { SharedTable } from '../../../../gateway/src/state/shared-table.ts'
import { Endpoint } from './endpoint.ts'

/**
 * Reports failures of one endpoint, each after the previous eviction has ended, and counts the failures that evict it.
 */

const { buffer, reports } = workerData as { buffer: SharedArrayBuffer; reports: number }
const endpoint = new Endpoint('a:1', new SharedTable(buffer).cells('a'))
const rule = { durationMs: 16, restoreHealth: null, consecutiveFailures: 0, healthThreshold: null }
/** Longer than the longest eviction. */
const ROUND_MS = 16 * 300

let evictions = 0
for (let round = 1; round <= reports; round++) {
  if (endpoint.wasUnhealthy(round * ROUND_MS, rule) !== null) evictions++
}
parentPort!.postMessage(evictions)
