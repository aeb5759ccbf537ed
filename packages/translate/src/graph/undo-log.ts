/** The parts of a graph's node that a computation changes. */
interface Undoable<Node> {
  value: unknown
  state: string
  reads: readonly Node[]
  readers: Set<Node>
}

/** The nodes of a graph that an attempt changed, with their earlier contents. */
export class UndoLog<Node extends Undoable<Node>> {
  readonly #earlier = new Map<Node, Pick<Node, 'value' | 'state' | 'reads'>>()
  readonly #created = new Set<Node>()

  /** Called before the first change of a node. */
  note(node: Node): void {
    if (this.#created.has(node) || this.#earlier.has(node)) return
    const { value, state, reads } = node
    this.#earlier.set(node, { value, state, reads })
  }

  /** Called for each new node. */
  create(node: Node): void {
    this.#created.add(node)
  }

  /** Restores all nodes; returns those that the attempt created. */
  restore(): ReadonlySet<Node> {
    const touched = [...this.#earlier.keys(), ...this.#created]
    for (const node of touched) for (const read of node.reads) read.readers.delete(node)
    for (const [node, earlier] of this.#earlier) {
      Object.assign(node, earlier)
      for (const read of earlier.reads) read.readers.add(node)
    }
    return this.#created
  }
}
