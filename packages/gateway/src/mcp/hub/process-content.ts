import type { ProcessSpec } from '../hub.ts'

/** `contentOf` returns everything that a process is made from, as text: specs of equal content are the same target. */
export function contentOf(spec: ProcessSpec): string {
  return JSON.stringify(Object.entries(spec).toSorted(([first], [second]) => (first < second ? -1 : 1)))
}
