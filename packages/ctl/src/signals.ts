import { constants } from 'node:os'
import { exitCode } from './io.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Stop {
  readonly signal: AbortSignal
  /** Stops with an exit code; the first call wins. */
  now(code: number): void
  /** The exit code of the first stop; 0 when there was none. */
  code(): number
}

/** Turns signals into an abort, so that a command ends in order, with the exit code that shells use for the signal. */
export function stopOnSignals(): Stop {
  const controller = new AbortController()
  let reason: number = exitCode.fine
  const now = (code: number) => {
    if (controller.signal.aborted) return
    reason = code
    controller.abort()
  }
  const onSignal = (name: NodeJS.Signals) => now(128 + constants.signals[name])
  for (const name of SIGNALS) process.on(name, onSignal)
  return { signal: controller.signal, now, code: () => reason }
}
