import { recordOf, type Resource, verifiedCondition } from '@portico/translate'

/** Distinguishes changes of the content from changes of the status alone, which translation ignores. */
export class ContentChanges {
  readonly #textById = new Map<string, string>()

  /** Returns whether the content differs from the last call. */
  take(id: string, resource: Resource): boolean {
    const { uid, generation, labels, annotations } = resource.metadata
    // Without a generation, every change counts.
    if (generation === undefined) return true
    // The status of a Pod is content: with its deletion, it says whether the Pod takes requests, and where.
    const ofPod = resource.kind === 'Pod' ? [resource.metadata.deletionTimestamp, resource.status] : []
    // The status of a GwPolicy says which spec is in force, and what its tests found.
    const ofPolicy = resource.kind === 'GwPolicy' ? [recordOf(resource), verifiedCondition(resource)] : []
    const text = JSON.stringify([resource.apiVersion, uid, generation, labels, annotations, ...ofPod, ...ofPolicy])
    if (this.#textById.get(id) === text) return false
    this.#textById.set(id, text)
    return true
  }

  drop(id: string): void {
    this.#textById.delete(id)
  }
}
