import type { Path, Problem } from '../../schema/problem.ts'
import type { Plain } from './plain-value.ts'

/** A position in the text; both numbers begin at 1. */
export interface Mark {
  readonly line: number
  readonly column: number
}

/** The positions of a member. The value of a key without text after its colon has no known position. */
interface MemberMarks {
  readonly key: Mark | null
  readonly value: Mark | null
}

/** The positions of all keys, values and items of a plain document. */
export class PlainMarks {
  /** The position of the first key or dash; null for an empty document. */
  start: Mark | null = null
  readonly #membersByContainer = new WeakMap<object, Map<string, MemberMarks>>()

  add(container: Plain[] | { [key: string]: Plain }, step: string | number, marks: MemberMarks): void {
    let members = this.#membersByContainer.get(container)
    if (members === undefined) {
      members = new Map()
      this.#membersByContainer.set(container, members)
    }
    members.set(String(step), marks)
  }

  /**
   * Returns the position of the key or value at a path of the document, or of the longest part of the path that exists;
   * null when the position is not known.
   */
  locate(document: Plain, path: Path, at: Problem['at']): Mark | null {
    let node: Plain | undefined = document
    let found = this.start
    for (const [index, step] of path.entries()) {
      // Some mappings may be written as a one-item list.
      if (Array.isArray(node) && typeof step === 'string') node = node[0]
      if (typeof node !== 'object' || node === null) return found
      const marks = this.#membersByContainer.get(node)?.get(String(step))
      if (marks !== undefined) {
        const isKeyMeant = at === 'key' && index === path.length - 1 && marks.key !== null
        found = isKeyMeant ? marks.key : marks.value
        if (found === null) return null
      } else if (!Array.isArray(node)) return found
      node = Array.isArray(node) ? node[Number(step)] : node[step]
    }
    return found
  }
}
