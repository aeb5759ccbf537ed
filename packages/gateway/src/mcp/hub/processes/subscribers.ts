/** The subscribers of resources, by URI. */
export class Subscribers<S> {
  readonly #byUri = new Map<string, Set<S>>()

  /** Adds a subscriber; false when there are too many URIs. */
  add(subscriber: S, uri: string): boolean {
    const known = this.#byUri.get(uri)
    if (known === undefined && this.#byUri.size >= MAX_URIS) return false
    if (known === undefined) this.#byUri.set(uri, new Set([subscriber]))
    else known.add(subscriber)
    return true
  }

  /** Removes a subscriber; true when the URI has none left. */
  remove(subscriber: S, uri: string): boolean {
    const left = this.#byUri.get(uri)
    left?.delete(subscriber)
    if (left !== undefined && left.size > 0) return false
    this.#byUri.delete(uri)
    return true
  }

  /** Removes a subscriber from all URIs; returns the URIs that have none left. */
  removeAll(subscriber: S): string[] {
    return this.uris().filter((uri) => this.#byUri.get(uri)?.has(subscriber) === true && this.remove(subscriber, uri))
  }

  of(uri: string): Iterable<S> {
    return this.#byUri.get(uri) ?? []
  }

  uris(): string[] {
    return [...this.#byUri.keys()]
  }
}

const MAX_URIS = 10_000
