import { isSame } from './same.ts'
import { UndoLog } from './undo-log.ts'

/** Reads the value of another query or input, and records the dependency. */
export type Read<Context> = <Value>(query: Query<Context, Value>, arg: string) => Value

/** A pure function of its reads. A query without reads is an input: its owner calls `invalidate` after a change. */
export interface Query<Context, Value> {
  name: string
  compute(context: Context, arg: string): Value
}

/** A watched query whose value changed. */
export interface ChangedQuery<Context> {
  query: Query<Context, unknown>
  arg: string
}

/**
 * A cache of query values with incremental recomputation. A change marks its dependents as doubtful; reading a doubtful
 * value checks its dependencies in order, and stops when they are unchanged. Values without readers are dropped.
 */
export class Graph<Context> {
  readonly #nodes = new Map<Query<Context, unknown>, Map<string, Node<Context>>>()
  /** Queries whose reads are being recorded, the innermost last. */
  readonly #running: { node: Node<Context>; reads: Set<Node<Context>> }[] = []
  /** Watched queries that may have changed. */
  readonly #doubted = new Set<Node<Context>>()
  /** Watched queries whose value differs from the last report. */
  readonly #changed = new Set<Node<Context>>()
  /** Nodes without readers. */
  readonly #unread = new Set<Node<Context>>()
  readonly #context: Context
  #computed = 0
  /** Changes of nodes during an attempt; null otherwise. */
  #undo: UndoLog<Node<Context>> | null = null

  /**
   * `contextOf` creates the context that all queries share; it gets the function with which queries read one another.
   */
  constructor(contextOf: (read: Read<Context>) => Context) {
    this.#context = contextOf((query, arg) => this.read(query, arg))
  }

  /** The number of cached values. */
  get size(): number {
    return this.#nodes.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** The total number of computations. */
  get computed(): number {
    return this.#computed
  }

  read<Value>(query: Query<Context, Value>, arg: string): Value {
    return this.#read(query, arg) as Value
  }

  /**
   * Computes values with an input changed, and takes everything back: values keep their identity, and nothing counts as
   * changed. `run` changes the input, reads, and changes the input back.
   */
  attempt<Value>(query: Query<Context, unknown>, arg: string, run: () => Value): Value {
    this.refresh()
    const changed = [...this.#changed]
    const undo = new UndoLog<Node<Context>>()
    this.#undo = undo
    try {
      this.invalidate(query, arg)
      return run()
    } finally {
      this.#undo = null
      for (const node of undo.restore()) this.#delete(node)
      this.#changed.clear()
      for (const node of changed) this.#changed.add(node)
      this.#doubted.clear()
      this.#unread.clear()
    }
  }

  /** Marks an input as possibly changed. */
  invalidate(query: Query<Context, unknown>, arg: string): void {
    const node = this.#nodes.get(query)?.get(arg)
    if (node === undefined) return
    this.#undo?.note(node)
    node.state = 'stale'
    this.#doubt(node)
  }

  /** Makes `settle` report changes of the query, including its first value. */
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

  /** Brings all watched queries up to date. */
  refresh(): void {
    for (const node of this.#doubted) {
      this.#refresh(node)
      this.#doubted.delete(node)
    }
    this.#forgetUnread()
  }

  /** The cached arguments of a query; after `refresh`, those that something depends on. */
  args(query: Query<Context, unknown>): Iterable<string> {
    return this.#nodes.get(query)?.keys() ?? NONE
  }

  /** All watched queries that depend on these. */
  madeOf(query: Query<Context, unknown>, args: Iterable<string>): ReadonlySet<ChangedQuery<Context>> {
    const found = new Set<Node<Context>>()
    for (const arg of args) {
      const node = this.#nodes.get(query)?.get(arg)
      if (node !== undefined) found.add(node)
    }
    // Readers that are added during the loop are visited later in the same loop.
    for (const node of found) for (const reader of node.readers) found.add(reader)
    return new Set([...found].filter(({ isWatched }) => isWatched))
  }

  /**
   * Brings all watched queries up to date, and returns those that changed since the last report; `held` ones are reported
   * later.
   */
  settle(held: ReadonlySet<ChangedQuery<Context>> = new Set()): ChangedQuery<Context>[] {
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
      this.#undo?.create(node)
    }
    return node
  }

  /** Marks all dependents as doubtful. */
  #doubt(node: Node<Context>): void {
    const waiting = [node]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.isWatched) this.#doubted.add(next)
      for (const reader of next.readers) {
        if (reader.state !== 'fresh') continue
        this.#undo?.note(reader)
        reader.state = 'doubtful'
        waiting.push(reader)
      }
    }
  }

  #refresh(node: Node<Context>): void {
    if (node.state === 'fresh') return
    if (node.state === 'running') throw new Error(`${node.query.name} of ${node.arg} depends on itself`)
    if (node.state === 'doubtful') {
      // Dependencies are checked in the order of their reads, because an earlier value may decide whether a later one is
      // read.
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
    this.#undo?.note(node)
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
    // Nodes that become unread during the loop are visited later in the same loop.
    for (const node of this.#unread) {
      this.#unread.delete(node)
      if (node.isWatched || node.readers.size > 0) continue
      this.#delete(node)
      for (const read of node.reads) this.#unlink(read, node)
    }
  }

  #delete({ query, arg }: Node<Context>): void {
    const byArg = this.#nodes.get(query)
    byArg?.delete(arg)
    if (byArg?.size === 0) this.#nodes.delete(query)
  }
}

interface Node<Context> {
  query: Query<Context, unknown>
  arg: string
  value: unknown
  /** `doubtful`: a dependency may have changed. */
  state: 'fresh' | 'doubtful' | 'stale' | 'running'
  reads: readonly Node<Context>[]
  readers: Set<Node<Context>>
  isWatched: boolean
}

const NONE: readonly never[] = []

/** A function, because the compiler cannot see that calls in between change the state. */
function isStale(node: { state: string }): boolean {
  return node.state === 'stale'
}
