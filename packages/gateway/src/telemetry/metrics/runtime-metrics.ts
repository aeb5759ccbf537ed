import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Collector } from './metrics-collect.ts'
import type { Registry } from './metrics.ts'

/** Measures the event loop lag of this thread in three gauges; returns the function that stops it. */
export function watchEventLoop(registry: Registry, thread: string, everyMs = 5000): () => void {
  const mean = registry.gauge('event_loop_lag_seconds', [thread, 'mean'])
  const p99 = registry.gauge('event_loop_lag_seconds', [thread, 'p99'])
  const max = registry.gauge('event_loop_lag_seconds', [thread, 'max'])
  // The sampling is native: no JavaScript runs between two readings.
  const resolution = Math.min(RESOLUTION_MS, Math.ceil(everyMs / 5))
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  // A reset discards the current tick, which after a stall runs after this timer; so the values are read after all timers.
  const timer = setInterval(() => setImmediate(read), everyMs).unref()
  return () => {
    clearInterval(timer)
    delays.disable()
  }

  function read(): void {
    mean.set(toLag(delays.mean, resolution))
    p99.set(toLag(delays.percentile(99), resolution))
    max.set(toLag(delays.max, resolution))
    delays.reset()
  }
}

/** Provides the metrics of the process; the main thread calls it once. */
export function provideProcessMetrics(collector: Collector, version: string): void {
  collector.provide('build_info', [version], () => 1)
  collector.provide('process_resident_memory_bytes', [], () => process.memoryUsage.rss())
  const startedAt = Date.now() / 1000 - process.uptime()
  collector.provide('process_start_time_seconds', [], () => startedAt)
  collector.provide('process_cpu_seconds_total', [], () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
}

/** Ten samples per second find stalls and cost an idle gateway almost nothing; each sample wakes the thread. */
const RESOLUTION_MS = 100

// A reading is the time between two ticks of the sampler, in nanoseconds, and not finite before the first tick.
function toLag(nanoseconds: number, resolutionMs: number): number {
  const lag = nanoseconds / 1e9 - resolutionMs / 1000
  return lag > 0 && Number.isFinite(lag) ? lag : 0
}
