/**
 * The state that an unexpected exception may have damaged: the request or the connection that it was thrown for, which
 * has been ended, or state that all requests of the worker share.
 */
export type FaultScope = 'request' | 'connection' | 'worker'

export type FaultListener = (error: unknown, scope: FaultScope) => void

const listeners = new Set<FaultListener>()

/** Calls `listener` for every fault of this thread; returns the function that removes the listener. */
export function onFault(listener: FaultListener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Reports an exception that was caught at the edge of a callback. Without a listener the exception goes on. */
export function reportFault(error: unknown, scope: FaultScope): void {
  if (listeners.size === 0) throw error
  countFault(scope)
  for (const listener of listeners) listener(error, scope)
}

const counters = new Set<(scope: FaultScope) => void>()

/** Calls `count` for every fault of this thread, also for those that somebody else has logged. */
export function onFaultCount(count: (scope: FaultScope) => void): () => void {
  counters.add(count)
  return () => void counters.delete(count)
}

export function countFault(scope: FaultScope): void {
  for (const count of counters) count(scope)
}

/** Runs a callback whose exception is reported and goes no further. */
export function contained(scope: FaultScope, run: () => void): void {
  try {
    run()
  } catch (error) {
    reportFault(error, scope)
  }
}

/** Waits for work that nobody else waits for: its exception is reported and goes no further. */
export function containedWork(scope: FaultScope, work: Promise<unknown>): void {
  work.catch((error: unknown) => reportFault(error, scope))
}

/** The cause that a request or a stream is ended with after an exception; says nothing about it to clients. */
export class InternalFault extends Error {
  constructor() {
    super('internal error')
  }
}

/**
 * The exception for a log line: its class, code, message and the stack frames. Messages that quote input,
 * such as those of `JSON.parse` or of argument checks of the runtime, are left out: the input may hold a secret.
 */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return `thrown value of type ${typeof error}`
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  const quotesInput = code !== null || error instanceof SyntaxError || error instanceof URIError
  const name = code === null ? error.name : `${error.name} ${code}`
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return [quotesInput ? name : `${name}: ${error.message}`, ...frames.slice(0, MAX_FRAMES)].join('\n')
}

const MAX_FRAMES = 12
