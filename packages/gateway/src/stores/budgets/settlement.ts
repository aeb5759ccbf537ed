/** The cost of a request in a budget, in a form that another process can settle if this one is killed. */
export type Settlement = RedisSettlement | MemorySettlement

/** The keys and values of the `settle` script. Redis remembers settled requests, so that a repetition changes nothing. */
export interface RedisSettlement {
  readonly kind: 'redis'
  readonly keys: readonly string[]
  readonly values: readonly string[]
}

/** The cost in one budget in shared memory. */
export interface MemorySettlement {
  readonly kind: 'memory'
  /** The id of the table. */
  readonly table: string
  readonly slot: number
  /** The hash of the key of the slot, a decimal text. */
  readonly owner: string
  readonly period: number
  readonly amount: number
  /** The table and the part of a rolling period; null for other periods. */
  readonly parts: { readonly table: string; readonly part: number } | null
}
