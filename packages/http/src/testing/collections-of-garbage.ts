import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void

/**
 * Collects garbage between two turns of the event loop: an object that was looked at through a weak reference lives to
 * the end of the turn.
 */
export async function collect(type: 'minor' | 'major'): Promise<void> {
  await turn()
  gc({ type })
  await turn()
}

/** Whether minor collections clear weak references; in an older V8 they keep the objects. */
export async function minorCollectionsTell(): Promise<boolean> {
  await turn()
  const references = Array.from({ length: 10 }, () => new WeakRef({}))
  await collect('minor')
  return references.some(isGone)
}

export function isGone(reference: WeakRef<object>): boolean {
  return reference.deref() === undefined
}
