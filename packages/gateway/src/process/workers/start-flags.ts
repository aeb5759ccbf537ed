import { setFlagsFromString } from 'node:v8'

/**
 * Flags of V8 for the code that reads a config at the start. It runs once: V8's last compiler would optimize for longer than
 * its code then runs, and several threads would copy objects that nearly all survive.
 */
const FLAGS = ['turbofan', 'parallel-scavenge'] as const

let isStarting = false

/** Called before the first config is read, while the process has no other thread that runs JavaScript. */
export function beginStart(): void {
  isStarting = true
}

/** Called when the gateway runs, and before it starts other threads: flags belong to the process. */
export function endStart(): void {
  isStarting = false
}

/**
 * `atStart` runs work of a start with these flags, and any other work without. Code that is loaded under other flags than
 * its code cache is compiled again, so `work` is synchronous and loads nothing.
 */
export function atStart<Result>(work: () => Result): Result {
  if (!isStarting) return work()
  for (const flag of FLAGS) setFlagsFromString(`--no-${flag}`)
  try {
    return work()
  } finally {
    for (const flag of FLAGS) setFlagsFromString(`--${flag}`)
  }
}
