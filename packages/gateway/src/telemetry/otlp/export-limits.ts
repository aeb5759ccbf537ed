import type { RetryLimits } from './retrying-sender.ts'

export interface ExportLimits extends RetryLimits {
  /** Largest batch of one export request; a full batch is sent at once. */
  batchItems: number
  batchBytes: number
  /** Longest wait of the first item of a batch that is not full. */
  delayMs: number
  /** Largest queue; items beyond it are dropped. */
  queueItems: number
  queueBytes: number
}

/** The limits of each worker. */
export const exportLimits: ExportLimits = {
  batchItems: 2048,
  batchBytes: 1024 * 1024,
  delayMs: 1000,
  queueItems: 16_384,
  queueBytes: 8 * 1024 * 1024,
  firstPauseMs: 500,
  maxPauseMs: 30_000,
  retryMs: 60_000,
}
