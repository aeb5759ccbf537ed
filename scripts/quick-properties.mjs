// Limits each property test to the cases that run within a twentieth of a second; PROPERTIES=full runs all cases.
import { isMainThread } from 'node:worker_threads'

// Threads that a test starts load this file too, and have no properties.
if (isMainThread) {
  const { configureGlobal, defaultReportMessage } = await import('fast-check')
  configureGlobal({
    interruptAfterTimeLimit: 50,
    reporter(details) {
      // A machine that stalls that long before the first case proves nothing about the property.
      if (!details.failed || (details.interrupted && details.numRuns === 0)) return
      throw new Error(defaultReportMessage(details), { cause: details.errorInstance })
    },
  })
}
