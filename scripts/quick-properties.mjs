// Properties are held against as many cases as half a second has; PROPERTIES=full has them all.
import { isMainThread } from 'node:worker_threads'

// Threads that a test starts load this too, and have no properties.
if (isMainThread) {
  const { configureGlobal, defaultReportMessage } = await import('fast-check')
  configureGlobal({
    interruptAfterTimeLimit: 500,
    reporter(details) {
      // A machine that stands still for that long before the first case says nothing about the property.
      if (!details.failed || (details.interrupted && details.numRuns === 0)) return
      throw new Error(defaultReportMessage(details), { cause: details.errorInstance })
    },
  })
}
