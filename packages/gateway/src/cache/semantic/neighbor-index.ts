import type { UnitVector } from './unit-vector.ts'

/** A stored answer that a similar request may get. */
interface Neighbor {
  /** The key of the answer. */
  readonly key: string
  readonly vector: UnitVector
  /** The id of the record of the request that asked the provider; null when requests are not recorded. */
  readonly recordId: string | null
}

export interface NearestNeighbor {
  readonly neighbor: Neighbor
  /** The cosine of the angle between both vectors. */
  readonly similarity: number
}

/** A neighbor as a part of its stored answer. */
interface AttachedNeighbor {
  readonly bytes: number
  /** Called when the answer is no longer stored. */
  readonly removed: () => void
}

/**
 * The vectors of the requests whose answers are stored, in partitions: only requests of one partition are compared. Each
 * lookup compares with all vectors of the partition.
 */
export class NeighborIndex {
  /** The neighbors by key, the least recently used first. */
  readonly #partitions = new Map<string, Map<string, Neighbor>>()

  sizeOf(partition: string): number {
    return this.#partitions.get(partition)?.size ?? 0
  }

  /** The key of the least recently used answer; null for an empty partition. */
  oldestOf(partition: string): string | null {
    const [oldest] = this.#partitions.get(partition)?.keys() ?? []
    return oldest ?? null
  }

  add(partition: string, neighbor: Neighbor): AttachedNeighbor {
    const neighbors = this.#partitions.get(partition) ?? new Map<string, Neighbor>()
    this.#partitions.set(partition, neighbors)
    const { key, vector } = neighbor
    neighbors.delete(key)
    neighbors.set(key, neighbor)
    return {
      bytes: vector.bytes + 2 * partition.length + OVERHEAD,
      removed: () => {
        // The key may belong to a newer neighbor.
        if (neighbors.get(key) === neighbor) neighbors.delete(key)
        if (neighbors.size === 0 && this.#partitions.get(partition) === neighbors) this.#partitions.delete(partition)
      },
    }
  }

  /** Returns the nearest neighbor that is usable; null when none is as similar as `floor`. */
  nearest(
    partition: string,
    { vector, floor }: { vector: UnitVector; floor: number },
    isUsable: (key: string) => boolean,
  ): NearestNeighbor | null {
    let best: NearestNeighbor | null = null
    for (const neighbor of this.#partitions.get(partition)?.values() ?? []) {
      const similarity = vector.similarity(neighbor.vector, best?.similarity ?? floor)
      const isNearer = best === null ? similarity >= floor : similarity > best.similarity
      if (isNearer && isUsable(neighbor.key)) best = { neighbor, similarity }
    }
    return best
  }

  /** Marks a neighbor as used. */
  use(partition: string, { key }: Neighbor): void {
    const neighbors = this.#partitions.get(partition)
    const neighbor = neighbors?.get(key)
    if (neighbors === undefined || neighbor === undefined) return
    neighbors.delete(key)
    neighbors.set(key, neighbor)
  }
}

/** An entry of a map and its objects, in bytes. */
const OVERHEAD = 200
