import type { Resource } from '@portico/translate'

/** Tells a change of an object from one of its status alone, of which translation need not know. */
export class ContentChanges {
  readonly #textById = new Map<string, string>()

  /** Whether the object is another than the one that was taken before. */
  take(id: string, resource: Resource): boolean {
    const { uid, generation, labels, annotations } = resource.metadata
    // Without a generation nothing tells whether it is another.
    if (generation === undefined) return true
    const text = JSON.stringify([resource.apiVersion, uid, generation, labels, annotations])
    if (this.#textById.get(id) === text) return false
    this.#textById.set(id, text)
    return true
  }

  drop(id: string): void {
    this.#textById.delete(id)
  }
}
