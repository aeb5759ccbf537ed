import { isSame } from './same.ts'

/** Reads the value of another query, or of an input; what was read is recorded. */
export type Read<Context> = <Value>(query: Query<Context, Value>, arg: string) => Value

/** A pure function of what it reads. One that reads nothing is an input: whoever changes what it returns says so. */
export interface Query<Context, Value> {
  name: string
  compute(context: Context, arg: string): Value
}

/** A query whose value was asked to be watched, and is not what it was. */
export interface Changed<Context> {
  query: Query<Context, unknown>
  arg: string
}

/**
 * Values of queries, kept until something that they were made of changes. A change makes what depends on it doubtful;
 * asking for a value looks at what it was made of, and stops where that is what it was. What nobody needs is forgotten.
 */
export class Graph<Context> {
  readonly #nodes = new Map<Query<Context, unknown>, Map<string, Node<Context>>>()
  /** Whose reads are being recorded, the innermost last. */
  readonly #running: { node: Node<Context>; reads: Set<Node<Context>> }[] = []
  /** Watched ones that may have changed. */
  readonly #doubted = new Set<Node<Context>>()
  /** Watched ones whose value is not what it was when they were last told of. */
  readonly #changed = new Set<Node<Context>>()
  /** Nobody reads them any more, or nobody has yet. */
  readonly #unread = new Set<Node<Context>>()
  readonly #context: Context
  #computed = 0

  /** The context is what queries get: their way to read. */
  constructor(contextOf: (read: Read<Context>) => Context) {
    this.#context = contextOf((query, arg) => this.read(query, arg))
  }

  /** How many values are kept. */
  get size(): number {
    return this.#nodes.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** How often something was computed, ever. */
  get computed(): number {
    return this.#computed
  }

  read<Value>(query: Query<Context, Value>, arg: string): Value {
    return this.#read(query, arg) as Value
  }

  /** The input gives something else now, or may. */
  invalidate(query: Query<Context, unknown>, arg: string): void {
    const node = this.#nodes.get(query)?.get(arg)
    if (node === undefined) return
    node.state = 'stale'
    this.#doubt(node)
  }

  /** From now on `settle` tells of its changes, its first value among them. */
  watch(query: Query<Context, unknown>, arg: string): void {
    const node = this.#node(query, arg)
    if (node.isWatched) return
    node.isWatched = true
    this.#doubted.add(node)
    this.#changed.add(node)
  }

  unwatch(query: Query<Context, unknown>, arg: string): void {
    const node = this.#nodes.get(query)?.get(arg)
    if (node === undefined) return
    node.isWatched = false
    this.#doubted.delete(node)
    this.#changed.delete(node)
    if (node.readers.size === 0) this.#unread.add(node)
  }

  /** Brings all that is watched up to date. */
  refresh(): void {
    for (const node of this.#doubted) {
      this.#refresh(node)
      this.#doubted.delete(node)
    }
    this.#forgetUnread()
  }

  /** What of a query is kept: after `refresh`, what something is made of. */
  args(query: Query<Context, unknown>): Iterable<string> {
    return this.#nodes.get(query)?.keys() ?? NONE
  }

  /** All that is watched and made of these. */
  madeOf(query: Query<Context, unknown>, args: Iterable<string>): ReadonlySet<Changed<Context>> {
    const found = new Set<Node<Context>>()
    for (const arg of args) {
      const node = this.#nodes.get(query)?.get(arg)
      if (node !== undefined) found.add(node)
    }
    // What is added on the way comes later in the same loop.
    for (const node of found) for (const reader of node.readers) found.add(reader)
    return new Set([...found].filter(({ isWatched }) => isWatched))
  }

  /** Brings all that is watched up to date, and says what has changed since it was last told of; what is held is told later. */
  settle(held: ReadonlySet<Changed<Context>> = new Set()): Changed<Context>[] {
    this.refresh()
    const told = [...this.#changed].filter((node) => !held.has(node))
    for (const node of told) this.#changed.delete(node)
    return told.map(({ query, arg }) => ({ query, arg }))
  }

  #read(query: Query<Context, unknown>, arg: string): unknown {
    const node = this.#node(query, arg)
    this.#refresh(node)
    this.#running.at(-1)?.reads.add(node)
    return node.value
  }

  #node(query: Query<Context, unknown>, arg: string): Node<Context> {
    let byArg = this.#nodes.get(query)
    if (byArg === undefined) this.#nodes.set(query, (byArg = new Map()))
    let node = byArg.get(arg)
    if (node === undefined) {
      node = { query, arg, value: undefined, state: 'stale', reads: NONE, readers: new Set(), isWatched: false }
      byArg.set(arg, node)
      this.#unread.add(node)
    }
    return node
  }

  /** Everything made of it may be something else now. */
  #doubt(node: Node<Context>): void {
    const waiting = [node]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.isWatched) this.#doubted.add(next)
      for (const reader of next.readers) {
        if (reader.state !== 'fresh') continue
        reader.state = 'doubtful'
        waiting.push(reader)
      }
    }
  }

  #refresh(node: Node<Context>): void {
    if (node.state === 'fresh') return
    if (node.state === 'running') throw new Error(`${node.query.name} of ${node.arg} is made of itself`)
    if (node.state === 'doubtful') {
      // In the order in which they were read: whether a later one is read at all may depend on an earlier one.
      for (const read of node.reads) {
        this.#refresh(read)
        if (isStale(node)) break
      }
      if (!isStale(node)) node.state = 'fresh'
    }
    if (node.state === 'stale') this.#compute(node)
  }

  #compute(node: Node<Context>): void {
    const running = { node, reads: new Set<Node<Context>>() }
    this.#running.push(running)
    node.state = 'running'
    this.#computed++
    let value: unknown
    try {
      value = node.query.compute(this.#context, node.arg)
    } catch (error) {
      node.state = 'stale'
      throw error
    } finally {
      this.#running.pop()
    }
    node.state = 'fresh'
    this.#link(node, running.reads)
    if (isSame(node.value, value)) return
    node.value = value
    if (node.isWatched) this.#changed.add(node)
    for (const reader of node.readers) if (reader.state !== 'running') reader.state = 'stale'
  }

  #link(node: Node<Context>, reads: ReadonlySet<Node<Context>>): void {
    const before = node.reads
    node.reads = [...reads]
    for (const read of before) if (!reads.has(read)) this.#unlink(read, node)
    for (const read of reads) {
      read.readers.add(node)
      this.#unread.delete(read)
    }
  }

  #unlink(read: Node<Context>, reader: Node<Context>): void {
    read.readers.delete(reader)
    if (read.readers.size === 0) this.#unread.add(read)
  }

  #forgetUnread(): void {
    // What is found unread on the way is added, and comes later in the same loop.
    for (const node of this.#unread) {
      this.#unread.delete(node)
      if (node.isWatched || node.readers.size > 0) continue
      const byArg = this.#nodes.get(node.query)
      byArg?.delete(node.arg)
      if (byArg?.size === 0) this.#nodes.delete(node.query)
      for (const read of node.reads) this.#unlink(read, node)
    }
  }
}

interface Node<Context> {
  query: Query<Context, unknown>
  arg: string
  value: unknown
  /** `doubtful`: something that it was made of may have changed. */
  state: 'fresh' | 'doubtful' | 'stale' | 'running'
  reads: readonly Node<Context>[]
  readers: Set<Node<Context>>
  isWatched: boolean
}

const NONE: readonly never[] = []

/** Asked by a function, because the state changes behind the back of who looks at it. */
function isStale(node: { state: string }): boolean {
  return node.state === 'stale'
}
