// Properties are held against as many cases as half a second has, one at least; PROPERTIES=full has them all.
import { isMainThread } from 'node:worker_threads'

// Threads that a test starts load this too, and have no properties.
if (isMainThread) {
  const { configureGlobal } = await import('fast-check')
  configureGlobal({ interruptAfterTimeLimit: 500 })
}
